"""The results of maintenance: receipts, checks, import counts, status and the review inbox."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from recollect.domain.memory import Memory
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """
    The result of `forget`: what was removed, rewritten, and what stays and why. It is not stored.

    `rewritten` names the session records, summaries, blocks, pins and titles that lost the words.

    With *dry_run* nothing was removed: it says what would be.
    """

    memory_id: str
    forgotten_at: datetime
    removed: Mapping[str, int]
    kept: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True)
class VerificationProblem:
    """A problem found by `verify`, and how to repair it."""

    check: str
    detail: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of `verify`: the checks by name, and the problems."""

    checks: tuple[str, ...]
    problems: tuple[VerificationProblem, ...]

    @property
    def ok(self) -> bool:
        """True if there are no problems."""
        return not self.problems


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The result of `import_`, in rows."""

    added: Mapping[str, int]
    unchanged: int
    merged: Mapping[str, int] = field(default_factory=dict)  # existing records that changed
    deleted: Mapping[str, int] = field(default_factory=dict)  # because they were deleted there
    conflicts: tuple[str, ...] = ()
    trusted: bool = True  # False: only candidates were added, and they wait in the inbox
    left_out: Mapping[str, int] = field(default_factory=dict)  # rows of a file that is not trusted


@dataclass(frozen=True, kw_only=True)
class StoreStatus:
    """The contents of a store, and the progress of its indexes."""

    path: str
    schema: int
    bytes: int
    counts: Mapping[str, int]
    memories_by_status: Mapping[str, int]
    memories_by_day: Mapping[str, int]  # observed on each of the last days (UTC), as YYYY-MM-DD
    embedder: str  # the model that every item is to be embedded by
    serving: str  # the model whose vectors answer queries; '' before anything is embedded
    embedded: Mapping[str, int]
    waiting: int
    jobs: Mapping[str, int]
    next_job_at: datetime | None  # time of the next job, if none is due now
    extracted: int  # candidates from the engine that are still in the store
    rejected: int  # of those, rejected by a person
    contradictions: int  # pairs of conflicting memories
    unfinished: tuple[str, ...] = ()  # interrupted imports and deletions, as sentences
    read_only: str = ""  # why nothing can be written, '' if it can: no permission, or damage
    is_encrypted: bool = False

    @property
    def junk_rate(self) -> float:
        """The share of extracted candidates that a person rejected."""
        return self.rejected / self.extracted if self.extracted else 0.0


@dataclass(frozen=True, kw_only=True)
class ClientActivity:
    """A program that stored or asked something, by the name that it gave."""

    name: str
    first_seen_at: datetime
    last_seen_at: datetime
    writes: int  # captures, memories and messages
    last_write_at: datetime | None
    retrievals: int
    last_retrieval_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class PendingCounts:
    """How much waits for a person or goes on; cheaper to read than the whole status."""

    inbox: int  # candidates
    conflicts: int  # pairs of memories
    proposals: int  # edits of shared blocks
    jobs: int  # that wait or run
    failed_jobs: int  # that were given up


class ReviewVerdict(StrEnum):
    """The decision of a reviewer on a candidate."""

    KEEP = "keep"  # it becomes active
    REPLACE = "replace"  # it becomes active and supersedes what it conflicts with
    REJECT = "reject"  # it is archived, not deleted
    MERGE = "merge"  # it is archived, and the active memory that says the same gets its quotes


class EmbedderState(StrEnum):
    """The state of the embedder."""

    OFF = "off"
    NOT_LOADED = "not loaded"  # not used yet
    READY = "ready"
    RESTING = "resting"  # paused after a failure


@dataclass(frozen=True, kw_only=True)
class EmbedderStatus:
    """The embedder's status, without calling it."""

    backend: str
    name: str
    state: EmbedderState
    dimension: int | None = None
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class StoreHealth:
    """A quick check of the store: it can be read, and what is pending."""

    schema: int
    jobs: Mapping[str, int]  # not done, by state
    waiting: int  # items without vectors of the current embedder
    dimension: int | None  # of the current embedder; None before it embedded anything
    read_only: str = ""  # why nothing can be written, '' if it can
    next_job_at: datetime | None = None  # when the first waiting job is due, or was


@dataclass(frozen=True, kw_only=True)
class StoreLoad:
    """How busy the connections of this process to its store are, and how large its caches."""

    queued_writes: int  # that wait for others of this process
    queued_retrievals: int  # that are not logged yet
    busy_readers: int  # connections
    idle_readers: int
    waiting_readers: int  # threads that wait for a connection
    code_bytes: int  # bit codes of vectors
    vector_bytes: int  # cached vectors


@dataclass(frozen=True, kw_only=True)
class InboxItem:
    """
    A candidate for review: why it was held, what it conflicts with and who said it.

    *duplicates* are other candidates that say the same; a decision applies to them too. Of two
    candidates that contradict each other the newer one is the item, and the older one is among its
    *conflicts*; the verdict `replace` decides both.
    """

    memory: Memory
    why: str
    conflicts: tuple[Memory, ...] = ()
    source: str = ""
    voice: str = ""
    before: str = ""  # what stands in the source right before the first quote, and after it
    after: str = ""
    duplicates: tuple[Memory, ...] = ()
    already_stored: Memory | None = None  # an active memory that says the same
    sessions: int = 0  # number of separate sessions in which it was said
    place: str = ""  # where it would be visible: the name of its project or agent
    group: str = ""  # its place and type, to group by
    number: int = 0  # in the order of review, from 1
    of: int = 0  # number of pending candidates


@dataclass(frozen=True)
class DuplicatePair:
    """Two active memories that seem to be duplicates."""

    memory: Memory
    other: Memory


@dataclass(frozen=True, kw_only=True)
class ConflictPair:
    """Two current memories that contradict each other; *other* is the newer one."""

    memory: Memory
    other: Memory
    noticed_at: datetime


@dataclass(frozen=True, kw_only=True)
class MaintenanceReport:
    """The result of maintenance, and what needs a person's decision."""

    embedded: int
    duplicates: tuple[DuplicatePair, ...]
    stale: tuple[Memory, ...]  # active facts that were not confirmed for a long time
    taken_over: int  # jobs whose lease expired and that are due again
    pruned: int = 0  # retrievals removed from the log
