"""The dialect of Anthropic's Messages API."""

from typing import Any

from recollect.client.intercept.anthropic_messages import MESSAGES
from recollect.client.intercept.sse import SseEvent, parse_events
from sample_responses import messages_response, tool_use
from sample_streams import as_sse, messages_stream
from tables import each_row

Json = dict[str, Any]

MEMORY = "The lamp is red."
ASK = {"role": "user", "content": "Where is the lamp?"}
TELLS = {"role": "assistant", "content": "In Łódź."}
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
THINKING = {"type": "thinking", "thinking": "Hm, a lamp.", "signature": "c2ln"}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "lamp"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


def text(said: str, **more: Any) -> Json:
    return {"type": "text", "text": said, **more}


CALLS = {"role": "assistant", "content": [text("Looking."), tool_use("t1"), tool_use("t2")]}
CACHED = text("Be short.", cache_control={"type": "ephemeral"})


def result(named: str, content: Any, **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": named, "content": content, **more}


def user(*parts: Any) -> Json:
    return {"role": "user", "content": list(parts)}


def tool(named: str, content: Any, **more: Any) -> Json:
    return {"role": "tool", "tool_call_id": named, "content": content, **more}


def body(*messages: object, **more: Any) -> Json:
    return {"model": "claude-5", "max_tokens": 9, "messages": list(messages), **more}


def called(named: str, arguments: str) -> Json:
    return {"id": named, "type": "function", "function": {"name": "look", "arguments": arguments}}


@each_row(
    ("messages", "question"),
    [
        ([], ""),
        ([ASK], "Where is the lamp?"),
        ([user(text("One"), PICTURE, text("two"))], "One\ntwo"),
        ([ASK, CALLS, user(result("t1", "Red."), result("t2", "Two."))], "Where is the lamp?"),
        ([ASK, CALLS, user(result("t1", "Red."), text("And now?"))], "And now?"),
        ([ASK, TELLS, {"role": "system", "content": "Be short."}], "Where is the lamp?"),
        ([ASK, TELLS], "Where is the lamp?"),
        ([user(result("t1", [text("Red.")]))], ""),
    ],
)
def test_the_question_is_the_last_thing_a_user_said_in_words(
    messages: list[Any], question: str
) -> None:
    assert MESSAGES.last_user_text(body(*messages)) == question


@each_row(
    ("given", "system"),
    [
        ({}, MEMORY),
        ({"system": None}, MEMORY),
        ({"system": ""}, MEMORY),
        ({"thread": {"type": "create"}}, MEMORY),
        ({"system": "Be short."}, f"Be short.\n\n{MEMORY}"),
        ({"system": []}, [text(MEMORY)]),
        ({"system": [CACHED, text("So.")]}, [CACHED, text("So."), text(MEMORY)]),
        ({"system": [text("So."), CACHED]}, [text("So."), CACHED, text(MEMORY)]),
    ],
)
def test_memory_stands_at_the_end_of_the_system_prompt(given: Json, system: object) -> None:
    told = MESSAGES.add_memory(body(ASK, **given), MEMORY)

    assert told == body(ASK, **{**given, "system": system})


@each_row(
    ("given", "memory"),
    [
        ({"system": 7}, MEMORY),
        ({"system": {"type": "text"}}, MEMORY),
        ({"system": [CACHED]}, "  "),
        ({"thread": {"type": "continue", "previous_message_id": "m"}, "system": "So."}, MEMORY),
    ],
)
def test_a_request_without_a_place_for_memory_stays_as_it_is(given: Json, memory: str) -> None:
    assert MESSAGES.add_memory(body(ASK, **given), memory) == body(ASK, **given)


@each_row(
    ("messages", "captured"),
    [
        ([ASK], [ASK]),
        ([ASK, TELLS, ASK, ASK], [ASK, ASK]),
        ([ASK, TELLS, {"role": "system", "content": "Be short."}, ASK], [ASK]),
        ([user(text("One"), text("two"))], [{"role": "user", "content": "One\ntwo"}]),
        ([user(text("Who?"), PICTURE)], [user(text("Who?"), PICTURE)]),
        ([ASK, TELLS], [ASK]),  # the beginning of an answer, put there by the caller
        ([ASK, {"role": "assistant", "content": [SEARCH, FOUND]}], []),  # paused, and gone on with
        (
            [ASK, CALLS, user(result("t1", "Red."), result("t2", [text("Two.")]))],
            [tool("t1", "Red."), tool("t2", "Two.")],
        ),
        (
            [ASK, CALLS, user(result("t1", "Red."), result("t2", "Two."), text("And now?"))],
            [tool("t1", "Red."), tool("t2", "Two."), {"role": "user", "content": "And now?"}],
        ),
        (
            [ASK, CALLS, user(text("And now?"), result("t1", [text("Red."), PICTURE]))],
            [tool("t1", [text("Red."), PICTURE]), {"role": "user", "content": "And now?"}],
        ),
        (
            [ASK, CALLS, user(result("t1", "No lamp", is_error=True), result("t2", None))],
            [
                tool("t1", "No lamp", metadata={"is_error": True}),
                tool("t2", [text("")]),
            ],
        ),
        (
            [user({"type": "image", "source": {"type": "base64", "data": "A" * 176_000}})],
            [user({"type": "image", "source": {"type": "base64", "data": "(132 kB left out)"}})],
        ),
    ],
)
def test_what_is_new_is_what_users_and_tools_said_since_the_last_answer(
    messages: list[Any], captured: list[Json]
) -> None:
    assert MESSAGES.new_messages(body(*messages)) == captured


ANSWERS: list[tuple[Json, list[Json]]] = [
    (messages_response(text("In Łódź.")), [{"content": "In Łódź."}]),
    (messages_response(THINKING, text("In Łódź.")), [{"content": "In Łódź."}]),
    (
        messages_response(text("It is "), text("red", citations=[{"type": "x"}]), text(".")),
        [{"content": "It is red."}],
    ),
    (messages_response(text("Wait."), SEARCH, FOUND, text("Red.")), [{"content": "Wait.\nRed."}]),
    (
        messages_response(text("Looking."), tool_use("t1", at="Łódź", n=[1, 2.5]), tool_use("t2")),
        [
            {
                "content": "Looking.",
                "tool_calls": [called("t1", '{"at": "Łódź", "n": [1, 2.5]}'), called("t2", "{}")],
            }
        ],
    ),
    (
        messages_response(tool_use("t1", at="x")),
        [{"content": "", "tool_calls": [called("t1", '{"at": "x"}')]}],
    ),
    (messages_response(THINKING), []),
    (messages_response(), []),
]


@each_row(("answer", "captured"), ANSWERS)
def test_an_answer_is_one_message_whole_or_streamed(answer: Json, captured: list[Json]) -> None:
    expected = [
        {"role": "assistant", **item, "metadata": {"model": "claude-5"}} for item in captured
    ]

    assert MESSAGES.reply_messages(answer) == expected
    for size in (1, 7, 1_000):
        events = messages_stream(answer, size=size)
        assert MESSAGES.assemble_stream(events)["content"] == answer["content"]
        assert MESSAGES.reply_messages(MESSAGES.assemble_stream(events)) == expected
        assert (
            MESSAGES.reply_messages(MESSAGES.assemble_stream(parse_events(as_sse(events))))
            == expected
        )


def test_a_streamed_message_ends_with_its_reason_and_what_it_cost() -> None:
    answer = messages_response(text("Red."))

    assert MESSAGES.assemble_stream(messages_stream(answer)) == answer


def test_why_a_model_was_stopped_is_told_as_text() -> None:
    answer = {
        **messages_response(),
        "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "explanation": "Not about lamps."},
    }

    assert MESSAGES.reply_messages(answer)[0]["content"] == "Not about lamps."


def test_a_cut_stream_gives_what_had_arrived_and_input_as_text() -> None:
    events = messages_stream(messages_response(text("In Łódź."), tool_use("t1", at="the tower")))

    assert MESSAGES.reply_messages(MESSAGES.assemble_stream(events[:5]))[0]["content"] == "In Łód"
    cut = MESSAGES.reply_messages(MESSAGES.assemble_stream(events[:12]))[0]["tool_calls"]
    assert cut == [called("t1", '{"at": "t')]


def test_an_error_after_some_words_leaves_the_words_and_one_in_their_place_says_nothing() -> None:
    events = messages_stream(messages_response(text("In Łódź.")))
    told = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    error = SseEvent("error", told)

    assert (
        MESSAGES.reply_messages(MESSAGES.assemble_stream([*events[:5], error]))[0]["content"]
        == "In Łód"
    )
    assert MESSAGES.assemble_stream([error]) == told
    assert MESSAGES.reply_messages(told) == []


@each_row("answer", [None, {"content": "no list"}, {"content": [7, {"type": "text", "text": 7}]}])
def test_an_answer_that_says_nothing_gives_no_message(answer: object) -> None:
    assert MESSAGES.reply_messages(answer) == []
