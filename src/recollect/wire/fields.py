"""
The field types of request models. All input of a caller is untrusted until it is validated here.

A validator returns a clean value or raises `InvalidInput` with the field, the problem and what is
accepted. Python callers may give domain objects (an `Agent`), paths and datetimes; the request
holds what JSON can carry: ids, absolute paths and times.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, TypeGuard, TypeVar

from pydantic import BeforeValidator, Field, ValidationInfo

from recollect.config import expand_home
from recollect.domain import limits
from recollect.domain.agent import Agent
from recollect.domain.agent_run import Approval
from recollect.domain.block import Block, BlockAuthor
from recollect.domain.capture_event import CaptureMode
from recollect.domain.context_bundle import BundleFormat
from recollect.domain.conversation import Conversation, Message, Pin, Role
from recollect.domain.job import JobState
from recollect.domain.link import Relation
from recollect.domain.maintenance import ReviewVerdict
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.project import ByPath, Project, parse_reference
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, TooLarge
from recollect.text.clean_text import clean
from recollect.wire.to_json import to_json

MIN_WINDOW, MAX_WINDOW = 200, 10**8  # tokens of a context window
MAX_SECONDS = 100 * 365.25 * 86_400
Member = TypeVar("Member", bound=StrEnum)
_WITH_ID = (Agent, Approval, Block, Conversation, Memory, Message, Pin, Project)
_BARE_DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}(?:-?\d)?")
_QUERY_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_NUMBER = re.compile(r"[+-]?\d+")


def parse_text(field: str, value: object, max_chars: int | None = None) -> str:
    """Return *value* as text that can be stored, of at most *max_chars* characters if given."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text, not {type(value).__name__}")
    if max_chars is not None and len(value) > max_chars:
        raise TooLarge(
            f"{field} has {len(value):,} characters; the limit is {max_chars:,}. "
            "Split it, or store it as a source with a summary"
        )
    return clean(str(value))


def option(default: object, description: str) -> Any:
    """Return a field with a default and a description, which is also the help of its option."""
    return Field(default=default, description=description)


def text(max_chars: int | None = None) -> BeforeValidator:
    """Return the validator of text of at most *max_chars* characters."""

    def validate(value: object, info: ValidationInfo) -> str:
        return parse_text(str(info.field_name), value, max_chars)

    return BeforeValidator(validate)


def _id(value: object, info: ValidationInfo) -> str:
    if isinstance(value, _WITH_ID):
        return value.id
    if not isinstance(value, str):
        name = str(info.field_name).removesuffix("_id").replace("_", " ")
        raise InvalidInput(f"name the {name} by its name or id, not by {type(value).__name__}")
    return clean(value)


def _place(value: object, info: ValidationInfo) -> str:
    if isinstance(value, PathLike):
        return absolute_path(value)
    text = parse_text(str(info.field_name), _id(value, info), limits.MAX_REFERENCE)
    if not text.strip() or not isinstance(parse_reference(text), ByPath):
        return text
    return absolute_path(expand_home(text))


def absolute_path(path: str | PathLike[Any]) -> str:
    """Return *path* from the root on: the server may run in another folder than its caller."""
    return clean(os.fspath(Path(path).absolute()))


def _path(value: object, info: ValidationInfo) -> str:
    if not isinstance(value, str | PathLike):
        raise InvalidInput(f"{info.field_name} must be a path, not {type(value).__name__}")
    text = str(os.fspath(value))
    if not text.strip() or "\0" in text:
        raise InvalidInput(f"{info.field_name} must be a path, not {text!r}")
    return clean(text)


def _is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether *value* has items; text and JSON objects do not."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _texts(value: object, info: ValidationInfo) -> tuple[str, ...]:
    if isinstance(value, str):
        return (clean(value),)
    if _is_list(value):
        return tuple(parse_text(str(info.field_name), item) for item in value)
    raise InvalidInput(f"{info.field_name} must be a text or a list of texts")


def _tags(value: object, info: ValidationInfo) -> tuple[str, ...]:
    """Return tags: trimmed, each once, sorted."""
    tags = {parse_text("tag", tag, limits.MAX_TAG).strip() for tag in _texts(value, info)} - {""}
    if len(tags) > limits.MAX_TAGS:
        raise TooLarge(f"{len(tags)} tags were given; the limit is {limits.MAX_TAGS}")
    return tuple(sorted(tags))


def _alternatives(value: object, info: ValidationInfo) -> tuple[str, ...]:
    texts = _texts(value, info)
    if len(texts) > limits.MAX_ALTERNATIVES:
        limit = limits.MAX_ALTERNATIVES
        raise InvalidInput(f"alternatives must be a list of at most {limit} texts")
    return tuple(parse_text("alternatives", item, limits.MAX_SUMMARY) for item in texts)


def _ids(value: object, info: ValidationInfo) -> tuple[str, ...]:
    if isinstance(value, (str, *_WITH_ID)):
        return (_id(value, info),)
    if _is_list(value):
        return tuple(_id(item, info) for item in value)
    raise InvalidInput(f"{info.field_name} must be an id or a list of ids")


def _memory_ids(value: object, info: ValidationInfo) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(_ids(value, info)))
    if len(ids) > limits.MAX_IDS:
        raise InvalidInput(f"name a memory by its id, or up to {limits.MAX_IDS:,} in a list")
    return ids


def _paths(value: object, info: ValidationInfo) -> tuple[str, ...]:
    if not _is_list(value):
        raise InvalidInput(f"{info.field_name} must be a list of paths")
    return tuple(_path(item, info) for item in value)


def _flag(value: object, info: ValidationInfo) -> bool:
    if (info.context or {}).get("from_query") and str(value).lower() in _QUERY_FLAGS:
        return _QUERY_FLAGS[str(value).lower()]
    if not isinstance(value, bool):
        raise InvalidInput(f"{info.field_name} must be true or false, not {value!r}")
    return value


def _whole_number(value: object, info: ValidationInfo) -> int:
    if (info.context or {}).get("from_query") and isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise InvalidInput(f"{info.field_name} must be a whole number, not {value!r}")
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{info.field_name} must be a whole number, not {value!r}")
    return value


def _json(value: object, info: ValidationInfo) -> Any:
    return to_json(value, name=str(info.field_name))


def exact_json(value: object, info: ValidationInfo) -> Any:
    """
    Return *value*, equal to what was given, if JSON can carry it.

    Only half a surrogate pair, which UTF-8 cannot carry, becomes a replacement character.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if not text.isascii():
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        problem = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise InvalidInput(
            f"{info.field_name} must be what JSON can carry (objects, lists, texts, numbers, true, "
            f"false, null): {problem}"
        ) from None


def _json_list(value: object, info: ValidationInfo) -> list[Any]:
    items = _json(value, info)
    if not isinstance(items, list):
        raise InvalidInput(f"{info.field_name} must be a list, not {type(value).__name__}")
    return items


def _moment(value: object, info: ValidationInfo) -> datetime:
    return parse_moment(str(info.field_name), value)


def _end_moment(value: object, info: ValidationInfo) -> datetime:
    return parse_moment(str(info.field_name), value, end_of_day=True)


def _zoned_moment(value: object, info: ValidationInfo) -> datetime:
    moment = parse_moment(str(info.field_name), value)
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    return value if isinstance(value, datetime) and value.tzinfo is not None else moment


def parse_moment(field: str, value: object, *, end_of_day: bool = False) -> datetime:
    """
    Return a UTC datetime from a datetime or ISO 8601 text; a time without a zone is UTC.

    A bare date means its first moment, or its last if *end_of_day*.
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            value = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidInput(
                f"{field} {value!r} is not a date or time; write it as 2026-05-08 or "
                "2026-05-08T13:56"
            ) from None
        if end_of_day and _BARE_DATE.fullmatch(text):
            value = datetime.combine(value, time.max)
    if not isinstance(value, datetime):
        raise InvalidInput(f"{field} must be a datetime or ISO 8601 text")
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{field} {value} is outside the calendar") from None


def parse_member(field: str, kind: type[Member], value: object) -> Member:
    """Return the member of *kind* that *value* names."""
    try:
        return kind(str(value))
    except ValueError:
        allowed = ", ".join(kind)
        raise InvalidInput(f"{field} {value!r} is not known; use one of {allowed}") from None


def member(kind: type[StrEnum], field: str) -> BeforeValidator:
    """Return the validator of a member of *kind*, which messages call *field*."""
    return BeforeValidator(lambda value: parse_member(field, kind, value))


def members(kind: type[StrEnum], field: str) -> BeforeValidator:
    """Return the validator of one member of *kind*, or several."""

    def validate_all(value: object) -> tuple[StrEnum, ...]:
        if isinstance(value, str):
            value = (value,)
        if not _is_list(value):
            raise InvalidInput(f"{field} must be a text or a list of texts")
        return tuple(parse_member(field, kind, item) for item in value)

    return BeforeValidator(validate_all)


def parse_count(field: str, value: object, *, maximum: int, minimum: int = 1) -> int:
    """Return a whole number between *minimum* and *maximum*."""
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise InvalidInput(
            f"{field} must be a whole number from {minimum} to {maximum}, not {value!r}"
        )
    return value


def whole_number(minimum: int, maximum: int) -> BeforeValidator:
    """Return the validator of a whole number from *minimum* to *maximum*."""

    def validate(value: object, info: ValidationInfo) -> int:
        number = _whole_number(value, info)
        return parse_count(str(info.field_name), number, minimum=minimum, maximum=maximum)

    return BeforeValidator(validate)


def choice(*allowed: str) -> BeforeValidator:
    """Return the validator of a text that is one of *allowed*."""

    def validate(value: object, info: ValidationInfo) -> str:
        if value not in allowed:
            names = ", ".join(allowed)
            raise InvalidInput(f"{info.field_name} {value!r} is not known; use one of {names}")
        return str(value)

    return BeforeValidator(validate)


def _share(value: object, info: ValidationInfo) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{info.field_name} must be a number from 0 to 1, not {value!r}")
    return float(value)


def _seconds(value: object, info: ValidationInfo) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < float(str(value)) <= MAX_SECONDS:
        raise InvalidInput(f"{info.field_name} must be a number of seconds above 0, not {value!r}")
    return float(str(value))


def _branch_point(value: object, info: ValidationInfo) -> str | tuple[str, int]:
    item = value[0] if isinstance(value, list | tuple) and len(value) == 2 else value
    if not isinstance(item, (str, *_WITH_ID)):
        raise InvalidInput(f"{info.field_name} must be a message or (conversation, position)")
    if not isinstance(value, list | tuple):
        return _id(item, info)
    position = _whole_number(value[1], info)
    if not 0 <= position <= 2**53:
        raise InvalidInput(f"the position must be a whole number from 0 to {2**53}")
    return _id(item, info), position


Text = Annotated[str, text()]
Name = Annotated[str, text(limits.MAX_NAME)]
Title = Annotated[str, text(limits.MAX_TITLE)]
Summary = Annotated[str, text(limits.MAX_SUMMARY)]  # also reasons and notes
Content = Annotated[str, text(limits.MAX_CONTENT)]
Tags = Annotated[tuple[str, ...], BeforeValidator(_tags)]
Alternatives = Annotated[tuple[str, ...], BeforeValidator(_alternatives)]
MemoryIds = Annotated[tuple[str, ...], BeforeValidator(_memory_ids)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Id = Annotated[str, BeforeValidator(_id)]
Ids = Annotated[tuple[str, ...], BeforeValidator(_ids)]
Place = Annotated[str, BeforeValidator(_place)]
PathText = Annotated[str, BeforeValidator(_path)]
Paths = Annotated[tuple[str, ...], BeforeValidator(_paths)]
Flag = Annotated[bool, BeforeValidator(_flag)]
WholeNumber = Annotated[int, BeforeValidator(_whole_number)]
Json = Annotated[Any, BeforeValidator(_json)]
ExactJson = Annotated[Any, BeforeValidator(exact_json)]  # returned as it was given
JsonList = Annotated[list[Any], BeforeValidator(_json_list)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
EndMoment = Annotated[datetime, BeforeValidator(_end_moment)]
ZonedMoment = Annotated[datetime, BeforeValidator(_zoned_moment)]
Share = Annotated[float, BeforeValidator(_share)]
Seconds = Annotated[float, BeforeValidator(_seconds)]
BranchPoint = Annotated[str | tuple[str, int], BeforeValidator(_branch_point)]
Limit = Annotated[int, whole_number(1, limits.MAX_LIMIT)]
Offset = Annotated[int, whole_number(0, 10**9)]
SearchOffset = Annotated[int, whole_number(0, 10_000)]  # all before it are ranked too
Position = Annotated[int, whole_number(0, 2**53)]
Version = Annotated[int, whole_number(1, 2**53)]
BudgetTokens = Annotated[int, whole_number(50, 2_000_000)]
WindowTokens = Annotated[int, whole_number(MIN_WINDOW, MAX_WINDOW)]
ScopeName = Annotated[Scope, member(Scope, "scope")]
Scopes = Annotated[tuple[Scope, ...], members(Scope, "scope")]
MemoryTypeName = Annotated[MemoryType, member(MemoryType, "type")]
MemoryTypes = Annotated[tuple[MemoryType, ...], members(MemoryType, "type")]
StatusName = Annotated[Status, member(Status, "status")]
Statuses = Annotated[tuple[Status, ...], members(Status, "status")]
Writer = Annotated[BlockAuthor, member(BlockAuthor, "by")]
Roles = Annotated[tuple[Role, ...], members(Role, "role")]
FormName = Annotated[BundleFormat, member(BundleFormat, "form")]
CaptureModeName = Annotated[CaptureMode, member(CaptureMode, "capture_mode")]
JobStates = Annotated[tuple[JobState, ...], members(JobState, "state")]
RelationName = Annotated[Relation, member(Relation, "relation")]
Verdict = Annotated[ReviewVerdict, member(ReviewVerdict, "verdict")]
