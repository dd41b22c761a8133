"""The log of retrievals, and saved searches."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from recollect import Retrieval, SavedSearch
from recollect.domain.retrieval import LoggedHit, LoggedItem
from recollect.store.protocol import Store, Tables
from recollect.store.repositories.retrieval_packing import pack
from store_records import Keep
from support import START


def test_the_oldest_retrievals_beyond_those_kept_go_a_few_at_a_time(
    store: Store, keep: Keep
) -> None:
    hit = LoggedHit(rank=1, memory_id=keep("zebra").id, score=0.5, parts={}, explanation="")
    item = LoggedItem(kind="pin", item_id="b", tokens=1, outcome="in")
    for number, name in enumerate("abcdef"):
        retrieval = Retrieval(
            id=name,
            verb="search",
            query="zebra",
            asking={},
            notes=(),
            asked_at=START - timedelta(days=number),  # what a caller may say; it does not count
            hits=(hit,),
            context=(item,),
        )
        logged_at = START + timedelta(days=number)
        store.write(partial(_add_retrieval, retrieval, logged_at))

    def left() -> str:
        with store.read() as tables:
            assert tables.retrievals.count() == tables.retrievals.times_returned(hit.memory_id)
            return "".join(name for name in "abcdef" if tables.retrievals.get(name))

    def prune(before: int | None, max_bytes: int | None, limit: int) -> tuple[int, str]:
        moment = None if before is None else START + timedelta(days=before)
        with store.read() as tables:
            count = tables.retrievals.count_prunable(
                before=moment, max_bytes=max_bytes, limit=limit
            )
        pruned = store.write(
            lambda tables: tables.retrievals.prune(before=moment, max_bytes=max_bytes, limit=limit)
        )
        assert pruned == count
        return pruned, left()

    size = pack(retrieval).size  # of each, give or take a byte
    assert prune(None, None, 3) == (0, "abcdef")
    assert prune(0, 7 * size, 3) == (0, "abcdef")
    assert prune(2, None, 1) == (1, "bcdef")
    assert prune(2, None, 9) == (1, "cdef")
    assert prune(None, 5 * size // 2, 9) == (1, "def")
    assert prune(4, 3 * size // 2, 9) == (1, "ef")
    assert not store.check()[1]


def _add_retrieval(retrieval: Retrieval, logged_at: datetime, tables: Tables) -> None:
    tables.retrievals.add(retrieval, logged_at=logged_at)


def test_a_retrieval_is_logged_and_loses_hits_whose_memory_is_gone(
    store: Store, keep: Keep
) -> None:
    kept, gone = keep("kept zebra"), keep("gone zebra")
    hits = tuple(
        LoggedHit(
            rank=rank, memory_id=memory_id, score=0.5, parts={"keyword": 1.0}, explanation="why"
        )
        for rank, memory_id in enumerate([kept.id, gone.id], start=1)
    )
    retrieval = Retrieval(
        id="q1",
        verb="search",
        query="Where is the gone zebra?",
        asking={"limit": 3},
        notes=("note",),
        asked_at=START,
        hits=hits,
    )
    store.write(partial(_add_retrieval, retrieval, START))

    with store.read() as tables:
        logged = tables.retrievals.get("q1")
        assert tables.retrievals.times_returned(kept.id) == 1
        assert tables.retrievals.get("none") is None
        assert list(tables.retrievals.all()) == [retrieval]
        assert list(tables.retrievals.queries()) == [("q1", "Where is the gone zebra?")]
        assert list(tables.retrievals.result_ids()) == [("q1", [kept.id, gone.id])]
    scrubbed = store.write(
        lambda tables: tables.retrievals.scrub(["q1", "none"], deleted_ids={gone.id})
    )
    with store.read() as tables:
        after = tables.retrievals.get("q1")

    assert logged == retrieval
    assert scrubbed == 1
    assert after is not None
    assert after.query == ""
    assert after.hits == (replace(hits[0], explanation=""),)


def test_a_retrieval_that_is_logged_after_its_memory_was_deleted_has_no_words(
    store: Store, keep: Keep
) -> None:
    kept, gone = keep("kept zebra"), keep("gone zebra")
    hits = tuple(
        LoggedHit(rank=rank, memory_id=memory.id, score=0.5, parts={}, explanation="zebra")
        for rank, memory in enumerate([kept, gone], start=1)
    )
    asking = {"project": "zebra", "conversation_id": "c"}
    retrieval = Retrieval(
        id="q1",
        verb="search",
        query="zebra?",
        asking=asking,
        notes=("zebra",),
        asked_at=START,
        hits=hits,
    )
    store.log_retrieval(retrieval)
    assert store.queued_retrieval("q1") in (retrieval, None)  # None once it is written
    store.write(lambda tables: tables.memories.delete(gone.id))
    store.write(partial(_add_retrieval, replace(retrieval, id="q2"), START))

    with store.read() as tables:
        logged = tables.retrievals.get("q2")
    assert logged is not None
    assert "zebra" not in repr(logged)
    assert logged.hits == (replace(hits[0], explanation=""),)
    assert logged.asking == {"conversation_id": "c"}


def test_views_are_kept_by_name_and_replaced(store: Store) -> None:
    view = SavedSearch(name="v", query="q", asking={"limit": 1}, created_at=START, updated_at=START)
    later = replace(view, query="other", created_at=START + timedelta(1), updated_at=START)
    store.write(lambda tables: tables.retrievals.save_view(view))
    store.write(lambda tables: tables.retrievals.save_view(later))

    with store.read() as tables:
        assert tables.retrievals.views() == [replace(view, query="other")]
        assert tables.retrievals.view("v") == replace(view, query="other")
        assert tables.retrievals.view("none") is None
    assert store.write(lambda tables: tables.retrievals.delete_view("v"))
    assert not store.write(lambda tables: tables.retrievals.delete_view("v"))


def test_the_latest_retrievals_are_listed_of_an_agent_or_of_a_memory(
    store: Store, keep: Keep
) -> None:
    memory = keep("zebra")
    hit = LoggedHit(rank=1, memory_id=memory.id, score=0.5, parts={}, explanation="")
    first = Retrieval(
        id="q1",
        verb="search",
        query="zebra",
        asking={"agent_id": "a1"},
        notes=(),
        asked_at=START,
        hits=(hit,),
    )
    second = replace(first, id="q2", asking={}, hits=())
    third = replace(first, id="q3", asking={})
    for retrieval in (first, second, third):
        store.write(partial(_add_retrieval, retrieval, START))

    with store.read() as tables:
        everything: dict[str, Any] = {"agent_id": None, "memory_id": None, "limit": 9, "offset": 0}

        def latest(**options: object) -> list[Retrieval]:
            return tables.retrievals.latest(**everything | options)

        assert latest() == [third, second, first]
        assert latest(limit=1, offset=1) == [second]
        assert latest(agent_id="a1") == [first]
        assert latest(memory_id=memory.id) == [third, first]
