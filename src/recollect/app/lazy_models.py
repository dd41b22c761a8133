"""Create the indexer and the chat model on first use; NumPy and the HTTP client load then."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.config import Settings
from recollect.domain.agent import Agent
from recollect.domain.maintenance import EmbedderState, EmbedderStatus
from recollect.errors import InvalidInput, RecollectError, StoreError
from recollect.models.model_names import agent_model_name, embedder_name_and_dimension
from recollect.store.protocol import Store
from recollect.store.values import RegisteredModel

if TYPE_CHECKING:
    # For the type checker only: embedders bring NumPy, which a write never needs.
    from recollect.engine.embedding_indexer import Indexer
    from recollect.models.chat_model import ChatModel
    from recollect.models.chat_turn import ToolChatModel
    from recollect.models.embedder import Embedder
    from recollect.models.embedder_registry import EmbedderRegistry


class LazyModels:
    """The indexer and the chat model of one store, created when first needed."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        embedder: "Embedder | None",
        chat: "ChatModel | None",
        *,
        shared: "LazyModels | None" = None,
    ) -> None:
        """*shared* are the models of another store of this process, which this one uses too."""
        self._settings = settings
        self._store = store
        if shared is not None:
            embedder, chat = shared._embedder, shared._chat
        self._embedder: Embedder | None = embedder
        self._chat: ChatModel | None = chat
        self._shared = shared
        self._registry: EmbedderRegistry | None = None
        self._agent_models: dict[str, ToolChatModel] = {}
        self._indexer: Indexer | None = None
        self._lock = threading.Lock()
        self._registry_lock = threading.Lock()  # of the stores that share the models

    def indexer(self) -> "Indexer | None":
        """Return the indexer, or None if embeddings are switched off."""
        if self._embedder is None and self._settings.embedding_backend == "none":
            return None
        with self._lock:
            if self._indexer is None:
                from recollect.engine.embedding_indexer import Indexer

                self._indexer = Indexer(self._store, self.registry())
            return self._indexer

    def registry(self) -> "EmbedderRegistry":
        """Return the embedders of this process: a model is loaded once for all stores."""
        if self._shared is not None:
            return self._shared.registry()
        with self._registry_lock:
            if self._registry is None:
                from recollect.models.embedder_registry import EmbedderRegistry

                self._registry = EmbedderRegistry(self._settings, self._embedder)
            return self._registry

    def embedder_status(self) -> EmbedderStatus:
        """Return the state of the embedder without creating or calling it; never blocks."""
        backend, embedder, indexer = self._settings.embedding_backend, self._embedder, self._indexer
        state = EmbedderState.NOT_LOADED if indexer is None else indexer.state
        failure = "" if indexer is None else indexer.failure
        if embedder is None and backend == "none":
            return EmbedderStatus(backend=backend, name="none", state=EmbedderState.OFF)
        try:
            if embedder is not None:
                # Reading the dimension of a caller's embedder may call a server.
                dimension = embedder.dimension if state is EmbedderState.READY else None
                name = embedder.name
            else:
                name, dimension = self._name_and_dimension()
        except RecollectError as error:  # the files of the model are missing or broken
            name, dimension, failure = "none that works", None, str(error)
        return EmbedderStatus(
            backend=backend, name=name, dimension=dimension, state=state, trouble=failure
        )

    def _name_and_dimension(self) -> tuple[str, int | None]:
        """Return name and dimension of the model in the settings, or else of the store's choice."""
        chosen = None if self._settings.has_explicit_embedder else self._chosen_model()
        if chosen is not None:
            return chosen.name, chosen.dimension
        return embedder_name_and_dimension(self._settings)

    def _chosen_model(self) -> RegisteredModel | None:
        try:
            with self._store.read() as tables:
                return tables.embeddings.models_in_use().chosen
        except StoreError:
            return None  # a health check reports the state of the store separately

    def chat(self) -> "ChatModel | None":
        """Return the chat model, or None if none is configured."""
        if self._chat is None and self._settings.chat_backend != "none":
            with self._lock:
                from recollect.models.model_factory import create_chat_model

                self._chat = self._chat or create_chat_model(self._settings)
        return self._chat

    @property
    def can_run_agents(self) -> bool:
        """Whether a model is configured, or was passed, that agents can run on."""
        return self._settings.chat_backend != "none" or hasattr(self._chat, "stream_turn")

    def agent_model(self, agent: Agent, model: str) -> "ToolChatModel":
        """Return the chat model that *agent* runs on; *model* is the one a caller asks for."""
        if self._chat is not None and hasattr(self._chat, "stream_turn"):
            passed: Any = self._chat  # by the program
            if not self._settings.chat_model:
                tool_model: ToolChatModel = passed
                return tool_model
        if self._settings.chat_backend == "none":
            raise InvalidInput(
                "no chat model is configured, so agents cannot answer; set chat_backend and "
                "chat_model in the configuration file, or RECOLLECT_CHAT_BACKEND and "
                "RECOLLECT_CHAT_MODEL"
            )
        from recollect.models.model_factory import create_chat_model

        name = model or agent_model_name(self._settings, agent.model)
        with self._lock:
            if name not in self._agent_models:
                created = create_chat_model(replace(self._settings, chat_model=name))
                assert created is not None  # the backend is not "none"
                self._agent_models[name] = created
            return self._agent_models[name]

    def close(self) -> None:
        """Close the indexer if it was created."""
        if self._indexer is not None:
            self._indexer.close()
