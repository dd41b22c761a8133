"""
The composition root: settings in, a `LocalRecollect` out.

This is the only place that knows which store, which models and which transport a local memory has.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.api.recollect import Recollect
from recollect.api.transport import Transport
from recollect.app.lazy_models import LazyModels
from recollect.app.local_transport import LocalTransport
from recollect.app.open_postgres_store import open_postgres_store
from recollect.app.team_space import TeamSpace
from recollect.clock import Clock, SystemClock
from recollect.config import Settings, expand_home
from recollect.domain.model_usage import ModelBudget
from recollect.domain.promotion_policy import PolicySettings
from recollect.domain.repair_report import RepairReport
from recollect.engine.engine_context import EngineContext
from recollect.errors import InvalidInput
from recollect.models.model_prices import ModelPrices
from recollect.models.model_windows_file import ModelWindows
from recollect.service.services import Services
from recollect.store.key_places import KeyPlaces
from recollect.store.protocol import Store
from recollect.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    # For the type checker only: embedders bring NumPy, which a write never needs.
    from recollect.app.engine_control import EngineControl
    from recollect.app.local_agents import LocalAgents, LocalTools
    from recollect.app.local_models import LocalModels
    from recollect.app.store_sync import StoreSync
    from recollect.models.chat_model import ChatModel
    from recollect.models.embedder import Embedder
    from recollect.runtime.runtime_context import RuntimeContext


def key_places(settings: Settings) -> KeyPlaces:
    """Return where the keys of encrypted stores are looked for."""
    return KeyPlaces(
        key_file=settings.key_file_path,
        uses_keyring=settings.keyring,
        passphrase=settings.passphrase,
    )


def _own_model_table(settings: Settings) -> Path | None:
    """Return the user's file with prices and windows of models, if there is one."""
    return expand_home(settings.model_prices) if settings.model_prices else None


class LocalRecollect(Recollect):
    """
    A memory store that this process has open. Made by `recollect.open`.

    Besides the verbs and nouns every `Recollect` has, it offers what only the process with the
    store can do: run the engine step by step (`engine`) and manage model folders (`models`).
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        embedder: "Embedder | None" = None,
        chat: "ChatModel | None" = None,
        readable_folders: Sequence[Path] | None = None,
        reads_home_skills: bool = True,
        runs_agent_file_code: bool = True,
        find_server: "Callable[[], Transport | None] | None" = None,
        space: TeamSpace | None = None,
        models_of: "LocalRecollect | None" = None,
    ) -> None:
        """
        Open the store in *settings*.

        *space* says which space of a team it is; *models_of* is a memory whose models, and whose
        connections to the database, it shares.
        """
        self._pid = os.getpid()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        clock = clock or SystemClock()
        self._store: Store
        self._file: SqliteStore | None = None
        if settings.is_on_server:
            shared_store = None if models_of is None else models_of._store
            self._store = open_postgres_store(settings, clock, space, connections_of=shared_store)
        else:
            self._store = self._file = self._open_file(settings, clock)
        shared: LazyModels | None = None if models_of is None else models_of._models
        self._models: LazyModels = LazyModels(settings, self._store, embedder, chat, shared=shared)
        engine_context = EngineContext(
            store=self._store,
            clock=clock,
            indexer=self._models.indexer,
            chat=self._models.chat,
            uses_chat=chat is not None or settings.chat_backend != "none",
            budget=ModelBudget(settings.chat_calls_per_day, settings.chat_tokens_per_day),
            prices=ModelPrices(_own_model_table(settings)),
            windows=ModelWindows(_own_model_table(settings)),
            policy=PolicySettings(
                promote_explicit=settings.promote_explicit, single_user=settings.single_user
            ),
        )
        self._services = Services(
            store=self._store,
            clock=clock,
            indexer=self._models.indexer,
            engine=engine_context,
            embedder_status=self._models.embedder_status,
            settings=settings,
            cross_project=settings.cross_project,
            shared_folder=str if self._file is None else self._file.shared_folder,
            readable_folders=None if readable_folders is None else tuple(readable_folders),
            reads_home_skills=reads_home_skills,
            runs_agent_file_code=runs_agent_file_code,
        )
        transport: Transport = LocalTransport(self._services, self._close, lambda: self._runtime)
        if find_server is not None:
            from recollect.app.search_offload_transport import SearchOffloadTransport

            def find_own_server() -> Transport | None:
                # The server of a team answers from the store of the user whose token it gets.
                is_of_team = self.engine.team.directory.has_users()
                return None if is_of_team else find_server()

            transport = SearchOffloadTransport(transport, find_own_server)
        if settings.audit == "always" and space is None:
            from recollect.app.audited_transport import audited

            transport = audited(transport, self._services)
        super().__init__(transport)

    def _open_file(self, settings: Settings, clock: Clock) -> SqliteStore:
        path = settings.db_path
        if settings.db == ":memory:":
            self._temporary = tempfile.TemporaryDirectory(prefix="recollect-")
            path = Path(self._temporary.name) / "memory.db"
        return SqliteStore(path, clock, keys=key_places(settings))

    @property
    def path(self) -> Path:
        """The database file; raises `InvalidInput` if the store is on a database server."""
        return self._require_file().path

    def _require_file(self) -> SqliteStore:
        if self._file is None:
            raise InvalidInput(
                f"this needs a store in a file, and {self._store.location} is on a database server"
            )
        return self._file

    @property
    def damage(self) -> RepairReport | None:
        """What is lost of a damaged store, which is read from a rescued copy; None if intact."""
        return None if self._file is None else self._file.rescue_report

    @cached_property
    def engine(self) -> "EngineControl":
        """Run the engine step by step; for servers, commands and tests."""
        from recollect.app.engine_control import EngineControl

        return EngineControl(self._services, self._transport)

    @cached_property
    def sync(self) -> "StoreSync":
        """Exchange changes with other devices through a shared folder."""
        from recollect.app.store_sync import StoreSync

        return StoreSync(self._services, self._require_file(), key_places(self._services.settings))

    @cached_property
    def models(self) -> "LocalModels":
        """List, choose, add and remove embedding models."""
        from recollect.app.local_models import LocalModels

        return LocalModels(self._transport, self._services)

    @cached_property
    def agents(self) -> "LocalAgents":
        """Create, copy, run, export and delete agents, and register their tools."""
        from recollect.app.local_agents import LocalAgents

        return LocalAgents(self._transport, self._tools, can_run=self._models.can_run_agents)

    @cached_property
    def _tools(self) -> "LocalTools":
        from recollect.app.local_agents import LocalTools

        return LocalTools()

    @cached_property
    def _runtime(self) -> "RuntimeContext":
        from recollect.runtime.runtime_context import RuntimeContext

        return RuntimeContext(
            self._services, self._transport, self._models.agent_model, self._tools.registry
        )

    def _close(self) -> None:
        if "_tools" in vars(self):
            self._tools.close()
        self._models.close()
        self._store.close()
        if self._temporary is not None and os.getpid() == self._pid:
            self._temporary.cleanup()


def store_location(rec: LocalRecollect) -> str:
    """Return where a store is: the absolute path of its file, or its address without a password."""
    # Not in `engine`, which loads much more than a hook needs.
    return rec._store.location if rec._file is None else str(rec._file.path.absolute())
