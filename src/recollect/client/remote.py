"""
A memory behind a server, with the verbs of one that is opened directly.

Its methods are made from the table in wire/routes.py: each binds what it is given to the verb's
names, sends it, and turns the answer into the same value the verb itself returns. To a type checker
it is the memory it speaks to; a test holds that it has the same verbs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from recollect.client.connection import Connection, next_page, no_memory
from recollect.client.material import sendable
from recollect.client.plain import plain
from recollect.client.transfers import Transfers
from recollect.errors import InvalidInput
from recollect.wire.agent_tools import AgentTools
from recollect.wire.routes import PREFIX, ROUTES, Route
from recollect.wire.segment import filled

if TYPE_CHECKING:
    from recollect.app import Recollect as Verbs
else:
    Verbs = Transfers

# What only somebody with the store in hand can do: call back, or hand out work step by step.
NOT_OVER_HTTP = {
    "on_block_change": "ask `blocks_mark` or `block_changes` from time to time",
    "drain_in_steps": "use `drain`; the server works its queue off by itself",
    "twins": "`waiting` tells them, as `also`",
    "viewer": "ask with the places themselves; the server looks them up",
    "work_in_steps": "use `drain`; the server works its queue off by itself",
    "import_past_in_steps": "run `recollect import` on the machine where the past lies",
    "once": "every write carries a key of its own already",
    "warm": "the server does that when it starts",
    "add_model": "run `recollect models add` on the server's machine",
    "remove_model": "run `recollect models remove` on the server's machine",
    "reembed_in_steps": "use `reembed`; the server embeds by itself, and `models` says how far",
    "embed_some": "the server does that by itself",
    "prune_log": "the server does that by itself",
    "pulse": "ask `health`",
    "embedder_seen": "ask `health`",
}


class Remote(Verbs):
    """A memory behind a server. Made by `recollect.connect`; safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._connection.url

    def health(self) -> Mapping[str, Any]:
        """Return how the server is; raises `ServerUnavailable` where there is none."""
        found: Mapping[str, Any] = self._read(
            Mapping[str, Any], response := self._connection.send("GET", "/health")
        )
        if "database_path" not in found:
            raise no_memory(self.url, response.status_code)
        return found

    def within(self, timeout_s: float) -> "Remote":
        """Return the same memory for somebody in a hurry: late is unavailable, and asked once."""
        return Remote(self._connection.within(timeout_s))

    def tools(self, agent: Any, *, project: Any = None, conversation: Any = None) -> AgentTools:
        """Return the memory tools of an agent, under the names Letta gave them."""
        return AgentTools(self, agent, project=project, conversation=conversation)

    def capture_file(
        self, path: str | PathLike[str], capture_mode: str = "transcript", **told: Any
    ) -> Any:
        """Hand over every conversation in a file of this machine."""
        if not isinstance(path, str | PathLike):
            raise InvalidInput(f"name a file by its path, not by {type(path).__name__}")
        return self.capture_many([sendable(path)], capture_mode, **told)

    def _read(self, kind: Any, response: Any) -> Any:
        try:
            return _adapter(kind).validate_json(response.content)
        except ValidationError as error:
            raise no_memory(self.url, response.status_code) from error

    def close(self) -> None:
        """Let go of the connection. Closing twice is closing once."""
        self._connection.close()

    def __enter__(self) -> "Remote":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _method(route: Route) -> Callable[..., Any]:
    def call(self: Remote, *args: Any, **options: Any) -> Any:
        values = plain(_materials(bound(route, args, options)))
        path = PREFIX + filled(route.path, {name: _name(values, name) for name in route.in_path})
        rest = {name: value for name, value in values.items() if name not in route.in_path}
        if route.has_body:
            return self._read(route.returns, self._connection.send(route.method, path, body=rest))
        response = self._connection.send(route.method, path, query=rest)
        found, known = self._read(route.returns, response), 0
        while route.whole and (offset := next_page(response) or 0) > known:
            # By its offset alone: wherever a link may lead, this is the server to ask.
            known = offset
            response = self._connection.send("GET", path, query={**rest, "offset": offset})
            found += self._read(route.returns, response)
        return found

    call.__name__ = route.verb
    call.__qualname__ = f"Remote.{route.verb}"
    call.__doc__ = f"Do what `Recollect.{route.verb}` does, on the server."
    return call


def _refused(verb: str, instead: str) -> Callable[..., Any]:
    def call(self: Remote, *args: Any, **options: Any) -> Any:
        raise InvalidInput(f"{verb} needs the store in hand, not a server; {instead}")

    call.__name__ = verb
    call.__doc__ = f"Refuse: {instead}."
    return call


for _route in ROUTES.values():
    setattr(Remote, _route.verb, _method(_route))
for _verb, _instead in NOT_OVER_HTTP.items():
    setattr(Remote, _verb, _refused(_verb, _instead))


def bound(route: Route, args: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verb was given, by name; refuse what Python would refuse."""
    if len(args) > len(route.positional):
        raise TypeError(
            f"{route.verb}() takes {len(route.positional)} positional arguments "
            f"but {len(args)} were given"
        )
    values = dict(zip(route.positional, args, strict=False))
    twice = values.keys() & options.keys()
    if twice:
        raise TypeError(f"{route.verb}() got multiple values for argument {min(twice)!r}")
    values |= options
    missing = [name for name in route.in_path if name not in values]
    if missing:
        raise TypeError(f"{route.verb}() missing a required argument: {missing[0]!r}")
    return values


def _materials(values: dict[str, Any]) -> dict[str, Any]:
    """Read files that are handed over as material: they lie here, not where the server runs."""
    for name in ("transcript", "material"):
        if isinstance(values.get(name), PathLike):
            values[name] = sendable(values[name])
    if isinstance(values.get("materials"), Sequence):
        values["materials"] = [
            sendable(one) if isinstance(one, PathLike) else one for one in values["materials"]
        ]
    return values


def _name(values: Mapping[str, Any], name: str) -> str:
    if not isinstance(values[name], str):
        raise InvalidInput(f"name {name.replace('_', ' ')} by its name or id")
    return str(values[name])


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
