"""
The protocols of a database of memories: the store, its file, and the tables inside a transaction.

A `Store` offers `read`, a consistent view while it is open, and `write`, which runs a function in
one transaction and returns once it is on disk. Both pass `Tables`: one repository
per concept, and the indexes.
The contract tests in tests/store/contract run against every database.

Times, ids and rules come from the callers: a store writes and finds rows, and decides nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

from recollect.domain.maintenance import Imported, StoreLoad, VerificationProblem
from recollect.domain.retrieval import Retrieval
from recollect.domain.unfinished_work import UnfinishedWork
from recollect.lazy_dataclass import dataclass
from recollect.store.repositories.agents import AgentRepository
from recollect.store.repositories.blocks import BlockRepository
from recollect.store.repositories.clients import ClientRepository
from recollect.store.repositories.conversations import ConversationRepository
from recollect.store.repositories.documents import DocumentRepository
from recollect.store.repositories.embeddings import EmbeddingRepository
from recollect.store.repositories.files import FileRepository
from recollect.store.repositories.idempotency_keys import IdempotencyKeyRepository
from recollect.store.repositories.jobs import JobRepository
from recollect.store.repositories.links import LinkRepository
from recollect.store.repositories.memories import MemoryRepository
from recollect.store.repositories.messages import MessageRepository
from recollect.store.repositories.projects import ProjectRepository
from recollect.store.repositories.retrievals import RetrievalRepository
from recollect.store.repositories.runs import RunRepository
from recollect.store.repositories.skills import SkillRepository
from recollect.store.repositories.sleeptime_runs import SleeptimeRunRepository
from recollect.store.repositories.sources import SourceRepository
from recollect.store.repositories.stored_texts import StoredTextRepository
from recollect.store.repositories.team import TeamRepository
from recollect.store.repositories.tombstones import TombstoneRepository
from recollect.store.repositories.tool_calls import ToolCallRepository
from recollect.store.repositories.unfinished_work import UnfinishedWorkRepository
from recollect.store.search_index import SearchIndex

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The repositories and indexes, inside one read or one write."""

    projects: ProjectRepository
    agents: AgentRepository
    blocks: BlockRepository
    conversations: ConversationRepository
    messages: MessageRepository
    runs: RunRepository
    sleeptime_runs: SleeptimeRunRepository
    skills: SkillRepository
    files: FileRepository
    documents: DocumentRepository
    sources: SourceRepository
    memories: MemoryRepository
    jobs: JobRepository
    links: LinkRepository
    retrievals: RetrievalRepository
    clients: ClientRepository
    idempotency_keys: IdempotencyKeyRepository
    unfinished_work: UnfinishedWorkRepository
    tombstones: TombstoneRepository
    tool_calls: ToolCallRepository
    team: TeamRepository
    texts: StoredTextRepository
    search_index: SearchIndex
    embeddings: EmbeddingRepository


class StoreFile(Protocol):
    """The file of a store: its copies, its repair, and what deleted rows leave in it."""

    @property
    def path(self) -> Path:
        """The database file."""

    @property
    def is_encrypted(self) -> bool:
        """Whether the file, its log and its copies are encrypted."""

    def write_encrypted(self, path: Path) -> AbstractContextManager[IO[bytes]]:
        """Return a context with a file to write to, which *path* then holds encrypted."""

    def read_encrypted(self, path: Path) -> AbstractContextManager[IO[bytes]] | None:
        """Return a context with the content of an encrypted file; None if *path* is not one."""

    @property
    def key_id(self) -> str:
        """The short name of the key of an encrypted store, '' of another."""

    def sign(self, content: bytes) -> str:
        """Return an HMAC of *content* with the key of the store, '' if it has none."""

    def wrapped_keys(self) -> list[Mapping[str, Any]]:
        """Return the keys of the store that a passphrase unwraps."""

    def write_copy(self, path: Path) -> Mapping[str, int]:
        """Copy the store to *path*, check the copy, and return its rows by table."""

    def owns(self, path: Path) -> bool:
        """Return whether *path* is this file, or has a name of a file that belongs to it."""

    def snapshot(self, reason: str) -> Path:
        """Copy the store to a file next to it, named after *reason*; return its path."""

    def snapshots(self) -> list[Path]:
        """Return the copies that were made before a change, by name."""

    def erase_deleted_content(self, *, give_up_s: float) -> bool:
        """
        Overwrite what deleted rows left in the file and in the files beside it.

        Return False if a reader prevented it for *give_up_s* seconds. Writers of any process wait a
        few tenths of a second at most.
        """

    def is_damaged(self) -> bool:
        """Return whether a page or a row cannot be read; checks the whole file, but only once."""

    def use_rescued_copy(self) -> bool:
        """
        Read what can be rescued of a damaged store from now on, and refuse to write.

        Return False if nothing can be rescued, or if the rescued copy is in use already.
        """


class JobListener(Protocol):
    """Wakes the workers of this process when another one stores a job."""

    @property
    def is_listening(self) -> bool:
        """Whether the store reports new jobs now; if not, only polling finds them."""

    def close(self) -> None:
        """Stop listening."""


class Store(Protocol):
    """A database of memories."""

    @property
    def location(self) -> str:
        """Where the store is, for people: a path, or an address without credentials."""

    @property
    def file(self) -> StoreFile | None:
        """The file of the store; None if it is a database server."""

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be written, '' if it can: no permission, or damage."""

    def read(self) -> AbstractContextManager[Tables]:
        """Return a context with a consistent, read-only view of the store."""

    def write(self, work: Callable[[Tables], T]) -> T:
        """Run *work* in one transaction; return its result once it is on disk."""

    def in_next_write(self, work: Callable[[Tables], None]) -> AbstractContextManager[None]:
        """
        Return a context in which *work* runs first in this thread's next write, if any.

        Inside another such context, both run, that of the outer one first.
        """

    def log_retrieval(self, retrieval: Retrieval) -> bool:
        """Log a retrieval soon, without waiting for other writers; return False if it cannot be."""

    def queued_retrieval(self, retrieval_id: str) -> Retrieval | None:
        """Return a retrieval that is not written to the log yet, or None."""

    def flush_log(self, *, timeout_s: float) -> bool:
        """Write the retrievals that are not written yet; return False if the file stays busy."""

    def listen_for_jobs(self, wake: Callable[[], None]) -> JobListener | None:
        """Call *wake*, in a thread, when another process stores a job; None if it cannot tell."""

    def export_rows(self, *, synced: bool = False) -> Iterator[Mapping[str, Any]]:
        """
        Yield every canonical row, in an order in which they can be imported.

        If *synced*, yield only what sync sends, in an order that is the same on every device.
        """

    def import_rows(
        self,
        rows: Iterable[Mapping[str, Any]],
        work: UnfinishedWork,
        *,
        apply_tombstones: Callable[[], None] | None = None,
    ) -> Imported:
        """
        Add exported rows, and merge memories and blocks that are here with the imported ones.

        *apply_tombstones* is called when the tombstones are stored, before anything else is.

        All rows are validated before the first is written, and then written in bounded steps. Until
        the last step *work* is listed as unfinished; the same rows again continue it.
        """

    def check(self) -> tuple[list[str], list[VerificationProblem]]:
        """Run every integrity check; return their names, and the problems found."""

    def rebuild_indexes(self) -> Mapping[str, int]:
        """Rebuild every derived table from the canonical rows; return their row counts."""

    def enforce_policies(self) -> None:
        """Let the database itself refuse rows to users who may not see them, where it can."""

    def update_statistics(self) -> None:
        """Let the database look at its rows after a large change, so that it plans queries well."""

    def row_counts(self) -> Mapping[str, int]:
        """Return how many rows each canonical table has."""

    def size_bytes(self) -> int:
        """Return how much space the store takes."""

    def load(self) -> StoreLoad:
        """Return how busy the connections of this process are, and how large its caches."""

    def schema_version(self) -> int:
        """Return the number of the last schema migration."""

    def close(self) -> None:
        """Close every connection; closing again has no effect."""
