"""
Keep the embeddings of a store up to date, and embed queries.

A query is embedded before its transaction, by the model that served last. In the transaction one
statement tells whether that model still serves and whether items are pending (`is_current`);
another process may change both. If not, `update` reads the roles of the models
(embedding_migration.py) and embeds a few pending items, so that what was just written is found by
meaning; a background thread embeds the rest. A model in this process embeds the query in another
thread, while the transaction reads what needs no vector (`begin_query`). After a failure the
embedder is paused, and search uses words only and says why.
"""

import atexit
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING

from recollect.domain.maintenance import EmbedderState
from recollect.domain.model_profile import SAME_SCALE, SimilarityScale
from recollect.engine import embed_pending
from recollect.engine.embedding_migration import ModelRoles, ModelSelector
from recollect.engine.model_profiles import ensure_profile
from recollect.engine.resilient_embedder import ResilientEmbedder
from recollect.errors import EmbedderUnavailable, StoreError
from recollect.models.embedder import Embedder
from recollect.models.embedder_registry import EmbedderRegistry
from recollect.store.protocol import Store, Tables
from recollect.store.search_index import PendingQueryVector, QueryVector
from recollect.store.values import ModelsInUse, PendingFilter

MAX_ITEMS_PER_QUERY = 32  # that a query waits for
OTHER_THREAD_S = 0.05  # that a query waits for another thread that embeds what was just written
MIGRATION_DELAY_S = 1.0  # so that a program that ends at once does not wait for a migration

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

log = logging.getLogger(__name__)


class Indexer:
    """Embeds the items of one store, and queries, with the embedders in use."""

    def __init__(self, store: Store, registry: EmbedderRegistry) -> None:
        self._store = store
        self._roles = ModelSelector(registry)
        self._last_roles: ModelRoles | None = None
        self._last_in_use: ModelsInUse | None = None  # from which the roles were chosen
        self._no_embedder_error = ""  # why no embedder can be used
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._pending_lock = threading.Lock()  # held while pending items are embedded
        self._migration_lock = threading.Lock()  # held while a migration batch is embedded
        self._query_thread: ThreadPoolExecutor | None = None
        self._query_lock = threading.Lock()  # held while that thread has something to do
        self._pid = os.getpid()

    @property
    def state(self) -> EmbedderState:
        """The state of the embedders; after a failure RESTING until a call succeeds."""
        if self.failure:
            return EmbedderState.RESTING
        is_ready = self._last_roles is not None and self._last_roles.serving.has_succeeded
        return EmbedderState.READY if is_ready else EmbedderState.NOT_LOADED

    @property
    def failure(self) -> str:
        """Why an embedder is paused, or ''."""
        if self._no_embedder_error or self._last_roles is None:
            return self._no_embedder_error
        next_embedder = self._last_roles.next
        return self._last_roles.serving.failure or (next_embedder.failure if next_embedder else "")

    @property
    def is_paused(self) -> bool:
        """True while an embedder is not called after a failure."""
        if self._last_roles is None:
            return False
        embedders = (self._last_roles.serving, self._last_roles.next)
        return any(embedder is not None and embedder.is_paused for embedder in embedders)

    def serving_embedder(self) -> Embedder:
        """Return the embedder that serves queries now."""
        return self._choose_roles().serving.embedder

    @property
    def query_scale(self) -> SimilarityScale:
        """The scale of a query's similarities with the model that served last."""
        return SAME_SCALE if self._last_roles is None else self._last_roles.serving.profile.queries

    def target_embedder(self) -> Embedder:
        """Return the embedder that all items are to be embedded by."""
        with self._store.read() as tables:
            in_use = tables.embeddings.models_in_use()
        return self._roles.target(in_use).embedder

    def warm_up(self) -> None:
        """Load the embedder now instead of at the first query."""
        serving = self._choose_roles().serving
        with serving.pausing_on_failure():
            embed_pending.call_embedder(serving.embedder.embed_query, "warm")
        serving.record_success()

    def embed_batch(self) -> int:
        """Embed one batch of pending items; return how many."""
        if self._store.read_only_reason:
            return 0
        roles = self._choose_roles()
        count = self._embed_pending(roles, embed_pending.BATCH_ITEMS)
        is_target = roles.pending is PendingFilter.ALL
        next_embedder = roles.next or (roles.serving if is_target else None)
        # With nothing pending, a model that serves already has nothing left to do.
        if not count and next_embedder is not None and not (is_target and roles.is_serving):
            count = self._migrate_batch(next_embedder)
        if count < embed_pending.BATCH_ITEMS:
            embed_pending.drop_unused_vectors(self._store)
        return count

    def embed_items(self, item_ids: Sequence[str]) -> int | None:
        """Embed some items; return the model's id, or None while no embedder can be used."""
        try:
            roles = self._choose_roles()
            if roles.serving.is_paused:
                return None
            # Memories written by hand just now are compared with these too.
            count = self._embed_pending(roles, MAX_ITEMS_PER_QUERY)
            model_id = roles.serving.model_id_in_store
            if count < MAX_ITEMS_PER_QUERY and model_id is not None:
                return model_id  # nothing is pending any more
            store, embedder, pending = self._store, roles.serving.embedder, roles.pending
            with roles.serving.pausing_on_failure():
                model_id = embed_pending.embed_items(
                    store, embedder, item_ids, pending_filter=pending
                )
            roles.serving.model_id_in_store = model_id
            return model_id
        except EmbedderUnavailable:
            return None

    def embed_query(self, query: str) -> tuple[QueryVector | None, str]:
        """
        Return the vector of *query* and a note, or None and why there is none.

        The model is the one that served last; `is_current` tells whether it still does.
        """
        try:
            roles = self._last_roles or self._choose_roles()
            if roles.serving.is_paused:
                return None, _describe_failure(roles.serving.failure)
            return self._embed_query(roles, query)
        except EmbedderUnavailable as error:
            return self._embed_query_again(query, error)
        except StoreError as error:
            if self._last_roles is not None:
                self._last_roles.serving.record_failure(error)
            return None, _describe_failure(str(error))

    def begin_query(self, query: str) -> QueryVector | None:
        """
        Begin to embed *query* in another thread, by the model that served last.

        Return None if the caller has to embed it: no model has embedded a query yet, it is behind
        HTTP, its state is in doubt, the thread is busy, or there is no core for it.
        """
        roles = self._last_roles
        if roles is None or roles.next is not None or roles.note or self._no_embedder_error:
            return None
        serving, model_id = roles.serving, roles.serving.model_id_in_store
        if model_id is None or not serving.has_succeeded or serving.is_paused:
            return None
        if (cached := serving.cached_query(query)) is not None:
            return serving.query_vector(model_id, cached)
        is_in_process = getattr(serving.embedder, "is_in_process", False)
        # The thread does not exist in a process that was forked from this one.
        if not is_in_process or (os.cpu_count() or 1) < 2 or self._pid != os.getpid():
            return None
        if self._stop.is_set() or not self._query_lock.acquire(blocking=False):
            return None
        if self._query_thread is None:
            # Imported here: a program that embeds one query has no use for it.
            from concurrent.futures import ThreadPoolExecutor

            self._query_thread = ThreadPoolExecutor(1, thread_name_prefix="recollect-query")
        try:
            future = self._query_thread.submit(copy_context().run, serving.embed_query, query)
        except RuntimeError:  # it was stopped just now
            self._query_lock.release()
            return None
        future.add_done_callback(lambda _: self._query_lock.release())
        profile = serving.profile
        return PendingQueryVector(model_id, future.result, profile.queries, profile.texts)

    def is_current(
        self,
        tables: Tables,
        query_vector: QueryVector | None,
        note: str = "",
        *,
        allows_pending: bool = False,
    ) -> bool:
        """
        Return whether *query_vector* is of the model that serves, and nothing is pending.

        A vector that came with a *note* is not: what it says of a migration may have ended since.
        """
        in_use, has_pending = tables.embeddings.query_state()
        if self._no_embedder_error or in_use != self._last_in_use:
            return False
        roles = self._last_roles
        if roles is None or roles.next is not None or roles.serving.is_paused:
            return False
        if note or in_use.serving is None or query_vector is None:
            return False
        if has_pending and not allows_pending:
            return False
        return in_use.serving.id == query_vector.model_id

    def update(
        self, query: str, query_vector: QueryVector | None
    ) -> tuple[QueryVector | None, str]:
        """Read which model serves, embed a few pending items; return the vector of *query*."""
        try:
            roles = self._choose_roles()
            if roles.serving.is_paused:
                return None, _describe_failure(roles.serving.failure)
            self._embed_few_pending(roles)
            if (
                query_vector is not None
                and roles.serving.model_id_in_store == query_vector.model_id
            ):
                return query_vector, roles.note
            return self._embed_query(roles, query)
        except EmbedderUnavailable as error:
            return self._embed_query_again(query, error)
        except StoreError as error:
            if self._last_roles is not None:
                self._last_roles.serving.record_failure(error)
            return None, _describe_failure(str(error))

    def refresh_query_vector(
        self, tables: Tables, query: str, query_vector: QueryVector | None
    ) -> QueryVector | None:
        """
        Return *query_vector* if its model serves in *tables*, else embed the query again.

        Another process may have completed a migration since the query was embedded; the vectors
        of the earlier model are being removed then.
        """
        if query_vector is None:
            return None
        in_use = tables.embeddings.models_in_use()
        if in_use.serving is None or in_use.serving.id == query_vector.model_id:
            return query_vector
        try:
            serving = self._roles.choose(in_use).serving
            model_id = serving.model_id(tables)
            if model_id is None or model_id == query_vector.model_id:
                return query_vector
            return serving.query_vector(model_id, serving.embed_query(query))
        except EmbedderUnavailable:
            return None

    def model_id(self, tables: Tables) -> int | None:
        """Return the id of the model that serves in *tables*, or None if there is none."""
        try:
            return self._roles.choose(tables.embeddings.models_in_use()).serving.model_id(tables)
        except EmbedderUnavailable:
            return None

    def close(self) -> None:
        """Stop the threads after what they do now."""
        self._stop.set()
        if self._query_thread is not None:
            self._query_thread.shutdown()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self.close)

    def _choose_roles(self) -> ModelRoles:
        with self._store.read() as tables:
            in_use, has_pending = tables.embeddings.query_state()
        self._last_in_use = in_use
        try:
            self._last_roles = self._roles.choose(in_use, has_pending=has_pending)
            self._no_embedder_error = ""
        except EmbedderUnavailable as error:
            self._no_embedder_error = str(error)
            raise
        self._ensure_profiles(self._last_roles)
        return self._last_roles

    def _ensure_profiles(self, roles: ModelRoles) -> None:
        ensure_profile(self._store, roles.serving)
        if roles.next is not None:
            with suppress(EmbedderUnavailable):  # it is paused then; the other one serves
                ensure_profile(self._store, roles.next)

    def _embed_query(self, roles: ModelRoles, query: str) -> tuple[QueryVector | None, str]:
        vector = roles.serving.embed_query(query)
        model_id = roles.serving.model_id_in_store
        if model_id is None:
            with self._store.read() as tables:
                model_id = roles.serving.model_id(tables)
        if model_id is None:
            return None, "nothing is embedded yet"
        return roles.serving.query_vector(model_id, vector), roles.note

    def _embed_query_again(
        self, query: str, error: EmbedderUnavailable
    ) -> tuple[QueryVector | None, str]:
        """Choose the roles again after the serving model failed, and embed the query."""
        try:
            roles = self._choose_roles()
            if not roles.serving.is_paused:
                return self._embed_query(roles, query)
        except EmbedderUnavailable:
            pass  # the first error says more
        return None, _describe_failure(str(error))

    def _embed_few_pending(self, roles: ModelRoles) -> None:
        """Embed a few pending items, or give another thread that is doing so a moment to finish."""
        if self._store.read_only_reason:
            return
        count = 0
        if self._pending_lock.acquire(timeout=OTHER_THREAD_S):
            try:
                count = self._embed_pending_unlocked(roles, MAX_ITEMS_PER_QUERY)
            finally:
                self._pending_lock.release()
        if count == MAX_ITEMS_PER_QUERY or (roles.next is not None and not roles.next.is_paused):
            self._start_thread()

    def embed_in_background(self) -> None:
        """Embed what is pending in another thread; a later query finds it by meaning."""
        if not self._store.read_only_reason:
            self._start_thread()

    def _start_thread(self) -> None:
        with self._lock:
            if self._stop.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._run_thread, name="recollect-indexer", daemon=True
            )
            self._thread.start()
            # Without close, the program must not end while the thread is inside a model.
            atexit.register(self.close)

    def _run_thread(self) -> None:
        try:
            while not self._stop.is_set():
                roles = self._choose_roles()
                if self._embed_pending(roles, embed_pending.BATCH_ITEMS):
                    continue
                if roles.next is None or self._stop.wait(MIGRATION_DELAY_S):
                    return
                while not self._stop.is_set() and self.embed_batch():
                    pass
                return
        except EmbedderUnavailable as error:
            log.info("the rest is embedded later: %s", error)
        except StoreError as error:
            if self._last_roles is not None:
                self._last_roles.serving.record_failure(error)

    def _embed_pending(self, roles: ModelRoles, limit: int) -> int:
        if roles.is_serving and not roles.has_pending:
            return 0
        with self._pending_lock:
            return self._embed_pending_unlocked(roles, limit)

    def _embed_pending_unlocked(self, roles: ModelRoles, limit: int) -> int:
        # A model that is being replaced must not start to serve again.
        may_serve = self._roles.may_serve if roles.next is None else None
        embedder = roles.serving.embedder
        with roles.serving.pausing_on_failure():
            count = embed_pending.embed_pending(
                self._store,
                embedder,
                limit=limit,
                pending_filter=roles.pending,
                may_serve=may_serve,
                registered=roles.registered,
            )
        if count:
            roles.serving.record_success()
        return count

    def _migrate_batch(self, next_embedder: ResilientEmbedder) -> int:
        """Embed a batch with the next model; let it serve when no item is left."""
        may_serve, embedder = self._roles.may_serve, next_embedder.embedder
        with self._migration_lock, next_embedder.pausing_on_failure():
            count = embed_pending.embed_pending(
                self._store, embedder, pending_filter=PendingFilter.REEMBED, may_serve=may_serve
            )
            if not count:
                embed_pending.serve_if_complete(self._store, embedder, may_serve)
        if count:
            next_embedder.record_success()
        return count


def _describe_failure(failure: str) -> str:
    return f"meaning was not compared: {failure}"
