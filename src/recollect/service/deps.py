"""What the verbs work with: handed over by the composition root, never looked up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.store.protocol import Store

if TYPE_CHECKING:
    # For the checker only: the indexer brings NumPy, which a write never needs.
    from recollect.engine.indexer import Indexer


@dataclass(frozen=True)
class Deps:
    """Store, clock, and how to get the indexer (None where embeddings are switched off)."""

    store: Store
    clock: Clock
    indexer: "Callable[[], Indexer | None]"
    cross_project: bool = True
