"""Translate the errors of psycopg into ours: what happened, to which store, what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from recollect.errors import (
    EvidenceMissing,
    InvalidInput,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

# The database asks to run the transaction again: another one came between.
RETRIED = (errors.SerializationFailure, errors.DeadlockDetected)


@contextmanager
def translate_errors(location: str) -> Iterator[None]:
    """Raise errors of psycopg about the store at *location* as `RecollectError`."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        raise translate(error, location) from error


def translate(error: Exception, location: str) -> RecollectError:
    """Return our error for one of psycopg."""
    text = _first_line(error)
    match error:
        case errors.IntegrityError() | errors.RaiseException() if "evidence:" in text:
            reason = text.partition("evidence: ")[2]
            return EvidenceMissing(f"the store refused the write: {reason}")
        case errors.IntegrityError():
            return InvalidInput(f"the store refused the write: {text}")
        case errors.ReadOnlySqlTransaction():
            return StoreReadOnly(f"{location} can only be read here ({text})")
        case errors.InsufficientPrivilege():
            return StoreReadOnly(
                f"the role of {location} may not do this ({text}); grant it the rights on the "
                "schema, or connect as its owner"
            )
        case errors.LockNotAvailable():
            return StoreBusy(
                f"{location} is being written by another process and did not become free in time; "
                "nothing was changed, try again"
            )
        case errors.QueryCanceled():
            return StoreBusy(
                f"{location} did not answer in time and the statement was cancelled; nothing was "
                "changed, try again"
            )
        case errors.SerializationFailure() | errors.DeadlockDetected():
            return StoreBusy(f"{location}: other writers came between; nothing was changed")
        case errors.DiskFull() | errors.InsufficientResources():
            return StoreFull(
                f"{location} has no space or memory left ({text}); nothing of this write was kept. "
                "Free some space on the server and try again"
            )
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.UndefinedFunction():
            return StoreDamaged(
                f"the schema of {location} is not one of Recollect ({text}); choose another one "
                "with ?schema=name",
                can_repair=False,
            )
        case errors.InvalidSqlStatementName() | errors.DuplicatePreparedStatement():
            return StoreUnavailable(
                f"a pooler in front of {location} does not know prepared statements ({text}); add "
                "pooler=transaction to the address"
            )
        case errors.DataError():
            return InvalidInput(f"the store cannot hold this value: {text}")
        case PoolTimeout():
            return StoreBusy(
                f"every connection to {location} is in use, or the server does not answer; "
                "try again"
            )
        case _:
            return StoreUnavailable(
                f"{location} cannot be used ({text}). Check that the server runs, and the address, "
                "the user and the password"
            )


def _first_line(error: Exception) -> str:
    diagnostic = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    lines = (diagnostic or str(error)).strip().splitlines()
    return lines[0] if lines else type(error).__name__
