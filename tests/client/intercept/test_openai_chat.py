"""The dialect of OpenAI's chat completions."""

from typing import Any

from recollect.client.intercept.openai_chat import CHAT
from recollect.client.intercept.sse import SseEvent, parse_events
from sample_responses import LOOK_CALL, chat_call, chat_response
from sample_streams import as_sse, chat_stream
from tables import each_row

Json = dict[str, Any]

SYSTEM = {"role": "system", "content": "Be short."}
ORDER = {"role": "developer", "content": "Be short."}
ASK = {"role": "user", "content": "Where is the lamp?"}
CALLS = {"role": "assistant", "content": None, "tool_calls": [chat_call("c1"), chat_call("c2")]}
FIRST = {"role": "tool", "tool_call_id": "c1", "content": "In Łódź."}
SECOND = {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "Two."}]}
TELLS = {"role": "assistant", "content": "In Łódź."}
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def body(*messages: object) -> Json:
    return {"model": "gpt-6", "messages": list(messages)}


def text(said: str) -> Json:
    return {"type": "text", "text": said}


@each_row(
    ("request_body", "question"),
    [
        (body(), ""),
        (body(SYSTEM), ""),
        (body(SYSTEM, ASK), "Where is the lamp?"),
        (body(ASK, TELLS, {"role": "user", "content": "And now?"}), "And now?"),
        (body(ASK, CALLS, FIRST, SECOND), "Where is the lamp?"),
        (body({"role": "user", "content": [text("One"), PICTURE, text("two")]}), "One\ntwo"),
        (body(ASK, {"role": "user", "content": [PICTURE]}), "Where is the lamp?"),
        (body(ASK, {"role": "user", "content": "  "}), "Where is the lamp?"),
        (body(ASK, None, 7, {"role": "user"}), "Where is the lamp?"),
    ],
)
def test_the_question_is_the_last_thing_a_user_said_in_words(
    request_body: Json, question: str
) -> None:
    assert CHAT.last_user_text(request_body) == question


@each_row(
    ("messages", "place", "role"),
    [
        ([], 0, "system"),
        ([ASK], 0, "system"),
        ([SYSTEM, ASK], 1, "system"),
        ([SYSTEM, SYSTEM, ASK, SYSTEM], 2, "system"),
        ([ORDER, ASK], 1, "developer"),
        ([SYSTEM], 1, "system"),
        ([SYSTEM, ASK, CALLS, FIRST, SECOND], 1, "system"),
        ([None, SYSTEM], 0, "system"),
    ],
)
def test_memory_stands_behind_the_orders_at_the_head(
    messages: list[Any], place: int, role: str
) -> None:
    given = CHAT.add_memory(body(*messages), "The lamp is red.")

    assert given["messages"].pop(place) == {"role": role, "content": "The lamp is red."}
    assert given == body(*messages)


def test_what_memory_does_not_change_is_shared_and_not_copied() -> None:
    before = body(SYSTEM, ASK)

    given = CHAT.add_memory(before, "The lamp is red.")

    assert given["messages"][0] is SYSTEM
    assert before == body(SYSTEM, ASK)


@each_row("request_body", [{"messages": "no list"}, {"model": "gpt-6"}])
def test_a_request_without_a_place_for_memory_stays_as_it_is(request_body: Json) -> None:
    assert CHAT.add_memory(request_body, "The lamp is red.") == request_body


def test_no_memory_changes_nothing() -> None:
    assert CHAT.add_memory(body(ASK), " \n") == body(ASK)


@each_row(
    ("messages", "captured"),
    [
        ([SYSTEM, ASK], [ASK]),
        ([ASK, TELLS, ASK, ASK], [ASK, ASK]),
        ([ASK, TELLS, SYSTEM, ASK, ORDER], [ASK]),
        ([ASK, CALLS, FIRST, SECOND], [FIRST, {**SECOND, "content": "Two."}]),
        ([ASK, CALLS, FIRST, ASK], [FIRST, ASK]),
        ([ASK, TELLS], [ASK]),  # the beginning of an answer, put there by the caller
        ([ASK, CALLS], []),
        ([ASK, {"role": "assistant", "content": "", "function_call": LOOK_CALL}], []),
        ([{"role": "user", "content": ["One", " ", 7, "two"]}], [{**ASK, "content": "One\ntwo"}]),
        ([{**ASK, "name": "Ann", "seed": 1}], [{**ASK, "name": "Ann"}]),
        (
            [{"role": "user", "content": [text("One"), text("two")]}],
            [{**ASK, "content": "One\ntwo"}],
        ),
        (
            [{"role": "user", "content": [text("Who?"), PICTURE]}],
            [{"role": "user", "content": [text("Who?"), PICTURE]}],
        ),
        (
            [{"role": "function", "name": "look", "content": "Red."}],
            [{"role": "tool", "name": "look", "content": "Red."}],
        ),
        (
            [{"role": "tool", "tool_call_id": "c1", "content": ""}],
            [{"role": "tool", "tool_call_id": "c1", "content": [text("")]}],
        ),
        ([{"role": "user", "content": " "}, {"role": "user", "content": [text("")]}], []),
        ([{"role": "user", "content": "<private>my diary</private>"}], []),
        ([{"role": "narrator", "content": "Once"}, {"role": "user", "content": None}], []),
    ],
)
def test_what_is_new_is_what_users_and_tools_said_since_the_last_answer(
    messages: list[Any], captured: list[Json]
) -> None:
    assert CHAT.new_messages(body(*messages)) == captured


ANSWERS: list[tuple[Json, list[Json]]] = [
    (chat_response({"content": "In Łódź."}), [{"role": "assistant", "content": "In Łódź."}]),
    (
        chat_response({"content": "One"}, {"content": "Other"}),
        [{"role": "assistant", "content": "One"}],
    ),
    (
        chat_response({"tool_calls": [chat_call("c1"), chat_call("c2")]}),
        [{"role": "assistant", "content": "", "tool_calls": [chat_call("c1"), chat_call("c2")]}],
    ),
    (
        chat_response({"content": "Looking.", "tool_calls": [chat_call("c1")]}),
        [{"role": "assistant", "content": "Looking.", "tool_calls": [chat_call("c1")]}],
    ),
    (chat_response({"refusal": "I will not."}), [{"role": "assistant", "content": "I will not."}]),
    (chat_response({"content": ""}), []),
    (chat_response(), []),
]


@each_row(("answer", "captured"), ANSWERS)
def test_an_answer_is_one_message_whole_or_streamed(answer: Json, captured: list[Json]) -> None:
    expected = [{**message, "metadata": {"model": "gpt-6"}} for message in captured]

    assert CHAT.reply_messages(answer) == expected
    for size in (1, 7, 1_000):
        events = chat_stream(answer, size=size)
        assert CHAT.reply_messages(CHAT.assemble_stream(events)) == expected
        assert CHAT.reply_messages(CHAT.assemble_stream(parse_events(as_sse(events)))) == expected


@each_row(
    ("message", "captured"),
    [
        ({"audio": {"id": "a", "data": "AAAA", "transcript": "In Łódź."}}, {"content": "In Łódź."}),
        ({"reasoning_content": "Hm.", "content": "Red."}, {"content": "Red."}),
        ({"content": [{"type": "thinking", "thinking": []}, text("Red.")]}, {"content": "Red."}),
        (
            {"function_call": LOOK_CALL},
            {"content": "", "tool_calls": [{"type": "function", "function": LOOK_CALL}]},
        ),
        (
            {
                "tool_calls": [
                    {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
                ]
            },
            {
                "content": "",
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "sh", "arguments": "ls"},
                    }
                ],
            },
        ),
    ],
)
def test_rarer_answers_are_understood(message: Json, captured: Json) -> None:
    expected = {"role": "assistant", **captured, "metadata": {"model": "gpt-6"}}

    assert CHAT.reply_messages(chat_response(message)) == [expected]


@each_row(
    "answer",
    [
        None,
        {"error": {"message": "overloaded"}},
        {"choices": None},
        {"choices": [{"message": "no object"}]},
        {"choices": [7]},
    ],
)
def test_an_answer_that_says_nothing_gives_no_message(answer: object) -> None:
    assert CHAT.reply_messages(answer) == []


def test_a_cut_stream_gives_what_had_arrived() -> None:
    events = chat_stream(chat_response({"content": "In Łódź.", "tool_calls": [chat_call("c1")]}))

    assert CHAT.reply_messages(CHAT.assemble_stream(events[:3]))[0]["content"] == "In Łód"
    cut = CHAT.reply_messages(CHAT.assemble_stream(events[:-6]))[0]["tool_calls"][0]
    assert cut["id"] == "c1"
    assert LOOK_CALL["arguments"].startswith(cut["function"]["arguments"])


def test_calls_streamed_without_an_index_or_all_under_one_are_told_apart() -> None:
    def chunk(*calls: Json) -> SseEvent:
        return SseEvent("", {"choices": [{"index": 0, "delta": {"tool_calls": list(calls)}}]})

    first, second = chat_call("c1"), chat_call("c2")
    unnumbered = CHAT.assemble_stream([chunk(first), chunk(second)])
    all_first = CHAT.assemble_stream([chunk({**first, "index": 0}), chunk({**second, "index": 0})])

    assert CHAT.reply_messages(unnumbered)[0]["tool_calls"] == [first, second]
    assert CHAT.reply_messages(all_first)[0]["tool_calls"] == [first, second]


def test_the_old_function_call_and_speech_are_streamed_too() -> None:
    def chunk(delta: Json) -> SseEvent:
        return SseEvent("", {"model": "gpt-6", "choices": [{"index": 0, "delta": delta}]})

    called = [chunk({"function_call": {"name": "look"}}), chunk({"function_call": LOOK_CALL})]
    spoken = [chunk({"audio": {"id": "a"}}), chunk({"audio": {"transcript": "Red."}})]

    assert CHAT.reply_messages(CHAT.assemble_stream(called)) == CHAT.reply_messages(
        chat_response({"function_call": LOOK_CALL})
    )
    assert CHAT.reply_messages(CHAT.assemble_stream(spoken)) == CHAT.reply_messages(
        chat_response({"content": "Red."})
    )


def test_an_id_too_long_to_store_is_shortened_alike_in_call_and_answer() -> None:
    named = "call_" + "x" * 5_000
    called = CHAT.reply_messages(chat_response({"tool_calls": [chat_call(named)]}))
    answered = CHAT.new_messages(body({"role": "tool", "tool_call_id": named, "content": "Red."}))

    assert called[0]["tool_calls"][0]["id"] == answered[0]["tool_call_id"]
    assert len(answered[0]["tool_call_id"]) <= 200
