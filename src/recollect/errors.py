"""
Everything that can go wrong, in one tree.

    RecollectError
    ├── InvalidInput           the caller's value cannot be accepted            422
    │   └── TooLarge           … because it is over a limit                      413
    ├── NotFound               no such memory, retrieval, view, project          404
    ├── AlreadyExists          the name or label is taken                        409
    ├── BlockConflict          somebody changed the block in the meantime        409
    ├── BlockReadOnly          the block may not be edited                       403
    ├── IllegalTransition      the lifecycle has no such move                    409
    ├── EvidenceMissing        an active memory needs a quote found in a source  409
    ├── AlreadyAccepted        the request was carried out before                409
    ├── ImportRefused          the file to import is damaged or not ours         422
    ├── RequestRefused         the server does not answer such a request         403
    ├── TokenRefused           the server wants a token, or another one          401
    ├── TooManyRequests        the server was asked too often                    429
    ├── EmbedderUnavailable    the embedder cannot answer now; words still work  503
    ├── ModelUnavailable       the chat model cannot answer now                  503
    ├── ServerUnavailable      no memory server answers                          503
    └── StoreError             the database file
        ├── StoreBusy          another process held the write lock too long      503
        ├── StoreFull          no space left; nothing of the write was kept      507
        ├── StoreDamaged       the file is not a database, or is corrupt         500
        ├── StoreNewer         written by a newer version of Recollect           409
        ├── StoreUnavailable   cannot be opened, read or written                 503
        └── StoreClosed        used after close, or in a forked process          500

A message says what happened, to what, and what to do next. Each class carries the HTTP status it
becomes at that door. This file knows nothing else.
"""


class RecollectError(Exception):
    """Base of every error Recollect raises on purpose."""

    status = 500


class InvalidInput(RecollectError):
    """A value the caller gave cannot be accepted."""

    status = 422


class TooLarge(InvalidInput):
    """A value is over its size limit."""

    status = 413


class NotFound(RecollectError):
    """The named thing does not exist in this store."""

    status = 404


class AlreadyExists(RecollectError):
    """The name or label is taken."""

    status = 409


class BlockConflict(RecollectError):
    """
    Somebody changed the block since the version the caller had read. Nothing was written.

    `yours` is the value that was to be written, `theirs` the one that stands, with its version.
    """

    status = 409

    def __init__(self, message: str, *, yours: str, theirs: str, version: int) -> None:
        super().__init__(message)
        self.yours = yours
        self.theirs = theirs
        self.version = version


class BlockReadOnly(RecollectError):
    """The block is read-only."""

    status = 403


class IllegalTransition(RecollectError):
    """The lifecycle has no move from the memory's status to the wanted one."""

    status = 409


class EvidenceMissing(RecollectError):
    """A memory cannot be active without a quote that is found verbatim in its source."""

    status = 409


class AlreadyAccepted(RecollectError):
    """The request of this key was carried out before, and its answer is no longer at hand."""

    status = 409


class ImportRefused(RecollectError):
    """The file to import is damaged, or is no Recollect export. Nothing was changed."""

    status = 422


class RequestRefused(RecollectError):
    """The server does not answer a request from such a page, or to such a host name."""

    status = 403


class TokenRefused(RecollectError):
    """The server wants a token, and the request had none or another one."""

    status = 401


class TooManyRequests(RecollectError):
    """The server was asked too often; `retry_after_s` says when it answers again."""

    status = 429

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class EmbedderUnavailable(RecollectError):
    """The embedder cannot answer now. Search by words goes on without it."""

    status = 503


class ModelUnavailable(RecollectError):
    """The chat model cannot answer now. A busy server may say in `retry_after_s` when it can."""

    status = 503
    retry_after_s: float | None = None

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ServerUnavailable(RecollectError):
    """No memory server answers."""

    status = 503


class StoreError(RecollectError):
    """Something about the database file."""


class StoreBusy(StoreError):
    """Another process held the write lock for too long."""

    status = 503


class StoreFull(StoreError):
    """There is no space left for the write. Nothing of it was kept."""

    status = 507


class StoreDamaged(StoreError):
    """The file is not a database, or is corrupt."""


class StoreNewer(StoreError):
    """The file was written by a newer version of Recollect."""

    status = 409


class StoreUnavailable(StoreError):
    """The file cannot be opened, read or written."""

    status = 503


class StoreClosed(StoreError):
    """The store was used after it was closed, or in a process forked after it was opened."""
