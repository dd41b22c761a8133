"""Exports of Claude.ai, transcripts of Cursor, and the graph of the MCP memory server."""

import json
from datetime import UTC, datetime

from recollect.domain.transcript import TranscriptMessage, Voice
from recollect.text.transcripts import cursor_transcript, mcp_memory_file
from recollect.text.transcripts.json_fields import JsonRecord
from recollect.text.transcripts.transcript_reader import read_transcripts

AT = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
TIME = "2026-03-02T10:00:00.000000Z"


def test_a_conversation_of_claude_ai_keeps_who_said_what_and_when() -> None:
    conversation = {
        "uuid": "c1",
        "name": "Tea",
        "created_at": TIME,
        "chat_messages": [
            {"sender": "human", "text": "Hello", "created_at": TIME,
             "content": [{"type": "text", "text": "Hello"}],
             "attachments": [{"file_name": "notes.txt", "extracted_content": "I am a file."}]},
            {"sender": "assistant", "text": "", "created_at": TIME,
             "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"},
                         {"type": "tool_use", "name": "search", "input": {"q": "tea"}}]},
            {"sender": "human", "text": "Only text here", "content": [], "created_at": TIME},
        ],
    }  # fmt: skip
    [transcript] = read_transcripts(json.dumps([conversation]))

    assert (transcript.format, transcript.title, transcript.session) == ("claude-ai", "Tea", "c1")
    assert transcript.started_at == AT
    assert transcript.messages == (
        TranscriptMessage(Voice.USER, "Hello", at=AT),
        TranscriptMessage(Voice.TOOL, "I am a file.", "notes.txt", AT),
        TranscriptMessage(Voice.ASSISTANT, "Hi", at=AT),
        TranscriptMessage(Voice.TOOL, 'search {"q": "tea"}', "search", AT),
        TranscriptMessage(Voice.USER, "Only text here", at=AT),
    )


def test_what_the_user_typed_in_cursor_is_separated_from_what_was_added() -> None:
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text":
            "<attached>a file</attached>\n<user_query>\nFix it\n</user_query>"}]}},
        {"role": "assistant", "message": {"content": [
            {"type": "text", "text": "Done."},
            {"type": "tool_use", "name": "Write", "input": {"path": "a"}}]}},
    ]  # fmt: skip
    [transcript] = read_transcripts("\n".join(json.dumps(item) for item in lines))

    assert transcript.format == "cursor"
    assert transcript.messages == (
        TranscriptMessage(Voice.SYSTEM, "<attached>a file</attached>"),
        TranscriptMessage(Voice.USER, "Fix it"),
        TranscriptMessage(Voice.ASSISTANT, "Done."),
        TranscriptMessage(Voice.TOOL, 'Write {"path": "a"}', "Write"),
    )


def test_an_older_transcript_of_cursor_is_plain_text() -> None:
    text = "user:\n<user_query>\nFix it\n</user_query>\n\nassistant:\nDone.\n"
    [transcript] = cursor_transcript.parse_text(text)

    assert transcript.messages == (
        TranscriptMessage(Voice.PASTED, "Fix it"),
        TranscriptMessage(Voice.ASSISTANT, "Done."),
    )
    assert cursor_transcript.parse_text("A shopping list: tea and milk.") == []


def test_each_observation_begins_with_its_entity() -> None:
    records: list[JsonRecord] = [
        {"type": "entity", "name": "Ana", "entityType": "person",
         "observations": ["Works at\nAcme", "Likes tea!", 7, " "]},
        {"type": "entity", "name": "Acme", "observations": "not a list"},
        {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "works_at"},
        {"type": "relation", "from": "Ana", "to": ""},
        {"type": "other"},
    ]  # fmt: skip
    [transcript] = mcp_memory_file.parse(records)

    assert mcp_memory_file.recognises(records)
    assert not mcp_memory_file.recognises([{"type": "user"}, {}])
    assert transcript.messages == (
        TranscriptMessage(Voice.ASSISTANT, "Ana: Works at Acme.\nAna: Likes tea!"),
        TranscriptMessage(Voice.ASSISTANT, "Ana works at Acme."),
    )
