"""Requests to every route of a server, made up from its own description, with ids of somebody."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any
from urllib.parse import quote

from recollect.server.letta_v1.letta_app import PREFIX as LETTA
from recollect.server.letta_v1.letta_app import SERVED
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
TEAM = (
    ("GET", "/api/team/me"),
    ("GET", "/api/team/users"),
    ("POST", "/api/team/users"),
    ("POST", "/api/team/users/{name}/rotate"),
    ("DELETE", "/api/team/users/{name}"),
    ("GET", "/api/team/members"),
    ("PUT", "/api/team/members"),
    ("DELETE", "/api/team/members"),
    ("POST", "/api/team/agents"),
    ("GET", "/api/team/audit"),
)
_PAGES_TEXT = """
/ui/ /ui/inbox /ui/memories /ui/memory/{id} /ui/conflicts /ui/retrievals /ui/retrieval/{id}
/ui/timeline /ui/agents /ui/agent/{id} /ui/blocks/{id} /ui/conversations /ui/conversation/{id}
/ui/projects /ui/skills /ui/jobs /ui/models /ui/settings /ui/health /ui/search
"""
PAGES = _PAGES_TEXT.split()


@dataclass(frozen=True)
class RouteRequest:
    """A request to one route."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None


class RequestMaker:
    """Makes requests to every route alike, which name things by *names*."""

    def __init__(self, openapi: Mapping[str, Any], names: Sequence[str]) -> None:
        self._names = names
        self._definitions = openapi.get("components", {}).get("schemas", {})
        self._routes: list[Callable[[Random], RouteRequest]] = []
        described = set()
        for model in request_classes().values():
            described.add(f"/api{model.route.path}")
            self._routes.append(partial(self._verb, model, model.model_json_schema()))
        for path, methods in openapi["paths"].items():
            if path not in described:
                self._routes += [
                    partial(self._described, method.upper(), path, operation)
                    for method, operation in methods.items()
                ]
        for route in SERVED:
            path = LETTA + route.path
            self._routes.append(partial(self._free, route.method, path, LETTA_FIELDS))
        for method, path in TEAM:
            self._routes.append(partial(self._free, method, path, TEAM_FIELDS))
        for path in PAGES:
            self._routes.append(partial(self._free, "GET", path, ("q", "project", "agent")))

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
