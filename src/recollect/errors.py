"""
Every error that Recollect raises, in one tree.

    RecollectError
    ├── InvalidInput           an argument or setting is not valid               422
    │   └── TooLarge           a value is over its size limit                    413
    ├── NotFound               no such memory, retrieval, view, project          404
    ├── AlreadyExists          the name or label is in use                       409
    ├── BlockConflict          the block changed since the caller read it        409
    ├── RevisionConflict       the record changed since the caller read it       409
    ├── BlockReadOnly          the block cannot be edited                        403
    ├── IllegalTransition      the lifecycle does not allow this status change   409
    ├── EvidenceMissing        an active memory needs a quote found in a source  409
    ├── AlreadyAccepted        the request was carried out before                409
    ├── ImportRefused          the file is damaged or not a Recollect export     422
    ├── RequestRefused         the server does not accept this origin or host    403
    ├── TokenRefused           the token is missing or wrong                     401
    ├── TooManyRequests        the rate limit was exceeded                       429
    ├── EmbedderUnavailable    the embedder failed; keyword search still works   503
    ├── ModelUnavailable       the chat model failed                             503
    │   ├── ContextOverflow    the request is too long for the model             503
    │   └── InvalidModelResponse  the model's answer cannot be used              503
    ├── ServerUnavailable      the memory server did not respond                 503
    ├── PackageMissing         an optional package is needed for this            501
    └── StoreError             a problem with the database file
        ├── StoreBusy          another process held the write lock too long      503
        ├── StoreFull          the disk is full; the write was rolled back       507
        ├── StoreDamaged       the file is not a database, or is corrupt         500
        ├── StoreKeyMissing    is encrypted, and no key opens it                 423
        ├── StoreReadOnly      can be read, not written                          403
        ├── StoreNewer         written by a newer version of Recollect           409
        ├── StoreUnavailable   cannot be opened, read or written                 503
        └── StoreClosed        used after close, or in a forked process          500

A message says what happened, to what, and what to do next. Each class has the HTTP status that
the server responds with. This file imports nothing.
"""


class RecollectError(Exception):
    """Base class of every error that Recollect raises deliberately."""

    status = 500


class InvalidInput(RecollectError):
    """An argument or setting is not valid."""

    status = 422


class TooLarge(InvalidInput):
    """A value is over its size limit."""

    status = 413


class NotFound(RecollectError):
    """The requested item does not exist in this store."""

    status = 404


class AlreadyExists(RecollectError):
    """The name or label is in use."""

    status = 409


class BlockConflict(RecollectError):
    """
    The block changed since the version that the caller read. Nothing was written.

    `yours` is the rejected value, `theirs` the stored value and `version` the stored version.
    """

    status = 409

    def __init__(self, message: str, *, yours: str, theirs: str, version: int) -> None:
        super().__init__(message)
        self.yours = yours
        self.theirs = theirs
        self.version = version


class RevisionConflict(RecollectError):
    """
    A conversation or document changed since the revision that the caller read.

    Nothing was written. `revision` is the stored one; 0 if the document does not exist.
    """

    status = 409

    def __init__(self, message: str, *, revision: int = 0) -> None:
        super().__init__(message)
        self.revision = revision


class BlockReadOnly(RecollectError):
    """The block is read-only."""

    status = 403


class IllegalTransition(RecollectError):
    """The lifecycle does not allow a change from the memory's status to the requested one."""

    status = 409


class EvidenceMissing(RecollectError):
    """A memory cannot be active without a quote that occurs verbatim in its source."""

    status = 409


class AlreadyAccepted(RecollectError):
    """A request with this idempotency key was carried out; its response is no longer cached."""

    status = 409


class ImportRefused(RecollectError):
    """The file to import is damaged or is not a Recollect export. Nothing was changed."""

    status = 422


class RequestRefused(RecollectError):
    """The server does not accept requests from this origin or for this host name."""

    status = 403


class TokenRefused(RecollectError):
    """The server requires a token; the request had none, or a wrong one."""

    status = 401


class TooManyRequests(RecollectError):
    """The rate limit was exceeded; retry after `retry_after_s` seconds."""

    status = 429

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class EmbedderUnavailable(RecollectError):
    """The embedder failed or did not respond. Keyword search works without it."""

    status = 503


class ModelUnavailable(RecollectError):
    """
    The chat model failed or did not respond.

    `retry_after_s` is set if its server sent it. `is_transient`: the same call may succeed later.
    """

    status = 503
    retry_after_s: float | None = None

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, is_transient: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.is_transient = is_transient


class ContextOverflow(ModelUnavailable):
    """The request has more tokens than the model's context window."""


class InvalidModelResponse(ModelUnavailable):
    """The model answered with something that cannot be used."""


class ServerUnavailable(RecollectError):
    """The memory server did not respond."""

    status = 503


class PackageMissing(RecollectError):
    """A package that only some users need is not installed; the message says how to install it."""

    status = 501


class StoreError(RecollectError):
    """A problem with the database file."""


class StoreBusy(StoreError):
    """Another process held the write lock for too long."""

    status = 503


class StoreFull(StoreError):
    """The disk is full. The write was rolled back."""

    status = 507


class StoreDamaged(StoreError):
    """
    The file is not a database, or is corrupt. *table* is set if the damaged table is known.

    If *can_repair* is False, nothing can be rescued from it by `recollect repair`.
    """

    def __init__(self, message: str, *, table: str = "", can_repair: bool = True) -> None:
        super().__init__(message)
        self.table = table
        self.can_repair = can_repair


class StoreKeyMissing(StoreError):
    """The file is encrypted, and none of the keys that were found opens it."""

    status = 423


class StoreReadOnly(StoreError):
    """The file can be read but not written; nothing was changed."""

    status = 403


class StoreNewer(StoreError):
    """The file was written by a newer version of Recollect."""

    status = 409


class StoreUnavailable(StoreError):
    """The file cannot be opened, read or written."""

    status = 503


class StoreClosed(StoreError):
    """The store was used after it was closed, or in a process forked after it was opened."""
