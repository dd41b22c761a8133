"""Dialects accept any JSON: no errors, no changed arguments, only storable messages."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.client.intercept.anthropic_messages import MESSAGES
from recollect.client.intercept.detect_dialect import detect_dialect
from recollect.client.intercept.dialect import Dialect
from recollect.client.intercept.gemini import GEMINI, GEMMA
from recollect.client.intercept.ollama_chat import OLLAMA
from recollect.client.intercept.openai_chat import CHAT
from recollect.client.intercept.openai_responses import RESPONSES
from recollect.client.intercept.sse import SseEvent, parse_events, parse_json_lines
from sample_responses import (
    chat_call,
    chat_response,
    function_call,
    gemini_call,
    gemini_response,
    messages_response,
    ollama_response,
    output_message,
    responses_response,
    tool_use,
)
from sample_streams import (
    chat_stream,
    gemini_stream,
    messages_stream,
    ollama_stream,
    responses_stream,
)

pytestmark = pytest.mark.fuzz

DIALECTS = [CHAT, RESPONSES, MESSAGES, OLLAMA, GEMINI, GEMMA]
STREAMS = {
    "openai-chat": chat_stream(
        chat_response({"content": "In Łódź.", "tool_calls": [chat_call("c1"), chat_call("c2")]})
    ),
    "openai-responses": responses_stream(
        responses_response(output_message("In Łódź.", refusal="No."), function_call("c1"))
    ),
    "anthropic-messages": messages_stream(
        messages_response({"type": "text", "text": "In Łódź."}, tool_use("t1", at="Łódź"))
    ),
    "ollama-chat": ollama_stream(
        ollama_response({"content": "In Łódź.", "tool_calls": [chat_call("c1")]})
    ),
    "gemini": gemini_stream(gemini_response({"text": "In Łódź."}, gemini_call("c1"))),
    "gemma": gemini_stream(gemini_response({"text": "In Łódź."}, gemini_call("c1"))),
}
REQUESTS: list[Any] = [
    {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            {"role": "tool", "tool_call_id": "c1", "name": "look", "content": []},
        ],
        "system": [{"type": "text", "text": "So."}],
        "thread": {"type": "create"},
    },
    {
        "input": [{"role": "developer", "content": [{"type": "input_text", "text": "So."}]}],
        "instructions": "So.",
        "previous_response_id": "resp_1",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "Red."},
    {"type": "shell_call_output", "output": [{"stdout": "Red.", "outcome": {"exit_code": 1}}]},
    {"type": "tool_result", "tool_use_id": "t1", "content": "Red.", "is_error": True},
    {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
    {"type": "custom", "custom": {"name": "sh", "input": "ls"}},
    {"function_call": {"arguments": "{}"}, "audio": {"transcript": "Red."}, "status": "failed"},
    {"type": "error", "error": "<private>diary</private>", "file_data": "data:a/b;base64,AA"},
    {
        "contents": [
            {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA"}}]},
            {"functionResponse": {"id": "c1", "name": "look", "response": {"result": "Red."}}},
        ],
        "systemInstruction": {"parts": [{"text": "So."}]},
        "generationConfig": {"responseModalities": ["TEXT"]},
    },
    {"cachedContent": "c", "tool_name": "look", "images": ["AA"], "thought": True},
    {"delta": {"type": "citations_delta", "citation": {}}, "role": "function"},
]


def names_in(value: object) -> set[str]:
    """Return the names of all fields in some JSON."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = set(value) if isinstance(value, dict) else set[str]()
    return own.union(*map(names_in, inner))


def texts_in(value: object) -> set[str]:
    """Return all texts in some JSON."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ({value} if isinstance(value, str) else set[str]()).union(*map(texts_in, inner))


SEEN = [*REQUESTS, *(event.data for events in STREAMS.values() for event in events)]
NAMES = sorted(names_in(SEEN))
WORDS = sorted(texts_in(SEEN))
KEYS = st.sampled_from(NAMES) | st.text(max_size=5)
TEXTS = st.sampled_from(WORDS) | st.text(max_size=9) | st.sampled_from(["\ud800", "\x00", " "])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
# JSON of the words that the dialects look for, so that it gets past the first check.
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=40,
)
MESSAGE_LISTS = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "developer"])},
        optional={
            "content": JSON,
            "parts": JSON,
            "tool_calls": JSON,
            "tool_call_id": JSON,
            "type": TEXTS,
        },
    )
    | JSON,
    max_size=6,
)
BODIES = JSON | st.fixed_dictionaries(
    {},
    optional={
        "messages": MESSAGE_LISTS,
        "input": MESSAGE_LISTS | JSON,
        "contents": MESSAGE_LISTS | JSON,
        "system": JSON,
        "instructions": JSON,
        "previous_response_id": JSON,
    },
)
EVENTS = st.lists(st.builds(SseEvent, TEXTS, JSON), max_size=8)

each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


def same(first: object, other: object) -> bool:
    """Compare as text: a number that is none does not equal itself."""
    return repr(first) == repr(other)


def is_one_longer(many: list[Any], fewer: list[Any]) -> bool:
    """Say whether taking one out of *many* gives *fewer*."""
    return any(same([*many[:at], *many[at + 1 :]], fewer) for at in range(len(many)))


@each_dialect
@given(body=BODIES, text=TEXTS)
def test_a_request_is_never_changed_and_never_raises(
    dialect: Dialect, body: Any, text: str
) -> None:
    before = deepcopy(body)

    dialect.last_user_text(body)
    dialect.new_messages(body)
    dialect.add_memory(body, text)
    dialect.reply_messages(body)
    detect_dialect("/v1/messages", {"anthropic-version": "x"}, body)

    assert same(body, before)


@each_dialect
def test_nesting_without_end_is_borne(dialect: Dialect) -> None:
    deep: Any = {"type": "odd"}
    for _ in range(50_000):
        deep = {"content": [deep]}
    message = {"role": "user", "content": [deep, "word"]}
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": deep}
    call = {"type": "function_call", "call_id": "t1", "name": "look", "arguments": deep}
    function = {"id": "t1", "function": {"name": "look", "arguments": deep}}
    answer = {
        "choices": [{"message": {"tool_calls": [function]}}],
        "output": [call],
        "content": [use],
        "message": {"tool_calls": [function]},
        "candidates": [
            {"content": {"parts": [{"functionCall": {"id": "t1", "name": "look", "args": deep}}]}}
        ],
    }
    content = {"role": "user", "parts": [deep, "word"]}

    (captured,) = dialect.new_messages(
        {"messages": [message], "input": [message], "contents": [content]}
    )
    (called,) = dialect.reply_messages(answer)

    assert "nested too deep" in str(captured["content"])
    assert called["tool_calls"][0] == {
        "id": "t1",
        "type": "function",
        "function": {"name": "look", "arguments": ""},
    }


@each_dialect
@given(events=EVENTS)
def test_a_stream_is_never_changed_and_never_raises(
    dialect: Dialect, events: list[SseEvent]
) -> None:
    before = deepcopy(events)

    answer = dialect.assemble_stream(events)
    told = deepcopy(answer)
    dialect.reply_messages(answer)

    assert same(events, before)
    assert same(answer, told)


@given(raw=st.binary() | st.text().map(lambda text: f"data: {text}\n\n".encode()))
def test_any_bytes_are_read_as_events(raw: bytes) -> None:
    list(parse_events(raw))
    list(parse_json_lines(raw))


@given(messages=MESSAGE_LISTS, text=TEXTS)
def test_memory_is_one_message_more_and_the_others_stay_in_order(
    messages: list[Any], text: str
) -> None:
    told = CHAT.add_memory({"messages": messages}, text)["messages"]

    assert is_one_longer(told, messages) if text.strip() else same(told, messages)


@given(items=MESSAGE_LISTS, rest=st.dictionaries(st.sampled_from(NAMES), JSON), text=TEXTS)
def test_memory_is_one_item_more_or_longer_instructions(
    items: list[Any], rest: dict[str, Any], text: str
) -> None:
    body = {**rest, "input": items}

    told = RESPONSES.add_memory(body, text)

    changed = {key for key in {*told, *body} if not same(told.get(key), body.get(key))}
    assert changed <= {"input"} or changed <= {"instructions"}
    if "input" in changed:
        assert is_one_longer(told["input"], items)
    elif changed:
        assert told["instructions"].startswith(body.get("instructions") or text)


@given(rest=st.dictionaries(st.sampled_from(NAMES), JSON), text=TEXTS)
def test_memory_only_makes_the_system_prompt_longer(rest: dict[str, Any], text: str) -> None:
    told = MESSAGES.add_memory(rest, text)

    assert all(same(told.get(key), rest.get(key)) for key in {*told, *rest} - {"system"})
    before, after = rest.get("system"), told.get("system")
    if isinstance(before, str | list) and before:
        assert isinstance(after, str | list)
        assert same(after[: len(before)], before)


@each_dialect
def test_any_beginning_of_a_stream_says_the_beginning_of_its_answer(dialect: Dialect) -> None:
    events = STREAMS[dialect.name]
    (whole,) = dialect.reply_messages(dialect.assemble_stream(events))
    ends = len(events) - 1  # the last event of a response brings it whole

    for end in range(ends):
        for captured in dialect.reply_messages(dialect.assemble_stream(events[:end])):
            assert whole["content"].startswith(captured["content"])
            for call, full in zip(
                captured.get("tool_calls", []), whole["tool_calls"], strict=False
            ):
                assert call["id"] == full["id"]


SPEECH = st.text(max_size=20)
CALLED = st.lists(
    st.dictionaries(SPEECH, st.none() | st.integers() | SPEECH, max_size=3), max_size=3
)


@given(text=SPEECH, calls=CALLED, size=st.integers(1, 9))
def test_a_stream_says_what_its_whole_answer_says(text: str, calls: list[Any], size: int) -> None:
    functions = [{"name": "look", "arguments": json.dumps(arguments)} for arguments in calls]
    numbered = list(enumerate(functions))
    chat = chat_response(
        {
            "content": text,
            "tool_calls": [{**chat_call(f"c{n}"), "function": f} for n, f in numbered],
        }
    )
    response = responses_response(
        output_message(text), *({**function_call(f"c{n}"), **f} for n, f in numbered)
    )
    uses = [{**tool_use(f"c{n}"), "input": arguments} for n, arguments in enumerate(calls)]
    message = messages_response({"type": "text", "text": text}, *uses)
    asked = [{"function": {"name": "look", "arguments": arguments}} for arguments in calls]
    ollama = ollama_response({"content": text, "tool_calls": asked})
    named = [{"functionCall": {"name": "look", "args": arguments}} for arguments in calls]
    gemini = gemini_response({"text": text}, *named)

    for dialect, answer, events in (
        (CHAT, chat, chat_stream(chat, size=size)),
        (RESPONSES, response, responses_stream(response, size=size)[:-1]),
        (MESSAGES, message, messages_stream(message, size=size)),
        (OLLAMA, ollama, ollama_stream(ollama, size=size)),
        (GEMINI, gemini, gemini_stream(gemini, size=size)),
    ):
        assert dialect.reply_messages(dialect.assemble_stream(events)) == dialect.reply_messages(
            answer
        )


@each_dialect
@given(draw=st.data())
def test_a_stream_with_events_lost_or_out_of_order_never_raises(
    dialect: Dialect, draw: st.DataObject
) -> None:
    events = draw.draw(st.lists(st.sampled_from(STREAMS[dialect.name]), max_size=20))

    dialect.reply_messages(dialect.assemble_stream(events))


@pytest.fixture(scope="module")
def rec() -> Iterator[recollect.LocalRecollect]:
    with recollect.open(":memory:", embedding_backend="none") as opened:
        yield opened


@each_dialect
@given(body=BODIES, events=EVENTS)
def test_a_store_takes_whatever_was_said(
    rec: recollect.LocalRecollect, dialect: Dialect, body: Any, events: list[SseEvent]
) -> None:
    messages = [
        *dialect.new_messages(body),
        *dialect.reply_messages(body),
        *dialect.reply_messages(dialect.assemble_stream(events)),
    ]
    conversation = rec.conversations.start(agent="listener")

    stored = rec.conversations.append_many(conversation, messages)

    assert [message.role.value for message in stored] == [message["role"] for message in messages]
