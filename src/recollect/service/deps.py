"""What the verbs work with: handed over by the composition root, never looked up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.engine.desk import Desk
from recollect.service.listeners import Listeners
from recollect.store.protocol import Store

if TYPE_CHECKING:
    # For the checker only: the indexer brings NumPy, which a write never needs.
    from recollect.engine.indexer import Indexer


@dataclass(frozen=True)
class Deps:
    """Store, clock, how to get the indexer (None where there is none), and the engine's desk."""

    store: Store
    clock: Clock
    indexer: "Callable[[], Indexer | None]"
    desk: Desk
    cross_project: bool = True
    listeners: Listeners = field(default_factory=Listeners)
