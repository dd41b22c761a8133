"""What is damaged and what is unfinished is said in sentences that name the next step."""

from datetime import UTC, datetime

from recollect.domain.repair_report import RepairReport, TableDamage
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind

AT = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)


def test_damage_is_named_by_table_and_row_and_a_long_list_is_cut() -> None:
    lost = tuple(f"m{number}" for number in range(7))
    damage = TableDamage(table="memories", lost=lost, altered={"m9": "cut"}, unknown_pages=2)
    report = RepairReport(
        path="old.db",
        to="new.db",
        rescued={},
        damage=(damage,),
        notes=("note",),
        indexes=("items",),
    )

    assert report.describe() == [
        "memories: 7 rows lost (m0, m1, m2, m3, m4 and 2 more)",
        "memories: 1 rows altered (m9: cut)",
        "memories: 2 pages cannot be read; their rows are unknown",
        "note",
        "indexes: items",
    ]
    assert not report.is_complete
    assert not report.only_indexes


def test_damaged_indexes_alone_lose_nothing() -> None:
    report = RepairReport(path="old.db", to="new.db", rescued={}, indexes=("items",))

    assert report.is_complete
    assert report.only_indexes


def test_unfinished_work_says_what_finishes_it() -> None:
    work = [UnfinishedWork(kind=kind, detail="a.jsonl", started_at=AT) for kind in WorkKind]

    deletion, import_, truncation = (unfinished.describe() for unfinished in work)
    assert deletion.endswith("(since 2026-11-16 09:30); `recollect work --once` finishes it")
    assert import_.startswith("the import of a.jsonl is not complete (since 2026-11-16 09:30)")
    assert "may hold forgotten words" in truncation
