"""
Embed the items that have no vectors of the current model yet.

A memory is found by words at once; vectors follow. `embed_pending` takes the newest items without
vectors, embeds their chunks (a text that was embedded before is not embedded again) and stores the
vectors in one transaction. It is idempotent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from recollect.errors import EmbedderUnavailable
from recollect.models.embedder import Embedder, Vectors, as_vectors
from recollect.store.protocol import Store, Tables
from recollect.store.values import (
    ChunkEmbedding,
    ModelsInUse,
    PendingFilter,
    RegisteredModel,
    UnembeddedItem,
)
from recollect.text.chunks import split_into_chunks
from recollect.text.fingerprint import short_hash
from recollect.tracing import trace_step

BATCH_ITEMS = 64

T = TypeVar("T")
# Whether a model may serve queries, given the models the store uses now.
MayServeCheck = Callable[[ModelsInUse, int], bool]


def embed_pending(
    store: Store,
    embedder: Embedder,
    *,
    limit: int = BATCH_ITEMS,
    pending_filter: PendingFilter = PendingFilter.ALL,
    may_serve: MayServeCheck | None = None,
    registered: RegisteredModel | None = None,
) -> int:
    """
    Embed up to *limit* pending items; return how many there were.

    Once no item is pending, the model serves queries if *may_serve* allows it. If *registered* is
    the model of *embedder*, it is not looked up.
    """
    name, dimension = embedder.name, embedder.dimension
    with store.read() as tables:
        if registered is not None and (registered.name, registered.dimension) == (name, dimension):
            model_id: int | None = registered.id
        else:
            model_id = tables.embeddings.model_id(name, dimension)
        pending = tables.embeddings.pending(model_id, limit, pending_filter)
        chunks = _stored_vectors(tables, model_id, pending)
    if pending:
        may_be_all = len(pending) < limit
        _embed(store, embedder, model_id, pending, chunks, may_serve if may_be_all else None)
    return len(pending)


def embed_items(
    store: Store,
    embedder: Embedder,
    record_ids: Sequence[str],
    *,
    pending_filter: PendingFilter = PendingFilter.ALL,
) -> int:
    """Embed those of some items that are pending; return the id of the model."""
    with store.read() as tables:
        vectors = tables.embeddings
        model_id = vectors.model_id(embedder.name, embedder.dimension)
        if pending_filter is PendingFilter.NEW:
            pending = vectors.never_embedded_among(record_ids)
        else:
            pending = vectors.pending_among(model_id, record_ids)
        chunks = _stored_vectors(tables, model_id, pending)
    return _embed(store, embedder, model_id, pending, chunks, None)


def serve_if_complete(store: Store, embedder: Embedder, may_serve: MayServeCheck) -> bool:
    """Let *embedder* serve queries if it has embedded every item; return whether it does."""
    with store.read() as tables:
        model_id = tables.embeddings.model_id(embedder.name, embedder.dimension)
        if model_id is None or tables.embeddings.count_pending(model_id):
            return False
        if _serves(tables, model_id):
            return True
    return store.write(lambda tables: _serve_if_complete(tables, model_id, may_serve))


def drop_unused_vectors(store: Store) -> None:
    """Remove the vectors of models that are no longer used, some in each transaction."""
    while True:
        with store.read() as tables:
            if not tables.embeddings.has_unused_vectors():
                return
        store.write(lambda tables: tables.embeddings.drop_unused_vectors())


def call_embedder(
    embed: Callable[[T], Vectors], texts_or_query: T, *, dimension: int | None = None
) -> Vectors:
    """
    Call an embedder; return one vector for a query, and one row for each text.

    It may return lists instead of an array. Any failure in it becomes an `EmbedderUnavailable`.
    """
    count = 1 if isinstance(texts_or_query, str) else len(texts_or_query)  # type: ignore[arg-type]
    try:
        with trace_step("embed", texts=count):
            vectors = as_vectors(embed(texts_or_query))
        if isinstance(texts_or_query, str):
            vectors = vectors.reshape(-1)
        elif isinstance(texts_or_query, list) and len(vectors) != len(texts_or_query):
            raise ValueError(f"{len(vectors)} vectors for {len(texts_or_query)} texts")
        if dimension is not None and vectors.shape[-1] != dimension:
            raise ValueError(f"a vector of {vectors.shape[-1]} numbers instead of {dimension}")
        return vectors
    except EmbedderUnavailable:
        raise
    except Exception as error:  # an embedder may be anybody's code; a search must survive it
        raise EmbedderUnavailable(f"the embedder failed: {error!r}") from error


def _embed(
    store: Store,
    embedder: Embedder,
    model_id: int | None,
    pending: Sequence[UnembeddedItem],
    stored_vectors: Mapping[bytes, bytes],
    may_serve: MayServeCheck | None,
) -> int:
    if model_id is None:
        name, dimension = embedder.name, embedder.dimension
        model_id = store.write(lambda tables: tables.embeddings.add_model(name, dimension))
    chosen = model_id
    vectors = _chunk_embeddings(embedder, pending, stored_vectors)

    def save(tables: Tables) -> None:
        # A text may have been forgotten since it was read; its vector must not be stored.
        ids = [item.id for item in tables.embeddings.unchanged(pending)]
        unchanged = [vector for vector in vectors if vector.id in set(ids)]
        tables.embeddings.save(chosen, ids, unchanged)
        serving = tables.embeddings.models_in_use().serving
        if serving is None:
            tables.embeddings.set_serving_model(chosen)  # the first ever
        elif may_serve is not None and serving.id != chosen:
            _serve_if_complete(tables, chosen, may_serve)

    if pending:
        store.write(save)
    return chosen


def _serve_if_complete(tables: Tables, model_id: int, may_serve: MayServeCheck) -> bool:
    if _serves(tables, model_id):
        return True
    # Checked again inside the write: another model may have been chosen meanwhile.
    in_use = tables.embeddings.models_in_use()
    if not may_serve(in_use, model_id) or tables.embeddings.count_pending(model_id):
        return False
    tables.embeddings.set_serving_model(model_id)
    return True


def _serves(tables: Tables, model_id: int) -> bool:
    serving = tables.embeddings.models_in_use().serving
    return serving is not None and serving.id == model_id


def _stored_vectors(
    tables: Tables, model_id: int | None, pending: Sequence[UnembeddedItem]
) -> Mapping[bytes, bytes]:
    """Return the vectors of those chunks that were embedded before, by the hash of their text."""
    hashes = [short_hash(text) for item in pending for text, _ in _texts_to_embed(item)]
    if model_id is None or not hashes:
        return {}
    return tables.embeddings.vectors_by_hash(model_id, list(dict.fromkeys(hashes)))


def _chunk_embeddings(
    embedder: Embedder,
    pending: Sequence[UnembeddedItem],
    stored_vectors: Mapping[bytes, bytes],
) -> list[ChunkEmbedding]:
    texts_of_items = [(item.id, _texts_to_embed(item)) for item in pending]
    texts = {short_hash(text): text for _, pairs in texts_of_items for text, _ in pairs}
    vectors_by_hash = dict(stored_vectors)
    new = {digest: text for digest, text in texts.items() if digest not in vectors_by_hash}
    if new:
        rows = call_embedder(embedder.embed, list(new.values()), dimension=embedder.dimension)
        pairs = zip(new, rows.astype("<f2"), strict=True)
        vectors_by_hash |= {digest: row.tobytes() for digest, row in pairs}
    return [
        ChunkEmbedding(record_id, number, chunk_count, digest, vectors_by_hash[digest])
        for record_id, pairs in texts_of_items
        for number, (text, chunk_count) in enumerate(pairs)
        for digest in (short_hash(text),)
    ]


def _texts_to_embed(item: UnembeddedItem) -> list[tuple[str, int]]:
    """
    Return the chunks of an item, each with its chunk count.

    A statement of a conversation is embedded twice: alone, to be compared with other statements
    (chunk count 0), and with what surrounds it, to be searched.
    """
    chunks = split_into_chunks(item.text)
    if item.context and len(chunks) == 1:
        return [(item.text, 0), (f"{item.text} {item.context}", 1)]
    return [(chunk, len(chunks)) for chunk in chunks]
