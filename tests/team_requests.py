"""
Requests to every route of a server, made up from its own description, with ids of somebody.

A route that no description covers (pages, probes, hooks) is found in the application, and asked
with the fields that are listed here; `RequestMaker` refuses one for which nothing is listed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from recollect.hooks import event_names
from recollect.server.letta_v1.letta_app import PREFIX as LETTA
from recollect.server.letta_v1.letta_app import SERVED
from recollect.server.route_index import RouteIndex
from recollect.web import pages
from recollect.wire.request_registry import request_classes

# What clients of Letta send in bodies and queries; a route takes what it knows.
_LETTA_FIELDS_TEXT = """
name label value description agent_id agent_ids block_ids block_id archive_id conversation_id
text query query_text search_term limit order after before passage_id source_id tags metadata
system memory_blocks messages input content project_id identifier_keys include_relationships
"""
LETTA_FIELDS = _LETTA_FIELDS_TEXT.split()
TEAM_FIELDS = ("name", "project", "user", "role", "agent")
WORDS = ("marker", "secret", "what do you know?", "", "x" * 50)
# What no request is made up for: the answers of these never end or depend on a session, and have
# tests of their own, or (/v1) are the routes of Letta, which are described.
NOT_MADE_UP = frozenset({("*", "/mcp"), ("*", "/mcp/"), ("*", "/v1"), ("GET", "/ui/events")})
# Of routes that say nothing about any memory.
_BARE = frozenset({"/", "/enter", "/live", "/ready", "/metrics", "/openapi.json", "/ui"})
_PAGE_FIELD = re.compile(r"request\.(?:value|values|query|queries|form_has)\(\s*\"(\w+)\"")
VERDICTS = ("keep", "reject", "replace", "merge", "accept", "approve", "always", "deny")
HOOKS = "/api/hooks/{client}/{event}"
HOOK_FIELDS = ("session_id", "cwd", "prompt", "source", "tool_name", "error", "transcript_path")


def routes_of(routes: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield method and path of routes, also of those in a mount or an included router."""
    for route in routes:
        if isinstance(route, RouteIndex):
            yield from routes_of(route.routes, prefix)
        elif not hasattr(route, "path"):
            yield from routes_of(route.original_router.routes, prefix)
        elif below := getattr(route, "routes", None):
            yield from routes_of(below, prefix + route.path)
        else:
            for method in (getattr(route, "methods", None) or {"*"}) - {"HEAD"}:
                yield method, prefix + route.path


@cache
def page_fields() -> tuple[str, ...]:
    """Return the names of the fields that some page reads from its address or form."""
    sources = Path(pages.__file__).parent.glob("*.py")
    names = (name for file in sources for name in _PAGE_FIELD.findall(file.read_text()))
    return tuple(sorted(names))


@cache
def forms_with_verdict() -> frozenset[str]:
    """Return the paths of the pages whose file reads a verdict."""
    found: set[str] = set()
    for file in Path(pages.__file__).parent.glob("[!_]*.py"):
        if "verdict" in _PAGE_FIELD.findall(file.read_text()):
            module = import_module(f"{pages.__name__}.{file.stem}")
            found.update(f"/ui{route.path}" for route in module.routes)
    return frozenset(found)


@dataclass(frozen=True)
class RouteRequest:
    """A request to one route."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    form: Mapping[str, Any] | None = None


class RequestMaker:
    """Makes requests to every route of *app* alike, which name things by *names*."""

    def __init__(
        self,
        openapi: Mapping[str, Any],
        names: Sequence[str],
        app_routes: Iterable[tuple[str, str]],
    ) -> None:
        self._names = names
        self._definitions = openapi.get("components", {}).get("schemas", {})
        self._routes: list[Callable[[Random], RouteRequest]] = []
        asked = set()
        for model in request_classes().values():
            asked.add((model.route.method, f"/api{model.route.path}"))
            self._routes.append(partial(self._verb, model, model.model_json_schema()))
        for path, methods in openapi["paths"].items():
            for method, operation in methods.items():
                if (method.upper(), path) not in asked:
                    asked.add((method.upper(), path))
                    self._routes.append(partial(self._described, method.upper(), path, operation))
        for route in SERVED:
            path = LETTA + route.path
            self._routes.append(partial(self._free, route.method, path, LETTA_FIELDS))
        others = sorted({*app_routes} - asked - NOT_MADE_UP)
        self._pages = [(method, path) for method, path in others if path.startswith("/ui/")]
        self._routes += [self._undescribed(method, path) for method, path in others]

    def _undescribed(self, method: str, path: str) -> Callable[[Random], RouteRequest]:
        if path.startswith("/ui/"):
            return partial(self._page, method, path)
        if path.startswith("/api/team/"):
            return partial(self._free, method, path, TEAM_FIELDS)
        if path == HOOKS:
            return self._hook
        if path in _BARE:
            return partial(self._free, method, path, ("token", "code", "key"))
        raise AssertionError(f"nobody said what a request for {method} {path} looks like")

    @property
    def count(self) -> int:
        """How many routes there are."""
        return len(self._routes)

    def request(self, route: int, seed: int) -> RouteRequest:
        """Return a request to a route; the same numbers give the same request."""
        return self._routes[route](Random(seed))

    def value(self, random: Random, schema: Mapping[str, Any], definitions: Any = None) -> Any:
        """Return a value of a JSON schema; a text is mostly a name or an id."""
        definitions = self._definitions if definitions is None else definitions
        if "$ref" in schema:
            return self.value(random, definitions[schema["$ref"].rpartition("/")[2]], definitions)
        if "enum" in schema:
            return random.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return self.value(random, random.choice(schema[key]), definitions)
        match schema.get("type"):
            case "boolean":
                return random.random() < 0.5
            case "integer" | "number":
                return random.randint(int(schema.get("minimum", 0)), 200)
            case "array":
                items = schema.get("items", {})
                return [self.value(random, items, definitions) for _ in range(random.randint(0, 2))]
            case "object":
                return self._fields(random, schema, definitions)
            case "null":
                return None
        if schema.get("format") == "date-time":
            return "2026-05-08T12:00:00Z"
        return self.name(random)

    def name(self, random: Random) -> str:
        """Return a name, an id or some words."""
        return random.choice(self._names if random.random() < 0.9 else WORDS)

    def _fields(
        self, random: Random, schema: Mapping[str, Any], definitions: Any
    ) -> dict[str, Any]:
        required = schema.get("required", ())
        return {
            name: self.value(random, value, definitions)
            for name, value in schema.get("properties", {}).items()
            if name in required or random.random() < 0.25
        }

    def verb_request(self, verb: str, seed: int, **fields: Any) -> RouteRequest:
        """Return a request of a verb with these fields; those that are needed are added."""
        model = request_classes()[verb]
        return self._verb(model, model.model_json_schema(), Random(seed), **fields)

    def _verb(
        self, model: Any, schema: Mapping[str, Any], random: Random, **fields: Any
    ) -> RouteRequest:
        values = self._fields(random, schema, schema.get("$defs", {})) | fields
        in_path = {name: values.pop(name) for name in model.route.path_fields}
        path = _fill(f"/api{model.route.path}", in_path)
        if model.route.has_body:
            return RouteRequest(model.route.method, path, body=values)
        return RouteRequest(model.route.method, path, query=_plain(values))

    def _described(
        self, method: str, path: str, operation: Mapping[str, Any], random: Random
    ) -> RouteRequest:
        parameters = operation.get("parameters", [])
        query = {
            item["name"]: self.value(random, item.get("schema", {}))
            for item in parameters
            if item["in"] == "query" and random.random() < 0.5
        }
        where = {item["name"]: self.name(random) for item in parameters if item["in"] == "path"}
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        body = self.value(random, content["schema"]) if "schema" in content else None
        return RouteRequest(method, _fill(path, where), _plain(query), body)

    def _free(self, method: str, path: str, fields: Sequence[str], random: Random) -> RouteRequest:
        """Return a request whose body or query has some of these fields."""
        sent = {name: self._free_value(random, name) for name in fields if random.random() < 0.2}
        where = {part.partition("}")[0]: self._letta_name(random) for part in path.split("{")[1:]}
        if method in ("POST", "PUT", "PATCH"):
            return RouteRequest(method, _fill(path, where), body=sent)
        return RouteRequest(method, _fill(path, where), query=_plain(sent))

    def _page(self, method: str, path: str, random: Random) -> RouteRequest:
        """Return a request of a browser; all fields of any page are as likely."""
        share = 0.4 if method == "POST" else 0.15
        sent = {name: self.name(random) for name in page_fields() if random.random() < share}
        if "verdict" in sent:
            sent["verdict"] = random.choice(VERDICTS)
        if "status" in sent:
            sent["status"] = random.choice(("active", "archived", "rejected", "inbox"))
        where = {part.partition("}")[0]: self.name(random) for part in path.split("{")[1:]}
        if method == "POST":
            return RouteRequest(method, _fill(path, where), form=sent)
        return RouteRequest(method, _fill(path, where), query=_plain(sent))

    def page_requests(self, record_id: str) -> Iterator[RouteRequest]:
        """
        Yield a request to each page and each form that names this record in every field.

        A form that reads a verdict is asked with each.
        """
        for method, path in self._pages:
            where = {part.partition("}")[0]: record_id for part in path.split("{")[1:]}
            verdicts = VERDICTS if path in forms_with_verdict() else VERDICTS[:1]
            for verdict in verdicts if method == "POST" else ("",):
                sent = dict.fromkeys(page_fields(), record_id) | {"verdict": verdict}
                sent |= {"status": "archived", "content": "Changed.", "value": "Changed."}
                if method == "POST":
                    yield RouteRequest(method, _fill(path, where), form=sent)
                elif where:
                    yield RouteRequest(method, _fill(path, where))

    def _hook(self, random: Random) -> RouteRequest:
        """Return what a hook of a coding agent sends; the client waits for text to inject."""
        where = {
            "client": random.choice(event_names.CLIENTS),
            "event": random.choice(event_names.RECALL_EVENTS),
        }
        payload: dict[str, Any] = {
            name: self.name(random) for name in HOOK_FIELDS if random.random() < 0.6
        }
        if random.random() < 0.5:
            payload["tool_input"] = {"file_path": self.name(random), "command": self.name(random)}
        body: dict[str, Any] = {"told": payload}
        if random.random() < 0.5:
            body["project"] = self.name(random)
        return RouteRequest("POST", _fill(HOOKS, where), body=body)

    def _free_value(self, random: Random, name: str) -> Any:
        if name == "messages":
            return [{"role": "user", "content": self.name(random)}]
        text = self._letta_name(random)
        return random.choice([text, text, text, [text], random.randint(0, 5), True])

    def _letta_name(self, random: Random) -> str:
        name = self.name(random)
        prefix = random.choice(["", "", "agent-", "block-", "message-", "passage-", "archive-"])
        return prefix + name


def _fill(path: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        path = path.replace("{" + name + "}", quote(str(value), safe="") or "x")
    return path


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
