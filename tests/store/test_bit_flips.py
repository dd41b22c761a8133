"""
One flipped bit anywhere in the files of a store: every operation answers or says what is damaged.

The bits are chosen by a seed, so a failure is repeated by its number.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from damaged_store import QUERY, BitFlip, StoreFiles, canonical_rows, flips, make_store
from recollect import LocalRecollect, RecollectError, StoreDamaged
from recollect.clock import SystemClock
from recollect.domain.repair_report import RepairReport
from recollect.store.sqlite.repair import repair
from support import open_memory

pytestmark = pytest.mark.fuzz

FLIPS, ALL_FLIPS = 64, 208
PARTS = 4


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> StoreFiles:
    return make_store(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("part", range(PARTS))
def test_after_any_flipped_bit_everything_answers_and_repair_rescues_the_rest(
    files: StoreFiles,
    tmp_path: Path,
    part: int,
    caplog: pytest.LogCaptureFixture,
    exhaustive: bool,
) -> None:
    caplog.set_level(logging.CRITICAL)
    damaged, rescued = tmp_path / "damaged" / "memory.db", tmp_path / "rescued.db"
    damaged.parent.mkdir()
    for flip in list(flips(files, ALL_FLIPS if exhaustive else FLIPS))[part::PARTS]:
        files.write(damaged, flip)
        before = {path: path.read_bytes() for path in damaged.parent.iterdir()}
        rescued.unlink(missing_ok=True)

        report = repair(damaged, rescued, SystemClock())

        assert before == {path: path.read_bytes() for path in damaged.parent.iterdir()}, flip
        check_rescued(files, rescued, report, flip)
        check_operations(files, damaged, flip)


def check_rescued(files: StoreFiles, rescued: Path, report: RepairReport, flip: BitFlip) -> None:
    """Fail unless the rescued store is valid and has every row of the tables without damage."""
    with open_memory(rescued, words_only=True) as rec:
        assert rec.maintenance.verify().problems == (), flip
        assert rec.damage is None
    rows = canonical_rows(rescued)
    reported = {damage.table for damage in report.damage}
    for table, expected in files.rows.items():
        missing, extra = expected - rows[table], rows[table] - expected
        if table == "migrations":
            assert len(rows[table]) == len(expected), flip
        elif table not in reported:
            # A text without a hash may differ in its one bit: in one row, which is still there.
            assert len(missing) == len(extra) <= 1, (str(flip), table, missing, report)
        else:
            assert len(missing) <= len(expected) / 2 + 1, (str(flip), table, len(missing))


def check_operations(files: StoreFiles, damaged: Path, flip: BitFlip) -> None:
    """Fail if an operation raises anything else than an error of ours, or finds nothing."""
    with open_memory(damaged, words_only=True) as rec:
        for name, operation in OPERATIONS.items():
            try:
                operation(rec, files)
            except RecollectError as error:
                is_refused_write = isinstance(error, StoreDamaged) and name in ("write", "rebuild")
                if not is_refused_write or "run `recollect re" not in str(error):
                    pytest.fail(f"{flip}: {name}: {error!r}")


def _search(rec: LocalRecollect, files: StoreFiles) -> None:
    hits = rec.search(QUERY, project="site")
    assert hits
    if files.memory_id not in {hit.memory.id for hit in hits}:
        assert rec.damage is not None


def _show(rec: LocalRecollect, files: StoreFiles) -> None:
    try:
        rec.memories.get(files.memory_id)
    except RecollectError:
        assert rec.damage is not None


def _export(rec: LocalRecollect, files: StoreFiles) -> None:
    rows = rec.export(rec.path.with_name("export.jsonl"))
    assert rows > sum(map(len, files.rows.values())) * 0.6


def _verify(rec: LocalRecollect, files: StoreFiles) -> None:
    result = rec.maintenance.verify()
    if rec.damage is not None:
        assert not result.ok
        assert all("recollect re" in problem.remedy for problem in result.problems)


def _rebuild(rec: LocalRecollect, files: StoreFiles) -> None:
    rec.maintenance.rebuild()
    problems = rec.maintenance.verify().problems
    assert all("recollect repair" in problem.remedy for problem in problems), problems


OPERATIONS: Mapping[str, Callable[[LocalRecollect, StoreFiles], object]] = {
    "status": lambda rec, files: rec.maintenance.status(),
    "search": _search,
    "show": _show,
    "context": lambda rec, files: rec.context_for(QUERY, project="site"),
    "messages": lambda rec, files: rec.conversations.search("answer", agent="ben"),
    "inbox": lambda rec, files: rec.inbox.list(),
    "blocks": lambda rec, files: rec.blocks.list(),
    "verify": _verify,
    "export": _export,
    "write": lambda rec, files: rec.ingest("Something new."),
    "rebuild": _rebuild,
}
