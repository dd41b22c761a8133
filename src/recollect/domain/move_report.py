"""The result of moving a store to another database."""

from collections.abc import Mapping

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class MoveReport:
    """
    What was copied, and compared afterwards: every row by its hash, and a sample of rankings.

    If the store belongs to a team, the numbers are those of all its stores, and `rows` counts
    users, projects and members too.
    """

    source: str
    target: str
    rows: Mapping[str, int]  # by table
    vectors: int
    compared_rankings: int
    stores: int = 1
