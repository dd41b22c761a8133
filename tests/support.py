"""Shared test helpers: a fake clock, a memory in a temporary file, builders."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect import LocalRecollect, Memory, MemoryType, Scope, Status
from recollect.clock import SystemClock, uuid7_text
from recollect.config import Settings
from recollect.models.embedder import Embedder
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.store.sqlite.store import SqliteStore

START = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)


class FakeClock:
    """A clock that starts at START and moves only when advanced; ids count up."""

    def __init__(self, start: datetime = START) -> None:
        self.moment = start
        self.issued = 0

    def now(self) -> datetime:
        return self.moment

    def new_id(self) -> str:
        self.issued += 1
        return uuid7_text(1_780_000_000_000 * 4096 + self.issued, self.issued)

    def advance(self, **by: float) -> None:
        self.moment += timedelta(**by)


class LaterClock(SystemClock):
    """The machine's clock, some seconds ahead."""

    def __init__(self, ahead_s: float) -> None:
        super().__init__()
        self._ahead = timedelta(seconds=ahead_s)

    def now(self) -> datetime:
        return super().now() + self._ahead


def open_memory(
    path: Path,
    *,
    clock: FakeClock | None = None,
    embedder: Embedder | None = None,
    synonyms: Mapping[str, str] | None = None,
    words_only: bool = False,
    cross_project: bool = True,
    single_user: bool = False,
    promote_explicit: bool = True,
    auto_compaction: bool = True,
    reach: Sequence[Path] | None = None,
    backup_folder: Path | None = None,
) -> LocalRecollect:
    """Open a memory with a scripted embedder, or with none."""
    settings = Settings(
        db=str(path),
        embedding_backend="none" if words_only else "local",
        cross_project=cross_project,
        single_user=single_user,
        promote_explicit=promote_explicit,
        auto_compaction=auto_compaction,
        backup_folder=str(backup_folder or ""),
    )
    if not words_only:
        embedder = embedder or ScriptedEmbedder(synonyms=synonyms)
    return LocalRecollect(settings, clock=clock, embedder=embedder, readable_folders=reach)


def active_memory(memory_id: str, kind: MemoryType, content: str, **fields: object) -> Memory:
    """Return a memory of everybody's that no store holds."""
    return Memory(
        id=memory_id,
        type=kind,
        scope=Scope.GLOBAL,
        status=Status.ACTIVE,
        content=content,
        observed_at=START,
        confirmed_at=START,
        created_at=START,
        updated_at=START,
        **fields,  # type: ignore[arg-type]
    )


def candidates(rec: LocalRecollect, **filters: Any) -> list[Memory]:
    """Return the candidates in the inbox, newest first, of every owner."""
    options: dict[str, Any] = {"everywhere": True, "limit": 50, **filters}
    return rec.memories.list(statuses=["inbox"], **options)


def file_store(rec: LocalRecollect) -> SqliteStore:
    """Return the store of *rec*, which is in a file."""
    store = rec._store
    assert isinstance(store, SqliteStore)
    return store
