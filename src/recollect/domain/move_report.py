"""The result of moving a store to another database."""

from collections.abc import Mapping

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class MoveReport:
    """What was copied, and compared afterwards: every row by its hash, and a sample of rankings."""

    source: str
    target: str
    rows: Mapping[str, int]  # by table
    vectors: int
    compared_rankings: int
