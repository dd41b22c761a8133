"""The type of a table of handlers: which function carries out which request."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from recollect.service.services import Services
from recollect.wire.request import VerbRequest

Handler = Callable[[Services, Any], Any]
Handlers = Mapping[type[VerbRequest[Any]], Handler]


def lazy_handler(name: str) -> Handler:
    """Return the service function `module.function`; its module loads with the first call."""
    module, _, function = name.partition(".")

    def handle(services: Services, request: Any) -> Any:
        return getattr(import_module(f"recollect.service.{module}"), function)(services, request)

    handle.__qualname__ = name
    return handle
