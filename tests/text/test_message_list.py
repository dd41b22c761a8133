"""Lists of messages: an invalid message raises an error from Python and is skipped in a file."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.errors import InvalidInput
from recollect.text.transcripts.message_list import transcript_from_messages
from recollect.text.transcripts.transcript_reader import read_transcripts
from tables import each_row

AT = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)


def parse_messages(*messages: Mapping[str, object]) -> tuple[TranscriptMessage, ...]:
    return transcript_from_messages(messages).messages


@each_row(
    ("role", "voice", "speaker"),
    [
        ("user", Voice.USER, ""),
        ("human", Voice.USER, ""),
        (" User ", Voice.USER, ""),
        ("assistant", Voice.ASSISTANT, ""),
        ("ai", Voice.ASSISTANT, ""),
        ("model", Voice.ASSISTANT, ""),
        ("gemini", Voice.ASSISTANT, ""),
        ("tool", Voice.TOOL, ""),
        ("function", Voice.TOOL, ""),
        ("system", Voice.SYSTEM, ""),
        ("developer", Voice.SYSTEM, ""),
        ("info", Voice.SYSTEM, ""),
        ("warning", Voice.SYSTEM, ""),
        ("error", Voice.SYSTEM, ""),
        ("Reviewer", Voice.OTHER, "Reviewer"),
    ],
)
def test_each_role_has_its_voice(role: str, voice: Voice, speaker: str) -> None:
    assert parse_messages({"role": role, "content": "Hi"}) == (
        TranscriptMessage(voice, "Hi", speaker),
    )


@each_row("key", ["name", "speaker"])
@each_row("role", ["user", "tool", "reviewer"])
def test_a_name_is_the_speaker(role: str, key: str) -> None:
    (message,) = parse_messages({"role": role, "content": "Hi", key: "Ana"})

    assert message.speaker == "Ana"


@each_row("key", ["created_at", "timestamp", "at", "time"])
@each_row(
    "value",
    [
        "2026-05-08T10:00:00Z",
        "2026-05-08 10:00",
        AT,
        AT.replace(tzinfo=None),
        AT.astimezone(timezone(timedelta(hours=2))),
        AT.timestamp(),
        int(AT.timestamp() * 1000),
    ],
    ids=str,
)
def test_a_time_may_be_written_in_many_ways(key: str, value: object) -> None:
    transcript = transcript_from_messages([{"role": "user", "content": "Hi", key: value}])

    assert transcript.messages[0].at == AT
    assert transcript.started_at == AT


def test_the_first_known_time_is_the_start() -> None:
    transcript = transcript_from_messages(
        [
            {"role": "user", "content": "Hi", "at": "soon"},
            {"role": "user", "content": "Ho", "at": AT},
        ]
    )

    assert [message.at for message in transcript.messages] == [None, AT]
    assert transcript.started_at == AT


def test_the_parts_of_each_interface_are_understood() -> None:
    assert parse_messages(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "one"},
                {"type": "input_text", "text": "two"},
                {"type": "image_url", "image_url": {"url": "data:…"}},
                {"type": "text", "text": {"value": "three", "annotations": []}},
                "four",
            ],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "five"}]},
        {"role": "model", "parts": [{"text": "six"}, {"text": "hm", "thought": True}]},
        {"role": "assistant", "content": {"type": "text", "text": "seven"}},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "eight"}]},
    ) == (
        TranscriptMessage(Voice.PASTED, "one"),
        TranscriptMessage(Voice.PASTED, "two"),
        TranscriptMessage(Voice.PASTED, "three"),
        TranscriptMessage(Voice.PASTED, "four"),
        TranscriptMessage(Voice.ASSISTANT, "five"),
        TranscriptMessage(Voice.ASSISTANT, "six"),
        TranscriptMessage(Voice.ASSISTANT, "seven"),
        TranscriptMessage(Voice.ASSISTANT, "eight"),
    )


def test_tools_of_the_anthropic_interface_are_the_tools() -> None:
    assert parse_messages(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "1", "name": "Read", "input": {"path": "a"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "b"}]},
    ) == (
        TranscriptMessage(Voice.ASSISTANT, "Let me look."),
        TranscriptMessage(Voice.TOOL, 'Read {"path": "a"}', "Read"),
        TranscriptMessage(Voice.TOOL, "b"),
    )


def test_tools_of_the_openai_interface_are_the_tools() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"p": 1}'}}

    assert parse_messages(
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "b"}]},
        {"role": "assistant", "function_call": {"name": "old", "arguments": "not json"}},
        {"role": "function", "name": "old", "content": "c"},
        {"role": "tool", "content": {"degrees": 21}},
        {"role": "tool", "content": ["one", {"type": "image"}, "two"]},
        {"role": "assistant", "content": None, "refusal": "I cannot."},
        {"type": "function_call", "name": "new", "arguments": "{}", "call_id": "2"},
        {"type": "function_call_output", "call_id": "2", "output": "d"},
    ) == (
        TranscriptMessage(Voice.TOOL, 'read {"p": 1}', "read"),
        TranscriptMessage(Voice.TOOL, "b"),
        TranscriptMessage(Voice.TOOL, "old not json", "old"),
        TranscriptMessage(Voice.TOOL, "c", "old"),
        TranscriptMessage(Voice.TOOL, '{"degrees": 21}'),
        TranscriptMessage(Voice.TOOL, "one\ntwo"),
        TranscriptMessage(Voice.ASSISTANT, "I cannot."),
        TranscriptMessage(Voice.TOOL, "new", "new"),
        TranscriptMessage(Voice.TOOL, "d"),
    )


def test_blank_texts_are_left_out() -> None:
    assert (
        parse_messages(
            {"role": "user", "content": ""},
            {"role": "user", "content": " \n"},
            {"role": "user", "content": []},
            {"role": "user", "content": [{"type": "text", "text": ""}]},
        )
        == ()
    )


def test_an_empty_list_is_an_empty_transcript() -> None:
    assert transcript_from_messages([]) == Transcript(messages=(), format="messages")


def test_any_mapping_and_any_iterable_is_accepted() -> None:
    messages: Any = (MappingProxyType({"role": "user", "content": text}) for text in "ab")

    assert [message.text for message in transcript_from_messages(messages).messages] == ["a", "b"]


@each_row(
    ("message", "problem"),
    [
        ("Hi", r"messages\[1\] is of type str; it must be a mapping"),
        (None, r"messages\[1\] is of type NoneType"),
        (("user", "Hi"), r"messages\[1\] is of type tuple"),
        ({"content": "Hi"}, r"messages\[1\] has no role"),
        ({"role": " ", "content": "Hi"}, r"messages\[1\] has no role"),
        ({"role": 7, "content": "Hi"}, r"messages\[1\] has no role"),
        ({"role": ["user"], "content": "Hi"}, r"messages\[1\] has no role"),
        ({"role": "user"}, r"messages\[1\] has no content"),
        ({"role": "user", "content": None, "tool_calls": []}, r"messages\[1\] has no content"),
        ({"role": "user", "content": 7}, r"messages\[1\] has content of type int"),
        ({"role": "user", "content": b"Hi"}, r"messages\[1\] has content of type bytes"),
        ({"role": "user", "content": ["Hi", 7]}, r"messages\[1\] has content\[1\] of type int"),
    ],
)
def test_an_invalid_message_is_reported_with_its_index(message: Any, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        transcript_from_messages([{"role": "user", "content": "Hi"}, message])


@each_row("messages", ["Hi", b"Ho", {"role": "user", "content": "Hi"}, None, 7])
def test_messages_must_be_a_list(messages: Any) -> None:
    with pytest.raises(InvalidInput, match="give a list"):
        transcript_from_messages(messages)


def test_arguments_that_cannot_be_serialised_are_left_out() -> None:
    circle: dict[str, object] = {}
    circle["self"] = circle
    calls = [
        {"name": "circle", "args": circle},
        {"name": "keys", "args": {1: "a", "b": 2}},
        {"name": "number", "args": {"n": 10**5000}},
        {"name": "object", "args": {"o": object()}},
        {"name": "mapping", "args": MappingProxyType({"m": MappingProxyType({"a": 1})})},
        {"name": "nan", "args": {"n": float("nan")}},
        {"name": ["odd"], "args": {"a": 1}},
    ]

    assert [
        message.text for message in parse_messages({"role": "assistant", "tool_calls": calls})
    ] == [
        "circle …",
        "keys …",
        "number …",
        'object {"o": "<object>"}',
        'mapping {"m": {"a": 1}}',
        'nan {"n": NaN}',
        '{"a": 1}',
    ]


def test_from_a_file_what_cannot_be_understood_is_skipped() -> None:
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": 7},
        {"role": None, "content": "Who?"},
        {"note": "no message"},
        {"role": "assistant", "content": "Hello"},
    ]

    for text in (json.dumps(messages), "\n".join(json.dumps(item) for item in messages)):
        (transcript,) = read_transcripts(text)
        assert [item.text for item in transcript.messages] == ["Hi", "Hello"]


def test_objects_that_hold_messages_are_conversations_of_their_own() -> None:
    lines = [
        {"id": "1", "title": "One", "cwd": "/app", "messages": [{"role": "user", "content": "a"}]},
        {"session_id": "2", "messages": [{"role": "user", "content": "b"}, 7, None]},
        {"id": "3", "messages": [{"role": "user", "content": ""}]},
    ]
    first, second = read_transcripts("\n".join(json.dumps(item) for item in lines))

    assert (first.session, first.title, first.folder) == ("1", "One", "/app")
    assert (second.session, second.messages) == ("2", (TranscriptMessage(Voice.USER, "b"),))
