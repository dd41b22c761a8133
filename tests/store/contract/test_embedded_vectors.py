"""The vectors of a store as a whole: what is copied when it is moved."""

from recollect.domain.model_profile import SAME_SCALE, ModelProfile, SimilarityScale
from recollect.store.protocol import Store, Tables
from recollect.store.values import ChunkEmbedding, RegisteredModel
from store_records import Keep


def chunk(record_id: str, number: int, byte: bytes) -> ChunkEmbedding:
    return ChunkEmbedding(record_id, number, 2, byte * 16, byte * 4)


def test_all_vectors_of_a_model_are_read_in_the_order_in_which_they_were_made(
    store: Store, keep: Keep
) -> None:
    first, second = keep("one"), keep("two")
    made = [chunk(second.id, 0, b"a"), chunk(second.id, 1, b"b"), chunk(first.id, 0, b"c")]

    def write(tables: Tables) -> tuple[int, int]:
        model_id = tables.embeddings.add_model("small", 2)
        other_id = tables.embeddings.add_model("large", 2)
        tables.embeddings.save(model_id, [second.id], made[:2])
        tables.embeddings.save(other_id, [], [chunk(first.id, 0, b"d")])
        tables.embeddings.save(model_id, [], made[2:])
        return model_id, other_id

    model_id, other_id = store.write(write)

    with store.read() as tables:
        assert tables.embeddings.all_models() == [
            RegisteredModel(model_id, "small", 2),
            RegisteredModel(other_id, "large", 2),
        ]
        assert list(tables.embeddings.all_vectors(model_id)) == made
        assert list(tables.embeddings.all_vectors(other_id)) == [chunk(first.id, 0, b"d")]
        assert tables.embeddings.embedded_ids(model_id) == [second.id]
        assert tables.embeddings.embedded_ids(other_id) == []


def test_a_record_that_is_embedded_again_has_no_vectors_until_then(
    store: Store, keep: Keep
) -> None:
    first, second = keep("one"), keep("two")

    def write(tables: Tables) -> int:
        model_id = tables.embeddings.add_model("small", 2)
        made = [chunk(first.id, 0, b"a"), chunk(second.id, 0, b"b")]
        tables.embeddings.save(model_id, [first.id, second.id], made)
        tables.embeddings.embed_again([first.id])
        return model_id

    model_id = store.write(write)

    with store.read() as tables:
        assert list(tables.embeddings.all_vectors(model_id)) == [chunk(second.id, 0, b"b")]
        assert [item.id for item in tables.embeddings.pending_among(model_id, [first.id])] == [
            first.id
        ]
        assert tables.embeddings.embedded_ids(model_id) == [second.id]


def test_the_profile_of_a_model_is_stored_once_and_comes_with_the_models_in_use(
    store: Store,
) -> None:
    profile = ModelProfile(SimilarityScale(1.25, -0.5), SAME_SCALE, needs_gloss=True)
    other = ModelProfile(SAME_SCALE, SAME_SCALE)

    def write(tables: Tables) -> tuple[int, int]:
        model_id = tables.embeddings.add_model("measured", 2)
        other_id = tables.embeddings.add_model("not measured", 2)
        tables.embeddings.set_serving_model(model_id)
        tables.embeddings.set_profile(model_id, profile)
        tables.embeddings.set_profile(model_id, other)
        return model_id, other_id

    model_id, other_id = store.write(write)

    with store.read() as tables:
        assert tables.embeddings.profile(model_id) == profile
        assert tables.embeddings.profile(other_id) is None
        in_use, _ = tables.embeddings.query_state()
        assert in_use.serving == RegisteredModel(model_id, "measured", 2, profile)
        assert tables.embeddings.models_in_use() == in_use
        assert [model.profile for model in tables.embeddings.all_models()] == [profile, None]


def test_a_model_has_vectors_from_its_first_item_on(store: Store, keep: Keep) -> None:
    record = keep("one")
    model_id = store.write(lambda tables: tables.embeddings.add_model("small", 2))
    with store.read() as tables:
        assert not tables.embeddings.has_vectors(model_id)

    store.write(lambda tables: tables.embeddings.save(model_id, [], [chunk(record.id, 0, b"a")]))

    with store.read() as tables:
        assert tables.embeddings.has_vectors(model_id)
