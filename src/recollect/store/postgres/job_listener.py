"""
Wake the workers of this process when another one stores a job.

The statements that make a job due send a notification (queries/jobs.sql), which PostgreSQL
delivers when their transaction commits. A thread listens on a connection of its own. Notifications
are only a wake-up: they are lost while the connection is, so workers poll as well, more often while
`is_listening` is false. A pooler in transaction mode delivers none: so the thread first sends one
through another connection, and listens only if that arrives.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import psycopg

from recollect.errors import StoreError
from recollect.store.postgres.postgres_errors import translate
from recollect.store.postgres.postgres_transactions import Database, connect
from recollect.store.postgres.server_address import ServerAddress

CHANNEL = "recollect_jobs"  # as in queries/jobs.sql; the payload is the schema
APPLICATION_NAME = "recollect-listener"
WAIT_S = 0.25  # for a notification, before looking whether to end
ECHO_S = 2.0  # for the notification that the thread sends to itself
RECONNECT_S = 1.0
NO_ECHO_PAUSE_S = 300.0  # before trying again whether notifications arrive

log = logging.getLogger(__name__)


class PostgresJobListener:
    """One connection that listens for the jobs of any number of schemas of a database."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._subscriptions: list[JobSubscription] = []
        self._is_listening = False
        self._has_failed = False  # since it listened last
        self._closed = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="recollect-job-listener", daemon=True
        )
        self._thread.start()

    @property
    def is_listening(self) -> bool:
        return self._is_listening

    def close(self) -> None:
        self._closed.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def subscribe(self, schema: str, wake: Callable[[], None]) -> "JobSubscription":
        """Call *wake* when a job is stored in *schema*, and once as soon as this listens."""
        subscription = JobSubscription(self, schema, wake)
        self._subscriptions.append(subscription)
        if self._is_listening:
            wake()
        return subscription

    def unsubscribe(self, subscription: "JobSubscription") -> None:
        """Stop calling the function of a subscription."""
        with suppress(ValueError):
            self._subscriptions.remove(subscription)

    def _wake(self, schema: str | None) -> None:
        """Wake who waits for the jobs of *schema*; everybody if it is None."""
        for subscription in list(self._subscriptions):
            if schema in (None, subscription.schema):
                subscription.wake()

    def _run(self) -> None:
        while not self._closed.is_set():
            pause_s = RECONNECT_S
            try:
                with connect(self._address, application_name=APPLICATION_NAME) as db:
                    if self._hears_itself(db):
                        self._listen(db)
                    else:
                        pause_s = NO_ECHO_PAUSE_S
            except psycopg.Error as error:
                self._log_failure(translate(error, self._address.location))
            except StoreError as error:
                self._log_failure(error)
            finally:
                self._is_listening = False
            self._closed.wait(pause_s)

    def _log_failure(self, error: Exception) -> None:
        if not self._has_failed:  # once for each time that the database is away
            log.info("jobs are looked for by polling until the connection is back: %s", error)
        self._has_failed = True

    def _hears_itself(self, db: Database) -> bool:
        db.execute(f"LISTEN {CHANNEL}", prepare=False)
        echo = f"echo {secrets.token_hex(8)}"
        # From another connection: a pooler passes on what arrives during a statement of our own.
        with connect(self._address, application_name=APPLICATION_NAME) as other:
            other.execute("SELECT pg_notify(%s, %s)", (CHANNEL, echo), prepare=False)
        give_up_at = time.monotonic() + ECHO_S
        while time.monotonic() < give_up_at and not self._closed.is_set():
            if any(notice.payload == echo for notice in db.notifies(timeout=WAIT_S, stop_after=1)):
                return True
        db.execute(f"UNLISTEN {CHANNEL}", prepare=False)  # of whichever connection it was
        return False

    def _listen(self, db: Database) -> None:
        self._is_listening, self._has_failed = True, False
        self._wake(None)  # a job may have been stored while nobody listened
        while not self._closed.is_set():
            for notice in db.notifies(timeout=WAIT_S):
                self._wake(notice.payload)


class JobSubscription:
    """See `JobListener` in recollect.store.protocol."""

    def __init__(
        self, listener: PostgresJobListener, schema: str, wake: Callable[[], None]
    ) -> None:
        self._listener = listener
        self.schema = schema
        self.wake = wake
        self._is_closed = False

    @property
    def is_listening(self) -> bool:
        return not self._is_closed and self._listener.is_listening

    def close(self) -> None:
        self._is_closed = True
        self._listener.unsubscribe(self)
