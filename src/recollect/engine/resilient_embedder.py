"""
One embedder with its profile, a circuit breaker and a query cache.

After a failure the embedder is not called for a while. The vectors of the last queries are cached.
Which of several embedders a store needs is decided in embedding_migration.py.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.domain.model_profile import REFERENCE_PROFILE, ModelProfile
from recollect.engine.embed_pending import call_embedder
from recollect.engine.glossed_embedder import GlossedEmbedder
from recollect.errors import EmbedderUnavailable
from recollect.models.embedder import Embedder, Vectors
from recollect.store.protocol import Tables
from recollect.store.search_index import QueryVector
from recollect.store.values import RegisteredModel

PAUSE_AFTER_FAILURE_S = 30.0
CACHED_QUERIES = 256

log = logging.getLogger(__name__)


class ResilientEmbedder:
    """An embedder with a circuit breaker and a query cache. Safe to share between threads."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        # One whose similarities are known says so itself; others are measured (model_profiles.py).
        profile = getattr(embedder, "profile", None)
        self._profile = profile if isinstance(profile, ModelProfile) else None
        self.failure = ""
        self.has_succeeded = False
        self._paused_until = 0.0
        self.model_id_in_store: int | None = None  # None until it is looked up
        self._query_cache: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def has_profile(self) -> bool:
        """Whether the scale of its similarities is known."""
        return self._profile is not None

    @property
    def profile(self) -> ModelProfile:
        """The scale of its similarities; that of the reference until it is known."""
        return self._profile or REFERENCE_PROFILE

    def use_profile(self, profile: ModelProfile) -> None:
        """Use a profile from now on, and embed glosses if it says so."""
        if self._profile is None:
            if profile.needs_gloss:
                self.embedder = GlossedEmbedder(self.embedder)
            self._profile = profile

    def query_vector(self, model_id: int, values: Vectors) -> QueryVector:
        """Return the vector of a query, with the scale of its similarities."""
        return QueryVector(model_id, values, self.profile.queries, self.profile.texts)

    @property
    def is_paused(self) -> bool:
        """True while the embedder is not called after a failure."""
        return time.monotonic() < self._paused_until

    def matches(self, model: RegisteredModel) -> bool:
        """Return whether this is the embedder the store registered as *model*."""
        if self.embedder.name != model.name:
            return False
        if model.profile is not None:
            self.use_profile(model.profile)
        if self.is_paused:
            return True  # reading the dimension may need a request, which a pause forbids
        with self.pausing_on_failure():
            return self.embedder.dimension == model.dimension

    def model_id(self, tables: Tables) -> int | None:
        """Return the id of the model in the store, or None before it has embedded anything."""
        if self.model_id_in_store is None:
            name, dimension = self.embedder.name, self.embedder.dimension
            self.model_id_in_store = tables.embeddings.model_id(name, dimension)
        return self.model_id_in_store

    def cached_query(self, query: str) -> Vectors | None:
        """Return the vector of *query* if it is cached."""
        with self._lock:
            if query not in self._query_cache:
                return None
            self._query_cache.move_to_end(query)
            return self._query_cache[query]

    def embed_query(self, query: str) -> Vectors:
        """Return the vector of *query*, from the cache if possible."""
        if (cached := self.cached_query(query)) is not None:
            return cached
        with self.pausing_on_failure():
            dimension = self.embedder.dimension
            vector = call_embedder(self.embedder.embed_query, query, dimension=dimension)
        self.record_success()
        with self._lock:
            self._query_cache[query] = vector
            if len(self._query_cache) > CACHED_QUERIES:
                self._query_cache.popitem(last=False)
        return vector

    @contextmanager
    def pausing_on_failure(self) -> Iterator[None]:
        """Pause the embedder if the block raises `EmbedderUnavailable`."""
        try:
            yield
        except EmbedderUnavailable as error:
            self.record_failure(error)
            raise

    def record_success(self) -> None:
        """Record that a call succeeded, and end any pause."""
        self.has_succeeded = True
        self.failure = ""
        self._paused_until = 0.0

    def record_failure(self, error: Exception) -> None:
        """Record the failure, and pause the embedder."""
        self.failure = str(error)
        self._paused_until = time.monotonic() + PAUSE_AFTER_FAILURE_S
        log.warning("meaning was not compared: %s", self.failure)
