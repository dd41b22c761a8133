"""
An embedder that is asked with patience.

One that failed is left alone for a while, and the last questions are remembered with their vectors.
It knows one embedder; which of several a store needs is decided elsewhere.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.engine.index import asked
from recollect.errors import EmbedderUnavailable
from recollect.models.protocol import Embedder, Vectors
from recollect.store.protocol import Tables
from recollect.store.values import KnownModel

REST_AFTER_FAILURE_S = 30.0
REMEMBERED_QUERIES = 256

log = logging.getLogger(__name__)


class Answering:
    """One embedder with its rests and its memory of questions. Safe to share between threads."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.failure = ""
        self.has_answered = False
        self._resting_until = 0.0
        self.known_id: int | None = None  # by which the store knows it
        self._asked: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def resting(self) -> bool:
        """True while an embedder that failed is left alone."""
        return time.monotonic() < self._resting_until

    def is_model(self, model: KnownModel) -> bool:
        """Say whether a store knows it as *model*."""
        if self.embedder.name != model.name:
            return False
        if self.resting:
            return True  # one behind HTTP may have to ask for its dimension, and must not now
        with self.patiently():
            return self.embedder.dimension == model.dimension

    def model_id(self, tables: Tables) -> int | None:
        """Return the id by which the store knows it, None before it has embedded anything."""
        if self.known_id is None:
            name, dimension = self.embedder.name, self.embedder.dimension
            self.known_id = tables.vectors.model_id(name, dimension)
        return self.known_id

    def vector(self, query: str) -> Vectors:
        """Return a question as a vector."""
        with self._lock:
            if query in self._asked:
                self._asked.move_to_end(query)
                return self._asked[query]
        with self.patiently():
            vector = asked(self.embedder.embed_query, query)
        self.answered()
        with self._lock:
            self._asked[query] = vector
            if len(self._asked) > REMEMBERED_QUERIES:
                self._asked.popitem(last=False)
        return vector

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Let it rest when it fails."""
        try:
            yield
        except EmbedderUnavailable as error:
            self.rest(error)
            raise

    def answered(self) -> None:
        """Note that it works."""
        self.has_answered = True
        self.failure = ""
        self._resting_until = 0.0

    def rest(self, error: Exception) -> None:
        """Leave it alone for a while."""
        self.failure = str(error)
        self._resting_until = time.monotonic() + REST_AFTER_FAILURE_S
        log.warning("meaning was not compared: %s", self.failure)
