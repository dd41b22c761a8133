"""Lists of messages: from Python a mistake is told, from a file it is skipped."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.errors import InvalidInput
from recollect.text.transcripts.message_list import transcript_from_messages
from recollect.text.transcripts.transcript_reader import read_transcripts

AT = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)


def said(*messages: Mapping[str, object]) -> tuple[Said, ...]:
    return transcript_from_messages(messages).said


@pytest.mark.parametrize(
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
    assert said({"role": role, "content": "Hi"}) == (Said(voice, "Hi", speaker),)


@pytest.mark.parametrize("key", ["name", "speaker"])
@pytest.mark.parametrize("role", ["user", "tool", "reviewer"])
def test_a_name_is_the_speaker(role: str, key: str) -> None:
    (one,) = said({"role": role, "content": "Hi", key: "Ana"})

    assert one.speaker == "Ana"


@pytest.mark.parametrize("key", ["created_at", "timestamp", "at", "time"])
@pytest.mark.parametrize(
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
def test_a_time_may_be_told_in_many_ways(key: str, value: object) -> None:
    transcript = transcript_from_messages([{"role": "user", "content": "Hi", key: value}])

    assert transcript.said[0].at == AT
    assert transcript.started_at == AT


def test_the_first_known_time_is_the_start() -> None:
    transcript = transcript_from_messages(
        [
            {"role": "user", "content": "Hi", "at": "soon"},
            {"role": "user", "content": "Ho", "at": AT},
        ]
    )

    assert [one.at for one in transcript.said] == [None, AT]
    assert transcript.started_at == AT


def test_the_parts_of_each_interface_are_understood() -> None:
    assert said(
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
        Said(Voice.USER, "one"),
        Said(Voice.USER, "two"),
        Said(Voice.USER, "three"),
        Said(Voice.USER, "four"),
        Said(Voice.ASSISTANT, "five"),
        Said(Voice.ASSISTANT, "six"),
        Said(Voice.ASSISTANT, "seven"),
        Said(Voice.ASSISTANT, "eight"),
    )


def test_tools_of_the_anthropic_interface_are_the_tools() -> None:
    assert said(
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
        Said(Voice.ASSISTANT, "Let me look."),
        Said(Voice.TOOL, 'Read {"path": "a"}', "Read"),
        Said(Voice.TOOL, "b"),
    )


def test_tools_of_the_openai_interface_are_the_tools() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"p": 1}'}}

    assert said(
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
        Said(Voice.TOOL, 'read {"p": 1}', "read"),
        Said(Voice.TOOL, "b"),
        Said(Voice.TOOL, "old not json", "old"),
        Said(Voice.TOOL, "c", "old"),
        Said(Voice.TOOL, '{"degrees": 21}'),
        Said(Voice.TOOL, "one\ntwo"),
        Said(Voice.ASSISTANT, "I cannot."),
        Said(Voice.TOOL, "new", "new"),
        Said(Voice.TOOL, "d"),
    )


def test_blank_texts_are_left_out() -> None:
    assert (
        said(
            {"role": "user", "content": ""},
            {"role": "user", "content": " \n"},
            {"role": "user", "content": []},
            {"role": "user", "content": [{"type": "text", "text": ""}]},
        )
        == ()
    )


def test_no_messages_are_a_transcript_in_which_nothing_is_said() -> None:
    assert transcript_from_messages([]) == Transcript(said=(), format="messages")


def test_any_mapping_and_any_iterable_will_do() -> None:
    messages: Any = (MappingProxyType({"role": "user", "content": text}) for text in "ab")

    assert [one.text for one in transcript_from_messages(messages).said] == ["a", "b"]


@pytest.mark.parametrize(
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
def test_a_mistake_is_told_with_its_place(message: Any, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        transcript_from_messages([{"role": "user", "content": "Hi"}, message])


@pytest.mark.parametrize("messages", ["Hi", b"Ho", {"role": "user", "content": "Hi"}, None, 7])
def test_messages_must_be_a_list(messages: Any) -> None:
    with pytest.raises(InvalidInput, match="give a list"):
        transcript_from_messages(messages)


def test_arguments_that_cannot_be_told_are_left_out() -> None:
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

    assert [one.text for one in said({"role": "assistant", "tool_calls": calls})] == [
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

    for text in (json.dumps(messages), "\n".join(json.dumps(one) for one in messages)):
        (transcript,) = read_transcripts(text)
        assert [one.text for one in transcript.said] == ["Hi", "Hello"]


def test_objects_that_hold_messages_are_conversations_of_their_own() -> None:
    lines = [
        {"id": "1", "title": "One", "cwd": "/app", "messages": [{"role": "user", "content": "a"}]},
        {"session_id": "2", "messages": [{"role": "user", "content": "b"}, 7, None]},
        {"id": "3", "messages": [{"role": "user", "content": ""}]},
    ]
    first, second = read_transcripts("\n".join(json.dumps(one) for one in lines))

    assert (first.session, first.title, first.place) == ("1", "One", "/app")
    assert (second.session, second.said) == ("2", (Said(Voice.USER, "b"),))
