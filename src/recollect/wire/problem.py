"""
Problems: an error as the JSON of RFC 9457, and back.

    {"type": "about:blank", "title": "Conflict", "status": 409, "detail": "the block …",
     "error": "BlockConflict", "yours": "…", "theirs": "…", "version": 3}

`error` is the name of a class in `recollect.errors`; what that class carries besides its message
stands beside it. So a client raises what the server raised. This file does no I/O and knows no
framework.
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from recollect import errors
from recollect.errors import BlockConflict, ModelUnavailable, RecollectError, TooManyRequests

MEDIA_TYPE = "application/problem+json"
MOST_WAIT_S = 1e9  # a longer wait is no number a server means
MOST_DETAIL = 1_500  # characters; a message may quote what was given
MOST_NAMED = 3  # refused values that are told in `detail`; all of them stand in `errors`

_CLASSES: dict[str, type[RecollectError]] = {
    name: found
    for name, found in vars(errors).items()
    if isinstance(found, type) and issubclass(found, RecollectError)
}

# For the server's description of itself.
SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457), and as which class of recollect.errors.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "error"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "message"],
                "properties": {"where": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "yours": {"type": "string"},
        "theirs": {"type": "string"},
        "version": {"type": "integer"},
        "retry_after_s": {"type": "number"},
    },
}


def problem(
    status: int, detail: str, *, error: type[RecollectError] = RecollectError, **more: Any
) -> dict[str, Any]:
    """Return a problem of that status; *more* stands beside its class."""
    return {
        "type": "about:blank",
        "title": _title(status),
        "status": status,
        "detail": detail if len(detail) <= MOST_DETAIL else f"{detail[:MOST_DETAIL]}…",
        "error": error.__name__,
        **{name: value for name, value in more.items() if value is not None},
    }


def problem_of(error: RecollectError) -> dict[str, Any]:
    """Return *error* as a problem."""
    known = next(one for one in type(error).__mro__ if _CLASSES.get(one.__name__) is one)
    carried: dict[str, Any] = {}
    if isinstance(error, BlockConflict):
        carried = {"yours": error.yours, "theirs": error.theirs, "version": error.version}
    elif isinstance(error, ModelUnavailable | TooManyRequests):
        carried = {"retry_after_s": error.retry_after_s}
    return problem(error.status, str(error), error=known, **carried)


def refused_values(refused: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the problem of a request with values that were *refused*: where, and why."""
    told = "; ".join(f"{where}: {why}" for where, why in refused[:MOST_NAMED])
    if len(refused) > MOST_NAMED:
        told += f"; and {len(refused) - MOST_NAMED} more"
    return problem(
        errors.InvalidInput.status,
        told,
        error=errors.InvalidInput,
        errors=[{"where": where, "message": why} for where, why in refused],
    )


def error_of(problem: Mapping[str, Any], status: int) -> RecollectError:
    """Return the error that an answer of *status* with that body stands for."""
    told = problem.get("detail") or problem.get("title")
    message = told if isinstance(told, str) else f"the server answered with status {status}"
    name = problem.get("error")
    known = _CLASSES.get(name, RecollectError) if isinstance(name, str) else RecollectError
    error = _made(known, message, problem)
    if error is None:
        error = RecollectError(message)
    if error.status != status:
        error.status = status
    return error


def as_json(problem: Mapping[str, Any]) -> bytes:
    """Return *problem* as bytes, whatever characters it quotes."""
    return json.dumps(problem).encode("ascii")


def _made(
    known: type[RecollectError], message: str, given: Mapping[str, Any]
) -> RecollectError | None:
    """Return the error with what its class carries, None where the body does not have that."""
    if issubclass(known, BlockConflict):
        yours, theirs, version = (given.get(name) for name in ("yours", "theirs", "version"))
        if isinstance(yours, str) and isinstance(theirs, str) and type(version) is int:
            return known(message, yours=yours, theirs=theirs, version=version)
        return None
    if issubclass(known, ModelUnavailable | TooManyRequests):
        wait_s = given.get("retry_after_s")
        if isinstance(wait_s, int | float) and 0 <= wait_s < MOST_WAIT_S:
            return known(message, retry_after_s=float(wait_s))
    return known(message)


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown Status"
