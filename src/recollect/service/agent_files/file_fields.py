"""
How an agent file is validated: its field types, and models derived from dataclasses.

A file is hostile until it has passed here. Texts lose their secrets, and an error names its place
in the file (`$.blocks[3].block.limit`). This file knows no format.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from types import NoneType
from typing import Annotated, Any, NoReturn, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    create_model,
)

from recollect.domain import limits
from recollect.errors import ImportRefused, InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.service import validate
from recollect.service.block_lookup import validate_label
from recollect.text.redact import RedactionResult, redact
from recollect.wire.fields import parse_member, parse_moment, parse_text

MAX_ID = 200
MAX_NUMBER = 2**53

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not known to this version; the file may come from a newer Recollect: "
    "upgrade with pip install -U recollect",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "dict_type": "must be an object",
}


def refuse(file: str, path: str, problem: str) -> NoReturn:
    """Refuse the whole file because of the field at *path*."""
    raise ImportRefused(
        f"{file}: {path}: {problem}. Nothing was changed; repair or export it again"
    )


def validate_model(model: type[M], value: Any, file: str, *, text_slack: int = 1) -> M:
    """
    Return the validated value; raise `ImportRefused` with the place of the first problem.

    *text_slack* multiplies the limits of texts.
    """
    try:
        return model.model_validate(value, context=text_slack)
    except ValidationError as problems:
        error = problems.errors(include_url=False, include_input=False)[0]
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"])
        message = error["msg"].removeprefix("Value error, ")
        message = _MESSAGES.get(error["type"], f"{message[:1].lower()}{message[1:]}")
        refuse(file, "$" + "".join(steps), message)


@dataclass(frozen=True)
class DataclassFormat:
    """
    How dataclasses are read from JSON objects. An unknown field is an error.

    *left_out* are fields that the file does not hold, with the value they get. *types* are the
    field types, by name or by class and name; other fields follow their annotation.
    """

    left_out: Mapping[type, Mapping[str, Any]]
    types: Mapping[str | tuple[type, str], Any]

    def model(self, kind: type[Any]) -> type[BaseModel]:
        """Return the model of the JSON object of a dataclass."""
        annotations = get_type_hints(kind)
        definitions: dict[str, Any] = {}
        for field in fields(kind):
            if field.name in self.left_out.get(kind, ()):
                continue
            field_type = self.types.get((kind, field.name)) or self.types.get(field.name)
            field_type = field_type or self._field_type(field.name, annotations[field.name])
            is_newer = is_dataclass(field.default)  # older files lack the field
            definitions[field.name] = (field_type | None, None) if is_newer else (field_type, ...)
        config = ConfigDict(extra="forbid")
        model: type[BaseModel] = create_model(kind.__name__, __config__=config, **definitions)
        return model

    def build(self, kind: type[T], record: BaseModel) -> T:
        """Return the dataclass of a validated record."""
        values = {name: value for name, value in record if value is not None}
        content = values.get("content")
        if isinstance(content, RedactionResult):
            values["content"] = content.text
            values["redactions"] = content.redactions or values["redactions"]
        newer = {field.name for field in fields(cast(Any, kind)) if is_dataclass(field.default)}
        nulls = {name: None for name, value in record if value is None and name not in newer}
        return kind(**values, **nulls, **self.left_out.get(kind, {}))

    def _field_type(self, name: str, annotation: Any) -> Any:
        options = [option for option in get_args(annotation) if option is not NoneType]
        nullable = NoneType in get_args(annotation)
        kind = options[0] if nullable else annotation
        if get_origin(kind) is tuple:
            item = get_args(kind)[0]
            if is_dataclass(item):
                nested: Any = self._nested(item)
                return Annotated[tuple.__class_getitem__((nested, ...)), FailFast()]
            return Annotated[Any, json_list(nullable=nullable)]
        if is_dataclass(kind):
            return self._nested(kind)
        if kind is str:
            is_id = name == "id" or name.endswith("_id")
            return Annotated[Any, record_id(nullable=nullable) if is_id else _LONG_TEXT]
        if kind is datetime:
            return Annotated[Any, moment(nullable=nullable)]
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return Annotated[Any, member(kind, nullable=nullable)]
        field_type = {bool: Flag, int: Count, float: Share}.get(kind, JsonObject)
        return field_type | None if nullable else field_type

    def _nested(self, kind: Any) -> Any:
        return Annotated[self.model(kind), AfterValidator(lambda record: self.build(kind, record))]


def field_check(check: Callable[[str, Any, int], Any], *, nullable: bool = False) -> Any:
    """Return a validator that calls `check(name, value, text_slack)`."""

    def run(value: Any, info: ValidationInfo) -> Any:
        if value is None and nullable:
            return None
        try:
            return check(str(info.field_name), value, info.context or 1)
        except InvalidInput as error:
            raise ValueError(str(error)) from None

    return PlainValidator(run)


def redacted(max_chars: int) -> Any:
    """Return the validator of a text that becomes a `RedactionResult`."""
    return field_check(lambda name, value, slack: _redact(name, value, max_chars * slack))


def text(max_chars: int) -> Any:
    """Return the validator of a text, which loses its secrets."""
    return field_check(lambda name, value, slack: _redact(name, value, max_chars * slack).text)


def verbatim(max_chars: int) -> Any:
    """Return the validator of a text that keeps its secrets, to be compared with another."""
    return field_check(lambda name, value, _: parse_text(name, value, max_chars=max_chars))


def texts(max_chars: int, *, max_items: int) -> Any:
    """Return the validator of a list of texts."""

    def check(name: str, value: Any, slack: int) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise InvalidInput("must be a list")
        if len(value) > max_items:
            raise InvalidInput(f"has {len(value):,} entries; the limit is {max_items:,}")
        return tuple(_redact(name, item, max_chars * slack).text for item in value)

    return field_check(check)


def member(kind: type[StrEnum], *, nullable: bool = False) -> Any:
    """Return the validator of a member of an enumeration."""
    return field_check(lambda name, value, _: parse_member(name, kind, value), nullable=nullable)


def members(kind: type[StrEnum]) -> Any:
    """Return the validator of a list of members of an enumeration."""

    def check(name: str, value: Any, _: int) -> tuple[StrEnum, ...]:
        if not isinstance(value, list):
            raise InvalidInput("must be a list")
        return tuple(parse_member(name, kind, item) for item in value)

    return field_check(check)


def exact_json() -> Any:
    """Return the validator of any JSON value, which stays as it is."""

    def check(name: str, value: Any, _: int) -> Any:
        validate.check_json_size(name, value)
        return value

    return field_check(check, nullable=True)


def calendar_day() -> Any:
    """Return the validator of a day: 2026-11-18."""

    def check(_: str, value: Any, __: int) -> date:
        try:
            return date.fromisoformat(value)
        except (TypeError, ValueError):
            raise InvalidInput("must be a day as text, such as 2026-11-18") from None

    return field_check(check)


def record_id(*, nullable: bool = False) -> Any:
    """Return the validator of an id."""

    def check(name: str, value: Any, slack: int) -> str:
        checked = _redact(name, value, MAX_ID * slack).text
        if not checked:
            raise InvalidInput("is empty; an id names something")
        return checked

    return field_check(check, nullable=nullable)


def moment(*, nullable: bool = False) -> Any:
    """Return the validator of a time."""

    def check(name: str, value: Any, _: int) -> datetime | None:
        if not isinstance(value, str):
            raise InvalidInput("must be a time as text")
        return parse_moment(name, value)

    return field_check(check, nullable=nullable)


def json_list(*, nullable: bool = False) -> Any:
    """Return the validator of a list of any JSON, which loses its secrets."""

    def check(name: str, value: Any, _: int) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise InvalidInput("must be a list")
        return tuple(validate.json_of(name, value))

    return field_check(check, nullable=nullable)


def _json_object(name: str, value: Any, _: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput("must be an object")
    return validate.json_object_of(name, value)


def _redact(name: str, value: Any, max_chars: int) -> RedactionResult:
    return redact(parse_text(name, value, max_chars=max_chars))


_LONG_TEXT = text(limits.MAX_CONTENT)
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=0, le=MAX_NUMBER)]
Version = Annotated[int, Field(strict=True, ge=1, le=MAX_NUMBER)]
CharLimit = Annotated[int, Field(strict=True, ge=1, le=limits.MAX_CONTENT)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Id = Annotated[str, record_id()]
Name = Annotated[str, field_check(lambda name, value, _: validate.name_of(name, value))]
Label = Annotated[str, field_check(lambda _, value, __: validate_label(value))]
Moment = Annotated[datetime, moment()]
JsonObject = Annotated[dict[str, Any], field_check(_json_object)]
JsonList = Annotated[tuple[Any, ...], json_list()]
