"""One request of a Letta client, as the functions that answer it get it; and what a route is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.lazy_dataclass import dataclass
from recollect.server.letta_v1.letta_ids import Kind, our_id

Model = TypeVar("Model", bound=BaseModel)
Texts = tuple[str, ...]


class LettaBody(BaseModel):
    """A body. Fields that we do not know are accepted: newer clients send more."""

    model_config = ConfigDict(extra="allow")

    @property
    def other_fields(self) -> dict[str, Any]:
        """The fields that were sent and that this model does not have."""
        return dict(self.model_extra or {})


class LettaQuery(BaseModel):
    """Query parameters. A name that is repeated is a list; of any other the last value counts."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _last_values(cls, data: Any) -> Any:
        fields = cls.model_fields
        return {
            name: values if fields[name].annotation == Texts else values[-1]
            for name, values in data.items()
            if name in fields and values
        }


@dataclass(frozen=True, kw_only=True)
class LettaCall:
    """A request: the store, the names in its path, its query and its body."""

    rec: LocalRecollect
    settings: Settings
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    body: Any = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)  # of a form

    def path_id(self, name: str, kind: Kind) -> str:
        """Return an id of the path, without its prefix."""
        return our_id(kind, self.path[name])

    def query_as(self, model: type[Model]) -> Model:
        """Return the query as *model*, or raise what the server answers with 422."""
        return _validate_as(model, dict(self.query), "query")

    def body_as(self, model: type[Model]) -> Model:
        """Return the body as *model*, or raise what the server answers with 422."""
        return _validate_as(model, self.body, "body")


@dataclass(frozen=True)
class LettaRoute:
    """One route: what it returns is sent as JSON, unless it is a response."""

    method: str
    path: str
    answer: Callable[[LettaCall], Any]


def _validate_as(model: type[Model], value: Any, where: str) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError(
            [{**detail, "loc": (where, *detail["loc"])} for detail in details]
        ) from None
