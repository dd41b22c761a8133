"""Exports of Claude.ai, transcripts of Cursor, and the graph of the MCP memory server."""

import json
from datetime import UTC, datetime

from recollect.domain.transcript import Said, Voice
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
    [found] = read_transcripts(json.dumps([conversation]))

    assert (found.format, found.title, found.session) == ("claude-ai", "Tea", "c1")
    assert found.started_at == AT
    assert found.said == (
        Said(Voice.USER, "Hello", at=AT),
        Said(Voice.TOOL, "I am a file.", "notes.txt", AT),
        Said(Voice.ASSISTANT, "Hi", at=AT),
        Said(Voice.TOOL, 'search {"q": "tea"}', "search", AT),
        Said(Voice.USER, "Only text here", at=AT),
    )


def test_what_the_user_typed_in_cursor_is_told_from_what_was_added() -> None:
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text":
            "<attached>a file</attached>\n<user_query>\nFix it\n</user_query>"}]}},
        {"role": "assistant", "message": {"content": [
            {"type": "text", "text": "Done."},
            {"type": "tool_use", "name": "Write", "input": {"path": "a"}}]}},
    ]  # fmt: skip
    [found] = read_transcripts("\n".join(json.dumps(one) for one in lines))

    assert found.format == "cursor"
    assert found.said == (
        Said(Voice.SYSTEM, "<attached>a file</attached>"),
        Said(Voice.USER, "Fix it"),
        Said(Voice.ASSISTANT, "Done."),
        Said(Voice.TOOL, 'Write {"path": "a"}', "Write"),
    )


def test_an_older_transcript_of_cursor_is_plain_text() -> None:
    text = "user:\n<user_query>\nFix it\n</user_query>\n\nassistant:\nDone.\n"
    [found] = cursor_transcript.parse_text(text)

    assert found.said == (Said(Voice.USER, "Fix it"), Said(Voice.ASSISTANT, "Done."))
    assert cursor_transcript.parse_text("A shopping list: tea and milk.") == []


def test_a_graph_says_of_whom_each_observation_is() -> None:
    records: list[JsonRecord] = [
        {"type": "entity", "name": "Ana", "entityType": "person",
         "observations": ["Works at\nAcme", "Likes tea!", 7, " "]},
        {"type": "entity", "name": "Acme", "observations": "not a list"},
        {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "works_at"},
        {"type": "relation", "from": "Ana", "to": ""},
        {"type": "other"},
    ]  # fmt: skip
    [found] = mcp_memory_file.parse(records)

    assert mcp_memory_file.recognises(records)
    assert not mcp_memory_file.recognises([{"type": "user"}, {}])
    assert found.said == (
        Said(Voice.ASSISTANT, "Ana: Works at Acme.\nAna: Likes tea!"),
        Said(Voice.ASSISTANT, "Ana works at Acme."),
    )
