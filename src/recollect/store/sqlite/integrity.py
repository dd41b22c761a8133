"""
Check the integrity of an SQLite file, and then of its rows and indexes.

Rows and indexes are checked alike in every database: `recollect.store.transfer.row_checks`.
"""

from collections.abc import Iterable
from itertools import islice

import apsw

from recollect.domain.maintenance import VerificationProblem
from recollect.domain.repair_report import RepairReport
from recollect.store.indexes.word_index import WordIndex
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.transfer.row_checks import (
    REBUILD,
    REPAIR,
    check_rows,
    unreadable_rows,
    violation_of,
)

INTACT = "the file is intact"
_REFERENCES = "rows refer to existing rows"


def check(
    db: apsw.Connection, word_index: WordIndex
) -> tuple[list[str], list[VerificationProblem]]:
    """Run every check; return their names, and the problems found."""
    problems = [VerificationProblem(INTACT, line, REPAIR) for line in _integrity_errors(db)]
    if problems:
        return [INTACT], problems  # further checks of a corrupt file mean nothing
    broken = [str(row[0]) for row in islice(db.execute("PRAGMA foreign_key_check"), 5)]
    if broken:
        problems.append(violation_of(_REFERENCES, ", ".join(broken), REPAIR))
    names, others = check_rows(SqliteRows(db), word_index)
    return [INTACT, _REFERENCES, *names], problems + others


def unreadable(reason: str) -> tuple[list[str], list[VerificationProblem]]:
    """Return the result of a check that could not be completed."""
    return [INTACT], [VerificationProblem(INTACT, reason, REPAIR)]


def is_damaged(db: apsw.Connection) -> bool:
    """Return whether the file, or a row of it, cannot be read."""
    return bool(_integrity_errors(db)) or next(unreadable_rows(SqliteRows(db)), None) is not None


def is_file_damaged(problems: Iterable[VerificationProblem]) -> bool:
    """Return whether one of *problems* is damage of the file itself."""
    return any(problem.check == INTACT for problem in problems)


def describe_damage(report: RepairReport) -> tuple[list[str], list[VerificationProblem]]:
    """Return the damage of a file as the result of a check: tables and rows."""
    remedy = REBUILD if report.only_indexes else REPAIR
    lines = report.describe() or ["a page is damaged that holds no rows"]
    return [INTACT], [VerificationProblem(INTACT, line, remedy) for line in lines]


def _integrity_errors(db: apsw.Connection) -> list[str]:
    try:
        return [line for (line,) in db.execute("PRAGMA integrity_check(10)") if line != "ok"]
    except apsw.CorruptError as error:
        return [str(error)]  # too corrupt to be read to the end
