"""The dialect of Ollama's own chat API."""

from typing import Any

from recollect.client.intercept.ollama_chat import OLLAMA
from recollect.client.intercept.sse import SseEvent, parse_json_lines
from recollect.client.intercept.visible_texts import visible_texts
from tables import each_row

Json = dict[str, Any]

SYSTEM = {"role": "system", "content": "Be short."}
ASK = {"role": "user", "content": "Where is the lamp?"}
CALL = {"function": {"name": "look", "arguments": {"at": "Łódź"}}}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": "In Łódź.", "tool_name": "look"}
PICTURE = "iVBORw0KGgo" * 1_000


def body(*messages: object) -> Json:
    return {"model": "llama3", "messages": list(messages)}


def test_memory_is_a_system_message_after_those_of_the_caller() -> None:
    told = OLLAMA.add_memory(body(SYSTEM, ASK, CALLS, RESULT), "M")

    assert told == body(SYSTEM, {"role": "system", "content": "M"}, ASK, CALLS, RESULT)
    assert OLLAMA.last_user_text(told) == "Where is the lamp?"
    assert visible_texts(told) == ["Be short.", "M", "Where is the lamp?", "In Łódź."]


@each_row(
    ("messages", "captured"),
    [
        ([SYSTEM, ASK], [ASK]),
        ([ASK, CALLS, RESULT], [{"role": "tool", "content": "In Łódź.", "name": "look"}]),
        ([ASK, {"role": "assistant", "content": "On the"}], [ASK]),
        ([ASK, {"role": "assistant", "content": "There."}, ASK], [ASK]),
        ([None, 7, {"role": "user"}], []),
    ],
)
def test_what_follows_the_last_reply_is_captured(messages: list[Any], captured: list[Json]) -> None:
    assert OLLAMA.new_messages(body(*messages)) == captured


def test_an_image_beside_the_text_is_captured_without_its_bytes() -> None:
    [message] = OLLAMA.new_messages(body({**ASK, "images": [PICTURE]}))

    assert message["content"][0] == {"type": "text", "text": "Where is the lamp?"}
    assert message["content"][1]["type"] == "image"
    assert PICTURE not in str(message)


def test_a_stream_adds_up_to_the_response() -> None:
    lines = (
        b'{"model":"llama3","message":{"role":"assistant","content":"In "},"done":false}\n'
        b'{"model":"llama3","message":{"role":"assistant","content":"Paris.","thinking":"Hm."},'
        b'"done":false}\n'
        b'{"model":"llama3","message":{"content":"","tool_calls":[{"function":'
        b'{"name":"look","arguments":{"at":1}}}]},"done":false}\n'
        b'{"model":"llama3","message":{"content":""},"done":true,"done_reason":"stop"}\n{"mod'
    )

    [reply] = OLLAMA.reply_messages(OLLAMA.assemble_stream(parse_json_lines(lines)))

    assert reply == {
        "role": "assistant",
        "content": "In Paris.",
        "tool_calls": [
            {"type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
        ],
        "metadata": {"model": "llama3"},
    }


def test_an_error_in_a_stream_is_no_reply() -> None:
    events = [SseEvent("", {"error": "model runner has stopped"})]

    assert OLLAMA.reply_messages(OLLAMA.assemble_stream(events)) == []
