"""
The base of all request models: the arguments of one verb, what it returns, its HTTP route.

A verb is validated here and nowhere else. The Python API builds a request from the arguments of a
call, the server from the path, query and body of an HTTP request; both get the same errors.
"""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.wire.path_segment import placeholder_names

PREFIX = "/api"
CLIENT_HEADER = "x-recollect-client"  # the program on whose behalf a request is sent
Response = TypeVar("Response")


@dataclass(frozen=True)
class Route:
    """Method and path of one verb. Names in braces in the path are fields of the request."""

    method: str
    path: str

    @cached_property
    def path_fields(self) -> tuple[str, ...]:
        """The fields that are part of the path."""
        return placeholder_names(self.path)

    @property
    def has_body(self) -> bool:
        """Whether the other fields are sent as a JSON body, not as a query string."""
        return self.method in ("POST", "PUT", "PATCH")


class _RequestReturning:
    """What `VerbRequest[Response]` is at run time: as a base class, `VerbRequest` itself."""

    __slots__ = ("request", "response")

    def __init__(self, request: type[Any], response: Any) -> None:
        self.request = request
        self.response = response

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type[Any]]:
        return (self.request,)


class VerbRequest(BaseModel, Generic[Response]):
    """Validated arguments of one verb that returns *Response*."""

    # Built on first use: a program that calls one verb does not pay for a hundred models.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    route: ClassVar[Route]

    event_type: ClassVar[Any] = None  # of a verb that can be followed while it is carried out

    if not TYPE_CHECKING:

        def __class_getitem__(cls, response: Any) -> "_RequestReturning":
            # Pydantic would build a class for each response, which takes longer than the models.
            return _RequestReturning(cls, response)

    def __init_subclass__(cls, *, route: str = "", events: Any = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if route:
            cls.route = Route(*route.split())
        if events is not None:
            cls.event_type = events

    @classmethod
    def of(cls, arguments: Mapping[str, Any], *, from_query: bool = False) -> Self:
        """Return the validated request; raise `InvalidInput` that names the field at fault."""
        try:
            return cls.model_validate(dict(arguments), context={"from_query": from_query})
        except ValidationError as error:
            raise _invalid_input(cls, error) from None
        except RecursionError:
            raise InvalidInput("the arguments are nested too deep or contain themselves") from None

    @classmethod
    def verb(cls) -> str:
        """Return the name of the verb: `search` for `SearchRequest`."""
        words = "".join(f"_{char.lower()}" if char.isupper() else char for char in cls.__name__)
        return words.removeprefix("_").removesuffix("_request")

    @classmethod
    def response_type(cls) -> Any:
        """Return the type the verb returns."""
        for ancestor in cls.__mro__:
            for base in ancestor.__dict__.get("__orig_bases__", ()):
                if isinstance(base, _RequestReturning):
                    return base.response
        raise TypeError(f"{cls.__name__} does not say what its verb returns")

    @classmethod
    def response_adapter(cls) -> TypeAdapter[Any]:
        """Return the adapter that reads and writes the response as JSON."""
        return _adapter(cls.response_type())

    @classmethod
    def event_adapter(cls) -> TypeAdapter[Any]:
        """Return the adapter that reads and writes one event of the verb as JSON."""
        return _adapter(cls.event_type)

    @classmethod
    def is_list(cls) -> bool:
        """Return whether the response is a list that HTTP returns in pages."""
        return cls.route.method == "GET" and get_origin(cls.response_type()) is list

    def json_fields(self) -> dict[str, Any]:
        """Return the fields the caller set, as JSON values."""
        return self.model_dump(mode="json", exclude_unset=True)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _invalid_input(request: type[VerbRequest[Any]], error: ValidationError) -> InvalidInput:
    details = error.errors(include_url=False)
    first, extra = details[0], [entry for entry in details if entry["type"] == "extra_forbidden"]
    unknown = sorted(str(entry["loc"][0]) for entry in extra)
    if unknown:
        names = ", ".join(sorted(request.model_fields))
        return InvalidInput(f"unknown: {', '.join(unknown)}; use {names}")
    field = str(first["loc"][0]) if first["loc"] else request.verb()
    if first["type"] == "missing":
        return InvalidInput(f"{field} is required")
    return InvalidInput(f"{field}: {first['msg'][:1].lower()}{first['msg'][1:]}")
