"""Embed texts of other languages by their English glosses, for a model of English."""

from collections.abc import Sequence

from recollect.models.embedder import Embedder, Vectors
from recollect.text.gloss import english_gloss


class GlossedEmbedder:
    """Another embedder, which gets each text in English as far as the glossaries know its words."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.is_in_process = getattr(embedder, "is_in_process", False)

    @property
    def name(self) -> str:
        """The name of the other embedder."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The dimension of the other embedder."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        return self._embedder.embed([english_gloss(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        return self._embedder.embed_query(english_gloss(text))
