"""What upkeep answers with: receipts, checks and import counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What `forget` removed, table by table. It is handed over, not kept."""

    memory_id: str
    forgotten_at: datetime
    removed: Mapping[str, int]
    kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """One thing `verify` found wrong, and what mends it."""

    check: str
    detail: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of `verify`: every check by name, and what failed."""

    checks: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """True when nothing was found wrong."""
        return not self.problems


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What `import_` did, row by row."""

    added: Mapping[str, int]
    unchanged: int
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StoreStatus:
    """What is in a store, and how far its indexes are."""

    path: str
    schema: int
    bytes: int
    counts: Mapping[str, int]
    memories_by_status: Mapping[str, int]
    embedder: str  # by which everything is to be embedded
    serving: str  # whose vectors answer questions; '' before anything is embedded
    embedded: Mapping[str, int]
    waiting: int
    jobs: Mapping[str, int]
    next_job_at: datetime | None  # when the next job is due, if none is now
    extracted: int  # candidates the engine ever found that are still in the store
    rejected: int  # of those, how many a person turned down
    contradictions: int  # pairs that stand against each other

    @property
    def junk_rate(self) -> float:
        """The share of what was extracted that a person turned down."""
        return self.rejected / self.extracted if self.extracted else 0.0


class ReviewVerdict(StrEnum):
    """What a reviewer may decide of a candidate."""

    KEEP = "keep"  # it becomes active
    REPLACE = "replace"  # and what it speaks against is superseded by it
    REJECT = "reject"  # it is archived, not deleted


class EmbedderState(StrEnum):
    """How it stands with the embedder."""

    OFF = "off"
    NOT_LOADED = "not loaded"  # nobody has asked it yet
    READY = "ready"
    RESTING = "resting"  # it failed, and has not answered since


@dataclass(frozen=True, kw_only=True)
class EmbedderStatus:
    """What is known of the embedder without asking it anything."""

    backend: str
    name: str
    state: EmbedderState
    dimension: int | None = None
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class StoreHealth:
    """What a short look at the store tells: that it can be read, and what waits."""

    schema: int
    jobs: Mapping[str, int]  # those not done, by state
    waiting: int  # items without vectors of the present embedder
    dimension: int | None  # of the present embedder, where something was embedded by it


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """
    A candidate as a reviewer needs it: why it waits, what it speaks against, who said it.

    *also* are the candidates that say the same; what is decided of this one is decided of them.
    """

    memory: Memory
    why: str
    rivals: tuple[Memory, ...] = ()
    source: str = ""
    voice: str = ""
    also: tuple[Memory, ...] = ()
    known: Memory | None = None  # an active memory that says so already
    sessions: int = 0  # in how many separate sessions it was said
    group: str = ""  # where it belongs and what kind of thing it is
    number: int = 0  # which one it is in the order of review …
    of: int = 0  # … of how many that wait


@dataclass(frozen=True)
class Twins:
    """Two active memories that seem to say the same."""

    memory: Memory
    other: Memory


@dataclass(frozen=True, kw_only=True)
class MaintenanceReport:
    """What maintenance did, and what it leaves to a person."""

    embedded: int
    twins: tuple[Twins, ...]
    stale: tuple[Memory, ...]  # active facts nobody has confirmed for long: still true?
    taken_over: int  # jobs whose worker went silent and that are due again
    pruned: int = 0  # old retrievals removed from the log
