"""Every request model by the name of its verb; for the server, the documents and the tests."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

from recollect.wire import requests
from recollect.wire.request import VerbRequest


@cache
def request_classes() -> Mapping[str, type[VerbRequest[Any]]]:
    """Return the request model of every verb that has a route."""
    classes: dict[str, type[VerbRequest[Any]]] = {}
    for module in pkgutil.iter_modules(requests.__path__):
        names = vars(importlib.import_module(f"{requests.__name__}.{module.name}"))
        for value in names.values():
            is_request = isinstance(value, type) and issubclass(value, VerbRequest)
            if is_request and "route" in vars(value):
                classes[value.verb()] = value
    return classes
