"""Whatever is read: one kind of error, no word of the user lost, no more time than it is long."""

import json
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.transcript import Voice
from recollect.errors import InvalidInput
from recollect.text.transcripts.message_list import transcript_from_messages
from recollect.text.transcripts.transcript_reader import read_transcripts
from tables import each_row

pytestmark = pytest.mark.fuzz

WORDS = "Use tabs in Makefiles. "

CLAUDE_CODE: list[object] = [
    {"type": "summary", "summary": "Tabs", "leafUuid": "u1"},
    {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "cwd": "/app",
        "timestamp": "2026-05-08T10:00:00Z",
        "isSidechain": False,
        "message": {"content": "Hi <system-reminder>x</system-reminder>"},
    },
    {
        "type": "assistant",
        "sessionId": "s1",
        "message": {
            "model": "m",
            "content": [
                {"type": "text", "text": "Hello"},
                {"type": "tool_use", "name": "Read", "input": {"path": "a"}},
                {"type": "tool_result", "content": [{"type": "text", "text": "b"}]},
            ],
        },
    },
    {"type": "attachment", "sessionId": "s1", "attachment": {"type": "queued_command"}},
]
CODEX: list[object] = [
    {"type": "session_meta", "timestamp": "2026-05-08", "payload": {"id": "s1", "cwd": "/app"}},
    {"type": "response_item", "payload": {"role": "user", "content": [{"text": "Hi"}]}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "Hi"}},
    {
        "type": "response_item",
        "payload": {"type": "function_call", "name": "ls", "arguments": "{}"},
    },
    {"type": "response_item", "payload": {"type": "function_call_output", "output": "a"}},
]
GEMINI: list[object] = [
    {
        "sessionId": "s1",
        "startTime": "2026-05-08T10:00:00Z",
        "messages": [
            {"id": "1", "type": "user", "content": [{"text": "Hi"}], "timestamp": 1},
            {
                "id": "2",
                "type": "gemini",
                "content": "Hello",
                "toolCalls": [
                    {
                        "name": "ls",
                        "args": {"p": 1},
                        "result": [{"functionResponse": {"response": {"output": "a"}}}],
                    }
                ],
            },
        ],
    }
]
CHATGPT: list[object] = [
    {
        "title": "Tabs",
        "create_time": 1_700_000_000.5,
        "current_node": "b",
        "mapping": {
            "a": {"parent": None, "children": ["b"], "message": None},
            "b": {
                "parent": "a",
                "children": [],
                "message": {
                    "author": {"role": "user", "name": None},
                    "recipient": "all",
                    "metadata": {},
                    "create_time": 1_700_000_000,
                    "content": {"content_type": "text", "parts": ["Hi"]},
                },
            },
        },
    }
]
MESSAGES: list[object] = [
    {"role": "user", "content": "Hi", "created_at": 1_700_000_000},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}],
    },
    {"role": "tool", "content": [{"type": "text", "text": "a"}]},
    {"messages": [{"role": "user", "content": "Hi"}]},
]
ALL = [CLAUDE_CODE, CODEX, GEMINI, CHATGPT, MESSAGES]

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=None), max_size=8)
    | st.sampled_from(["user", "assistant", "type", "<system-reminder>", "Ana: hi", 10**400]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "text", "message", "parts", "payload"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def paths(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Return the path to every value inside *value*."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(item_path for key, item in inner for item_path in paths(item, (*path, key)))]


def with_value(value: object, path: tuple[object, ...], new: object) -> object:
    """Return *value* with *new* at *path*."""
    if not path:
        return new
    key, *rest = path
    if isinstance(value, dict):
        return {k: with_value(v, tuple(rest), new) if k == key else v for k, v in value.items()}
    assert isinstance(value, list)
    return [with_value(v, tuple(rest), new) if i == key else v for i, v in enumerate(value)]


@st.composite
def mutated_sample(draw: st.DrawFn) -> list[object]:
    sample: object = draw(st.sampled_from(ALL))
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from(paths(sample)[1:] or [()]))
        sample = with_value(sample, way, draw(anything))
    return sample if isinstance(sample, list) else [sample]


def as_list(records: list[object]) -> str:
    return json.dumps(records)


def as_lines(records: list[object]) -> str:
    return "\n".join(json.dumps(record) for record in records)


def assert_readable(text: str) -> None:
    try:
        transcripts = read_transcripts(text)
    except InvalidInput:
        assert not text.lstrip("\ufeff").strip()
        return
    for transcript in transcripts:
        assert transcript.messages
        assert transcript.format
        for message in transcript.messages:
            assert message.text.strip()
            assert isinstance(message.voice, Voice)
            assert isinstance(message.speaker, str)


@given(mutated_sample(), st.sampled_from([as_list, as_lines]))
def test_a_sample_with_odd_values_anywhere_is_read(
    records: list[object], form: Callable[[list[object]], str]
) -> None:
    assert_readable(form(records))


@given(st.sampled_from(ALL), st.data())
def test_a_sample_with_pieces_cut_out_or_put_in_is_read(
    records: list[object], data: st.DataObject
) -> None:
    text = as_lines(records)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(st.text(st.characters(categories=None), max_size=5))

    assert_readable(text[:start] + new + text[end:])


@given(st.text(st.characters(categories=None)) | st.text("Ab:#*[]()0 \n`：{}", max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert_readable(text)


@given(st.lists(anything, max_size=4))
def test_any_list_is_taken_or_refused(messages: list[object]) -> None:
    with suppress(InvalidInput):
        transcript_from_messages(messages)  # type: ignore[arg-type]


# Without the marks by which programs part their own words from the user's.
spoken = st.text(st.characters(codec="utf-8", exclude_characters="<#-"), min_size=1)


@pytest.mark.parametrize("sample", ALL, ids=["claude-code", "codex", "gemini", "chatgpt", "list"])
@pytest.mark.parametrize("form", [as_list, as_lines])
@given(words=spoken.filter(str.strip))
def test_what_the_user_said_is_found_in_what_is_read(
    sample: list[object], form: Callable[[list[object]], str], words: str
) -> None:
    path = next(path for path in paths(sample) if str(value_at(sample, path)).startswith("Hi"))
    text = form(with_value(sample, path, words))  # type: ignore[arg-type]

    texts = [
        message.text for transcript in read_transcripts(text) for message in transcript.messages
    ]
    assert words in texts


def value_at(value: object, path: tuple[object, ...]) -> object:
    for key in path:
        value = value[key]  # type: ignore[index]
    return value


@given(st.lists(st.text("ab .\n", min_size=1).filter(str.strip), min_size=2))
def test_what_is_said_in_a_dialogue_is_found_in_what_is_read(texts: list[str]) -> None:
    labels = ["User", "Assistant"] * len(texts)
    text = "\n".join(f"{label}: {words}" for label, words in zip(labels, texts, strict=False))
    (transcript,) = read_transcripts(text)

    assert [message.text for message in transcript.messages] == [text.strip() for text in texts]


@given(st.text(st.characters(codec="utf-8", exclude_characters=":：#*")))
def test_no_character_of_a_text_without_labels_is_lost(text: str) -> None:
    (transcript,) = read_transcripts("Prose. " + text)

    assert [message.text for message in transcript.messages] == ["Prose. " + text]


HOSTILE = {
    "labels": "A:\n",
    "names": "A ",
    "turns": "Ana: x\nBen: y\n",
    "capitals": "A",
    "colons": ":",
    "stars": "**",
    "headings": "# ",
    "brackets": "[1:1",
    "times": "[2026-05-08 10:12] ",
    "parentheses": "Ana (",
    "fences": "```\n",
    "braces": "{\n",
    "spaces": " x",
    "quotes": '{"a":"',
}


@each_row("piece", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))

    assert seconds(lambda: read_transcripts(text)) < 10


TAGS = [
    "<system-reminder>",
    "</system-reminder>",
    "<command-name>",
    "<image ",
    "<user-memory-input>",
]


@each_row("tag", TAGS)
def test_hostile_tags_cost_no_more_than_their_length(tag: str) -> None:
    content = tag * (500_000 // len(tag))
    claude_code = {"type": "user", "message": {"content": content}}
    codex = {"type": "response_item", "payload": {"role": "user", "content": content}}

    assert seconds(lambda: read_transcripts(json.dumps(claude_code))) < 10
    assert seconds(lambda: read_transcripts(json.dumps(codex))) < 10


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
