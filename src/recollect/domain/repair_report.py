"""The result of `repair`: what was rescued from a damaged store, and what was not."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from recollect.lazy_dataclass import dataclass

ROWS_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class TableDamage:
    """The damage of one table; rows are named by their keys."""

    table: str
    lost: tuple[str, ...] = ()  # rows that could not be rescued
    altered: Mapping[str, str] = field(default_factory=dict)  # row: what differs
    unknown_pages: int = 0  # pages whose rows are not even known by name

    def describe(self) -> Iterator[str]:
        """Yield a sentence for each kind of damage."""
        if self.lost:
            yield f"{self.table}: {len(self.lost)} rows lost ({_shorten_list(self.lost)})"
        if self.altered:
            changes = [f"{key}: {change}" for key, change in self.altered.items()]
            yield f"{self.table}: {len(changes)} rows altered ({_shorten_list(changes)})"
        if self.unknown_pages:
            yield f"{self.table}: {self.unknown_pages} pages cannot be read; their rows are unknown"


@dataclass(frozen=True, kw_only=True)
class RepairReport:
    """What was rescued into a new file, by table, and the damage."""

    path: str  # the damaged store, which was not changed
    to: str  # the new store
    rescued: Mapping[str, int]  # rows by table
    damage: tuple[TableDamage, ...] = ()
    notes: tuple[str, ...] = ()  # damage that lost no row: in the header, in the log, in pages
    indexes: tuple[str, ...] = ()  # damaged indexes and tables that are made from others

    @property
    def is_complete(self) -> bool:
        """True if no row was lost or altered."""
        return not self.damage

    @property
    def only_indexes(self) -> bool:
        """True if nothing but indexes is damaged, which `rebuild` repairs."""
        return bool(self.indexes) and not self.damage and not self.notes

    def describe(self) -> list[str]:
        """Return a sentence for each part of the damage."""
        lines = [line for table in self.damage for line in table.describe()] + list(self.notes)
        return lines + ([f"indexes: {', '.join(self.indexes)}"] if self.indexes else [])


def _shorten_list(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - ROWS_SHOWN} more" if len(names) > ROWS_SHOWN else ""
    return ", ".join(names[:ROWS_SHOWN]) + more
