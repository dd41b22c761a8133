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
from recollect.models.protocol import Embedder, Vectors
from recollect.store.protocol import Store, Tables
from recollect.store.values import Unembedded, Vector
from recollect.text.chunks import chunks
from recollect.text.fingerprint import short_hash

BATCH_ITEMS = 64

T = TypeVar("T")


def index_waiting(store: Store, embedder: Embedder, *, limit: int = BATCH_ITEMS) -> int:
    """Embed up to *limit* waiting items; return how many there were."""
    with store.read() as tables:
        model_id = tables.vectors.model_id(embedder.name, embedder.dimension)
        waiting = tables.vectors.waiting(model_id, limit)
    if waiting:
        _embed(store, embedder, model_id, waiting, may_be_all=len(waiting) < limit)
    return len(waiting)


def index_items(store: Store, embedder: Embedder, item_ids: Sequence[str]) -> int:
    """Embed those of some items that wait; return the id of the model."""
    with store.read() as tables:
        model_id = tables.vectors.model_id(embedder.name, embedder.dimension)
        waiting = tables.vectors.waiting_among(model_id, item_ids)
    return _embed(store, embedder, model_id, waiting, may_be_all=False)


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
    waiting: Sequence[Unembedded],
    *,
    may_be_all: bool,
) -> int:
    if model_id is None:
        name, dimension = embedder.name, embedder.dimension
        model_id = store.write(lambda tables: tables.vectors.add_model(name, dimension))
    chosen = model_id
    vectors = _vectors(store, embedder, chosen, waiting)

    def put(tables: Tables) -> None:
        tables.vectors.put(chosen, [item.seq for item in waiting], vectors)
        if may_be_all and tables.vectors.count_waiting(chosen) == 0:
            tables.vectors.drop_others(chosen)

    if waiting:
        store.write(put)
    return chosen


def _vectors(
    store: Store, embedder: Embedder, model_id: int, waiting: Sequence[Unembedded]
) -> list[Vector]:
    pieces = [(item.seq, chunks(item.text)) for item in waiting]
    texts = {short_hash(text): text for _, parts in pieces for text in parts}
    with store.read() as tables:
        known = dict(tables.vectors.known(model_id, list(texts)))
    new = {digest: text for digest, text in texts.items() if digest not in known}
    if new:
        rows = asked(embedder.embed, list(new.values())).astype("<f2")
        known |= {digest: row.tobytes() for digest, row in zip(new, np.asarray(rows), strict=True)}
    return [
        Vector(seq, number, len(parts), digest, known[digest])
        for seq, parts in pieces
        for number, digest in enumerate(short_hash(text) for text in parts)
    ]
