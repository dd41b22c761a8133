"""
Keep embeddings up to date without getting in anybody's way.

A question first embeds the few items that wait (what was just written should be found by meaning),
and leaves a longer queue to a thread of its own. An embedder that fails is left alone for a while;
questions go on by words and say why. Which embedder does what is read from the store each time
(`cast.py`): another process may change it, and this one follows at its next question.
"""

import atexit
import logging
import threading
from collections.abc import Sequence

from recollect.domain.upkeep import EmbedderState
from recollect.engine.answering import Answering
from recollect.engine.cast import Cast, Casting
from recollect.engine.index import (
    BATCH_ITEMS,
    asked,
    drop_others,
    index_items,
    index_waiting,
    serve_if_complete,
)
from recollect.errors import EmbedderUnavailable, StoreError
from recollect.models.choice import Choice
from recollect.models.protocol import Embedder
from recollect.retrieval.candidates import Meaning
from recollect.store.protocol import Store, Tables
from recollect.store.values import Waiters

CATCH_UP_ITEMS = 32  # a question waits for so many at most
UNHURRIED_S = 1.0  # before a change of model goes on: a program that ends at once is not held up

log = logging.getLogger(__name__)


class Indexer:
    """Embeds items and questions for one store, with the embedders it needs."""

    def __init__(self, store: Store, choice: Choice) -> None:
        self._store = store
        self._casting = Casting(choice)
        self._last: Cast | None = None
        self._missing = ""  # why nobody could be cast
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._embedding = threading.Lock()  # held by whoever embeds what waits
        self._changing = threading.Lock()  # held by whoever embeds for the model that comes

    @property
    def state(self) -> EmbedderState:
        """How it stands with the embedders; one that failed rests until it has answered again."""
        if self.failure:
            return EmbedderState.RESTING
        is_ready = self._last is not None and self._last.answers.has_answered
        return EmbedderState.READY if is_ready else EmbedderState.NOT_LOADED

    @property
    def failure(self) -> str:
        """Why an embedder rests, '' where none does."""
        if self._missing or self._last is None:
            return self._missing
        coming = self._last.comes
        return self._last.answers.failure or (coming.failure if coming else "")

    @property
    def resting(self) -> bool:
        """True while an embedder that failed is left alone."""
        parts = (self._last.answers, self._last.comes) if self._last is not None else ()
        return any(one is not None and one.resting for one in parts)

    def answering(self) -> Embedder:
        """Return the embedder that answers questions now."""
        return self._cast().answers.embedder

    def wanted(self) -> Embedder:
        """Return the embedder that everything is to be embedded by."""
        with self._store.read() as tables:
            in_use = tables.vectors.in_use()
        return self._casting.wanted(in_use).embedder

    def warm(self) -> None:
        """Have the embedder load now what it loads at its first text."""
        one = self._cast().answers
        with one.patiently():
            asked(one.embedder.embed_query, "warm")
        one.answered()

    def step(self) -> int:
        """Embed one batch of what waits; return how much that was."""
        cast = self._cast()
        done = self._index(cast, BATCH_ITEMS)
        coming = cast.comes or (cast.answers if cast.which is Waiters.ALL else None)
        if not done and coming is not None:
            done = self._change(coming)
        if done < BATCH_ITEMS:
            drop_others(self._store)
        return done

    def embed_items(self, item_ids: Sequence[str]) -> int | None:
        """Embed some items; return the model's id, or None while no embedder can answer."""
        try:
            cast = self._cast()
            if cast.answers.resting:
                return None
            # What was just written by hand is to be compared with too.
            self._index(cast, CATCH_UP_ITEMS)
            with cast.answers.patiently():
                embedder = cast.answers.embedder
                return index_items(self._store, embedder, item_ids, which=cast.which)
        except EmbedderUnavailable:
            return None

    def meaning(self, query: str) -> tuple[Meaning | None, str]:
        """Return *query* as a vector, or None and why meaning cannot be compared now."""
        try:
            cast = self._cast()
            if cast.answers.resting:
                return None, _trouble(cast.answers.failure)
            return self._meaning(cast, query)
        except EmbedderUnavailable as error:
            return self._meaning_of_another(query, error)
        except StoreError as error:
            if self._last is not None:
                self._last.answers.rest(error)
            return None, _trouble(str(error))

    def still(self, tables: Tables, query: str, meaning: Meaning | None) -> Meaning | None:
        """
        Return *meaning* if it is of the model that answers in *tables*, or the question's anew.

        Another process may have let a new model take over since the question was embedded; the
        former one's vectors are being dropped then.
        """
        if meaning is None:
            return None
        in_use = tables.vectors.in_use()
        if in_use.serving is None or in_use.serving.id == meaning.model_id:
            return meaning
        try:
            one = self._casting.cast(in_use).answers
            model_id = one.model_id(tables)
            if model_id is None or model_id == meaning.model_id:
                return meaning
            return Meaning(model_id, one.vector(query))
        except EmbedderUnavailable:
            return None

    def model_id(self, tables: Tables) -> int | None:
        """Return the id of the model that answers in *tables*, None where there is none."""
        try:
            return self._casting.cast(tables.vectors.in_use()).answers.model_id(tables)
        except EmbedderUnavailable:
            return None

    def close(self) -> None:
        """Stop the thread after its present batch."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self.close)

    def _cast(self) -> Cast:
        with self._store.read() as tables:
            in_use = tables.vectors.in_use()
        try:
            self._last, self._missing = self._casting.cast(in_use), ""
        except EmbedderUnavailable as error:
            self._missing = str(error)
            raise
        return self._last

    def _meaning(self, cast: Cast, query: str) -> tuple[Meaning | None, str]:
        self._catch_up(cast)
        vector = cast.answers.vector(query)
        model_id = cast.answers.known_id
        if model_id is None:
            with self._store.read() as tables:
                model_id = cast.answers.model_id(tables)
        if model_id is None:
            return None, "nothing is embedded yet"
        return Meaning(model_id, vector), cast.note

    def _meaning_of_another(
        self, query: str, error: EmbedderUnavailable
    ) -> tuple[Meaning | None, str]:
        """Ask the model that comes, if the one that answers has just failed."""
        try:
            cast = self._cast()
            if not cast.answers.resting:
                return self._meaning(cast, query)
        except EmbedderUnavailable:
            pass  # what went wrong first says more
        return None, _trouble(str(error))

    def _catch_up(self, cast: Cast) -> None:
        """Embed the few items that wait, unless somebody is at it: not everybody the same ones."""
        done = 0
        if self._embedding.acquire(blocking=False):
            try:
                done = self._index_now(cast, CATCH_UP_ITEMS)
            finally:
                self._embedding.release()
        if done == CATCH_UP_ITEMS or (cast.comes is not None and not cast.comes.resting):
            self._start()

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
                cast = self._cast()
                if self._index(cast, BATCH_ITEMS):
                    continue
                if cast.comes is None or self._stop.wait(UNHURRIED_S):
                    return
                while not self._stop.is_set() and self.step():
                    pass
                return
        except EmbedderUnavailable as error:
            log.info("the rest is embedded later: %s", error)
        except StoreError as error:
            if self._last is not None:
                self._last.answers.rest(error)

    def _index(self, cast: Cast, limit: int) -> int:
        with self._embedding:
            return self._index_now(cast, limit)

    def _index_now(self, cast: Cast, limit: int) -> int:
        # A model that is only on its way out must not take over again.
        may_serve = self._casting.may_serve if cast.comes is None else None
        with cast.answers.patiently():
            done = index_waiting(
                self._store,
                cast.answers.embedder,
                limit=limit,
                which=cast.which,
                may_serve=may_serve,
            )
        if done:
            cast.answers.answered()
        return done

    def _change(self, coming: Answering) -> int:
        """Embed a batch for the model that comes; let it take over when nothing is left."""
        may_serve = self._casting.may_serve
        with self._changing, coming.patiently():
            done = index_waiting(
                self._store, coming.embedder, which=Waiters.CHANGING, may_serve=may_serve
            )
            if not done:
                serve_if_complete(self._store, coming.embedder, may_serve)
        if done:
            coming.answered()
        return done


def _trouble(failure: str) -> str:
    return f"meaning was not compared: {failure}"
