"""`verify` finds damage and says how to repair it; `rebuild` repairs every index."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from recollect import LocalRecollect
from recollect.clock import to_micros
from support import open_memory

Damage = Callable[[apsw.Connection], object]


def damage(path: Path, sql: str) -> None:
    """Change the file directly, without triggers and foreign keys."""
    db = apsw.Connection(str(path))
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute(sql)
    db.close()


def filled(path: Path) -> None:
    with open_memory(path) as rec:
        rec.ingest("The build uses pnpm.", project="site", tags=["tooling"])
        rec.ingest("Answers should be short.")
        rec.drain()


def problems(path: Path) -> dict[str, str]:
    with open_memory(path) as rec:
        result = rec.maintenance.verify()
    assert result.ok == (not result.problems)
    return {problem.check: problem.remedy for problem in result.problems}


@pytest.mark.parametrize(
    ("sql", "check"),
    [
        ("DELETE FROM postings", "the word index matches the rows"),
        ("UPDATE postings SET times = times + 1", "the word index matches the rows"),
        ("UPDATE postings SET words = 99", "the word index matches the rows"),
        (
            "INSERT INTO terms VALUES (9, 1, 'boo', 1); INSERT INTO postings VALUES (9, 1, 1, 1)",
            "the word index matches the rows",
        ),
        ("UPDATE terms SET items = 5", "terms count their items"),
        ("UPDATE shelves SET items = 7", "partitions count their items"),
        ("DELETE FROM items WHERE seq = 1", "every searchable record is indexed"),
        (
            "INSERT INTO items (shelf_id, id) VALUES (1, 'ghost')",
            "every item has its record",
        ),
        ("UPDATE embeddings SET vector = x'00'", "vectors have the length of their model"),
        (
            "INSERT INTO tombstones SELECT 'source', id, sha256, captured_at FROM sources",
            "no quoted source counts as deleted",
        ),
    ],
)
def test_a_damaged_index_is_found_and_rebuilt(path: Path, sql: str, check: str) -> None:
    filled(path)
    damage(path, sql)

    found = problems(path)
    with open_memory(path) as rec:
        rec.maintenance.rebuild()
        rec.drain()
        verified = rec.maintenance.verify()
        [hit] = rec.search("pnpm", project="site")

    assert found.get(check) == "run `recollect rebuild`"
    assert verified.ok, verified.problems
    assert hit.memory.content == "The build uses pnpm."


@pytest.mark.parametrize(
    ("sql", "check"),
    [
        ("DELETE FROM evidence", "every active memory has evidence"),
        ("UPDATE evidence SET quote = 'forged'", "every quote occurs in its source"),
        ("UPDATE sources SET content = content || '!'", "sources have not changed"),
        ("DELETE FROM sources", "rows refer to existing rows"),
    ],
)
def test_damaged_rows_are_found(path: Path, sql: str, check: str) -> None:
    filled(path)
    damage(path, sql)

    assert problems(path)[check] == "run `recollect repair`"


def test_a_sound_store_has_no_problems(path: Path) -> None:
    filled(path)

    assert problems(path) == {}


def test_a_corrupt_file_is_found(path: Path) -> None:
    filled(path)
    content = bytearray(path.read_bytes())
    db = apsw.Connection(str(path))
    root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_tags_by_tag'").get
    db.close()
    content[(root - 1) * 4096 + 100 : root * 4096] = b"\xff" * 3996
    path.write_bytes(bytes(content))

    assert "the file is intact" in problems(path)


def test_rebuilding_changes_no_result(rec: LocalRecollect) -> None:
    for number in range(30):
        rec.ingest(f"fact number {number} about builds and {'tests' * (number % 3)}", project="p")
    asked_at = "2026-05-09"
    before = rec.search("facts about builds", project="p", asked_at=asked_at)

    rec.maintenance.rebuild()
    after = rec.search("facts about builds", project="p", asked_at=asked_at)

    assert [(hit.memory, hit.score, hit.explanation) for hit in before] == [
        (hit.memory, hit.score, hit.explanation) for hit in after
    ]


def test_status_counts_what_is_there(rec: LocalRecollect) -> None:
    kept = rec.ingest("one", status="inbox")
    status = rec.maintenance.status()

    assert status.memories_by_status == {"inbox": 1}
    assert status.waiting == 1
    rec.drain()
    assert rec.maintenance.status().embedded == {"scripted": 1}
    assert rec.maintenance.status().waiting == 0
    assert to_micros(kept.created_at) > 0
