"""The dependencies of the service functions, passed in by the composition root."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.config import Settings, expand_home
from recollect.domain.maintenance import EmbedderStatus
from recollect.engine.engine_context import EngineContext
from recollect.lazy_dataclass import dataclass
from recollect.service.block_listeners import BlockListeners
from recollect.service.window_headroom import WindowHeadroom
from recollect.store.protocol import Store

if TYPE_CHECKING:
    # For the type checker only: the indexer loads NumPy, which a write never needs.
    from recollect.engine.embedding_indexer import Indexer


@dataclass(frozen=True)
class Services:
    """
    The store, the clock, the engine, the settings, and functions that return models.

    `indexer` creates the indexer on first use and returns None if embeddings are switched off;
    `embedder_status` returns the state of the embedder without creating it; `shared_folder` returns
    the folder through which the store syncs with other devices, '' if it does not.
    """

    store: Store
    clock: Clock
    indexer: "Callable[[], Indexer | None]"
    engine: EngineContext
    embedder_status: Callable[[], EmbedderStatus]
    settings: Settings = field(default_factory=Settings)
    cross_project: bool = True
    readable_folders: tuple[Path, ...] | None = None  # files outside are not read; None: no limit
    reads_home_skills: bool = True  # whether the skills in the home of this process are the user's
    runs_agent_file_code: bool = (
        True  # whether tools of agent files may run their code in this process
    )
    shared_folder: Callable[[], str] = str
    listeners: BlockListeners = field(default_factory=BlockListeners)
    headroom: WindowHeadroom = field(default_factory=WindowHeadroom)

    @property
    def models_folder(self) -> Path:
        """The folder of the models of this machine."""
        return expand_home(self.settings.models_folder)
