"""The words around a statement, with which it is embedded."""

from recollect.text.statement_context import MESSAGE_CHARS, REPLY_CHARS, statement_context

USER, REPLY = "need smth for compaction. then run it hourly", "Compaction runs hourly now."
CONTENT = f"User: {USER}\n\nAssistant: {REPLY}\n\nUser: thanks"
START = CONTENT.index("then run")
USER_TURN = (6, 6 + len(USER), "user", "", None)
REPLY_TURN = (CONTENT.index(REPLY), CONTENT.index(REPLY) + len(REPLY), "assistant", "", None)


def test_the_context_of_a_statement_is_its_message_and_the_reply() -> None:
    context = statement_context(CONTENT, [USER_TURN, REPLY_TURN], START, 6 + len(USER))

    assert context == f"{USER} {REPLY}"


def test_what_a_tool_returned_is_not_the_reply() -> None:
    tool = (REPLY_TURN[0], REPLY_TURN[1], "tool", "", None)

    assert statement_context(CONTENT, [USER_TURN, tool], START, 6 + len(USER)) == USER


def test_a_statement_that_is_the_whole_message_without_a_reply_has_no_context() -> None:
    assert statement_context(CONTENT, [USER_TURN], 6, 6 + len(USER)) == ""
    assert statement_context(CONTENT, [], 6, 6 + len(USER)) == ""
    assert statement_context(CONTENT, [REPLY_TURN], 6, 6 + len(USER)) == ""


def test_of_a_long_message_and_a_long_reply_whole_words_near_the_statement_count() -> None:
    message = "before " * 50 + "the fact. " + "after " * 50
    reply = "word " * 50
    content = message + reply
    start = message.index("the fact.")
    turns = [
        (0, len(message), "user", "", None),
        (len(message), len(content), "assistant", "", None),
    ]

    words = statement_context(content, turns, start, start + 9).split()

    assert set(words) == {"before", "the", "fact.", "after", "word"}
    assert words.count("before") * len("before ") <= MESSAGE_CHARS
    assert words.count("after") * len("after ") <= MESSAGE_CHARS
    assert words.count("word") * len("word ") <= REPLY_CHARS
