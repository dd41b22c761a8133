"""Write session and export files as the supported clients write them, for import tests."""

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

TABS = "I prefer tabs over spaces in Go code."
SQLITE = "We decided to use SQLite for the queue because it needs no server."


def write_json_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """Write JSON Lines, making the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_claude_code_session(
    home: Path, session: str, *said: str, cwd: str = "/srv/shop", folder: str = "-srv-shop"
) -> Path:
    """Write a session of Claude Code."""
    records = []
    for number, text in enumerate(said):
        common = {
            "sessionId": session,
            "cwd": cwd,
            "timestamp": f"2026-03-0{number % 9 + 1}T10:00:00Z",
        }
        records += [
            {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": text},
             **common},
            {"type": "assistant", "uuid": f"a{number}", **common,
             "message": {"role": "assistant", "content": "Understood, I keep that in mind."}},
        ]  # fmt: skip
    return write_json_lines(home / ".claude" / "projects" / folder / f"{session}.jsonl", records)


def write_codex_session(home: Path, session: str, *said: str, cwd: str = "/srv/shop") -> Path:
    """Write a session of Codex."""
    at = "2026-03-02T10:00:00Z"
    records: list[dict[str, Any]] = [
        {"timestamp": at, "type": "session_meta", "payload": {"id": session, "cwd": cwd}}
    ]
    records += [
        {"timestamp": at, "type": "response_item",
         "payload": {"type": "message", "role": "user",
                     "content": [{"type": "input_text", "text": text}]}}
        for text in said
    ]  # fmt: skip
    day = home / ".codex" / "sessions" / "2026" / "03" / "02"
    return write_json_lines(day / f"rollout-2026-03-02T10-00-00-{session}.jsonl", records)


def write_gemini_session(home: Path, session: str, *said: str, root: str = "/srv/shop") -> Path:
    """Write a session of Gemini CLI, in a project folder that names its root."""
    folder = home / ".gemini" / "tmp" / "shop"
    (folder / "chats").mkdir(parents=True, exist_ok=True)
    if root:
        (folder / ".project_root").write_text(root, encoding="utf-8")
    path = folder / "chats" / f"session-2026-03-02T10-00-{session}.json"
    messages = [
        {"id": f"m{number}", "type": "user", "timestamp": "2026-03-02T10:00:00Z", "content": text}
        for number, text in enumerate(said)
    ]
    content = {"sessionId": session, "startTime": "2026-03-02T10:00:00Z", "messages": messages}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def write_cursor_session(home: Path, session: str, *said: str, slug: str = "work-shop") -> Path:
    """Write a session of Cursor's agent."""
    records = [
        {"role": "user", "message": {"content": [
            {"type": "text", "text": f"<user_query>\n{text}\n</user_query>"}]}}
        for text in said
    ]  # fmt: skip
    folder = home / ".cursor" / "projects" / slug / "agent-transcripts" / session
    return write_json_lines(folder / f"{session}.jsonl", records)


def chatgpt_conversation(session: str, *said: str) -> dict[str, Any]:
    """Return a conversation as ChatGPT exports it."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    parent = "root"
    for number, text in enumerate(said):
        nodes[f"n{number}"] = {
            "id": f"n{number}",
            "parent": parent,
            "message": {
                "author": {"role": "user"},
                "create_time": 1772445600 + number,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        parent = f"n{number}"
    return {
        "title": f"Chat {session}",
        "conversation_id": session,
        "create_time": 1772445600,
        "mapping": nodes,
        "current_node": parent,
    }


def claude_ai_conversation(session: str, *said: str) -> dict[str, Any]:
    """Return a conversation as Claude.ai exports it."""
    return {
        "uuid": session,
        "name": f"Chat {session}",
        "created_at": "2026-03-02T10:00:00Z",
        "chat_messages": [
            {"uuid": f"m{number}", "sender": "human", "text": text,
             "created_at": "2026-03-02T10:00:00Z", "attachments": [], "files": [],
             "content": [{"type": "text", "text": text}]}
            for number, text in enumerate(said)
        ],
    }  # fmt: skip


def write_export_zip(path: Path, conversations: Iterable[Mapping[str, Any]], **others: str) -> Path:
    """Write an export as the vendor provides it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(list(conversations)))
        for name, text in {"user.json": "{}", **others}.items():
            archive.writestr(name, text)
    return path


def write_memory_graph(path: Path) -> Path:
    """Write a file of the MCP memory server."""
    return write_json_lines(path, [
        {"type": "entity", "name": "Ana", "entityType": "person",
         "observations": ["Works at Acme", "Prefers tea over coffee"]},
        {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
        {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "leads_the_office_of"},
    ])  # fmt: skip
