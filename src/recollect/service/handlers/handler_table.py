"""The type of a table of handlers: which function carries out which request."""

from collections.abc import Callable, Mapping
from typing import Any

from recollect.service.services import Services
from recollect.wire.request import VerbRequest

Handler = Callable[[Services, Any], Any]
Handlers = Mapping[type[VerbRequest[Any]], Handler]
