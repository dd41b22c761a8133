"""
The composition root: settings in, a memory out.

`Recollect` is the Python door. It is safe to share between threads; after a fork, open it again.
"""

import os
import tempfile
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from recollect.app.agents import AgentVerbs
from recollect.app.capturing import Capturing
from recollect.app.files import FileVerbs
from recollect.app.importing import Importing
from recollect.app.keeping import Keeping
from recollect.app.models import ModelVerbs
from recollect.app.portability import PortabilityVerbs
from recollect.app.reading import Reading
from recollect.app.reviewing import Reviewing
from recollect.app.skills import SkillVerbs
from recollect.app.tools import ToolVerbs
from recollect.app.window import WindowVerbs
from recollect.app.writing import Writing
from recollect.clock import Clock, SystemClock
from recollect.config import Settings
from recollect.domain.ledger import Budget
from recollect.domain.upkeep import EmbedderSeen, EmbedderState
from recollect.engine.desk import Desk
from recollect.errors import RecollectError, StoreError
from recollect.models.named import named_embedder
from recollect.service.deps import Deps
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import KnownModel

if TYPE_CHECKING:
    # For the checker only: embedders bring NumPy, which a write never needs.
    from recollect.engine.indexer import Indexer
    from recollect.models.chat import ChatModel
    from recollect.models.protocol import Embedder


class Recollect(
    Writing,
    Capturing,
    Importing,
    Reviewing,
    Reading,
    AgentVerbs,
    ToolVerbs,
    WindowVerbs,
    SkillVerbs,
    FileVerbs,
    PortabilityVerbs,
    ModelVerbs,
    Keeping,
    AbstractContextManager["Recollect"],
):
    """One memory store and its verbs. Made by `recollect.open`."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        embedder: "Embedder | None" = None,
        chat: "ChatModel | None" = None,
        reach: Sequence[Path] | None = None,
    ) -> None:
        self._pid = os.getpid()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        path = settings.db_path
        if settings.db == ":memory:":
            self._temporary = tempfile.TemporaryDirectory(prefix="recollect-")
            path = Path(self._temporary.name) / "memory.db"
        clock = clock or SystemClock()
        self._store = SqliteStore(path, clock)
        self._models = _Models(settings, self._store, embedder, chat)
        desk = Desk(
            store=self._store,
            clock=clock,
            indexer=self._models.indexer,
            chat=self._models.chat,
            asks=chat is not None or settings.chat_backend != "none",
            budget=Budget(settings.chat_calls_per_day, settings.chat_tokens_per_day),
        )
        self._deps = Deps(
            store=self._store,
            clock=clock,
            indexer=self._models.indexer,
            desk=desk,
            embedder=self._models.seen,
            settings=settings,
            cross_project=settings.cross_project,
            reach=None if reach is None else tuple(reach),
        )

    def close(self) -> None:
        """Finish and close. Closing twice is closing once."""
        self._models.close()
        self._store.close()
        if self._temporary is not None and os.getpid() == self._pid:
            self._temporary.cleanup()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Models:
    """Makes the indexer and the chat model when somebody first needs them."""

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
                from recollect.engine.indexer import Indexer
                from recollect.models.choice import Choice

                self._indexer = Indexer(self._store, Choice(self._settings, self._embedder))
            return self._indexer

    def seen(self) -> EmbedderSeen:
        """Return what is known of the embedder; nothing is made, and nobody waits for a lock."""
        backend, given, made = self._settings.embedding_backend, self._embedder, self._indexer
        state = EmbedderState.NOT_LOADED if made is None else made.state
        trouble = "" if made is None else made.failure
        if given is not None:
            # Somebody's own embedder may have to ask for its dimension.
            dimension = given.dimension if state is EmbedderState.READY else None
            return EmbedderSeen(
                backend=backend, name=given.name, dimension=dimension, state=state, trouble=trouble
            )
        if backend == "none":
            return EmbedderSeen(backend=backend, name="none", state=EmbedderState.OFF)
        try:
            name, dimension = self._named()
        except RecollectError as error:  # its files are missing or broken
            name, dimension, trouble = "none that works", None, str(error)
        return EmbedderSeen(
            backend=backend, name=name, dimension=dimension, state=state, trouble=trouble
        )

    def _named(self) -> tuple[str, int | None]:
        """Return name and dimension of the wanted embedder: the settings' or the store's."""
        wanted = None if self._settings.names_embedder else self._wanted_by_store()
        return (wanted.name, wanted.dimension) if wanted else named_embedder(self._settings)

    def _wanted_by_store(self) -> KnownModel | None:
        try:
            with self._store.read() as tables:
                return tables.vectors.in_use().wanted
        except StoreError:
            return None  # whoever asks how the store is hears it from the store

    def chat(self) -> "ChatModel | None":
        if self._chat is None and self._settings.chat_backend != "none":
            with self._lock:
                # As above.
                from recollect.models.choose import choose_chat_model

                self._chat = self._chat or choose_chat_model(self._settings)
        return self._chat

    def close(self) -> None:
        if self._indexer is not None:
            self._indexer.close()
