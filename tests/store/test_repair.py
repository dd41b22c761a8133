"""What `repair` rescues of a damaged store, and how it names what is lost."""

import stat
from pathlib import Path
from typing import Any

import apsw
import pytest

from damaged_store import PAGE, page_of
from recollect import AlreadyExists, LocalRecollect, StoreDamaged
from recollect.clock import SystemClock
from recollect.domain.repair_report import RepairReport
from recollect.store.sqlite.repair import repair
from support import file_store, open_memory

TEXT = "The staging server is called heron."
ALL: dict[str, Any] = {"project": "site", "limit": 100}

FILLED: list[bytes] = []


def fill(path: Path) -> None:
    """Write a store with memories; it is made once."""
    if not FILLED:
        _make(path)
        FILLED.append(path.read_bytes())
    path.write_bytes(FILLED[0])


def _make(path: Path) -> None:
    with open_memory(path, words_only=True) as rec:
        rec.ingest(TEXT, project="site")
        rec.capture_session("User: We deploy on Fridays.\nAssistant: Noted.\n", project="site")
        for number in range(60):
            rec.ingest(f"Fact number {number}: {'detail ' * 20}", project="site")
        rec.drain()


def rescue(path: Path) -> tuple[RepairReport, LocalRecollect]:
    """Repair *path*; return the report and the rescued store, which is valid."""
    to = path.with_name("rescued.db")
    report = repair(path, to, SystemClock())
    rec = open_memory(to, words_only=True)
    assert rec.maintenance.verify().problems == ()
    return report, rec


def overwrite(path: Path, at: int, new: bytes) -> None:
    """Replace bytes of the file."""
    content = bytearray(path.read_bytes())
    content[at : at + len(new)] = new
    path.write_bytes(bytes(content))


def test_a_store_without_damage_is_copied_whole_and_stays_private(path: Path) -> None:
    fill(path)
    with open_memory(path, words_only=True) as rec:
        counts = dict(rec.maintenance.status().counts)

    report, rescued = rescue(path)

    with rescued:
        assert report.describe() == []
        assert dict(rescued.maintenance.status().counts) == counts
        assert stat.S_IMODE(rescued.path.stat().st_mode) == 0o600


def test_an_existing_file_is_never_overwritten(path: Path) -> None:
    fill(path)
    other = path.with_name("other.db")
    other.write_text("mine")

    with pytest.raises(AlreadyExists, match="choose another name"):
        repair(path, other, SystemClock())

    assert other.read_text() == "mine"


def test_a_flipped_bit_in_a_source_a_quote_or_a_memory_is_corrected(path: Path) -> None:
    fill(path)
    whole = path.read_bytes()
    places = [at for at in range(len(whole)) if whole.startswith(TEXT.encode(), at)]
    assert len(places) == 3  # the source, the quote, the memory

    for place in places:
        path.write_bytes(whole)
        overwrite(path, place + 4, bytes([whole[place + 4] ^ 2]))
        report, rescued = rescue(path)
        with rescued:
            [memory] = [m for m in rescued.memories.list(**ALL) if "heron" in m.content]
            assert memory.content == TEXT
            assert [evidence.quote for evidence in memory.evidence] == [TEXT]
            assert all(not damage.lost for damage in report.damage)
        path.with_name("rescued.db").unlink()


def test_lost_rows_are_named_and_the_others_stay(path: Path) -> None:
    fill(path)
    with open_memory(path, words_only=True) as rec:
        before = {memory.id: memory for memory in rec.memories.list(**ALL)}
    root = page_of(path, "memories")
    content = path.read_bytes()
    child = (int.from_bytes(content[root + 8 : root + 12]) - 1) * PAGE  # its last page
    overwrite(path, child, bytes(PAGE))

    report, rescued = rescue(path)

    [damage] = [damage for damage in report.damage if damage.table == "memories"]
    with rescued:
        after = {memory.id: memory for memory in rescued.memories.list(**ALL)}
        listed = {*damage.lost, *damage.altered}
        assert listed
        assert before.keys() - after.keys() <= listed
        assert all(after[key] == before[key] for key in before if key not in listed)
        inbox = [memory for memory in after.values() if memory.status == "inbox"]
        assert {memory.id for memory in inbox} >= {*damage.altered} & after.keys()


def test_rows_of_a_lost_project_or_source_are_kept(path: Path) -> None:
    fill(path)
    with open_memory(path, words_only=True) as rec:
        [memory] = [m for m in rec.memories.list(**ALL) if m.content == TEXT]
    for table in ("projects", "sources"):
        overwrite(path, page_of(path, table), bytes(PAGE))

    report, rescued = rescue(path)

    with rescued:
        same = rescued.memories.get(memory.id)
        assert (same.content, same.status, same.project_id) == (TEXT, "active", memory.project_id)
        assert [evidence.quote for evidence in same.evidence] == [TEXT]
        assert {damage.table for damage in report.damage} >= {"projects", "sources"}


def test_a_damaged_log_loses_nothing_and_is_not_written_to(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(path)
    with open_memory(path, words_only=True) as rec:
        file_store(rec)._tables.connection.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        written = [rec.ingest(f"In the log, number {number}.").id for number in range(5)]
    log = path.with_name("memory.db-wal")
    frames = bytearray(log.read_bytes())
    frames[32 + 24 + 700] ^= 1  # the first frame: SQLite would ignore all of them
    log.write_bytes(bytes(frames))

    with open_memory(path, words_only=True) as rec:
        contents = [rec.memories.get(memory_id).content for memory_id in written]
        with pytest.raises(StoreDamaged, match="recollect repair"):
            rec.ingest("It would overwrite the log.")
        problems = rec.maintenance.verify().problems

    assert contents == [f"In the log, number {number}." for number in range(5)]
    assert "frame 1 of the write-ahead log is damaged" in problems[0].detail
    assert log.read_bytes() == bytes(frames)
    assert "recollect repair" in caplog.text
    report, rescued = rescue(path)
    with rescued:
        assert report.is_complete
        assert rescued.memories.get(written[-1]).content == "In the log, number 4."


@pytest.mark.parametrize("name", ["postings", "terms", "items", "memories_by_status"])
def test_a_damaged_index_is_rebuilt_in_place(path: Path, name: str) -> None:
    fill(path)
    overwrite(path, page_of(path, name), b"\xff" * 64)
    with open_memory(path, words_only=True) as rec:
        before = rec.maintenance.verify()
        hits = rec.search("staging server heron", project="site")
        rec.maintenance.rebuild()
        after = rec.maintenance.verify()
        again = rec.search("staging server heron", project="site")
        rec.ingest("Something new.")

    assert [problem.remedy for problem in before.problems] == ["run `recollect rebuild`"]
    assert name in before.problems[0].detail
    assert after.ok
    assert hits[0].memory.content == again[0].memory.content == TEXT


def test_a_damaged_table_is_not_touched_by_a_rebuild(path: Path) -> None:
    fill(path)
    overwrite(path, page_of(path, "memories"), b"\xff" * 64)

    with (
        open_memory(path, words_only=True) as rec,
        pytest.raises(StoreDamaged, match=r"memories.*run `recollect repair`"),
    ):
        rec.maintenance.rebuild()


def test_another_programs_database_and_other_files_are_not_rescued(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE notes (text)")
    db.close()
    text = path.with_name("notes.txt")
    text.write_text("no database\n" * 1000)

    for file in (path, text):
        with pytest.raises(StoreDamaged, match="not a Recollect database"):
            repair(file, path.with_name("new.db"), SystemClock())

    assert not path.with_name("new.db").exists()
