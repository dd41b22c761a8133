"""
Backups of a store: what each is, and which of them are kept.

`7d,4w,12m` keeps the newest backup of each of the last seven days, four weeks and twelve months
that have one. The newest backup of all is never deleted.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

_PART = re.compile(r"(\d{1,4})([dwm])")
_PERIODS: Mapping[str, Callable[[datetime], tuple[int, ...]]] = {
    "d": lambda at: (at.year, at.month, at.day),
    "w": lambda at: tuple(at.isocalendar())[:2],
    "m": lambda at: (at.year, at.month),
}


@dataclass(frozen=True, kw_only=True)
class Backup:
    """One backup: a complete copy of a store, and when it was made."""

    path: str
    store: str
    created_at: datetime
    schema: int
    bytes: int
    sha256: str
    rows: Mapping[str, int]
    is_encrypted: bool
    key_id: str = ""


@dataclass(frozen=True, kw_only=True)
class BackupReport:
    """The result of `backup`: the new one, which was verified, and those that were deleted."""

    backup: Backup
    deleted: tuple[str, ...] = ()
    kept: int = 0  # including the new one


@dataclass(frozen=True, kw_only=True)
class RowDifference:
    """A row that is not the same in a backup and in the current store, as a person knows it."""

    id: str
    in_backup: str | None = None  # its text or name, None if it is not there
    in_store: str | None = None


@dataclass(frozen=True, kw_only=True)
class TableDifference:
    """
    How the rows of a table in a backup differ from those in the current store.

    *rows* has the first few, of tables whose rows have a text or a name.
    """

    only_in_backup: int = 0
    only_in_store: int = 0
    changed: int = 0
    rows: tuple[RowDifference, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RestoreReport:
    """
    The result of `restore`. With *dry_run* nothing was written.

    *differences* has the tables whose rows differ from the current store. If there is no such
    store, *was_compared* is False.
    """

    backup: Backup
    to: str
    dry_run: bool
    replaced: str = ""  # where the previous store was kept
    differences: Mapping[str, TableDifference] = field(default_factory=dict)
    was_compared: bool = True


@dataclass(frozen=True)
class KeepRule:
    """How many days, weeks and months keep their newest backup."""

    counts: Mapping[str, int]

    @classmethod
    def parse(cls, text: str) -> "KeepRule":
        """Return the rule that *text* such as `7d,4w,12m` describes."""
        counts: dict[str, int] = {}
        for part in text.replace(" ", "").lower().split(","):
            match = _PART.fullmatch(part)
            if match is None or not int(match[1]):
                raise InvalidInput(
                    f"cannot read {text[:80]!r}: write how many days, weeks and months to keep, "
                    "for example 7d,4w,12m"
                )
            counts[match[2]] = int(match[1])
        return cls(counts)

    def outdated(self, backups: Sequence[Backup]) -> list[Backup]:
        """Return the backups that the rule does not keep, oldest first."""
        newest_first = sorted(backups, key=lambda backup: backup.created_at, reverse=True)
        paths_to_keep = {backup.path for backup in newest_first[:1]}
        for unit, count in self.counts.items():
            periods: set[tuple[int, ...]] = set()
            for backup in newest_first:
                period = _PERIODS[unit](backup.created_at)
                if period not in periods and len(periods) < count:
                    periods.add(period)
                    paths_to_keep.add(backup.path)
        return [backup for backup in reversed(newest_first) if backup.path not in paths_to_keep]
