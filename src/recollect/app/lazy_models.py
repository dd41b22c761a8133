"""Create the indexer and the chat model on first use."""

import threading
from typing import TYPE_CHECKING

from recollect.config import Settings
from recollect.domain.maintenance import EmbedderState, EmbedderStatus
from recollect.errors import RecollectError, StoreError
from recollect.models.model_names import embedder_name_and_dimension
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import RegisteredModel

if TYPE_CHECKING:
    # For the type checker only: embedders bring NumPy, which a write never needs.
    from recollect.engine.embedding_indexer import Indexer
    from recollect.models.chat_model import ChatModel
    from recollect.models.embedder import Embedder


class LazyModels:
    """The indexer and the chat model of one store, created when first needed."""

    def __init__(
        self,
        settings: Settings,
        store: SqliteStore,
        embedder: "Embedder | None",
        chat: "ChatModel | None",
    ) -> None:
        self._settings = settings
        self._store = store
        self._embedder = embedder
        self._chat = chat
        self._indexer: Indexer | None = None
        self._lock = threading.Lock()

    def indexer(self) -> "Indexer | None":
        if self._embedder is None and self._settings.embedding_backend == "none":
            return None
        with self._lock:
            if self._indexer is None:
                # NumPy, onnxruntime and the HTTP client load here, not with `import recollect`.
                from recollect.engine.embedding_indexer import Indexer
                from recollect.models.embedder_registry import EmbedderRegistry

                self._indexer = Indexer(
                    self._store, EmbedderRegistry(self._settings, self._embedder)
                )
            return self._indexer

    def seen(self) -> EmbedderStatus:
        """Return what is known of the embedder; nothing is made, and nobody waits for a lock."""
        backend, given, made = self._settings.embedding_backend, self._embedder, self._indexer
        state = EmbedderState.NOT_LOADED if made is None else made.state
        trouble = "" if made is None else made.failure
        if given is not None:
            # Somebody's own embedder may have to ask for its dimension.
            dimension = given.dimension if state is EmbedderState.READY else None
            return EmbedderStatus(
                backend=backend, name=given.name, dimension=dimension, state=state, trouble=trouble
            )
        if backend == "none":
            return EmbedderStatus(backend=backend, name="none", state=EmbedderState.OFF)
        try:
            name, dimension = self._named()
        except RecollectError as error:  # its files are missing or broken
            name, dimension, trouble = "none that works", None, str(error)
        return EmbedderStatus(
            backend=backend, name=name, dimension=dimension, state=state, trouble=trouble
        )

    def _named(self) -> tuple[str, int | None]:
        """Return name and dimension of the wanted embedder: the settings' or the store's."""
        wanted = None if self._settings.has_explicit_embedder else self._wanted_by_store()
        return (
            (wanted.name, wanted.dimension)
            if wanted
            else embedder_name_and_dimension(self._settings)
        )

    def _wanted_by_store(self) -> RegisteredModel | None:
        try:
            with self._store.read() as tables:
                return tables.embeddings.models_in_use().chosen
        except StoreError:
            return None  # whoever asks how the store is hears it from the store

    def chat(self) -> "ChatModel | None":
        if self._chat is None and self._settings.chat_backend != "none":
            with self._lock:
                # As above.
                from recollect.models.model_factory import create_chat_model

                self._chat = self._chat or create_chat_model(self._settings)
        return self._chat

    def close(self) -> None:
        if self._indexer is not None:
            self._indexer.close()
