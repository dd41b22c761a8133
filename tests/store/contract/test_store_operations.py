"""Operations on the whole store: export, import, checks, the log queue, and its file."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from recollect import InvalidInput, Project, Retrieval
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.errors import StoreClosed, StoreError
from recollect.store.protocol import Store, StoreFile, Tables
from recollect.store.transfer.record_kinds import SYNCED_TABLES
from recollect.store.values import StoredFile
from store_backends import FILE_BACKENDS
from store_records import Keep, agent, count_matches, matching_ids, source
from support import START

PAGE_SIZE = 4096  # of a file
IMPORT = UnfinishedWork(kind=WorkKind.IMPORT, subject="s", started_at=START)


def retrieval(retrieval_id: str) -> Retrieval:
    return Retrieval(
        id=retrieval_id, verb="search", query="zebra", asking={}, notes=(), asked_at=START, hits=()
    )


# What only a store in a file can do is asked of no database server.
in_a_file = pytest.mark.parametrize("open_store", FILE_BACKENDS, indirect=True)


def file_of(store: Store) -> StoreFile:
    assert store.file is not None
    return store.file


def test_an_export_can_be_imported_into_an_empty_store(
    store: Store, other_store: Store, keep: Keep
) -> None:
    kept = keep("the zebra sleeps", tags=("x",))
    rows = list(store.export_rows())

    imported = other_store.import_rows(rows, IMPORT)

    assert imported.added["memories"] == 1
    assert imported.unchanged == 0
    assert list(other_store.export_rows()) == rows
    with other_store.read() as tables:
        assert tables.memories.get(kept.id) == kept
        assert tables.unfinished_work.all() == []
    assert len(matching_ids(other_store, "zebra")) == 1
    assert other_store.import_rows(rows, IMPORT).added.get("memories", 0) == 0


def test_a_synced_export_has_what_sync_sends_by_id_and_can_be_imported(
    store: Store, other_store: Store, keep: Keep
) -> None:
    ids = [keep(text, tags=("x",)).id for text in ("the zebra sleeps", "the quagga eats")]
    store.log_retrieval(retrieval("r"))
    rows = list(store.export_rows(synced=True))

    other_store.import_rows(rows, IMPORT)

    assert {row["table"] for row in rows} <= SYNCED_TABLES
    assert [row["id"] for row in rows if row["table"] == "memories"] == sorted(ids)
    assert all(list(row)[1:] == sorted(list(row)[1:]) for row in rows)
    assert list(other_store.export_rows(synced=True)) == rows


def test_rows_are_counted_by_table(store: Store, keep: Keep) -> None:
    keep("one")
    keep("two")

    counts = store.row_counts()

    assert (counts["memories"], counts["sources"], counts["agents"]) == (2, 2, 0)


def test_statistics_change_no_rows_and_no_results(store: Store, keep: Keep) -> None:
    keep("the zebra sleeps")
    rows, found = list(store.export_rows()), matching_ids(store, "zebra")

    store.update_statistics()

    assert list(store.export_rows()) == rows
    assert matching_ids(store, "zebra") == found


def test_a_closed_store_collects_no_statistics(store: Store) -> None:
    has_statistics = store.file is None
    store.close()

    with pytest.raises(StoreClosed) if has_statistics else nullcontext():
        store.update_statistics()


def test_a_store_says_where_it_is_and_how_large(
    store: Store, open_store: Callable[[], Store]
) -> None:
    size, version = store.size_bytes(), store.schema_version()
    again = open_store()

    assert store.location == again.location
    assert (store.file is not None) == Path(store.location).exists()
    assert store.file is None or str(store.file.path) == store.location
    assert size > 1_000
    assert version == again.schema_version() > 0
    assert store.read_only_reason == ""
    again.close()


def test_a_rebuilt_index_finds_what_it_found_before(store: Store, keep: Keep) -> None:
    keep("the zebra sleeps")
    before = matching_ids(store, "zebra")
    home = Project(id="p1", name="site", created_at=START)
    store.write(lambda tables: tables.projects.add_project(home))
    file = StoredFile("f1", "p1", "a.py", "x", "h")
    store.write(lambda tables: tables.files.save(file, START))

    counts = store.rebuild_indexes()

    assert counts["items"] == 2
    assert count_matches(store, ItemKind.FILE, Owner(Scope.PROJECT, "p1"), "x") == 1
    assert matching_ids(store, "zebra") == before
    names, problems = store.check()
    assert len(names) > 5
    assert problems == []


def test_work_for_the_next_write_is_done_first_and_only_by_it(store: Store) -> None:
    order: list[str] = []

    def add(tables: Tables, name: str) -> None:
        tables.agents.add(agent(name, name))
        order.append(name)

    with store.in_next_write(lambda tables: add(tables, "first")):
        store.write(lambda tables: add(tables, "second"))
        store.write(lambda tables: add(tables, "third"))
    with store.in_next_write(lambda tables: add(tables, "never")):
        pass
    store.write(lambda tables: add(tables, "fourth"))

    assert order == ["first", "second", "third", "fourth"]
    with store.read() as tables:
        assert len(tables.agents.all()) == 4


def test_work_for_the_next_write_fails_with_it(store: Store) -> None:
    def fail(tables: Tables) -> None:
        raise InvalidInput("no")

    with (
        pytest.raises(InvalidInput),
        store.in_next_write(lambda tables: tables.agents.add(agent("a", "anna"))),
    ):
        store.write(fail)

    with store.read() as tables:
        assert tables.agents.all() == []


def test_a_logged_retrieval_is_queued_and_then_written(store: Store) -> None:
    logged = [retrieval(f"q{number}") for number in range(3)]

    def hold(tables: Tables) -> list[Retrieval | None]:
        # While this write holds the store, nothing else can write what is queued.
        assert all(store.log_retrieval(new) for new in logged)
        return [store.queued_retrieval(new.id) for new in logged]

    assert store.write(hold) == logged
    assert store.flush_log(timeout_s=60)
    with store.read() as tables:
        assert list(tables.retrievals.all()) == logged
    assert store.queued_retrieval("q0") is None


def test_a_log_that_cannot_be_written_in_time_says_so(store: Store) -> None:
    def hold(tables: Tables) -> bool:
        tables.agents.add(agent("a", "anna"))
        store.log_retrieval(retrieval("q"))
        return store.flush_log(timeout_s=0.01)

    assert not store.write(hold)


def test_two_stores_have_two_locations(store: Store, other_store: Store) -> None:
    assert store.location != other_store.location


def test_a_broken_rule_is_found_by_the_check(store: Store, keep: Keep) -> None:
    keep("the zebra sleeps")
    assert store.check()[1] == []

    def break_index(tables: Tables) -> None:
        tables.sources.add(source("s1", "loose", sha256="wrong"))

    store.write(break_index)

    assert store.check()[1] != []


@in_a_file
def test_a_snapshot_is_a_copy_of_the_store(
    store: Store, keep: Keep, open_store: Callable[[], Store]
) -> None:
    file = file_of(store)
    assert file.snapshots() == []
    kept = keep("before")

    copy = file.snapshot("test")
    keep("after")

    assert file.snapshots() == [copy]
    assert file.owns(copy)
    assert not file.owns(copy.parent / "other")
    assert file.path.exists()
    store.close()
    copy.replace(file.path)
    for beside in set(file.path.parent.glob(f"{file.path.name}-*")):
        beside.unlink()
    again = open_store()
    with again.read() as tables:
        assert [memory.id for memory in tables.memories.get_many([kept.id])] == [kept.id]
        assert tables.memories.count_by_status() == {"active": 1}
    again.close()


@in_a_file
def test_a_copy_of_the_store_is_checked_and_counted(store: Store, keep: Keep) -> None:
    file = file_of(store)
    keep("before")

    rows = file.write_copy(file.path.parent / "copy")

    assert rows == store.row_counts()
    assert rows["memories"] == 1
    assert (file.path.parent / "copy").exists()


@in_a_file
def test_a_store_without_a_key_signs_nothing_and_encrypts_nothing(store: Store) -> None:
    file = file_of(store)
    note = file.path.parent / "note.txt"
    note.write_text("not encrypted")

    assert file.is_encrypted is False
    assert (file.key_id, file.sign(b"content"), file.wrapped_keys()) == ("", "", [])
    assert file.read_encrypted(note) is None
    with pytest.raises(InvalidInput):
        file.write_encrypted(note)


@in_a_file
def test_erased_content_is_gone_from_the_bytes_of_the_file(store: Store, keep: Keep) -> None:
    file = file_of(store)
    loose = source("s1", "unrepeatable walrus")
    store.write(lambda tables: tables.sources.add(loose))
    store.write(lambda tables: tables.sources.delete("s1"))

    assert file.erase_deleted_content(give_up_s=60)

    for path in file.path.parent.glob(f"{file.path.name}*"):
        assert b"walrus" not in path.read_bytes()


@in_a_file
def test_erasing_gives_up_while_somebody_reads_what_was_deleted(store: Store) -> None:
    file = file_of(store)
    store.write(lambda tables: tables.sources.add(source("s1", "walrus")))
    with store.read() as tables:
        assert tables.sources.get("s1") is not None
        store.write(lambda tables: tables.sources.delete("s1"))

        assert not file.erase_deleted_content(give_up_s=0)


@in_a_file
def test_what_is_left_of_a_damaged_file_can_be_read_and_not_written(
    store: Store, keep: Keep, open_store: Callable[[], Store]
) -> None:
    file = file_of(store)
    assert not file.is_damaged()
    kept = [keep(f"memory {number} " + "word " * 200) for number in range(60)]
    store.close()
    damage(file.path)

    again = open_store()
    rest = file_of(again)
    assert rest.is_damaged()
    assert rest.use_rescued_copy()
    assert not rest.use_rescued_copy()

    assert again.read_only_reason
    with again.read() as tables:
        assert tables.memories.get_many([memory.id for memory in kept])
    with pytest.raises(StoreError):
        again.write(lambda tables: tables.agents.add(agent("a", "anna")))
    again.close()


def damage(path: Path) -> None:
    """Overwrite the beginning of a page that holds the text of a memory."""
    content = bytearray(path.read_bytes())
    start = content.rindex(b"memory 30 ") // PAGE_SIZE * PAGE_SIZE
    content[start : start + 600] = b"\xa5" * 600
    path.write_bytes(content)


def test_the_load_counts_readers_caches_and_what_waits(store: Store, keep: Keep) -> None:
    keep("the zebra sleeps")
    with store.read() as tables:
        assert tables.agents.all() == []
        busy = store.load()
    idle = store.load()

    assert (busy.busy_readers, idle.busy_readers, idle.idle_readers) == (1, 0, 1)
    assert (idle.queued_writes, idle.queued_retrievals, idle.waiting_readers) == (0, 0, 0)
    assert (idle.code_bytes, idle.vector_bytes) == (0, 0)
