"""What upkeep answers with: receipts, checks and import counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


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
    embedder: str
    embedded: Mapping[str, int]
    waiting: int
