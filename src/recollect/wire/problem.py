"""
Convert errors to problem JSON (RFC 9457) and back.

    {"type": "about:blank", "title": "Conflict", "status": 409, "detail": "the block …",
     "error": "BlockConflict", "yours": "…", "theirs": "…", "version": 3}

`error` is the name of a class in `recollect.errors`. The other attributes of that class are
fields of the same object, so a client raises what the server raised. This file does no I/O and
does not depend on a web framework.
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from recollect import errors
from recollect.errors import (
    BlockConflict,
    ModelUnavailable,
    RecollectError,
    RevisionConflict,
    TooManyRequests,
)

MEDIA_TYPE = "application/problem+json"
MAX_WAIT_S = 1e9  # a longer `retry_after_s` is ignored
MAX_DETAIL_CHARS = 1_500  # a message may quote input of any length
MAX_LISTED_ERRORS = 3  # invalid values listed in `detail`; `errors` has all of them

_CLASSES: dict[str, type[RecollectError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, RecollectError)
}

# For the OpenAPI document of the server.
SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457), with the name of a class in recollect.errors.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "error"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string"},
        "request_id": {"type": "string"},
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
        "revision": {"type": "integer"},
        "retry_after_s": {"type": "number"},
    },
}


def problem(
    status: int, detail: str, *, error: type[RecollectError] = RecollectError, **more: Any
) -> dict[str, Any]:
    """Return a problem with that status; *more* are additional fields."""
    return {
        "type": "about:blank",
        "title": _title(status),
        "status": status,
        "detail": detail if len(detail) <= MAX_DETAIL_CHARS else f"{detail[:MAX_DETAIL_CHARS]}…",
        "error": error.__name__,
        **{name: value for name, value in more.items() if value is not None},
    }


def problem_from_error(error: RecollectError) -> dict[str, Any]:
    """Return *error* as a problem."""
    public = next(base for base in type(error).__mro__ if _CLASSES.get(base.__name__) is base)
    fields: dict[str, Any] = {}
    if isinstance(error, BlockConflict):
        fields = {"yours": error.yours, "theirs": error.theirs, "version": error.version}
    elif isinstance(error, RevisionConflict):
        fields = {"revision": error.revision}
    elif isinstance(error, ModelUnavailable | TooManyRequests):
        fields = {"retry_after_s": error.retry_after_s}
    return problem(error.status, str(error), error=public, **fields)


def validation_problem(invalid: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the problem of a request with *invalid* values, each a location and a message."""
    detail = "; ".join(f"{where}: {message}" for where, message in invalid[:MAX_LISTED_ERRORS])
    if len(invalid) > MAX_LISTED_ERRORS:
        detail += f"; and {len(invalid) - MAX_LISTED_ERRORS} more"
    return problem(
        errors.InvalidInput.status,
        detail,
        error=errors.InvalidInput,
        errors=[{"where": where, "message": message} for where, message in invalid],
    )


def error_from_problem(problem: Mapping[str, Any], status: int) -> RecollectError:
    """Return the error that a response with *status* and the body *problem* describes."""
    detail = problem.get("detail") or problem.get("title")
    message = detail if isinstance(detail, str) else f"the server responded with status {status}"
    name = problem.get("error")
    error_class = _CLASSES.get(name, RecollectError) if isinstance(name, str) else RecollectError
    error = _build_error(error_class, message, problem)
    if error.status != status:
        error.status = status
    return error


def problem_json(problem: Mapping[str, Any]) -> bytes:
    """Return *problem* as ASCII bytes; other characters are escaped."""
    return json.dumps(problem).encode("ascii")


def _build_error(
    error_class: type[RecollectError], message: str, problem: Mapping[str, Any]
) -> RecollectError:
    """Return the error with the fields of its class; a plain one if required fields are missing."""
    if issubclass(error_class, BlockConflict):
        yours, theirs, version = (problem.get(name) for name in ("yours", "theirs", "version"))
        if isinstance(yours, str) and isinstance(theirs, str) and type(version) is int:
            return error_class(message, yours=yours, theirs=theirs, version=version)
        return RecollectError(message)
    if issubclass(error_class, RevisionConflict):
        revision = problem.get("revision")
        return error_class(message, revision=revision if type(revision) is int else 0)
    if issubclass(error_class, ModelUnavailable | TooManyRequests):
        wait_s = problem.get("retry_after_s")
        if isinstance(wait_s, int | float) and 0 <= wait_s < MAX_WAIT_S:
            return error_class(message, retry_after_s=float(wait_s))
    return error_class(message)


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown Status"
