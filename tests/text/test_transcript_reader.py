"""The format of a transcript is detected from its content, and no text breaks the reader."""

import json
from datetime import UTC, datetime

import pytest

from conftest import DATA
from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.errors import InvalidInput
from recollect.text.transcripts.json_fields import parse_time
from recollect.text.transcripts.transcript_reader import parse_transcripts, read_transcripts
from tables import each_row

SAMPLES = DATA / "transcripts"

CLAUDE_CODE = '{"type":"user","message":{"content":"Use tabs."},"sessionId":"s1"}'
CODEX = '{"type":"response_item","payload":{"role":"user","content":[{"text":"Use tabs."}]}}'
GEMINI = '{"sessionId":"s1","messages":[{"type":"user","content":"Use tabs."}]}'
CHATGPT = (
    '{"mapping":{"a":{"message":{"author":{"role":"user"},'
    '"content":{"content_type":"text","parts":["Use tabs."]}}}}}'
)
MESSAGES = '[{"role":"user","content":"Use tabs."}]'
DIALOGUE = "User: Use tabs.\nAssistant: I will."
TEXT = "Use tabs."


def only(text: str) -> Transcript:
    (transcript,) = read_transcripts(text)
    return transcript


@each_row(
    ("text", "form"),
    [
        (CLAUDE_CODE, "claude-code"),
        ('{"loglines":[' + CLAUDE_CODE + "]}", "claude-code"),
        (f"[{CLAUDE_CODE}]", "claude-code"),
        (CODEX, "codex"),
        (GEMINI, "gemini"),
        (CHATGPT, "chatgpt"),
        (f"[{CHATGPT}]", "chatgpt"),
        (MESSAGES, "messages"),
        ('{"messages":' + MESSAGES + "}", "messages"),
        (DIALOGUE, "dialogue"),
        (TEXT, "text"),
    ],
)
def test_each_format_is_recognised_by_its_shape(text: str, form: str) -> None:
    transcript = only(text)

    voice = Voice.PASTED if form == "dialogue" else Voice.USER  # nobody vouches for its labels
    assert transcript.format == form
    assert transcript.messages[0] == TranscriptMessage(voice, "Use tabs.")


@each_row("around", ["\ufeff{}", "\n\n  {}\n\n", "\ufeff\r\n{}\r\n"])
@each_row("text", [CLAUDE_CODE, CODEX, GEMINI, CHATGPT, MESSAGES])
def test_marks_and_space_around_json_do_not_matter(text: str, around: str) -> None:
    assert only(around.replace("{}", text)).messages == (
        TranscriptMessage(Voice.USER, "Use tabs."),
    )


@each_row("text", ["", " ", "\n\t\r\n", "\ufeff", "\ufeff \n"])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        read_transcripts(text)


@each_row(
    "text",
    [
        "{}",
        "[]",
        "[1, 2, 3]",
        '{"name": "Ana", "role": "admin"}',
        '[{"role": "admin", "content": "whatever"}]',
        '{"type": "user", "id": 7}',
        '{"type": "session_meta"}',
        '{"mapping": {"a": "b"}, "messages": [], "loglines": []}',
        '{"messages": [{"to": "Ana", "body": "Hi"}]}',
        '{"dependencies": {"left-pad": "1.0"}',
        "[draft] call Ana tomorrow",
        "{curly} braces are not JSON",
        "{\nbroken\n}",
    ],
)
def test_json_of_an_unknown_shape_is_a_plain_text(text: str) -> None:
    assert only(text) == Transcript(messages=(TranscriptMessage(Voice.USER, text),), format="text")


def test_broken_lines_are_skipped_and_counted() -> None:
    cut_off = CLAUDE_CODE[:-20]
    reading = parse_transcripts(f"{CLAUDE_CODE}\nnot json\n\n[1]\n{CLAUDE_CODE}\n{cut_off}")

    assert [len(transcript.messages) for transcript in reading.transcripts] == [2]
    assert reading.skipped == 3


def test_one_good_line_among_broken_ones_is_enough() -> None:
    reading = parse_transcripts("{broken\n{broken\n{broken\n" + CODEX)

    assert reading.transcripts[0].format == "codex"
    assert reading.skipped == 3


def test_a_log_whose_start_is_cut_off_is_still_a_log() -> None:
    reading = parse_transcripts(f'"cut":"off"}}\n{CLAUDE_CODE}\n{CLAUDE_CODE}')

    assert reading.transcripts[0].format == "claude-code"
    assert reading.skipped == 1


def test_prose_that_quotes_a_line_of_a_log_stays_prose() -> None:
    text = f"What does this line mean?\n{CLAUDE_CODE}\nI found it in a file."

    assert only(text) == Transcript(messages=(TranscriptMessage(Voice.USER, text),), format="text")


def test_a_line_may_hold_the_line_separators_of_unicode() -> None:
    text = "one\u2028two\u2029three\x85four\x0bfive"

    line = json.dumps({"type": "user", "message": {"content": text}}, ensure_ascii=False)
    assert [message.text for message in only(line + "\n" + line).messages] == [text, text]


def test_a_log_without_messages_has_no_conversation() -> None:
    assert read_transcripts('{"type":"summary","summary":"Nothing yet","leafUuid":"x"}') == []
    assert read_transcripts('{"type":"file-history-snapshot","messageId":"x","snapshot":{}}') == []


BOMBS = {
    "lists without end": "[" * 100_000,
    "objects without end": '{"a":' * 100_000,
    "lists too deep": "[" * 100_000 + "]" * 100_000,
    "objects too deep": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "a number too long": '{"role":"user","content":' + "9" * 10_000 + "}",
    "a text that does not end": '[{"role":"user","content":"\\ud800"',
}


@each_row("bomb", BOMBS.values(), ids=BOMBS)
def test_hostile_json_is_a_plain_text(bomb: str) -> None:
    assert only(bomb).messages == (TranscriptMessage(Voice.USER, bomb),)


ODD_VALUES = {
    "deep lists": "[" * 300 + "]" * 300,
    "deep objects": '{"a":' * 300 + "1" + "}" * 300,
    "long number": "9" * 4000,
    "too large": "1e999",
    "too small": "-1e999",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "null": "null",
    "false": "false",
    "surrogate": '"\\ud800\\u0000"',
    "mixed list": "[null, 1, [], {}]",
    "object": "{}",
}


@each_row("inner", ODD_VALUES.values(), ids=ODD_VALUES)
@each_row("name", ["timestamp", "sessionId", "cwd", "uuid", "leafUuid", "other"])
def test_an_invalid_value_in_one_field_does_not_lose_the_rest(name: str, inner: str) -> None:
    odd = CLAUDE_CODE.replace('"sessionId":"s1"', f'"{name}":{inner}')
    transcripts = read_transcripts(f"{odd}\n{CLAUDE_CODE}")

    assert [message.text for transcript in transcripts for message in transcript.messages] == [
        "Use tabs."
    ] * 2


@each_row("inner", ODD_VALUES.values(), ids=ODD_VALUES)
@each_row("text", [CLAUDE_CODE, CODEX, GEMINI, CHATGPT, MESSAGES])
def test_an_odd_value_for_a_text_is_left_out(text: str, inner: str) -> None:
    odd = text.replace('"Use tabs."', inner)

    texts = [m.text for transcript in read_transcripts(odd) for m in transcript.messages]
    assert texts in ([], ["\ud800\x00"], [odd])


def test_lone_surrogates_are_handed_on_as_written() -> None:
    assert only('[{"role":"user","content":"a\\ud800b"}]').messages[0].text == "a\ud800b"


@each_row(
    ("value", "expected"),
    [
        ("2026-05-08T10:12:30Z", datetime(2026, 5, 8, 10, 12, 30, tzinfo=UTC)),
        ("2026-05-08T10:12:30.123456789Z", datetime(2026, 5, 8, 10, 12, 30, 123456, tzinfo=UTC)),
        ("2026-05-08T12:12:30+02:00", datetime(2026, 5, 8, 10, 12, 30, tzinfo=UTC)),
        ("2026-05-08 10:12", datetime(2026, 5, 8, 10, 12, tzinfo=UTC)),
        (" 2026-05-08 ", datetime(2026, 5, 8, tzinfo=UTC)),
        (datetime(2026, 5, 8, 10, 12), datetime(2026, 5, 8, 10, 12, tzinfo=UTC)),
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1_700_000_000.5, datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)),
        (1_700_000_000_500, datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)),
        ("1969-12-31T23:59:59Z", None),
        ("2101-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00+10:00", None),
        ("0001-01-01T00:00:00+10:00", None),
        (-1, None),
        (5_000_000_000, None),
        (10**400, None),
        (1e300, None),
        (float("nan"), None),
        (float("inf"), None),
        ("yesterday", None),
        ("", None),
        ("\ud800", None),
        (True, None),
        (None, None),
        ([2026], None),
        ({}, None),
    ],
)
def test_a_time_is_aware_utc_or_nothing(value: object, expected: datetime | None) -> None:
    assert parse_time(value) == expected


@each_row(
    ("path", "form", "voices"),
    [
        ("claude_code/without_ids.jsonl", "claude-code", "uatua"),
        ("codex/arguments_as_text.jsonl", "codex", "ut"),
        ("codex/arguments_as_object.jsonl", "codex", "ut"),
        ("codex/standard_input.jsonl", "codex", "ut"),
        ("codex/calls_without_arguments.jsonl", "codex", "utt"),
        ("codex/messages.jsonl", "codex", "ua"),
        ("gemini/messages.json", "gemini", "uaua"),
        ("gemini/notices.json", "gemini", "sss"),
        ("gemini/thoughts.json", "gemini", "ua"),
        ("gemini/tool_calls.json", "gemini", "uat"),
        ("claude_code/tools_and_results.jsonl", "claude-code", "uauttauttau"),
        ("claude_code/content_lists.jsonl", "claude-code", "uau"),
        ("claude_code/summary_first.jsonl", "claude-code", "uattttua"),
    ],
)
def test_real_sessions_are_understood_message_by_message(path: str, form: str, voices: str) -> None:
    reading = parse_transcripts((SAMPLES / path).read_text())
    (transcript,) = reading.transcripts

    assert transcript.format == form
    assert "".join(message.voice[0] for message in transcript.messages) == voices
    assert all(message.at for message in transcript.messages)
    assert transcript.started_at == transcript.messages[0].at or form == "codex"
    assert reading.skipped == 0


def test_a_real_log_in_json_form_loses_none_of_the_users_words() -> None:
    (transcript,) = read_transcripts((SAMPLES / "claude_code/log_lines.json").read_text())

    assert [message.text for message in transcript.messages if message.voice is Voice.USER] == [
        "Write a parser for the tide table",
        "Now skip rows without a height",
        "Find out why the test fails",
        "Commit it, please",
    ]
    assert [
        message.text[:20] for message in transcript.messages if message.voice is Voice.SYSTEM
    ] == ["This is a session co"]


def test_a_real_export_of_chatgpt_holds_its_conversations_in_order() -> None:
    first, second = read_transcripts((SAMPLES / "chatgpt/conversations.json").read_text())

    assert first.title == "Bread without a mixer"
    assert first.started_at == datetime(2026, 2, 2, 2, 40, tzinfo=UTC)
    assert [message.voice for message in first.messages] == [Voice.USER, Voice.ASSISTANT]
    assert second.title == "Names for a rowing club"
