"""The search indexes: words in partitions, and vectors."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.domain.conversation import MessageFilters
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.indexes import word_index, word_scores
from recollect.store.protocol import Store, Tables
from recollect.store.search_index import IndexQuery, NeighbourQuery, OtherOwners, QueryVector
from recollect.store.values import (
    ChunkEmbedding,
    ModelsInUse,
    PendingFilter,
    RegisteredModel,
    UnembeddedItem,
)
from recollect.text.fingerprint import short_hash
from store_records import GLOBAL, Keep, matching_ids, memory_query, message, project, say
from support import START, FakeClock


def test_partitions_keep_owners_apart(store: Store, keep: Keep, clock: FakeClock) -> None:
    a, b = project(store, clock, "a"), project(store, clock, "b")
    in_a = keep("shared word", scope=Scope.PROJECT, project_id=a.id)
    in_b = keep("shared word again", scope=Scope.PROJECT, project_id=b.id)

    assert matching_ids(store, "shared", [Owner(Scope.PROJECT, a.id)]) == [in_a.id]
    assert matching_ids(store, "shared", [Owner(Scope.PROJECT, b.id)]) == [in_b.id]
    assert matching_ids(store, "shared", [GLOBAL]) == []
    assert set(matching_ids(store, "shared")) == {
        in_a.id,
        in_b.id,
    }


def test_of_a_word_with_too_many_postings_each_partition_has_its_share(
    store: Store, keep: Keep, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (word_index, word_scores):
        monkeypatch.setattr(module, "POSTINGS_BUDGET", 20)
    home = project(store, clock, "p")
    for number in range(30):
        keep(f"apple {number}")
    ours = keep("apple of ours", scope=Scope.PROJECT, project_id=home.id)
    for number in range(30, 60):
        keep(f"apple {number}")

    assert ours.id in matching_ids(store, "apple", [GLOBAL, Owner(Scope.PROJECT, home.id)])


def test_of_a_word_with_too_many_postings_in_many_partitions_the_newest_are_read(
    store: Store, keep: Keep, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (word_index, word_scores):
        monkeypatch.setattr(module, "POSTINGS_BUDGET", 4)
    owners = [Owner(Scope.PROJECT, project(store, clock, f"p{n}").id) for n in range(10)]
    memories = [
        keep(f"apple {number}", scope=Scope.PROJECT, project_id=owner.id)
        for number, owner in enumerate([*owners, owners[0]])
    ]

    assert matching_ids(store, "pear", owners) == []
    assert set(matching_ids(store, "apple", owners)) == {memory.id for memory in memories[-4:]}


def test_a_word_that_occurs_nowhere_is_looked_for_by_its_spelling_in_the_same_partitions(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    a, b = project(store, clock, "a"), project(store, clock, "b")
    in_a = keep("kubernetes runs it", scope=Scope.PROJECT, project_id=a.id)
    keep("kuala lumpur", scope=Scope.PROJECT, project_id=a.id)
    keep("kubernets of b", scope=Scope.PROJECT, project_id=b.id)

    def matching(owner: Owner, *, correct_spelling: bool = True) -> list[str]:
        return matching_ids(store, "kubernetse", [owner], correct_spelling=correct_spelling)

    assert matching(Owner(Scope.PROJECT, a.id)) == [in_a.id]
    assert matching(Owner(Scope.PROJECT, a.id), correct_spelling=False) == []
    assert matching(GLOBAL) == []


def test_a_short_name_is_looked_for_by_its_sound_among_words_with_a_capital_letter(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    a, b = project(store, clock, "a"), project(store, clock, "b")
    jorge = keep("tea for Jorge", scope=Scope.PROJECT, project_id=a.id)
    keep("jorges are things here", scope=Scope.PROJECT, project_id=b.id)

    def matching(owner: Owner) -> list[str]:
        return matching_ids(store, "Jorje", [owner], correct_spelling=True)

    assert matching(Owner(Scope.PROJECT, a.id)) == [jorge.id]
    assert matching(Owner(Scope.PROJECT, b.id)) == []


def save_vectors(store: Store, model_id: int, vectors: dict[str, list[float]]) -> None:
    rows = [
        ChunkEmbedding(
            memory_id, 0, 1, short_hash(memory_id), np.asarray(values, dtype="<f2").tobytes()
        )
        for memory_id, values in vectors.items()
    ]
    store.write(lambda tables: tables.embeddings.save(model_id, list(vectors), rows))


def similarities(
    tables: Tables,
    model_id: int,
    query: NDArray[np.float32],
    owners: list[Owner] | None = None,
) -> dict[str, float]:
    """Return how similar the memories are that a search by vector finds."""
    index_query = memory_query(owners=owners, vector=QueryVector(model_id, query))
    found = tables.search_index.search(index_query).candidates
    return {c.record.id: c.vector_match.similarity for c in found if c.vector_match}


def test_vectors_of_one_model_are_found_and_those_of_another_are_not(
    store: Store, keep: Keep
) -> None:
    near, far = keep("near").id, keep("far").id
    first = store.write(lambda tables: tables.embeddings.add_model("one", 4))
    second = store.write(lambda tables: tables.embeddings.add_model("two", 4))
    query = np.asarray([1, 0, 0, 0], dtype=np.float32)

    with store.read() as tables:
        assert {item.text for item in tables.embeddings.pending(first, 10, PendingFilter.ALL)} == {
            "near",
            "far",
        }
        assert tables.embeddings.count_pending(first) == 2
    save_vectors(store, first, {near: [1, 0, 0, 0], far: [0, 1, 0, 0]})

    with store.read() as tables:
        assert similarities(tables, first, query) == pytest.approx({near: 1.0, far: 0.0})
        assert similarities(tables, second, query) == {}
        assert similarities(tables, first, query, owners=[]) == {}
        records = tables.search_index.records([near, far], Filters())
        pairs = tables.search_index.pairwise_similarities(first, records)
        assert pairs[near, far] == pytest.approx(0.0)
        assert tables.search_index.pairwise_similarities(first, records[:1]) == {}
        assert tables.embeddings.pending(first, 10, PendingFilter.ALL) == []
        assert len(tables.embeddings.pending(second, 10, PendingFilter.ALL)) == 2
        assert len(tables.embeddings.pending(second, 10, PendingFilter.REEMBED)) == 2
        assert tables.embeddings.pending(second, 10, PendingFilter.NEW) == []
        assert tables.embeddings.count_by_model() == {"one": 2}
        assert tables.embeddings.model_id("one", 4) == first
        assert tables.embeddings.model_id("one", 5) is None
        assert set(tables.embeddings.vectors_by_hash(first, [short_hash(near), b"unknown"])) == {
            short_hash(near)
        }


def test_new_and_deleted_vectors_are_seen_at_once(store: Store, keep: Keep) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    query = np.asarray([1, 0.1, 0.1, 0.1], dtype=np.float32)
    memories = [keep(f"memory {number}") for number in range(6)]
    ids = [memory.id for memory in memories]

    def near() -> set[str]:
        with store.read() as tables:
            return set(similarities(tables, model, query))

    save_vectors(store, model, {id_: [1, n / 100, 0.1, 0.1] for n, id_ in enumerate(ids[:3])})
    assert near() == set(ids[:3])
    save_vectors(store, model, {id_: [-1, -n / 100, -0.1, 0.1] for n, id_ in enumerate(ids[3:])})
    assert near() == set(ids)
    for memory in memories[:3]:
        store.write(lambda tables, memory=memory: tables.memories.delete(memory.id))  # type: ignore[misc]
    assert near() == set(ids[3:])
    assert near() == set(ids[3:])


def test_an_old_models_vectors_go_when_the_new_ones_are_complete(store: Store, keep: Keep) -> None:
    memory_id = keep("one").id
    old = store.write(lambda tables: tables.embeddings.add_model("old", 4))
    new = store.write(lambda tables: tables.embeddings.add_model("new", 4))
    save_vectors(store, old, {memory_id: [1, 0, 0, 0]})
    save_vectors(store, new, {memory_id: [0, 1, 0, 0]})

    with store.read() as tables:
        assert tables.embeddings.models_in_use() == ModelsInUse(None, None)
        assert tables.embeddings.query_state() == (ModelsInUse(None, None), False)
    store.write(lambda tables: tables.embeddings.choose_model(new))
    store.write(lambda tables: tables.embeddings.set_serving_model(old))
    store.write(lambda tables: tables.embeddings.drop_unused_vectors())
    with store.read() as tables:
        assert tables.embeddings.models_in_use() == ModelsInUse(
            RegisteredModel(new, "new", 4), RegisteredModel(old, "old", 4)
        )
        assert tables.embeddings.count_vectors() == {("old", 4): 1, ("new", 4): 1}
        assert not tables.embeddings.has_unused_vectors()
    store.write(lambda tables: tables.embeddings.set_serving_model(new))
    keep("not embedded yet")
    with store.read() as tables:
        in_use, has_pending = tables.embeddings.query_state()
        assert in_use == tables.embeddings.models_in_use()
        assert has_pending
        assert tables.embeddings.has_unused_vectors()
    store.write(lambda tables: tables.embeddings.drop_unused_vectors())

    query = np.asarray([1, 0, 0, 0], dtype=np.float32)
    with store.read() as tables:
        assert similarities(tables, old, query) == {}
        assert set(similarities(tables, new, query)) == {memory_id}


def test_a_reader_on_an_older_snapshot_hides_nothing_from_those_after_it(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    query = np.asarray([1, 0.1, 0.1, 0.1], dtype=np.float32)
    home = project(store, clock, "p")
    there = [Owner(Scope.PROJECT, home.id)]
    elsewhere = keep("elsewhere").id
    first = keep("first", scope=Scope.PROJECT, project_id=home.id).id
    save_vectors(store, model, {elsewhere: [1, 0, 0, 0], first: [1, 0, 0, 0]})

    def near(tables: Tables, owners: list[Owner]) -> set[str]:
        return set(similarities(tables, model, query, owners))

    with store.read() as older:
        assert near(older, [GLOBAL]) == {elsewhere}
        second = keep("second", scope=Scope.PROJECT, project_id=home.id).id
        save_vectors(store, model, {second: [1, 0, 0, 0]})
        with store.read() as newer:
            assert near(newer, [GLOBAL]) == {elsewhere}

        assert near(older, there) == {first}
    with store.read() as tables:
        assert near(tables, there) == {first, second}
        assert near(tables, there) == {first, second}


def test_one_name_with_two_dimensions_is_two_models(store: Store) -> None:
    small = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    large = store.write(lambda tables: tables.embeddings.add_model("m", 8))

    assert small != large
    assert store.write(lambda tables: tables.embeddings.add_model("m", 4)) == small
    with store.read() as tables:
        assert tables.embeddings.latest_model("m") == (large, 8)
        assert tables.embeddings.latest_model("other") is None


def test_given_records_are_matched_whoever_owns_them(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    home = project(store, clock, "p")
    zebra = keep("the zebra sleeps", scope=Scope.PROJECT, project_id=home.id)
    horse = keep("the horse sleeps")
    with store.read() as tables:
        query = memory_query("zebra", [GLOBAL])
        found = tables.search_index.match(query, [zebra.id, horse.id, "unknown"]).candidates

    words = {c.record.id: c.word_match.words if c.word_match else () for c in found}
    assert words == {zebra.id: ("zebra",), horse.id: ()}


@pytest.mark.usefixtures("stored_agents")
def test_what_precedes_a_record_is_scored_with_it(store: Store, keep: Keep) -> None:
    first, second = (keep(text, session_id="day 1") for text in ("zebra one", "zebra two"))
    other = keep("zebra three", session_id="day 2")
    say(store, message(0, "zebra"), message(1, "a zebra"))

    def preceding(query: IndexQuery) -> dict[str, str | None]:
        with store.read() as tables:
            found = tables.search_index.search(query).candidates
        assert all(bool(c.preceding_score) is bool(c.preceding_id) for c in found)
        return {c.record.id: c.preceding_id for c in found}

    assert preceding(memory_query("zebra", use_preceding=True)) == {
        first.id: None,
        second.id: first.id,
        other.id: None,
    }
    messages = memory_query(
        "zebra", kind=ItemKind.MESSAGE, filters=MessageFilters(), use_preceding=True
    )
    assert preceding(messages) == {"c1 m0": None, "c1 m1": "c1 m0"}


@pytest.mark.usefixtures("stored_agents")
def test_a_search_within_a_time_range_finds_only_what_is_in_it(store: Store) -> None:
    say(store, message(0, "zebra zero"), message(1, "zebra one"), message(2, "zebra two"))
    owner = Owner(Scope.AGENT, "a1")

    def ids(**filters: Any) -> list[str]:
        return matching_ids(
            store,
            "zebra",
            [owner],
            kind=ItemKind.MESSAGE,
            filters=MessageFilters(**filters),
            within_time_range=True,
        )

    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    save_vectors(store, model, {f"c1 m{number}": [1, 0, 0, 0] for number in range(3)})
    query = memory_query(
        owners=[owner],
        kind=ItemKind.MESSAGE,
        filters=MessageFilters(since=START + timedelta(minutes=1)),
        within_time_range=True,
        vector=QueryVector(model, np.asarray([1, 0, 0, 0], dtype=np.float32)),
    )
    with store.read() as tables:
        similar = tables.search_index.search(query).candidates

    assert {candidate.record.id for candidate in similar} == {"c1 m1", "c1 m2"}
    assert ids(conversation_id="c1") == ["c1 m0", "c1 m1", "c1 m2"]
    assert ids(since=START + timedelta(minutes=1)) == ["c1 m1", "c1 m2"]
    assert ids() == ["c1 m0", "c1 m1", "c1 m2"]


@pytest.mark.usefixtures("stored_agents")
def test_a_search_of_messages_is_narrowed_by_their_metadata(store: Store) -> None:
    texts = [message(number, f"zebra {number}") for number in range(3)]
    marked = [replace(texts[number], metadata={"n": number, "é": "\x00"}) for number in (1, 2)]
    say(store, texts[0], *marked)
    owner = Owner(Scope.AGENT, "a1")

    def ids(conditions: dict[str, Any]) -> list[str]:
        filters = MessageFilters(metadata=conditions)
        return matching_ids(store, "zebra", [owner], kind=ItemKind.MESSAGE, filters=filters)

    assert sorted(ids({})) == ["c1 m0", "c1 m1", "c1 m2"]
    assert ids({"n": {"$gt": 1}}) == ["c1 m2"]
    assert sorted(ids({"é": "\x00"})) == ["c1 m1", "c1 m2"]
    assert ids({"n": 5}) == []


@pytest.mark.usefixtures("stored_agents")
def test_records_of_other_owners_are_found_if_they_have_enough_words(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    home = project(store, clock, "p")
    keep("zebra stripes", scope=Scope.PROJECT, project_id=home.id)
    strong = keep("zebra stripes at night", scope=Scope.PROJECT, project_id=home.id)
    keep("zebra stripes of the night", agent_id="a1", scope=Scope.AGENT)
    others = OtherOwners(
        scopes=frozenset({Scope.PROJECT}),
        min_coverage=0.9,
        min_words=3,
        max_matches=9,
        max_postings=99,
    )
    with store.read() as tables:
        query = memory_query("zebra stripes night", [GLOBAL], others=others)
        result = tables.search_index.search(query)

    assert [candidate.record.id for candidate in result.others] == [strong.id]
    assert result.candidates == []


def test_the_neighbours_of_a_memory_share_words_or_resemble_it(store: Store, keep: Keep) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    zebra, horse, stone = keep("a zebra"), keep("a horse"), keep("a stone")
    save_vectors(store, model, {zebra.id: [1, 0, 0, 0], horse.id: [0.8, 0.6, 0, 0]})
    with store.read() as tables:
        neighbours = tables.search_index.neighbours
        [by_words] = neighbours([NeighbourQuery("zebra", [GLOBAL])], limit=1)
        like_zebra = NeighbourQuery("zebra", [GLOBAL], like=zebra.id, also=[stone.id])
        without_vector = NeighbourQuery("horse", [GLOBAL], like=stone.id)
        by_vector, by_words_only = neighbours([like_zebra, without_vector], limit=9, model_id=model)

    assert by_words == {zebra.id: None}
    assert by_words_only == {horse.id: None}
    assert by_vector == pytest.approx({zebra.id: 1.0, horse.id: 0.8, stone.id: None}, abs=1e-3)


def test_items_are_pending_until_a_model_has_embedded_them(store: Store, keep: Keep) -> None:
    memories = [keep("one"), keep("two")]
    first, second = ids = [memory.id for memory in memories]
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    other = store.write(lambda tables: tables.embeddings.add_model("n", 4))
    save_vectors(store, model, {first: [1, 0, 0, 0]})

    def ids_of(items: Sequence[UnembeddedItem]) -> list[str]:
        return [item.id for item in items]

    with store.read() as tables:
        embeddings = tables.embeddings
        assert ids_of(embeddings.pending_among(model, ids)) == [second]
        assert ids_of(embeddings.pending_among(other, ids)) == [first, second]
        assert ids_of(embeddings.never_embedded_among([*ids, "unknown"])) == [second]
        items = embeddings.pending_among(other, ids)
        assert embeddings.unchanged([items[0], replace(items[1], text="former")]) == items[:1]


def test_vectors_are_compared_with_a_sample(store: Store, keep: Keep) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    first, second = keep("one").id, keep("two").id
    save_vectors(store, model, {first: [1, 0, 0, 0], second: [0, 1, 0, 0]})
    query = QueryVector(model, np.asarray([1, 0, 0, 0], dtype=np.float32))

    with store.read() as tables:
        stats = tables.search_index.search(memory_query(vector=query)).similarity_stats

    assert stats.sample_size == 2
    assert 0 < stats.mean < 1
