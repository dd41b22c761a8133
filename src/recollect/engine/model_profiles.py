"""
Find the profile of an embedding model (domain/model_profile.py), and keep it in the store.

It is measured once for each store, when the model is first used there. A model that has embedded
texts without glosses goes on without them: a glossed query would not find those texts.
"""

from collections.abc import Sequence
from dataclasses import replace

from recollect.domain.model_profile import ModelProfile
from recollect.engine.embed_pending import call_embedder
from recollect.engine.resilient_embedder import ResilientEmbedder
from recollect.models.embedder import Embedder, Vectors
from recollect.store.protocol import Store, Tables


def ensure_profile(store: Store, resilient: ResilientEmbedder) -> None:
    """Read or measure the profile of an embedder. Raises `EmbedderUnavailable`."""
    if resilient.has_profile or resilient.is_paused:
        return
    with resilient.pausing_on_failure():
        name, dimension = resilient.embedder.name, resilient.embedder.dimension
    has_vectors = False
    with store.read() as tables:
        model_id = tables.embeddings.model_id(name, dimension)
        if model_id is not None:
            if (stored := tables.embeddings.profile(model_id)) is not None:
                resilient.use_profile(stored)
                return
            has_vectors = tables.embeddings.has_vectors(model_id)
    with resilient.pausing_on_failure():
        profile = _measure(resilient.embedder)
    if has_vectors:
        profile = replace(profile, needs_gloss=False)
    resilient.use_profile(profile)

    def save(tables: Tables) -> None:
        tables.embeddings.set_profile(tables.embeddings.add_model(name, dimension), profile)

    if not store.read_only_reason:
        store.write(save)


def _measure(embedder: Embedder) -> ModelProfile:
    # Imported here, because the default model is not measured.
    import numpy as np

    from recollect.models.measure_profile import measure_profile

    def embed(texts: Sequence[str]) -> Vectors:
        return call_embedder(embedder.embed, list(texts), dimension=embedder.dimension)

    def embed_queries(texts: Sequence[str]) -> Vectors:
        return np.array([call_embedder(embedder.embed_query, text) for text in texts])

    return measure_profile(embed, embed_queries)
