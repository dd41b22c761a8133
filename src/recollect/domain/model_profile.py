"""
What was measured of an embedding model: its scale of similarity, and whether it needs glosses.

Every constant that a similarity is compared with is on one scale, that of the model it was chosen
with. The similarities of another model are mapped to that scale where they are computed, so a
constant means the same with every model. Queries and texts have a scale each, because a model may
embed a query with a prefix.
"""

from typing import Any, TypeVar

from recollect.lazy_dataclass import dataclass

Cosines = TypeVar("Cosines", bound=Any)  # a number, or an array of them


@dataclass(frozen=True)
class SimilarityScale:
    """A linear map from the cosines of a model to the scale of the constants."""

    slope: float = 1.0
    offset: float = 0.0

    def apply(self, cosines: Cosines) -> Cosines:
        """Convert cosines of the model to similarities on that scale; an array gives an array."""
        if self == SAME_SCALE:
            return cosines
        similarities: Cosines = cosines * self.slope + self.offset
        return similarities


@dataclass(frozen=True)
class ModelProfile:
    """The measured properties of an embedding model."""

    queries: SimilarityScale  # of a query and a text
    texts: SimilarityScale  # of two texts
    needs_gloss: bool = False  # it cannot tell texts of other languages apart


SAME_SCALE = SimilarityScale()
REFERENCE_PROFILE = ModelProfile(SAME_SCALE, SAME_SCALE)
