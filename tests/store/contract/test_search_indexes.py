"""The search indexes: words in partitions, and vectors."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.protocol import Store, Tables
from recollect.store.values import (
    ChunkEmbedding,
    ModelsInUse,
    PendingFilter,
    RegisteredModel,
    UnembeddedItem,
)
from recollect.text.fingerprint import short_hash
from store_records import GLOBAL, Keep, item_id_of, matching_items, project
from support import FakeClock


def test_partitions_keep_owners_apart(store: Store, keep: Keep, clock: FakeClock) -> None:
    a, b = project(store, clock, "a"), project(store, clock, "b")
    in_a = keep("shared word", scope=Scope.PROJECT, project_id=a.id)
    in_b = keep("shared word again", scope=Scope.PROJECT, project_id=b.id)

    assert matching_items(store, "shared", [Owner(Scope.PROJECT, a.id)]) == [
        item_id_of(store, in_a)
    ]
    assert matching_items(store, "shared", [Owner(Scope.PROJECT, b.id)]) == [
        item_id_of(store, in_b)
    ]
    assert matching_items(store, "shared", [GLOBAL]) == []
    assert set(matching_items(store, "shared")) == {
        item_id_of(store, in_a),
        item_id_of(store, in_b),
    }


def save_vectors(store: Store, model_id: int, vectors: dict[int, list[float]]) -> None:
    rows = [
        ChunkEmbedding(
            item_id, 0, 1, short_hash(str(item_id)), np.asarray(values, dtype="<f2").tobytes()
        )
        for item_id, values in vectors.items()
    ]
    store.write(lambda tables: tables.embeddings.save(model_id, list(vectors), rows))


def test_vectors_of_one_model_are_found_and_those_of_another_are_not(
    store: Store, keep: Keep
) -> None:
    near, far = item_id_of(store, keep("near")) or 0, item_id_of(store, keep("far")) or 0
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
        partitions = tables.word_index.partitions(ItemKind.MEMORY, None)
        matches = tables.embeddings.nearest(first, query, partitions, limit=10)
        assert matches[near].similarity == pytest.approx(1.0)
        assert matches[far].similarity == pytest.approx(0.0)
        assert tables.embeddings.nearest(second, query, partitions, limit=10) == {}
        assert tables.embeddings.nearest(first, query, [], limit=10) == {}
        assert set(tables.embeddings.similarities(first, query, [near])) == {near}
        assert tables.embeddings.pairwise_similarities(first, [near, far])[
            near, far
        ] == pytest.approx(0.0)
        assert tables.embeddings.pairwise_similarities(first, [near]) == {}
        assert tables.embeddings.pending(first, 10, PendingFilter.ALL) == []
        assert len(tables.embeddings.pending(second, 10, PendingFilter.ALL)) == 2
        assert len(tables.embeddings.pending(second, 10, PendingFilter.REEMBED)) == 2
        assert tables.embeddings.pending(second, 10, PendingFilter.NEW) == []
        assert tables.embeddings.count_by_model() == {"one": 2}
        assert tables.embeddings.model_id("one", 4) == first
        assert tables.embeddings.model_id("one", 5) is None
        assert set(
            tables.embeddings.vectors_by_hash(first, [short_hash(str(near)), b"unknown"])
        ) == {short_hash(str(near))}


def test_new_and_deleted_vectors_are_seen_at_once(store: Store, keep: Keep) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    query = np.asarray([1, 0.1, 0.1, 0.1], dtype=np.float32)
    memories = [keep(f"memory {number}") for number in range(6)]
    item_ids = [item_id_of(store, memory) or 0 for memory in memories]

    def near(limit: int = 10) -> set[int]:
        with store.read() as tables:
            partitions = tables.word_index.partitions(ItemKind.MEMORY, None)
            return set(tables.embeddings.nearest(model, query, partitions, limit=limit))

    save_vectors(store, model, {item_id: [1, item_id / 100, 0.1, 0.1] for item_id in item_ids[:3]})
    assert near() == set(item_ids[:3])
    save_vectors(
        store, model, {item_id: [-1, -item_id / 100, -0.1, 0.1] for item_id in item_ids[3:]}
    )
    assert near() == set(item_ids)
    assert near(limit=3) == set(item_ids[:3])
    for memory in memories[:3]:
        store.write(lambda tables, memory=memory: tables.memories.delete(memory.id))  # type: ignore[misc]
    assert near() == set(item_ids[3:])
    assert near() == set(item_ids[3:])


def test_an_old_models_vectors_go_when_the_new_ones_are_complete(store: Store, keep: Keep) -> None:
    item_id = item_id_of(store, keep("one")) or 0
    old = store.write(lambda tables: tables.embeddings.add_model("old", 4))
    new = store.write(lambda tables: tables.embeddings.add_model("new", 4))
    save_vectors(store, old, {item_id: [1, 0, 0, 0]})
    save_vectors(store, new, {item_id: [0, 1, 0, 0]})

    with store.read() as tables:
        assert tables.embeddings.models_in_use() == ModelsInUse(None, None)
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
    with store.read() as tables:
        assert tables.embeddings.has_unused_vectors()
    store.write(lambda tables: tables.embeddings.drop_unused_vectors())

    query = np.asarray([1, 0, 0, 0], dtype=np.float32)
    with store.read() as tables:
        assert tables.embeddings.similarities(old, query, [item_id]) == {}
        assert set(tables.embeddings.similarities(new, query, [item_id])) == {item_id}


def test_a_reader_on_an_older_snapshot_hides_nothing_from_those_after_it(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    query = np.asarray([1, 0.1, 0.1, 0.1], dtype=np.float32)
    home = project(store, clock, "p")
    there = [Owner(Scope.PROJECT, home.id)]
    elsewhere = item_id_of(store, keep("elsewhere")) or 0
    first = item_id_of(store, keep("first", scope=Scope.PROJECT, project_id=home.id)) or 0
    save_vectors(store, model, {elsewhere: [1, 0, 0, 0], first: [1, 0, 0, 0]})

    def near(tables: Tables, owners: list[Owner]) -> set[int]:
        partitions = tables.word_index.partitions(ItemKind.MEMORY, owners)
        return set(tables.embeddings.nearest(model, query, partitions, limit=10))

    with store.read() as older:
        assert near(older, [GLOBAL]) == {elsewhere}
        second = item_id_of(store, keep("second", scope=Scope.PROJECT, project_id=home.id)) or 0
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


def test_one_item_is_matched_by_its_words(store: Store, keep: Keep) -> None:
    zebra, horse = keep("the zebra sleeps"), keep("the horse sleeps")
    with store.read() as tables:
        partitions = tables.word_index.partitions(ItemKind.MEMORY, None)
        item_id = item_id_of(store, zebra) or 0
        matches = tables.word_index.match_item("zebra horse", partitions, item_id).matches
        assert [(match.item_id, match.words) for match in matches] == [(item_id, ("zebra",))]
        other = tables.word_index.match_item("zebra", partitions, item_id_of(store, horse) or 0)
        assert other.matches == ()


def test_items_are_pending_until_a_model_has_embedded_them(store: Store, keep: Keep) -> None:
    memories = [keep("one"), keep("two")]
    first, second = (item_id_of(store, memory) or 0 for memory in memories)
    ids = [memory.id for memory in memories]
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    other = store.write(lambda tables: tables.embeddings.add_model("n", 4))
    save_vectors(store, model, {first: [1, 0, 0, 0]})

    def item_ids(items: Sequence[UnembeddedItem]) -> list[int]:
        return [item.item_id for item in items]

    with store.read() as tables:
        embeddings = tables.embeddings
        assert item_ids(embeddings.pending_among(model, ids)) == [second]
        assert item_ids(embeddings.pending_among(other, ids)) == [first, second]
        assert item_ids(embeddings.never_embedded_among([*ids, "unknown"])) == [second]
        items = embeddings.pending_among(other, ids)
        assert embeddings.unchanged([items[0], replace(items[1], text="former")]) == items[:1]


def test_vectors_are_compared_with_a_sample_and_read(store: Store, keep: Keep) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    first, second = (item_id_of(store, keep(text)) or 0 for text in ("one", "two"))
    save_vectors(store, model, {first: [1, 0, 0, 0], second: [0, 1, 0, 0]})
    query = np.asarray([1, 0, 0, 0], dtype=np.float32)

    with store.read() as tables:
        partitions = tables.word_index.partitions(ItemKind.MEMORY, None)
        stats = tables.embeddings.similarity_stats(model, query, partitions)
        assert stats.sample_size == 2
        assert 0 < stats.mean < 1
        vectors = tables.embeddings.first_vectors(model, [first, 999])
        assert [list(vector) for vector in vectors.values()] == [[1, 0, 0, 0]]
