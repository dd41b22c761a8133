"""
Keep embeddings up to date without getting in anybody's way.

A question first embeds the few items that wait (what was just written should be found by meaning),
and leaves a longer queue to a thread of its own. An embedder that fails is left alone for a while;
questions go on by words and say why.
"""

import atexit
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from recollect.domain.upkeep import EmbedderState
from recollect.engine.index import BATCH_ITEMS, asked, index_items, index_waiting
from recollect.errors import EmbedderUnavailable, StoreError
from recollect.models.protocol import Embedder, Vectors
from recollect.retrieval.candidates import Meaning
from recollect.store.protocol import Store

CATCH_UP_ITEMS = 32  # a question waits for so many at most
REST_AFTER_FAILURE_S = 30.0
REMEMBERED_QUERIES = 256

log = logging.getLogger(__name__)


class Indexer:
    """Embeds items and questions with one embedder, for one store."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._embedding = threading.Lock()  # held by whoever embeds what waits
        self._asked: OrderedDict[str, Vectors] = OrderedDict()
        self._resting_until = 0.0
        self._failure = ""
        self._has_answered = False

    @property
    def embedder(self) -> Embedder:
        """The embedder in use."""
        return self._embedder

    @property
    def state(self) -> EmbedderState:
        """How it stands with the embedder; one that failed rests until it has answered again."""
        if self._failure:
            return EmbedderState.RESTING
        return EmbedderState.READY if self._has_answered else EmbedderState.NOT_LOADED

    @property
    def failure(self) -> str:
        """Why the embedder rests, '' where it does not."""
        return self._failure

    @property
    def resting(self) -> bool:
        """True while an embedder that failed is left alone."""
        return time.monotonic() < self._resting_until

    def warm(self) -> None:
        """Have the embedder load now what it loads at its first text."""
        try:
            asked(self._embedder.embed_query, "warm")
        except EmbedderUnavailable as error:
            self._rest(error)
            raise
        self._answered()

    def step(self) -> int:
        """Embed one batch of what waits; return how much that was."""
        try:
            return self._index(BATCH_ITEMS)
        except EmbedderUnavailable as error:
            self._rest(error)
            raise

    def embed_items(self, item_ids: Sequence[str]) -> int | None:
        """Embed some items; return the model's id, or None while the embedder cannot answer."""
        if self.resting:
            return None
        try:
            # What was just written by hand is to be compared with too.
            self._index(CATCH_UP_ITEMS)
            return index_items(self._store, self._embedder, item_ids)
        except EmbedderUnavailable as error:
            self._rest(error)
            return None

    def meaning(self, query: str) -> tuple[Meaning | None, str]:
        """Return *query* as a vector, or None and why meaning cannot be compared now."""
        if self.resting:
            return None, self._trouble()
        try:
            self._catch_up()
            vector = self._vector(query)
            with self._store.read() as tables:
                model_id = tables.vectors.model_id(self._embedder.name, self._embedder.dimension)
        except (EmbedderUnavailable, StoreError) as error:
            self._rest(error)
            return None, self._trouble()
        if model_id is None:
            return None, "nothing is embedded yet"
        return Meaning(model_id, vector), ""

    def _catch_up(self) -> None:
        """Embed the few items that wait, unless somebody is at it: not everybody the same ones."""
        if not self._embedding.acquire(blocking=False):
            return
        try:
            done = index_waiting(self._store, self._embedder, limit=CATCH_UP_ITEMS)
        finally:
            self._embedding.release()
        if done:
            self._answered()
        if done == CATCH_UP_ITEMS:
            self._start()

    def close(self) -> None:
        """Stop the thread after its present batch."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self.close)

    def _vector(self, query: str) -> Vectors:
        with self._lock:
            if query in self._asked:
                self._asked.move_to_end(query)
                return self._asked[query]
        vector = asked(self._embedder.embed_query, query)
        self._answered()
        with self._lock:
            self._asked[query] = vector
            if len(self._asked) > REMEMBERED_QUERIES:
                self._asked.popitem(last=False)
        return vector

    def _start(self) -> None:
        with self._lock:
            if self._stop.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._work_off, name="recollect-indexer", daemon=True
            )
            self._thread.start()
            # A program that forgets to close must not end while the thread is inside a model.
            atexit.register(self.close)

    def _work_off(self) -> None:
        try:
            while not self._stop.is_set():
                if self._index(BATCH_ITEMS) == 0:
                    return
        except (EmbedderUnavailable, StoreError) as error:
            self._rest(error)

    def _index(self, limit: int) -> int:
        with self._embedding:
            done = index_waiting(self._store, self._embedder, limit=limit)
        if done:
            self._answered()
        return done

    def _answered(self) -> None:
        self._has_answered = True
        self._failure = ""
        self._resting_until = 0.0

    def _rest(self, error: Exception) -> None:
        self._failure = str(error)
        self._resting_until = time.monotonic() + REST_AFTER_FAILURE_S
        log.warning("%s", self._trouble())

    def _trouble(self) -> str:
        return f"meaning was not compared: {self._failure}"
