"""
Two users, two projects, every route and every MCP tool, with ids of the other user.

Ben's memories, messages, blocks, documents and files hold the word MARKER, and so do those of the
project `vault`, of which he is the only member. Nothing that Anna asks may return the word, and
nothing that she does may change a row of either store. She only reads the project `site`.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from in_process_server import LOCAL
from recollect import LocalRecollect
from recollect.app.access_rules import ACCESS, AccessTarget, NamedRecord
from recollect.app.open_postgres_store import open_postgres_store
from recollect.app.team_space import TeamSpace, directory_schema, space_settings
from recollect.errors import RecollectError
from recollect.mcp.caller_scope import Caller
from recollect.mcp.prompts import PROMPTS
from recollect.mcp.resources import SCHEME, TEMPLATES, list_resources, read_resource
from recollect.mcp.tool_definition import ConfirmationRequest
from recollect.mcp.tool_profiles import PROFILES
from recollect.store.protocol import Store
from recollect.store.sqlite.store import SqliteStore
from recollect.wire.request_registry import request_classes
from team_requests import RequestMaker, RouteRequest
from team_server import TeamServer, team_server

pytestmark = pytest.mark.door

MARKER = "zebrafish"
WORD = "lives"  # finds what holds the marker; Anna never sends the marker herself
SHARED = "goldfish"  # in the project that Anna may read
PRIVATE_PROJECT = "vault"
CHANGED_BY_READING = frozenset({"retrievals"})
# How many requests to each route, besides how many to any. The routes are the same in both
# databases: on a server fewer requests show that its stores are kept apart too.
SEEDS, EXAMPLES = 8, 1_000
SEEDS_ON_SERVER, EXAMPLES_ON_SERVER = 2, 250
PATIENCE_S = 60.0
TABLES = {
    NamedRecord.MEMORY: "memories",
    NamedRecord.SOURCE: "sources",
    NamedRecord.AGENT: "agents",
    NamedRecord.CONVERSATION: "conversations",
    NamedRecord.MESSAGE: "messages",
    NamedRecord.PIN: "pins",
    NamedRecord.PROPOSAL: "block_proposals",
    NamedRecord.BLOCK: "blocks",
    NamedRecord.APPROVAL: "run_calls",
    NamedRecord.SLEEPTIME: "sleeptime_runs",
}


@dataclass(frozen=True)
class Walls:
    """A server with Anna, who asks, and Ben, whose things are looked for."""

    team: TeamServer
    names: Sequence[str]  # ids and names of Ben's things, and some of Anna's
    openapi: dict[str, Any]

    def rows(self, space_id: str) -> list[str]:
        """Return every row of a space but those that reading adds."""
        with closing(open_space(self.team.rec, space_id)) as store:
            return sorted(
                json.dumps(row, sort_keys=True, default=str)
                for row in store.export_rows()
                if row["table"] not in CHANGED_BY_READING
            )


def open_space(rec: LocalRecollect, space_id: str) -> Store:
    """Open the store of a space, as the space itself."""
    chosen = space_settings(rec.engine.services.settings, space_id)
    if chosen.is_on_server:
        schema = directory_schema(rec.engine.services.settings)
        space = TeamSpace(id=space_id, directory_schema=schema, default_user=space_id)
        return open_postgres_store(chosen, rec.engine.services.clock, space)
    return SqliteStore(chosen.db_path, rec.engine.services.clock)


def populate(team: TeamServer, user: str, word: str, project: str) -> None:
    """Store things of every kind for *user*, in the own space and in a project."""
    post = team.post
    for place in ({}, {"project": project}):
        post(user, "/api/memories", content=f"The {word} lives here.", **place)
        post(user, "/api/memories", content=f"Maybe the {word} sleeps.", status="inbox", **place)
        post(user, "/api/memories", content=f"We chose the {word}.", type="decision", **place)
    post(user, "/api/blocks", label="rules", value=f"Feed the {word}.", project=project)
    post(user, "/api/agents", name=f"{user}bot", description=f"About the {word}.")
    post(user, "/api/blocks", label="own", value=f"Own {word}.", agent=f"{user}bot")
    talk = post(user, "/api/conversations", agent=f"{user}bot", title=f"The {word}")
    said = {"role": "user", "content": f"My {word} is ill."}
    post(user, f"/api/conversations/{talk['id']}/messages", **said)
    post(user, f"/api/conversations/{talk['id']}/pins", content=f"{word} ticket")
    post(user, f"/api/agents/{user}bot/archive", content=f"A passage about the {word}.")
    post(user, "/api/team/agents", agent=f"{user}bot", project=project)
    document = {"namespace": ["notes"], "key": "pet", "value": {"pet": word}, "text": word}
    team.request(user, "PUT", "/api/documents", json=document)
    team.request(user, "PUT", "/api/views/pets", json={"query": word})
    post(user, "/api/captures/session", transcript=f"User: I prefer the {word}.\n")
    post(user, "/api/search", query=word, project=project)
    post(user, "/api/drain")


def ids_by_table(rec: LocalRecollect, space_id: str) -> dict[str, list[str]]:
    """Return the ids of each table of a space."""
    ids: dict[str, list[str]] = {}
    with closing(open_space(rec, space_id)) as store:
        for row in store.export_rows():
            if "id" in row:
                ids.setdefault(row["table"], []).append(row["id"])
    return ids


def names_of(rec: LocalRecollect, space_id: str) -> list[str]:
    """Return the ids in a space."""
    with closing(open_space(rec, space_id)) as store:
        rows = list(store.export_rows())
    ids = (value for row in rows for name, value in row.items() if name in ("id", "source_id"))
    return [str(value) for value in ids]


def protect_tables(team: TeamServer) -> Walls:
    """Fill the server; Anna is no admin and reads `site`, and Ben alone has `vault`."""
    manage = team.rec.engine.team
    manage.set_member("site", "ben", "writer")
    manage.set_member("site", "anna", "reader")
    manage.set_member(PRIVATE_PROJECT, "ben", "owner")
    populate(team, "ben", MARKER, PRIVATE_PROJECT)
    team.post("ben", "/api/memories", content=f"The {SHARED} is for all.", project="site")
    team.post("anna", "/api/memories", content="Anna has a canary.")
    team.post("anna", "/api/agents", name="annabot")
    ids = [*names_of(team.rec, user_id(team, "ben")), *names_of(team.rec, project_id(team))]
    ids += names_of(team.rec, project_id(team, "site"))
    own = names_of(team.rec, user_id(team, "anna"))
    names = [*ids, *own[:10], "benbot", "annabot", "site", PRIVATE_PROJECT, "ben", "anna", "pets"]
    openapi = team.get("anna", "/openapi.json")
    sign_in(team)
    walls = Walls(team, [*dict.fromkeys(names), "rules", "own", "notes", "pet"], openapi)
    give_up_at = time.monotonic() + PATIENCE_S
    while any(is_unfinished(row) for rows in private_rows(walls) for row in rows):
        assert time.monotonic() < give_up_at  # or the workers would change rows during a test
        time.sleep(0.1)
    return walls


def is_unfinished(row: str) -> bool:
    """Return whether a row says that a worker still has something to do."""
    fields = json.loads(row)
    table = fields["table"]
    return table == "unsettled" or (table == "jobs" and fields["state"] in ("todo", "doing"))


def sign_in(team: TeamServer) -> None:
    """Sign Anna in to the pages."""
    token = {"token": team.tokens["anna"]}
    entered = team.client.post("/enter", data=token, headers={"origin": LOCAL})
    assert entered.status_code == 200  # the first page, after the redirect


def user_id(team: TeamServer, name: str) -> str:
    return next(user.id for user in team.rec.engine.team.list_users() if user.name == name)


def project_id(team: TeamServer, identity: str = PRIVATE_PROJECT) -> str:
    projects = team.rec.engine.team.directory.projects()
    return next(project.id for project in projects if project.identity == identity)


def open_sqlite_team(tmp: Path) -> Any:
    return team_server(tmp / "m.db", ["root", "anna", "ben"])


def open_postgres_team(tmp: Path) -> Any:
    from team_postgres import two_roles  # psycopg: only for tests that need it

    db, owner = two_roles("walls")
    return team_server(db, ["root", "anna", "ben"], db_owner=owner)


TEAMS = [
    pytest.param(open_sqlite_team, marks=pytest.mark.fuzz, id="sqlite"),
    pytest.param(open_postgres_team, marks=pytest.mark.postgres, id="postgres"),
]


@pytest.fixture(scope="module", params=TEAMS)
def walls(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Walls]:
    open_team: Callable[[Path], Any] = request.param
    with open_team(tmp_path_factory.mktemp("walls")) as team:
        yield protect_tables(team)


def private_rows(walls: Walls) -> list[list[str]]:
    team = walls.team
    spaces = (user_id(team, "ben"), project_id(team), project_id(team, "site"))
    return [walls.rows(space_id) for space_id in spaces]


def test_no_route_returns_or_changes_what_is_another_users(walls: Walls, exhaustive: bool) -> None:
    is_in_part = walls.team.rec.engine.services.settings.is_on_server and not exhaustive
    seeds, examples = (SEEDS_ON_SERVER, EXAMPLES_ON_SERVER) if is_in_part else (SEEDS, EXAMPLES)
    before = private_rows(walls)
    members = walls.team.rec.engine.team.list_members()
    statuses: Counter[tuple[bool, int]] = Counter()
    maker = RequestMaker(walls.openapi, walls.names, walls.team.routes)
    seen_shared = 0

    def ask(route: int, seed: int) -> None:
        nonlocal seen_shared
        request = maker.request(route, seed)
        response = send(walls, request)
        statuses[request.path.startswith("/ui/"), response.status_code] += 1
        seen_shared += SHARED in response.text
        assert MARKER not in response.text.lower(), request
        if request.path.endswith("/anna/rotate") and response.status_code == 200:
            walls.team.tokens["anna"] = response.json()["token"]
            sign_in(walls.team)
        assert response.status_code < 500 or response.status_code in (501, 503), request

    for route in range(maker.count):
        for seed in range(seeds):
            ask(route, seed)

    @settings(
        max_examples=examples,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, maker.count - 1), st.integers(0, 2**32))
    def ask_at_random(route: int, seed: int) -> None:
        ask(route, seed)

    ask_at_random()
    after = private_rows(walls)

    assert before == after
    mine = [member for member in members if member.user != "anna"]
    assert [m for m in walls.team.rec.engine.team.list_members() if m.user != "anna"] == mine
    total = Counter(is_page for is_page, _ in statuses.elements())
    for is_page in (False, True):  # enough requests were carried out
        assert statuses[is_page, 200] > total[is_page] / 10, statuses
    assert seen_shared  # what Anna may read is shown to her
    assert all(any(MARKER in row for row in rows) for rows in before[:2])  # or nothing was proved


def test_every_verb_about_a_record_is_tried_with_records_of_others(walls: Walls) -> None:
    before = private_rows(walls)
    team = walls.team
    maker = RequestMaker(walls.openapi, walls.names, walls.team.routes)
    done = 0
    for space_id in (user_id(team, "ben"), project_id(team), project_id(team, "site")):
        ids = ids_by_table(team.rec, space_id)
        for verb, rule in ACCESS.items():
            table = TABLES.get(rule.kind) if rule.kind else None
            if table is None or (rule.field == "memory_ids" and not ids.get(table)):
                continue
            for seed, record_id in enumerate(ids.get(table, [])[:4]):
                value: Any = [record_id] if rule.field == "memory_ids" else record_id
                request = maker.verb_request(verb, seed, **{rule.field: value})
                response = send(walls, request)
                assert MARKER not in response.text.lower(), request
                assert response.status_code < 500, request
                done += 1
    for label in ("rules", *ids_by_table(team.rec, project_id(team)).get("blocks", [])):
        for verb, rule in ACCESS.items():
            if rule.target is AccessTarget.BLOCK and verb not in ("create_block", "search_blocks"):
                for place in ({}, {"project": PRIVATE_PROJECT}, {"agent": "benbot"}):
                    fields = request_classes()[verb].model_fields
                    named = {"label": label} if "label" in fields else {}
                    response = send(walls, maker.verb_request(verb, 1, **named, **place))
                    assert MARKER not in response.text.lower(), (verb, place)

    assert done > 200
    assert private_rows(walls) == before


def test_every_page_and_form_is_tried_with_records_of_others(walls: Walls) -> None:
    before = private_rows(walls)
    team = walls.team
    maker = RequestMaker(walls.openapi, walls.names, team.routes)
    statuses: Counter[int] = Counter()
    for space_id in (user_id(team, "ben"), project_id(team)):
        ids = ids_by_table(team.rec, space_id)
        for record_id in (ids[table][0] for table in TABLES.values() if ids.get(table)):
            for request in maker.page_requests(record_id):
                response = send(walls, request)
                statuses[response.status_code] += 1
                assert MARKER not in response.text.lower(), request
                assert response.status_code < 500, request

    assert set(statuses) >= {200, 404}, statuses
    assert statuses.total() > 300
    assert private_rows(walls) == before


def send(walls: Walls, request: RouteRequest, **headers: str) -> Any:
    """Send a request as Anna."""
    options: dict[str, Any] = {} if request.body is None else {"json": request.body}
    options["headers"] = headers
    if request.form is not None:
        options = {"data": request.form, "headers": {**headers, "origin": LOCAL}}
    query = dict(request.query)
    return walls.team.request("anna", request.method, request.path, params=query, **options)


def test_no_mcp_tool_returns_or_changes_what_is_another_users(walls: Walls) -> None:
    before = private_rows(walls)
    rec = walls.team.memory_of("anna")
    tools = [tool for some in PROFILES.values() for tool in some]
    maker = RequestMaker(walls.openapi, walls.names, walls.team.routes)

    @settings(max_examples=600, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(tools), st.integers(0, 2**32))
    def call(tool: Any, seed: int) -> None:
        random = Random(seed)
        schema = dict(tool.input_schema)
        arguments = maker.value(random, schema, schema.get("$defs", {}))
        if "query" in schema["properties"] and random.random() < 0.5:
            arguments["query"] = WORD
        project, agent = (maker.name(random) if random.random() < 0.7 else None for _ in range(2))
        caller = Caller(project=project, agent=agent)
        try:
            outcome = tool.run(rec, caller, tool.validate(arguments))
            said = repr(outcome)
            if isinstance(outcome, ConfirmationRequest):
                said += repr(outcome.on_confirm())
        except RecollectError as error:
            said = str(error)
        assert MARKER not in said.lower(), (tool.name, arguments)

    call()

    assert private_rows(walls) == before


def test_no_mcp_resource_or_prompt_returns_what_is_another_users(walls: Walls) -> None:
    before = private_rows(walls)
    rec = walls.team.memory_of("anna")
    others = [PRIVATE_PROJECT, "benbot", "rules", "own"]
    for space_id in (user_id(walls.team, "ben"), project_id(walls.team)):
        ids = ids_by_table(walls.team.rec, space_id)
        others += [record_id for some in ids.values() for record_id in some[:3]]
    read = 0
    callers = [
        Caller(project=project, agent=agent)
        for project in (None, "site", PRIVATE_PROJECT)
        for agent in (None, "annabot", "benbot")
    ]
    for caller in callers:
        asked: list[Callable[[], object]] = [partial(list_resources, rec, caller)]
        for kind in TEMPLATES:
            uris = [f"{SCHEME}{kind.partition('/')[0]}/{name}" for name in others]
            asked += [partial(read_resource, rec, caller, uri) for uri in uris]
        for prompt in PROMPTS:
            words = [dict.fromkeys(prompt.parameters, text) for text in (WORD, *others[:2])]
            asked += [partial(prompt.render, rec, caller, arguments) for arguments in words]
        for ask in asked:
            try:
                said = repr(ask())
                read += 1
            except RecollectError as error:
                said = str(error)
            assert MARKER not in said.lower(), ask

    assert read > len(callers)
    assert private_rows(walls) == before


def test_the_owner_sees_what_the_other_does_not(walls: Walls) -> None:
    for path, body in (
        ("/api/search", {"query": WORD}),
        ("/api/search", {"query": WORD, "project": PRIVATE_PROJECT}),
        ("/api/context", {"task": f"What {WORD} here?", "project": PRIVATE_PROJECT}),
        ("/api/documents/search", {"namespace": ["notes"]}),
        ("/api/messages/search", {"query": "ill", "agent": "benbot"}),
    ):
        assert MARKER in walls.team.request("ben", "POST", path, json=body).text, path
        assert MARKER not in walls.team.request("anna", "POST", path, json=body).text, path
    shared = walls.team.post("anna", "/api/search", query=SHARED, project="site")
    assert SHARED in json.dumps(shared)


@pytest.mark.parametrize("open_team", TEAMS)
def test_no_route_shows_a_former_member_what_it_showed_the_member(
    open_team: Callable[[Path], Any], tmp_path: Path
) -> None:
    """Neither what the server cached or logged for the member, nor a session that is still open."""
    with open_team(tmp_path) as team:
        manage = team.rec.engine.team
        for name, role in (("ben", "owner"), ("anna", "reader")):
            manage.set_member(PRIVATE_PROJECT, name, role)
        populate(team, "ben", MARKER, PRIVATE_PROJECT)
        team.post("anna", "/api/memories", content="Anna has a canary.")
        view = {"query": WORD, "project": PRIVATE_PROJECT}
        assert team.request("anna", "PUT", "/api/views/mine", json=view).status_code == 200
        sign_in(team)
        ids = ids_by_table(team.rec, project_id(team))
        names = [*(some[0] for some in ids.values()), *ids["memories"], PRIVATE_PROJECT, "mine"]
        openapi = team.get("anna", "/openapi.json")
        walls = Walls(team, [*dict.fromkeys(names), "rules", "own", WORD], openapi)
        maker = RequestMaker(openapi, walls.names, team.routes)
        requests = [maker.request(route, n) for route in range(maker.count) for n in range(3)]
        requests = [request for request in requests if not request.path.endswith("/anna/rotate")]
        for verb, rule in ACCESS.items():
            table = TABLES[rule.kind] if rule.kind else ""
            if ids.get(table) and not rule.writes and rule.field != "memory_ids":
                requests.append(maker.verb_request(verb, 1, **{rule.field: ids[table][0]}))
        for table in ("memories", "agents", "blocks", "conversations"):
            some = maker.page_requests(ids[table][0]) if ids.get(table) else ()
            requests += [request for request in some if request.method == "GET"]
        here = {"project": PRIVATE_PROJECT}
        requests += [
            RouteRequest("POST", "/api/search", body={"query": WORD, **here}),
            RouteRequest("POST", "/api/context", body={"task": f"What {WORD} here?", **here}),
            RouteRequest("POST", "/api/briefing", body=here),
            RouteRequest("POST", "/api/views/mine/run", body={}),
        ]
        call = begin_mcp_session(team, "anna", project=PRIVATE_PROJECT)
        seen: list[Counter[str]] = []
        logged: list[str] = []
        for is_member in (True, False):
            if not is_member:
                manage.remove_member(PRIVATE_PROJECT, "anna")
            shown: Counter[str] = Counter()
            for number, request in enumerate([*requests, *map(retrieval_request, logged)]):
                key = {"idempotency-key": f"key-{number}"} if request.method == "POST" else {}
                response = send(walls, request, **key)
                shown[request.path] += MARKER in response.text.lower()
                if is_member and response.status_code == 200 and request.path == "/api/context":
                    logged.append(response.json()["retrieval_id"])
            shown["/mcp"] += MARKER in call().text
            seen.append(shown)
        member, former = (+shown for shown in seen)

        assert len(member) > 20, member
        assert {"/api/search", "/api/context", "/api/briefing", "/mcp", "/ui/memories"} <= {*member}
        assert not former
        assert logged


def retrieval_request(retrieval_id: str) -> RouteRequest:
    """Return a request for what was logged of a bundle."""
    return RouteRequest("GET", f"/api/explain/{retrieval_id}")


def begin_mcp_session(team: TeamServer, user: str, **query: str) -> Callable[..., Any]:
    """Begin a session; return a function that searches in it, as that user or another one."""
    headers = {"accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    opened = team.request(user, "POST", "/mcp", json=hello, headers=headers, params=query)
    assert opened.status_code == 200, opened.text
    headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    arguments = {"name": "search", "arguments": {"query": WORD}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments}

    def ask(asking: str = user) -> Any:
        return team.request(asking, "POST", "/mcp", json=call, headers=headers, params=query)

    return ask


def test_a_session_of_mcp_belongs_to_the_user_of_the_token(walls: Walls) -> None:
    ask = begin_mcp_session(walls.team, "ben")

    assert f"The {MARKER} lives here." in ask().text
    refused = ask("anna")
    assert refused.status_code == 404
    assert MARKER not in refused.text
