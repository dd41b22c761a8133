"""What the verbs work with: handed over by the composition root, never looked up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.config import Settings, expand_home
from recollect.domain.maintenance import EmbedderStatus
from recollect.engine.engine_context import EngineContext
from recollect.service.block_listeners import BlockListeners
from recollect.store.protocol import Store

if TYPE_CHECKING:
    # For the checker only: the indexer brings NumPy, which a write never needs.
    from recollect.engine.embedding_indexer import Indexer


@dataclass(frozen=True)
class Services:
    """
    Store, clock, how to get the indexer (None where there is none), and the engine's desk.

    `embedder` tells what is known of the embedder, and makes none.
    """

    store: Store
    clock: Clock
    indexer: "Callable[[], Indexer | None]"
    engine: EngineContext
    embedder: Callable[[], EmbedderStatus]
    settings: Settings = field(default_factory=Settings)
    cross_project: bool = True
    reach: tuple[Path, ...] | None = None  # folders read for callers; None: those they name
    listeners: BlockListeners = field(default_factory=BlockListeners)

    @property
    def models_folder(self) -> Path:
        """Where models are kept on this machine."""
        return expand_home(self.settings.models_folder)
