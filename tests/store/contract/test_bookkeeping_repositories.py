"""Idempotency keys, unfinished work, tombstones and the counts of clients."""

from datetime import timedelta

from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.protocol import Store, Tables
from recollect.store.repositories.clients import MAX_CLIENTS
from store_records import Keep
from support import START


def test_a_key_is_claimed_once_until_it_is_pruned(store: Store) -> None:
    def claim(key: str, fingerprint: str, days: int = 0) -> bool:
        at = START + timedelta(days=days)
        return store.write(lambda tables: tables.idempotency_keys.claim(key, fingerprint, at=at))

    assert claim("k1", "first")
    assert not claim("k1", "second")
    assert claim("k2", "other", days=1)
    with store.read() as tables:
        assert tables.idempotency_keys.fingerprint("k1") == "first"
        assert tables.idempotency_keys.fingerprint("unknown") is None

    before = START + timedelta(days=1)
    store.write(lambda tables: tables.idempotency_keys.prune(before=before))

    with store.read() as tables:
        assert tables.idempotency_keys.fingerprint("k1") is None
        assert tables.idempotency_keys.fingerprint("k2") == "other"


def test_a_deletion_is_recorded_once_and_waits_while_the_record_is_here(
    store: Store, keep: Keep
) -> None:
    kept = keep("deleted on another machine")
    memory = Tombstone(kind=DeletedKind.MEMORY, id=kept.id, deleted_at=START)
    source = Tombstone(kind=DeletedKind.SOURCE, id="s", sha256="abc", deleted_at=START)
    again = Tombstone(kind=DeletedKind.SOURCE, id="s", deleted_at=START + timedelta(days=1))
    store.write(lambda tables: tables.tombstones.add(memory, source, again))

    with store.read() as tables:
        assert tables.tombstones.all() == [memory, source]
        assert tables.tombstones.still_here() == [memory]
    store.write(lambda tables: tables.memories.delete(kept.id))
    with store.read() as tables:
        assert tables.tombstones.still_here() == []


def test_work_is_unfinished_until_it_is_removed(store: Store) -> None:
    erase = UnfinishedWork(kind=WorkKind.ERASE_DELETED, started_at=START)
    import_ = UnfinishedWork(
        kind=WorkKind.IMPORT, subject="s", detail="file", started_at=START + timedelta(hours=1)
    )
    again = UnfinishedWork(kind=WorkKind.IMPORT, subject="s", started_at=START)

    def write(tables: Tables) -> None:
        for work in (import_, erase, again):
            tables.unfinished_work.add(work)

    store.write(write)
    with store.read() as tables:
        assert tables.unfinished_work.all() == [erase, import_]
        assert tables.unfinished_work.all(WorkKind.IMPORT) == [import_]
    store.write(lambda tables: tables.unfinished_work.remove(WorkKind.IMPORT, "other"))
    store.write(lambda tables: tables.unfinished_work.remove(WorkKind.ERASE_DELETED))
    with store.read() as tables:
        assert tables.unfinished_work.all() == [import_]


def test_the_store_knows_the_exports_that_it_wrote(store: Store) -> None:
    store.write(lambda tables: tables.unfinished_work.add_export("abc", START))
    store.write(lambda tables: tables.unfinished_work.add_export("abc", START))

    with store.read() as tables:
        assert tables.unfinished_work.has_export("abc")
        assert not tables.unfinished_work.has_export("def")


def test_clients_are_counted_by_name_and_the_latest_comes_first(store: Store) -> None:
    later = START + timedelta(hours=1)

    def write(tables: Tables) -> None:
        tables.clients.count_write("codex", at=START)
        tables.clients.count_retrieval("claude-code", at=later)
        tables.clients.count_write("claude-code", at=START)
        tables.clients.count_write("claude-code", at=START)

    store.write(write)

    with store.read() as tables:
        claude, codex = tables.clients.latest(limit=5)
        assert tables.clients.latest(limit=1) == [claude]
    assert (claude.name, claude.writes, claude.retrievals) == ("claude-code", 2, 1)
    assert (claude.first_seen_at, claude.last_seen_at) == (later, later)
    assert (claude.last_write_at, claude.last_retrieval_at) == (START, later)
    assert (codex.name, codex.writes, codex.retrievals) == ("codex", 1, 0)
    assert codex.last_retrieval_at is None


def test_the_number_of_clients_is_bounded(store: Store) -> None:
    def write(tables: Tables) -> None:
        for number in range(MAX_CLIENTS + 5):
            tables.clients.count_write(f"client {number}", at=START + timedelta(seconds=number))

    store.write(write)

    with store.read() as tables:
        names = [client.name for client in tables.clients.latest(limit=MAX_CLIENTS + 5)]
    assert len(names) == MAX_CLIENTS
    assert names[0] == f"client {MAX_CLIENTS + 4}"
    assert "client 4" not in names
