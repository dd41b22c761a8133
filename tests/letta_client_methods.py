"""The methods of `letta-client`, each with the request it sends, and a client that records them."""

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from letta_client import Letta
from letta_client._resource import SyncAPIResource

_REQUEST = re.compile(
    r'self\._(get|post|patch|put|delete|get_api_list)\(\s*(?:path_template\(\s*)?f?"([^"]+)"'
)


@cache
def client_methods() -> dict[str, tuple[str, str]]:
    """Return every method by its dotted name: the HTTP method and the path below /v1."""
    client = Letta(base_url="http://localhost")
    found = dict(_methods(client, ""))
    found["health"] = ("GET", "/health")
    return found


def _methods(resource: Any, prefix: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for name in dir(type(resource)):
        if name.startswith(("_", "with_")):
            continue
        value = getattr(resource, name, None)
        if isinstance(value, SyncAPIResource):
            yield from _methods(value, f"{prefix}{name}.")
        elif prefix and inspect.ismethod(value):
            request = _REQUEST.search(inspect.getsource(value))
            if request is not None:  # others, such as upsert_from_function, call these
                method = "GET" if request[1].startswith("get") else request[1].upper()
                yield f"{prefix}{name}", (method, request[2].removeprefix("/v1").rstrip("/"))


class RecordingLetta:
    """A client that records the dotted names of the methods that are called on it."""

    def __init__(self, resource: Any, prefix: str = "", called: set[str] | None = None) -> None:
        self._resource = resource
        self._prefix = prefix
        self.called: set[str] = set() if called is None else called

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._resource, name)
        dotted = f"{self._prefix}{name}"
        if isinstance(value, SyncAPIResource):
            return RecordingLetta(value, f"{dotted}.", self.called)
        return self._recording(value, dotted)

    def _recording(self, method: Callable[..., Any], dotted: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self.called.add(dotted)
            return method(*args, **options)

        return call
