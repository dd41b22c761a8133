"""
What the user types is learnt, in the format of every client: requests to remember at once.

The counterpart of the injection corpus: rules that learn nothing would pass that one.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from injection_doors import DoorPlayer, InjectionVector
from recollect import LocalRecollect, Status
from support import open_memory

Door = tuple[str, str, dict[str, Any]]  # the door, the client, and what comes in through it

REMEMBER = "Remember that our staging server listens on port 8080."
FROM_NOW_ON = "From now on run the tests with nox."
ALWAYS = "Always answer in German."
NOTE = "please note that the invoices are numbered per year"
DECISION = "Let's go with Kafka because we need the history."
FACT = "The staging server listens on port 8080."
PREFERENCE = "I prefer tabs over spaces in Go code."


def _claude_code(*contents: object, **fields: object) -> Door:
    common = {"sessionId": "s", "cwd": "/srv/shop", "isSidechain": False, "userType": "external"}
    lines = [
        {"type": "user", "message": {"role": "user", "content": content}, **common, **fields}
        for content in contents
    ]
    lines.append({"type": "assistant", "message": {"content": "Done."}, **common})
    return "transcript", "claude-code", {"lines": lines}


def _text_part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _claude_code_queued(text: str) -> Door:
    attachment = {"type": "queued_command", "prompt": text}
    line = {"type": "attachment", "attachment": attachment, "sessionId": "s"}
    return "transcript", "claude-code", {"lines": [line]}


def _codex(text: str, **header: object) -> Door:
    payload = {"type": "message", "role": "user"}
    content = [{"type": "input_text", "text": text}]
    lines = [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/srv/shop", **header}},
        {"type": "response_item", "payload": {**payload, "content": content}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": text}},
    ]
    return "transcript", "codex", {"lines": lines}


def _codex_event(text: str) -> Door:
    lines = [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/srv/shop"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": text}},
    ]
    return "transcript", "codex", {"lines": lines}


def _cursor(*texts: str) -> Door:
    parts = [_text_part(text) for text in texts]
    return "transcript", "cursor", {"lines": [{"role": "user", "message": {"content": parts}}]}


def _gemini(content: object) -> Door:
    lines = [
        {"sessionId": "s", "startTime": "2026-09-03T09:00:00Z"},
        {"id": "m1", "type": "user", "content": content},
    ]
    return "transcript", "gemini-cli", {"lines": lines}


def _messages(content: object) -> Door:
    messages = [{"role": "user", "content": content}, {"role": "assistant", "content": "Done."}]
    return "transcript", "messages", {"lines": [{"messages": messages}]}


def _chatgpt(text: str) -> Door:
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
    nodes = {"root": {"id": "root", "message": None}, "n": {"parent": "root", "message": message}}
    return "transcript", "chatgpt", {"lines": [{"mapping": nodes, "current_node": "n"}]}


def _claude_ai(text: str) -> Door:
    message = {"sender": "human", "text": text, "content": [_text_part(text)]}
    return "transcript", "claude-ai", {"lines": [{"uuid": "s", "chat_messages": [message]}]}


def _import(text: str) -> Door:
    _, _, content = _chatgpt(text)
    conversation = {"title": "t", "conversation_id": "c", "create_time": 1.0, **content["lines"][0]}
    return "import", "chatgpt", {"text": json.dumps([conversation])}


def _hook(client: str, transcript: Door) -> Door:
    events = [{"hook_event_name": "SessionStart"}, {"hook_event_name": "SessionEnd"}]
    return "hook", client, {"events": events, "transcript": transcript[2]["lines"]}


def _openai_chat(text: object, *before: dict[str, str]) -> Door:
    request = {"model": "m", "messages": [*before, {"role": "user", "content": text}]}
    choice = {"index": 0, "message": {"role": "assistant", "content": "Done."}}
    response = {"model": "m", "choices": [choice]}
    return "learning", "openai-chat", {"request": request, "response": response}


def _openai_responses(value: object) -> Door:
    part = {"type": "output_text", "text": "Done."}
    output = [{"type": "message", "role": "assistant", "content": [part]}]
    response = {"id": "1", "object": "response", "model": "m", "output": output}
    request = {"model": "m", "input": value}
    return "learning", "openai-responses", {"request": request, "response": response}


def _anthropic(content: object) -> Door:
    request = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": content}]}
    response = {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [_text_part("Ok.")],
    }
    return "learning", "anthropic-messages", {"request": request, "response": response}


def _with_editor(text: str) -> str:
    return (
        f"# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\n{text}"
    )


def _query(text: str) -> str:
    return f"<user_query>\n{text}\n</user_query>"


_OPENED = "<ide_opened_file>The user opened a.py.</ide_opened_file>"
_REMINDER = "<system-reminder>Be brief.</system-reminder>"
_FILES = "\n--- Content from referenced files ---\nContent from @a.md:\nx\n--- End of content ---"
SYSTEM = {"role": "system", "content": "You are kind."}

# Each format in which a client writes what the user typed, and nothing else.
FORMATS: dict[str, Callable[[str], Door]] = {
    "claude-code": _claude_code,
    "claude-code parts": lambda text: _claude_code([_text_part(text)]),
    "claude-code editor": lambda text: _claude_code([_text_part(_OPENED), _text_part(text)]),
    "claude-code reminder": lambda text: _claude_code(f"{text}\n{_REMINDER}"),
    "claude-code human": lambda text: _claude_code(text, origin={"kind": "human"}),
    "claude-code memory": lambda text: _claude_code(
        f"<user-memory-input>{text}</user-memory-input>"
    ),
    "claude-code queued": _claude_code_queued,
    "codex": _codex,
    "codex cli": lambda text: _codex(text, source="cli"),
    "codex editor": lambda text: _codex(_with_editor(text)),
    "codex event": _codex_event,
    "cursor": lambda text: _cursor(_query(text)),
    "cursor files": lambda text: _cursor(f"<open_files>\na.py\n</open_files>\n{_query(text)}"),
    "cursor parts": lambda text: _cursor("<open_files>\na.py\n</open_files>", _query(text)),
    "cursor plain": lambda text: _cursor(text),
    "gemini": _gemini,
    "gemini parts": lambda text: _gemini([{"text": text}]),
    "gemini files": lambda text: _gemini(f"{text}{_FILES}"),
    "messages": _messages,
    "messages parts": lambda text: _messages([_text_part(text)]),
    "chatgpt": _chatgpt,
    "claude-ai": _claude_ai,
    "hook claude-code": lambda text: _hook("claude-code", _claude_code(text)),
    "hook codex": lambda text: _hook("codex", _codex(text)),
    "hook cursor": lambda text: _hook("cursor", _cursor(_query(text))),
    "learning openai-chat": _openai_chat,
    "learning openai-chat system": lambda text: _openai_chat(text, SYSTEM),
    "learning openai-chat parts": lambda text: _openai_chat([_text_part(text)]),
    "learning openai-responses": _openai_responses,
    "learning openai-responses items": lambda text: _openai_responses(
        [{"role": "user", "content": [{"type": "input_text", "text": text}]}]
    ),
    "learning anthropic": _anthropic,
    "learning anthropic parts": lambda text: _anthropic([_text_part(text)]),
}

# format, what the user types, in how many sessions, and what becomes of it
ROWS: list[tuple[str, str, int, Status | None]] = [
    *((name, REMEMBER, 1, Status.ACTIVE) for name in FORMATS),
    *((name, DECISION, 1, Status.INBOX) for name in FORMATS),
    ("claude-code", FROM_NOW_ON, 1, Status.ACTIVE),
    ("codex", ALWAYS, 1, Status.ACTIVE),
    ("cursor", NOTE, 1, Status.ACTIVE),
    ("gemini", FROM_NOW_ON, 1, Status.ACTIVE),
    ("learning anthropic", ALWAYS, 1, Status.ACTIVE),
    ("claude-code", FACT, 1, Status.INBOX),
    ("codex", PREFERENCE, 1, Status.INBOX),
    ("claude-code", FACT, 2, Status.ACTIVE),
    ("codex", DECISION, 2, Status.ACTIVE),
    ("cursor", PREFERENCE, 2, Status.ACTIVE),
    ("learning openai-chat", FACT, 2, Status.ACTIVE),
    ("learning openai-responses", PREFERENCE, 2, Status.ACTIVE),
    ("hook claude-code", FACT, 2, Status.ACTIVE),
    # Not plainly typed: learnt, but a person decides.
    ("claude-code", f"Two things\n{REMEMBER}", 1, Status.INBOX),
    ("claude-code", f"Two things\n{FACT}", 2, Status.INBOX),
    ("codex", f"Context for you\n\n{REMEMBER}", 1, Status.INBOX),
    ("learning openai-chat", f"Hello there.\n\n{REMEMBER}", 1, Status.INBOX),
    ("cursor", f"Look at <b>this</b>. {REMEMBER}", 1, Status.INBOX),
    # Nothing to learn.
    ("claude-code", "Do you remember the port?", 1, None),
    ("codex", "Fix the tests please.", 1, None),
]


def learnt(rec: LocalRecollect, place: Path, agent: str | None) -> list[Status]:
    """Return the status of each statement made in a project, records of sessions left out."""
    statuses = [Status.ACTIVE, Status.INBOX]
    memories = rec.memories.list(
        project=place, agent=agent, statuses=statuses, everywhere=False, limit=100
    )
    projects = {memory.project_id for memory in memories}
    return [
        memory.status
        for memory in memories
        if memory.type != "episode"
        and rec.captures.get(memory.provenance.event_id or "").owner.id in projects
    ]


@pytest.mark.fuzz
def test_what_the_user_types_is_learnt_in_every_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("RECOLLECT_EMBEDDING_BACKEND", "none")
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        player = DoorPlayer(rec, tmp_path)
        vectors = [_vector(f"row-{number}", *row) for number, row in enumerate(ROWS)]
        for number in (1, 2):
            for vector in vectors:
                player.play(vector, number)
            rec.drain()
        for vector, (name, text, sessions, status) in zip(vectors, ROWS, strict=True):
            with subtests.test(name, text=text, sessions=sessions):
                agent = vector.id if vector.door == "learning" else None
                statuses = learnt(rec, player.place(vector), agent)
                assert statuses == ([status] if status else [])


def _vector(
    name: str, format_name: str, text: str, sessions: int, _status: Status | None
) -> InjectionVector:
    door, client, content = FORMATS[format_name](text)
    return InjectionVector(
        id=name, door=door, client=client, input=content, planted=(text,), sessions=sessions
    )


def test_an_import_is_learnt_and_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    door, client, content = _import(REMEMBER)
    vector = InjectionVector(
        id="import", door=door, client=client, input=content, planted=(REMEMBER,)
    )
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        player = DoorPlayer(rec, tmp_path)
        player.play(vector, 1)
        rec.drain()

        assert learnt(rec, player.place(vector), None) == [Status.INBOX]
