"""
The embedder protocol.

`embed` turns texts into unit vectors, one row each; `embed_query` does it for a query, which some
models expect with a prefix. `name` identifies everything that makes vectors comparable: vectors
under two names are never compared. Creating an embedder loads nothing and makes no call: NumPy is
imported with the first vector, so that a command that only asks for names does not wait for it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any


class Embedder(Protocol):
    """
    Turns text into vectors. Raises `EmbedderUnavailable` when it cannot now.

    One with `is_in_process = True` takes milliseconds for a query: the store is read meanwhile.
    The similarities of one with a `profile` are known; those of others are measured.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Vectors: ...
    def embed_query(self, text: str) -> Vectors: ...


def as_vectors(values: Any) -> Vectors:
    """Return what an embedder returned, such as nested lists of numbers, as unit vectors."""
    import numpy as np  # loads on use

    vectors: Vectors = np.asarray(values, dtype=np.float32)
    if vectors.ndim not in (1, 2) or not vectors.size or not np.isfinite(vectors).all():
        raise ValueError("an embedder must return finite numbers, one row for each text")
    if isinstance(values, np.ndarray) and values.dtype == np.float32:
        return vectors  # one that returns arrays scales them itself
    return unit(np.atleast_2d(vectors)).reshape(vectors.shape)


def unit(vectors: Vectors) -> Vectors:
    """Return *vectors* scaled to length one; a zero vector stays zero."""
    import numpy as np  # loads on use

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled
