"""
Play injection vectors through the real path of each door, and read what a later session is told.

A vector is a row of tests/data/injection/*.jsonl: what one client, program, agent or file brings
in, and the phrases in it that the user did not type. Nothing here starts a process or a server.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client

import recollect
from conftest import DATA
from mcp_clients import ScriptedUser, in_process_server
from recollect import LocalRecollect, Memory, Status
from recollect.context.speaker_label import PERHAPS_PASTED
from recollect.domain.import_progress import FileOutcome
from recollect.hooks import capture_process, event_names, pending_captures, state_files
from recollect.hooks.client_events import parse_event
from recollect.hooks.handle_event import handle_event
from recollect.hooks.target_store import find_target_store
from recollect.mcp.caller_scope import Caller

CORPUS = DATA / "injection"
LEARNING_PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
}
IMPORT_FILES = {
    "claude-code": "projects/-srv-shop/session.jsonl",
    "codex": "sessions/2026/09/03/rollout-2026-09-03T09-00-00-session.jsonl",
    "cursor": "projects/srv-shop/agent-transcripts/session/session.jsonl",
    "gemini-cli": "tmp/shop/chats/session-2026-09-03T09-00-x.json",
    "mcp-memory": "memory.jsonl",
    "claude-memory": "CLAUDE.md",
}
# Sections of a bundle that quote raw text, each line with its speaker or from a file.
RAW_SECTIONS = ("Said before", "Relevant Past Conversations", "The current file", "Open files")


@dataclass(frozen=True, kw_only=True)
class InjectionVector:
    """One row of the corpus."""

    id: str
    door: str
    client: str
    input: Mapping[str, Any]
    planted: tuple[str, ...]
    sessions: int = 1


def read_corpus(folder: Path = CORPUS) -> list[InjectionVector]:
    """Return the vectors of every file in *folder*."""
    rows = [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    names = ("id", "door", "client", "input", "planted", "sessions")
    return [InjectionVector(**{name: row[name] for name in names}) for row in rows]


@dataclass(frozen=True)
class DoorPlayer:
    """Plays vectors into one store; each has its own project folder, agent and home."""

    rec: LocalRecollect
    folder: Path

    def place(self, vector: InjectionVector) -> Path:
        """Return the folder of the vector's project."""
        path = self.folder / vector.id / "project"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def play(self, vector: InjectionVector, number: int) -> None:
        """Bring the vector in, in the session with this number, if it has so many."""
        if number <= vector.sessions:
            _DOORS[vector.door](self, vector, number)

    def play_transcript(self, vector: InjectionVector, number: int) -> None:
        path = self._write_transcript(vector, vector.input["lines"], number)
        session = f"{vector.id} {number}"
        events = self.rec.captures.add_file(path, project=self.place(vector), session=session)
        assert events, f"{vector.id} was not captured"

    def play_learning(self, vector: InjectionVector, number: int) -> None:
        replies = [vector.input["response"], _chat_reply(f"Session {number} of {vector.id}.")]

        def respond(request: httpx2.Request) -> httpx2.Response:
            reply = replies.pop(0)
            if isinstance(reply, str):
                return httpx2.Response(
                    200, text=reply, headers={"content-type": "text/event-stream"}
                )
            return httpx2.Response(200, json=reply)

        block = recollect.learning(
            vector.id, memory=self.rec, project=self.place(vector), capture_only=True, flush_s=60.0
        )
        with block, httpx2.Client(transport=httpx2.MockTransport(respond)) as client:
            url = f"http://vendor.example{LEARNING_PATHS[vector.client]}"
            headers = {"anthropic-version": "2023-06-01"} if "anthropic" in vector.client else {}
            client.post(url, json=vector.input["request"], headers=headers).read()
            # No two sessions are alike to the letter.
            closing = {"model": "m", "messages": [{"role": "user", "content": "Thank you, bye."}]}
            client.post(f"http://vendor.example{LEARNING_PATHS['openai-chat']}", json=closing)
        recorded = self.rec.conversations.agent_messages(vector.id)
        assert len(recorded) > 2 * number, f"{vector.id} was not recorded"

    def play_mcp(self, vector: InjectionVector, number: int) -> None:
        profile = {"default": "recollect"}.get(vector.client, vector.client)
        caller = Caller(project=str(self.place(vector)), agent=vector.id, profile=profile)

        async def call_all() -> None:
            server = in_process_server(self.rec, caller)
            refusing = ScriptedUser(action="decline")
            async with Client(server, elicitation_callback=refusing) as client:
                for call in vector.input["calls"]:
                    await client.call_tool(call["tool"], call["arguments"])

        anyio.run(call_all)

    def play_hook(self, vector: InjectionVector, number: int) -> None:
        path = self._write_transcript(vector, vector.input["transcript"], number)
        target = find_target_store({}, str(self.rec.path))
        state = state_files.state_folder(dict(os.environ))
        for payload in vector.input["events"]:
            own = {**payload, "transcript_path": str(path), "cwd": str(self.place(vector))}
            own["session_id"] = f"{vector.id}-{number}"
            if "workspace_roots" in payload:
                own["workspace_roots"] = [str(self.place(vector))]
            kind = event_names.event_kind(str(payload.get("hook_event_name", "")))
            if kind in event_names.RECALL_EVENTS:
                handle_event(self.rec, own, client=vector.client, kind=kind, project="")
        event = parse_event(own, client=vector.client, kind=event_names.SESSION_END)
        folder = state_files.session_folder(state)
        size = path.stat().st_size
        project = event.project_or_cwd
        pending_captures.schedule_capture(folder, event, db=target.db, project=project, size=size)
        outcome = capture_process.capture_due_transcripts(state, target)
        assert outcome.startswith("captured 1"), f"{vector.id}: {outcome}"

    def play_import(self, vector: InjectionVector, number: int) -> None:
        home = self.folder / vector.id / f"home {number}"
        default = IMPORT_FILES.get(vector.client, "conversations.json")
        path = home / vector.input.get("path", default)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(vector.input["text"], encoding="utf-8")
        if vector.client == "letta-af":
            self.rec.agents.import_(path, name=f"{vector.id} {number}")
            return
        if vector.client in ("messages", "text"):
            self.rec.captures.add_file(path, "import", project=self.place(vector))
            return
        steps = list(
            self.rec.engine.import_history_in_steps(
                vector.client, [path], project=self.place(vector)
            )
        )
        outcomes = [step.outcome for step in steps]
        assert FileOutcome.REFUSED not in outcomes, f"{vector.id}: {steps}"

    def play_file(self, vector: InjectionVector, number: int) -> None:
        place = self.place(vector)
        path = place / vector.input["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(vector.input["text"], encoding="utf-8")
        if number == 1:
            self.rec.agents.create(vector.id)
        self.rec.files.index(project=place)
        self.rec.files.open(vector.id, [str(path)], project=place)

    def _write_transcript(self, vector: InjectionVector, lines: Sequence[Any], number: int) -> Path:
        """Write a transcript file whose end differs in each session."""
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        closing = _CLOSING_LINES.get(vector.client)
        if closing is not None and number > 1:
            texts.append(json.dumps(closing(f"Session {number} is over.", lines)))
        suffix = ".txt" if vector.client == "text" else ".jsonl"
        path = self.folder / vector.id / f"session {number}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(texts), encoding="utf-8")
        return path


_DOORS: Mapping[str, Callable[[DoorPlayer, InjectionVector, int], None]] = {
    "transcript": DoorPlayer.play_transcript,
    "learning": DoorPlayer.play_learning,
    "mcp": DoorPlayer.play_mcp,
    "hook": DoorPlayer.play_hook,
    "import": DoorPlayer.play_import,
    "file": DoorPlayer.play_file,
}


def _chat_reply(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    return {"model": "m", "choices": [choice]}


def _claude_code_closing(text: str, lines: Sequence[Any]) -> dict[str, Any]:
    session = next((line["sessionId"] for line in lines if "sessionId" in line), "s")
    return {"type": "assistant", "sessionId": session, "message": {"content": text}}


def _codex_closing(text: str, lines: Sequence[Any]) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    payload = {"type": "message", "role": "assistant", "content": content}
    return {"type": "response_item", "payload": payload}


def _cursor_closing(text: str, lines: Sequence[Any]) -> dict[str, Any]:
    return {"role": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def _gemini_closing(text: str, lines: Sequence[Any]) -> dict[str, Any]:
    return {"id": "closing", "type": "gemini", "content": text}


_CLOSING_LINES: Mapping[str, Callable[[str, Sequence[Any]], dict[str, Any]]] = {
    "claude-code": _claude_code_closing,
    "codex": _codex_closing,
    "cursor": _cursor_closing,
    "gemini-cli": _gemini_closing,
}


def memories_with(memories: Sequence[Memory], phrase: str) -> list[Memory]:
    """Return the memories that contain *phrase*, in any of their texts or quotes."""
    return [memory for memory in memories if _plain(phrase) in _plain(_all_text(memory))]


def active_memories(rec: LocalRecollect) -> list[Memory]:
    """Return every active memory of the store."""
    active: list[Memory] = []
    for kind in recollect.MemoryType:
        page = rec.memories.list(
            everywhere=True, statuses=[Status.ACTIVE], types=[kind], limit=1_000
        )
        active += page
    return active


def later_session_texts(rec: LocalRecollect, query: str, **place: Any) -> list[str]:
    """Return what a later session is told: at its start, and for *query*."""
    # `learning()` asks for Markdown, with its agent; every other door for tags.
    form = "markdown" if place.get("agent") else "tags"
    bundle = rec.context_for(query, form=form, metadata=False, budget_tokens=4_000, **place)
    start = rec.briefing(project=place["project"], budget_tokens=4_000)
    return [bundle.text, start.text]


def lines_that_state(text: str, phrase: str) -> Iterator[str]:
    """Yield the lines with *phrase* that do not say that it is somebody else's text."""
    heading, speaker = "", ""
    paragraph: list[str] = []
    for line in [*text.splitlines(), "# end"]:
        if line.startswith(("#", "- ", "**", "<")) or not line.strip():
            quoted = heading in RAW_SECTIONS and speaker != "user"
            if _plain(phrase) in _plain(" ".join(paragraph)) and not quoted:
                yield " ".join(paragraph)
            paragraph = []
        if line.startswith("#"):
            heading, speaker = line.lstrip("# "), ""
        elif line.startswith(("- ", "**")):
            name = line.lstrip("- *")
            speaker = PERHAPS_PASTED if name.lower().startswith(PERHAPS_PASTED) else ""
            speaker = speaker or ("user" if name.lower().startswith("user") else "other")
        paragraph.append(line)


def _all_text(memory: Memory) -> str:
    texts = [memory.title, memory.key, memory.content, memory.summary, memory.rationale]
    quotes = [evidence.quote for evidence in memory.evidence]
    return "\n".join([*texts, *memory.alternatives, *memory.tags, *quotes])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")
