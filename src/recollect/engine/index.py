"""
Embed what waits to be embedded.

Nothing here is needed for a memory to be found: words find it at once. `index_waiting` takes the
newest items without vectors of the present model, embeds their pieces (a text embedded before is
not embedded again), and stores them in one transaction. Done twice, it changes nothing twice.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from recollect.errors import EmbedderUnavailable
from recollect.models.embedder import Embedder, Vectors
from recollect.store.protocol import Store, Tables
from recollect.store.values import ModelsInUse, UnembeddedItem, ChunkEmbedding, PendingFilter
from recollect.text.chunks import split_into_chunks
from recollect.text.fingerprint import short_hash

BATCH_ITEMS = 64

T = TypeVar("T")
MayServe = Callable[[ModelsInUse, int], bool]  # whether a model may take over, as the store is now


def index_waiting(
    store: Store,
    embedder: Embedder,
    *,
    limit: int = BATCH_ITEMS,
    which: PendingFilter = PendingFilter.ALL,
    may_serve: MayServe | None = None,
) -> int:
    """
    Embed up to *limit* waiting items; return how many there were.

    Once nothing waits any more, and where *may_serve* allows it, the model's vectors answer.
    """
    with store.read() as tables:
        model_id = tables.embeddings.model_id(embedder.name, embedder.dimension)
        waiting = tables.embeddings.pending(model_id, limit, which)
    if waiting:
        may_be_all = len(waiting) < limit
        _embed(store, embedder, model_id, waiting, may_serve if may_be_all else None)
    return len(waiting)


def index_items(
    store: Store, embedder: Embedder, record_ids: Sequence[str], *, which: PendingFilter = PendingFilter.ALL
) -> int:
    """Embed those of some items that wait; return the id of the model."""
    with store.read() as tables:
        vectors = tables.embeddings
        model_id = vectors.model_id(embedder.name, embedder.dimension)
        if which is PendingFilter.NEW:
            waiting = vectors.never_embedded_among(record_ids)
        else:
            waiting = vectors.pending_among(model_id, record_ids)
    return _embed(store, embedder, model_id, waiting, None)


def serve_if_complete(store: Store, embedder: Embedder, may_serve: MayServe) -> bool:
    """Let the vectors of *embedder* answer, if it has embedded everything; say whether they do."""
    with store.read() as tables:
        model_id = tables.embeddings.model_id(embedder.name, embedder.dimension)
        if model_id is None or tables.embeddings.count_pending(model_id):
            return False
        if _serves(tables, model_id):
            return True
    return store.write(lambda tables: _serve_if_complete(tables, model_id, may_serve))


def drop_unused_vectors(store: Store) -> None:
    """Remove the vectors of models that nobody needs any more, a few at a time."""
    while True:
        with store.read() as tables:
            if not tables.embeddings.has_unused_vectors():
                return
        store.write(lambda tables: tables.embeddings.drop_unused_vectors())


def asked(embed: Callable[[T], Vectors], given: T) -> Vectors:
    """Ask an embedder; whatever goes wrong in it is an `EmbedderUnavailable`."""
    try:
        return embed(given)
    except EmbedderUnavailable:
        raise
    except Exception as error:  # an embedder may be anybody's code; a search must survive it
        raise EmbedderUnavailable(f"the embedder failed: {error!r}") from error


def _embed(
    store: Store,
    embedder: Embedder,
    model_id: int | None,
    waiting: Sequence[UnembeddedItem],
    may_serve: MayServe | None,
) -> int:
    if model_id is None:
        name, dimension = embedder.name, embedder.dimension
        model_id = store.write(lambda tables: tables.embeddings.add_model(name, dimension))
    chosen = model_id
    vectors = _vectors(store, embedder, chosen, waiting)

    def put(tables: Tables) -> None:
        tables.embeddings.save(chosen, [item.item_id for item in waiting], vectors)
        if tables.embeddings.models_in_use().serving is None:
            tables.embeddings.set_serving_model(chosen)  # the first ever
        elif may_serve is not None:
            _serve_if_complete(tables, chosen, may_serve)

    if waiting:
        store.write(put)
    return chosen


def _serve_if_complete(tables: Tables, model_id: int, may_serve: MayServe) -> bool:
    if _serves(tables, model_id):
        return True
    # Looked at again inside of the write: somebody may have chosen another model meanwhile.
    if not may_serve(tables.embeddings.models_in_use(), model_id) or tables.embeddings.count_pending(model_id):
        return False
    tables.embeddings.set_serving_model(model_id)
    return True


def _serves(tables: Tables, model_id: int) -> bool:
    serving = tables.embeddings.models_in_use().serving
    return serving is not None and serving.id == model_id


def _vectors(
    store: Store, embedder: Embedder, model_id: int, waiting: Sequence[UnembeddedItem]
) -> list[ChunkEmbedding]:
    pieces = [(item.item_id, split_into_chunks(item.text)) for item in waiting]
    texts = {short_hash(text): text for _, parts in pieces for text in parts}
    with store.read() as tables:
        known = dict(tables.embeddings.vectors_by_hash(model_id, list(texts)))
    new = {digest: text for digest, text in texts.items() if digest not in known}
    if new:
        rows = asked(embedder.embed, list(new.values())).astype("<f2")
        known |= {digest: row.tobytes() for digest, row in zip(new, np.asarray(rows), strict=True)}
    return [
        ChunkEmbedding(item_id, number, len(parts), digest, known[digest])
        for item_id, parts in pieces
        for number, digest in enumerate(short_hash(text) for text in parts)
    ]
