"""
The composition root: settings in, a memory out.

`Recollect` is the Python door. Its methods are the verbs; each hands over to one function of the
service. It is safe to share between threads; after a fork, open it again.
"""

import inspect
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from recollect.clock import Clock, SystemClock
from recollect.config import Settings, at_home
from recollect.domain.context import Bundle
from recollect.domain.event import Event, Trigger
from recollect.domain.job import Job
from recollect.domain.ledger import Budget, ModelCall
from recollect.domain.link import Link
from recollect.domain.memory import Memory, Status
from recollect.domain.project import Project
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, View, WhyNot
from recollect.domain.upkeep import Imported, Receipt, StoreStatus, Verification
from recollect.engine.desk import Desk
from recollect.errors import InvalidInput
from recollect.service import (
    capture,
    inputs,
    jobs,
    read,
    review,
    transfer,
    upkeep,
    views,
    write,
)
from recollect.service.deps import Deps
from recollect.service.forget import forget
from recollect.service.places import Where
from recollect.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    # For the checker only: embedders bring NumPy, which a write never needs.
    from recollect.engine.indexer import Indexer
    from recollect.models.chat import ChatModel
    from recollect.models.protocol import Embedder

Texts = str | Sequence[str]
Moment = str | datetime | None
Place = str | PathLike[str] | None
Material = str | Sequence[Mapping[str, Any]] | PathLike[str]


class Recollect(AbstractContextManager["Recollect"]):
    """One memory store and its verbs. Made by `recollect.open`."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        embedder: "Embedder | None" = None,
        chat: "ChatModel | None" = None,
    ) -> None:
        self._settings = settings
        self._pid = os.getpid()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        path = settings.db_path
        if settings.db == ":memory:":
            self._temporary = tempfile.TemporaryDirectory(prefix="recollect-")
            path = Path(self._temporary.name) / "memory.db"
        clock = clock or SystemClock()
        self._store = SqliteStore(path, clock)
        self._embedding = _Embedding(settings, self._store, embedder)
        desk = Desk(
            store=self._store,
            clock=clock,
            indexer=self._embedding.indexer,
            chat=lambda: chat or _chat_model(settings),
            budget=Budget(settings.chat_calls_per_day, settings.chat_tokens_per_day),
        )
        self._deps = Deps(
            store=self._store,
            clock=clock,
            indexer=self._embedding.indexer,
            desk=desk,
            cross_project=settings.cross_project,
        )

    # ── writing ─────────────────────────────────────────────────────────────────────────────────

    def ingest(
        self,
        content: str,
        *,
        type: str | None = None,
        scope: str | None = None,
        project: Place = None,
        repo: Place = None,
        agent: str | None = None,
        session: str | None = None,
        title: str = "",
        summary: str = "",
        tags: Texts = (),
        confidence: float = 1.0,
        observed_at: Moment = None,
        rationale: str = "",
        alternatives: Sequence[str] = (),
        status: str = "active",
    ) -> Memory:
        """Remember something: stored, with evidence, and found by words when this returns."""
        wanted = write.draft(
            content,
            where=Where.of(_path(project), _path(repo), agent, session),
            type=type,
            scope=scope,
            status=status,
            title=title,
            summary=summary,
            tags=tags,
            confidence=confidence,
            observed_at=observed_at,
            rationale=rationale,
            alternatives=alternatives,
        )
        return write.ingest(self._deps, wanted)

    def ingest_many(self, items: Sequence[Mapping[str, Any]]) -> list[Memory]:
        """Remember several things in one transaction, all or none; each a dict for `ingest`."""
        return write.ingest_many(self._deps, [_draft(item) for item in items])

    def upsert_profile_fact(self, key: str, value: str) -> Memory:
        """Set a named fact about the user; its former value stays readable as superseded."""
        return write.upsert_profile_fact(self._deps, key, value)

    def set_status(self, memory_id: str, status: str, *, reason: str = "") -> Memory:
        """Move a memory along its lifecycle: to inbox, active, superseded, …"""
        to = inputs.one_of("status", Status, status)
        return write.move(self._deps, memory_id, to, reason=reason)

    # ── capture ─────────────────────────────────────────────────────────────────────────────────

    def capture_session(self, transcript: Material, **told: Any) -> Event:
        """
        Hand over what was said in an agent's session, and go on; the engine reads it later.

        *transcript* is text, a list of `{role, content}` messages, or a path to a transcript of
        Claude Code, Codex, Gemini CLI or ChatGPT. Takes project, repo, agent, session, scope,
        title, user and observed_at.
        """
        return self._capture(transcript, Trigger.SESSION, told)[0]

    def capture_conversation(
        self, material: Material, capture_mode: str = "transcript", **told: Any
    ) -> Event:
        """Hand over a conversation as transcript, note, summary or import; takes the same."""
        given = {**told, "mode": capture_mode}
        return self._capture(material, Trigger.CONVERSATION, given)[0]

    def capture_file(
        self, path: str | PathLike[str], capture_mode: str = "transcript", **told: Any
    ) -> list[Event]:
        """Hand over every conversation in a file; takes what `capture_session` takes."""
        given = {**told, "mode": capture_mode}
        return self._capture(Path(path), Trigger.SESSION, given, several=True)

    def _capture(
        self, material: Material, trigger: Trigger, told: dict[str, Any], *, several: bool = False
    ) -> list[Event]:
        given = _known(told, _CAPTURE)
        where = _where(given)
        if isinstance(material, PathLike):
            material = Path(material)
        found = capture.captures(material, where=where, trigger=trigger, **given)
        if len(found) != 1 and not several:
            raise InvalidInput(
                f"the material holds {len(found)} conversations; use capture_file for such a file"
            )
        return capture.capture_many(self._deps, found)

    # ── review ──────────────────────────────────────────────────────────────────────────────────

    def promote(self, memory_id: str, *, reason: str = "", replaces: bool = False) -> Memory:
        """Make a candidate active; *replaces*: what it speaks against is superseded by it."""
        return review.promote(self._deps, memory_id, reason=reason, replaces=replaces)[0]

    def promote_many(self, memory_ids: Sequence[str], *, reason: str = "") -> list[Memory]:
        """Make candidates active, all or none."""
        return review.promote(self._deps, memory_ids, reason=reason)

    def reject(self, memory_id: str, reason: str = "") -> Memory:
        """Turn a candidate down; it is archived with the reason."""
        return review.reject(self._deps, memory_id, reason=reason)[0]

    def reject_many(self, memory_ids: Sequence[str], reason: str = "") -> list[Memory]:
        """Turn candidates down, all or none."""
        return review.reject(self._deps, memory_ids, reason=reason)

    def undo(self, memory_id: str) -> Memory:
        """Take back the last change of a memory's status, and what it changed along with it."""
        return review.undo(self._deps, memory_id)[0]

    def consolidate(self, ids: Sequence[str] | None = None) -> Mapping[str, int]:
        """Compare candidates with what is known and apply policy; return what became of them."""
        return review.consolidate(self._deps, ids)

    def link(self, a: str, relation: str, b: str, *, note: str = "") -> Link:
        """Link memory *a* to memory *b*, or to a project written as `project:NAME`."""
        return write.link(self._deps, a, relation, b, note=note)

    def forget(self, memory_id: str) -> Receipt:
        """Remove a memory from every table and index; return a receipt."""
        return forget(self._deps, memory_id)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────

    def search(
        self,
        query: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: str | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
        everywhere: bool = False,
    ) -> list[Hit]:
        """Return the memories that answer *query*, best first, each with its reasons."""
        where = Where.of(_path(project), _path(repo), agent, session)
        asked = read.question(
            query,
            where=where,
            scopes=scopes,
            types=types,
            statuses=statuses,
            tags=tags,
            since=since,
            until=until,
            asked_at=asked_at,
            limit=limit,
            everywhere=everywhere,
        )
        return read.search(self._deps, asked)

    def context_for(
        self,
        task: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: str | None = None,
        session: str | None = None,
        budget_tokens: int = 2_000,
        asked_at: Moment = None,
    ) -> Bundle:
        """Return what an agent should know for *task*, cited, within a token budget."""
        where = Where.of(_path(project), _path(repo), agent, session)
        asked = read.question(task, where=where, asked_at=asked_at)
        return read.context_for(self._deps, asked, budget_tokens=budget_tokens)

    def get(self, memory_id: str) -> Memory:
        """Return one memory."""
        return read.get(self._deps, memory_id)

    def memories(self, **asked: Any) -> list[Memory]:
        """Return the newest memories; takes the places and filters of `search`."""
        return read.newest(self._deps, _question("", asked))

    def inbox(self, *, limit: int = 50, **asked: Any) -> list[Memory]:
        """Return the candidates that wait for a decision, newest first, of every owner."""
        where = {"everywhere": True} | asked | {"statuses": [Status.INBOX], "limit": limit}
        return read.newest(self._deps, _question("", where))

    def explain(self, some_id: str) -> MemoryExplanation | Retrieval:
        """Return everything known about a memory, or about a logged retrieval."""
        return read.explain(self._deps, some_id)

    def why_not(self, memory_id: str, query: str, **asked: Any) -> WhyNot:
        """Return why a memory does not come for *query*; takes what `search` takes."""
        return read.why_not(self._deps, memory_id, _question(query, asked))

    def projects(self) -> list[Project]:
        """Return every project of the store."""
        with self._store.read() as tables:
            return tables.places.projects()

    def events(self) -> list[Event]:
        """Return the history of what came in, oldest first."""
        with self._store.read() as tables:
            return tables.sources.events()

    # ── the queue ───────────────────────────────────────────────────────────────────────────────

    def event(self, event_id: str) -> Event:
        """Return how far a capture has come."""
        return read.event(self._deps, event_id)

    def jobs(self, *, states: Texts | None = None, limit: int = 50) -> list[Job]:
        """Return the steps that are not done, or those of some states, those due first first."""
        return jobs.jobs(self._deps, states=states, limit=limit)

    def job(self, job_id: str) -> Job:
        """Return one job."""
        return jobs.job(self._deps, job_id)

    def retry(self, job_id: str) -> Job:
        """Make a parked or waiting job due now."""
        return jobs.retry(self._deps, job_id)

    def work_in_steps(self) -> Iterator[Job]:
        """Run every job that is due, yielding each as it was claimed."""
        return jobs.work_in_steps(self._deps)

    def ledger(self, *, limit: int = 50) -> list[ModelCall]:
        """Return what language models were asked lately, and what it cost."""
        return jobs.ledger(self._deps, limit=limit)

    # ── saved searches ──────────────────────────────────────────────────────────────────────────

    def save_view(self, name: str, query: str, **asked: Any) -> View:
        """Keep a search under a name; takes what `search` takes."""
        return views.save_view(self._deps, name, _question(query, asked))

    def views(self) -> list[View]:
        """Return every saved search."""
        return views.views(self._deps)

    def run_view(self, name: str) -> list[Hit]:
        """Run a saved search."""
        return views.run_view(self._deps, name)

    def delete_view(self, name: str) -> None:
        """Remove a saved search."""
        views.delete_view(self._deps, name)

    # ── upkeep ──────────────────────────────────────────────────────────────────────────────────

    def export(self, path: str | PathLike[str]) -> int:
        """Write everything to one file (`.gz` compresses); return the number of rows."""
        return transfer.export(self._deps, at_home(fspath(path)))

    def import_(self, path: str | PathLike[str]) -> Imported:
        """Add everything of an exported file, all or none."""
        return transfer.import_(self._deps, at_home(fspath(path)))

    def drain(self) -> int:
        """Do everything that is due now (jobs, embedding); return how much that was."""
        return upkeep.drain(self._deps)

    def drain_in_steps(self) -> Iterator[int]:
        """Do the same in steps, yielding what each did, for whoever shows progress."""
        return upkeep.drain_in_steps(self._deps)

    def try_embedder(self) -> str:
        """Embed one word and say with what; raises `EmbedderUnavailable`."""
        return upkeep.try_embedder(self._deps)

    def verify(self) -> Verification:
        """Check the file, the rules and the indexes."""
        return upkeep.verify(self._deps)

    def rebuild_indexes(self) -> Mapping[str, int]:
        """Make every index anew from the memories."""
        return upkeep.rebuild_indexes(self._deps)

    def status(self) -> StoreStatus:
        """Return what is in the store and how far its indexes are."""
        return upkeep.status(self._deps)

    def close(self) -> None:
        """Finish and close. Closing twice is closing once."""
        self._embedding.close()
        self._store.close()
        if self._temporary is not None and os.getpid() == self._pid:
            self._temporary.cleanup()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Embedding:
    """Makes the indexer when the first question needs it."""

    def __init__(self, settings: Settings, store: SqliteStore, embedder: "Embedder | None") -> None:
        self._settings = settings
        self._store = store
        self._embedder = embedder
        self._indexer: Indexer | None = None
        self._lock = threading.Lock()

    def indexer(self) -> "Indexer | None":
        if self._embedder is None and self._settings.embedding_backend == "none":
            return None
        with self._lock:
            if self._indexer is None:
                # NumPy, onnxruntime and the HTTP client load here, not with `import recollect`.
                from recollect.engine.indexer import Indexer
                from recollect.models.choose import choose_embedder

                embedder = self._embedder or choose_embedder(self._settings)
                self._indexer = Indexer(self._store, embedder)
            return self._indexer

    def close(self) -> None:
        if self._indexer is not None:
            self._indexer.close()


def _chat_model(settings: Settings) -> "ChatModel | None":
    if settings.chat_backend == "none":
        return None
    # The HTTP client loads here, not with `import recollect`.
    from recollect.models.choose import choose_chat_model

    return choose_chat_model(settings)


def _path(place: Place) -> str | Path | None:
    return Path(place) if isinstance(place, PathLike) else place


_CAPTURE = frozenset(inspect.signature(capture.captures).parameters) - {"material", "trigger"} - {
    "where"
} | {"project", "repo", "agent", "session"}
_DRAFT = frozenset(inspect.signature(Recollect.ingest).parameters) - {"self"}
_QUESTION = frozenset(inspect.signature(Recollect.search).parameters) - {"self", "query"}


def _draft(item: Mapping[str, Any]) -> write.Draft:
    if not isinstance(item, Mapping):
        raise InvalidInput("each item must be a dict of what `ingest` takes")
    given = _known(item, _DRAFT)
    where = _where(given)
    return write.draft(given.pop("content", None), where=where, **given)


def _question(query: str, asked: Mapping[str, Any]) -> read.Question:
    given = _known(asked, _QUESTION)
    where = _where(given)
    return read.question(query, where=where, **given)


def _known(given: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    unknown = sorted(given.keys() - names)
    if unknown:
        raise InvalidInput(f"unknown: {', '.join(unknown)}; use {', '.join(sorted(names))}")
    return dict(given)


def _where(given: dict[str, Any]) -> Where:
    project, repo, agent, session = (
        given.pop(name, None) for name in ("project", "repo", "agent", "session")
    )
    return Where.of(_path(project), _path(repo), agent, session)
