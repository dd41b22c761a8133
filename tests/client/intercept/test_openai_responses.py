"""The dialect of OpenAI's Responses API."""

from typing import Any

from recollect.client.intercept.openai_responses import RESPONSES
from recollect.client.intercept.sse import SseEvent, parse_events
from sample_responses import LOOK_CALL, chat_call, function_call, output_message, responses_response
from sample_streams import as_sse, responses_stream
from tables import each_row

Json = dict[str, Any]

MEMORY = "The lamp is red."
ITEM = {
    "type": "message",
    "role": "developer",
    "content": [{"type": "input_text", "text": MEMORY}],
}
ASK = {"role": "user", "content": "Where is the lamp?"}
SYSTEM = {"role": "system", "content": "Be short."}
ORDER = {"type": "message", "role": "developer", "content": "Be short."}
PICTURE = {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"}
CALL = function_call("c1")
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "In Łódź."}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}


def text(said: str) -> Json:
    return {"type": "input_text", "text": said}


def tool(content: Any, named: str = "c1", **more: Any) -> Json:
    return {"role": "tool", "content": content, "tool_call_id": named, **more}


@each_row(
    ("given", "question"),
    [
        ({}, ""),
        ({"input": "Where?"}, "Where?"),
        ({"input": [SYSTEM, ASK]}, "Where is the lamp?"),
        ({"input": [{"role": "user", "content": [text("One"), PICTURE, text("two")]}]}, "One\ntwo"),
        ({"input": [ASK, REASONING, CALL, RESULT]}, "Where is the lamp?"),
        ({"input": [ASK, output_message("Here."), {**ASK, "content": "And now?"}]}, "And now?"),
        ({"input": [{"type": "message", "role": "user", "content": [PICTURE]}]}, ""),
        ({"input": [None, RESULT]}, ""),
    ],
)
def test_the_question_is_the_last_thing_a_user_said_in_words(given: Json, question: str) -> None:
    assert RESPONSES.last_user_text({"model": "gpt-6", **given}) == question


@each_row(
    ("given", "changed"),
    [
        ({"input": "Where?"}, {"instructions": MEMORY}),
        ({}, {"instructions": MEMORY}),
        ({"prompt": {"id": "p"}, "instructions": None}, {"instructions": MEMORY}),
        ({"input": "?", "instructions": "Short."}, {"instructions": f"Short.\n\n{MEMORY}"}),
        ({"input": [ASK]}, {"input": [ITEM, ASK]}),
        ({"input": [ASK], "instructions": "Short."}, {"input": [ITEM, ASK]}),
        ({"input": []}, {"input": [ITEM]}),
        ({"input": [SYSTEM, ORDER, ASK, ORDER]}, {"input": [SYSTEM, ORDER, ITEM, ASK, ORDER]}),
        ({"input": [RESULT], "previous_response_id": "resp_1"}, {"instructions": MEMORY}),
        ({"input": [ASK], "conversation": "conv_1"}, {"instructions": MEMORY}),
        ({"input": [ASK], "conversation": {"id": "conv_1"}}, {"instructions": MEMORY}),
        ({"input": [ASK], "previous_response_id": None}, {"input": [ITEM, ASK]}),
        ({"input": "?", "instructions": ["odd"]}, {}),
    ],
)
def test_memory_is_an_item_at_the_head_or_part_of_the_instructions(
    given: Json, changed: Json
) -> None:
    assert RESPONSES.add_memory(given, MEMORY) == {**given, **changed}


def test_no_memory_changes_nothing() -> None:
    assert RESPONSES.add_memory({"input": [ASK]}, "") == {"input": [ASK]}


@each_row(
    ("given", "captured"),
    [
        ({"input": "Where is the lamp?"}, [ASK]),
        ({"input": "  "}, []),
        ({"input": [SYSTEM, ORDER, ASK]}, [ASK]),
        ({"input": [ASK, output_message("Here."), ASK]}, [ASK]),
        ({"input": [ASK, REASONING, CALL, RESULT]}, [tool("In Łódź.")]),
        ({"input": [ASK, REASONING, CALL, RESULT, ASK]}, [tool("In Łódź."), ASK]),
        ({"input": [ASK, {"type": "item_reference", "id": "fc_1"}, RESULT]}, [tool("In Łódź.")]),
        ({"input": [ASK, SEARCH, output_message("Here.")]}, []),
        ({"input": [ASK, {"type": "compaction_trigger"}]}, [ASK]),
        ({"input": [RESULT, ASK], "previous_response_id": "r"}, [tool("In Łódź."), ASK]),
        ({"input": [ASK, output_message("Hm."), ASK], "conversation": "c"}, [ASK, ASK]),
        (
            {"input": [{"role": "user", "content": [text("Who?"), PICTURE]}]},
            [{"role": "user", "content": [text("Who?"), PICTURE]}],
        ),
    ],
)
def test_what_is_new_is_what_users_and_tools_said_since_the_last_answer(
    given: Json, captured: list[Json]
) -> None:
    assert RESPONSES.new_messages(given) == captured


@each_row(
    ("item", "message"),
    [
        ({**RESULT, "name": "look"}, tool("In Łódź.", name="look")),
        ({**RESULT, "output": [text("One"), text("two")]}, tool("One\ntwo")),
        ({**RESULT, "output": [text("One"), PICTURE]}, tool([text("One"), PICTURE])),
        ({**RESULT, "output": ""}, tool([{"type": "text", "text": ""}])),
        ({**RESULT, "type": "custom_tool_call_output"}, tool("In Łódź.")),
        (
            {"type": "local_shell_call_output", "id": "c1", "output": "ok"},
            tool("ok"),
        ),
        (
            {
                "type": "shell_call_output",
                "call_id": "c1",
                "output": [
                    {"stdout": "one", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
                    {"stdout": "", "stderr": "bad", "outcome": {"type": "exit", "exit_code": 2}},
                ],
            },
            tool("one\nbad", metadata={"exit_code": 2}),
        ),
        (
            {"type": "apply_patch_call_output", "call_id": "c1", "status": "failed"},
            tool([{"type": "text", "text": ""}], metadata={"is_error": True}),
        ),
        (
            {
                "type": "computer_call_output",
                "call_id": "c1",
                "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA"},
            },
            tool([{"type": "computer_screenshot", "image_url": "(1 kB left out)"}]),
        ),
    ],
)
def test_what_any_tool_gave_back_is_the_tools_message(item: Json, message: Json) -> None:
    assert RESPONSES.new_messages({"input": [CALL, item]}) == [message]


def test_a_search_for_tools_that_the_server_ran_is_no_message() -> None:
    found: Json = {"type": "tool_search_output", "id": "tso_1", "call_id": None, "tools": []}

    assert RESPONSES.new_messages({"input": [found]}) == []


ANSWERS: list[tuple[Json, list[Json]]] = [
    (responses_response(output_message("In Łódź.")), [{"content": "In Łódź."}]),
    (
        responses_response(REASONING, output_message("One", "two"), output_message("Three")),
        [{"content": "One\ntwo\nThree"}],
    ),
    (
        responses_response(output_message("Looking."), CALL, function_call("c2")),
        [{"content": "Looking.", "tool_calls": [chat_call("c1"), chat_call("c2")]}],
    ),
    (responses_response(CALL), [{"content": "", "tool_calls": [chat_call("c1")]}]),
    (responses_response(SEARCH, output_message("Red.")), [{"content": "Red."}]),
    (responses_response(output_message(refusal="I will not.")), [{"content": "I will not."}]),
    (responses_response(output_message("In Ł"), status="incomplete"), [{"content": "In Ł"}]),
    (
        responses_response(
            {"type": "custom_tool_call", "id": "x", "call_id": "c1", "name": "sh", "input": "ls"}
        ),
        [
            {
                "content": "",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "sh", "arguments": "ls"}}
                ],
            }
        ],
    ),
    (responses_response(output_message("Half"), status="failed"), []),
    (responses_response(REASONING), []),
]


@each_row(("answer", "captured"), ANSWERS)
def test_an_answer_is_one_message_whole_or_streamed(answer: Json, captured: list[Json]) -> None:
    expected = [{"role": "assistant", **item, "metadata": {"model": "gpt-6"}} for item in captured]

    assert RESPONSES.reply_messages(answer) == expected
    for size in (1, 7, 1_000):
        events = responses_stream(answer, size=size)
        assert RESPONSES.reply_messages(RESPONSES.assemble_stream(events)) == expected
        assert (
            RESPONSES.reply_messages(RESPONSES.assemble_stream(parse_events(as_sse(events))))
            == expected
        )


@each_row(("answer", "captured"), ANSWERS)
def test_a_stream_whose_last_event_is_missing_or_empty_is_put_together_from_its_items(
    answer: Json, captured: list[Json]
) -> None:
    events = responses_stream(answer)
    empty = {**events[-1].data, "response": {**answer, "output": []}}

    expected = RESPONSES.reply_messages(answer)

    assert (
        RESPONSES.reply_messages(RESPONSES.assemble_stream([*events[:-1], SseEvent("", empty)]))
        == expected
    )
    if answer["status"] != "failed":
        assert RESPONSES.reply_messages(RESPONSES.assemble_stream(events[:-1])) == expected


def test_a_cut_stream_gives_what_had_arrived() -> None:
    events = responses_stream(responses_response(output_message("In Łódź."), CALL))

    assert RESPONSES.reply_messages(RESPONSES.assemble_stream(events[:5]))[0]["content"] == "In Łód"
    cut = RESPONSES.reply_messages(RESPONSES.assemble_stream(events[:-5]))[0]["tool_calls"][0]
    assert cut["id"] == "c1"
    assert LOOK_CALL["arguments"].startswith(cut["function"]["arguments"])


def test_a_call_the_server_answers_itself_is_left_out() -> None:
    call = {"type": "shell_call", "id": "s", "call_id": "c1", "action": {"commands": ["ls"]}}
    result = {"type": "shell_call_output", "id": "o", "call_id": "c1", "output": []}

    own = RESPONSES.reply_messages(responses_response(call))
    servers = RESPONSES.reply_messages(responses_response(call, result, output_message("Done.")))

    assert own[0]["tool_calls"][0]["function"] == {
        "name": "shell",
        "arguments": '{"commands": ["ls"]}',
    }
    assert "tool_calls" not in servers[0]


@each_row(
    "answer",
    [
        None,
        {"error": {"message": "overloaded"}},
        responses_response(status="queued"),
        {"output": {"type": "message"}},
        {"output": [7, {"type": "message", "role": "assistant", "content": 7}]},
        {"output": [{"type": "function_call", "name": "no id"}]},
    ],
)
def test_an_answer_that_says_nothing_gives_no_message(answer: object) -> None:
    assert RESPONSES.reply_messages(answer) == []
