"""
Nothing is reachable on a team's server that nobody has looked at: every verb has a rule, and every
other route and every MCP tool is listed here with the reason why it is safe.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.app.access_rules import ACCESS, AccessTarget, NamedRecord
from recollect.app.merged_responses import MERGERS
from recollect.app.record_lookup import has_record
from recollect.errors import RequestRefused
from recollect.mcp.prompts import PROMPTS
from recollect.mcp.resources import TEMPLATES
from recollect.mcp.tool_profiles import PROFILES
from recollect.server.letta_v1.letta_app import SERVED
from recollect.wire.request import PREFIX
from recollect.wire.request_registry import request_classes
from support import open_memory
from team_requests import RequestMaker
from team_server import team_server

pytestmark = pytest.mark.door

# Routes that are no verb. Each works on the memory of the user alone (`UserRecollect`), whose
# transport applies the rules of the verbs; or it says nothing about any memory.
CLASSIFIED_ROUTES = """
GET /
POST /agents
GET /agents/{name}
POST /api/hooks/{client}/{event}
POST /api/team/agents
GET /api/team/audit
GET /api/team/me
DELETE /api/team/members
GET /api/team/members
PUT /api/team/members
GET /api/team/users
POST /api/team/users
DELETE /api/team/users/{name}
POST /api/team/users/{name}/rotate
POST /context/{agent_name}
GET /enter
POST /enter
GET /health
GET /live
* /mcp
* /mcp/
POST /memory-blocks
GET /memory-blocks/{agent_name}
GET /memory-blocks/{agent_name}/{label}
PUT /memory-blocks/{agent_name}/{label}
POST /messages
POST /messages/search
GET /messages/{agent_name}
GET /metrics
GET /openapi.json
GET /ready
GET /ui
* /v1
"""


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "m.db", words_only=True) as opened:
        yield opened


def test_every_verb_has_a_rule_and_every_rule_a_verb() -> None:
    assert set(ACCESS) == set(request_classes())
    merged = {verb for verb, rule in ACCESS.items() if rule.target is AccessTarget.MERGED}
    assert merged == set(MERGERS)


def test_a_rule_names_fields_that_its_request_has() -> None:
    for verb, rule in ACCESS.items():
        fields = request_classes()[verb].model_fields
        if rule.target is AccessTarget.RECORD:
            assert rule.field in fields, verb
            assert rule.kind is not None, verb


def test_a_verb_that_is_not_sent_as_get_and_reads_was_looked_at() -> None:
    reading_posts = {
        verb
        for verb, rule in ACCESS.items()
        if not rule.writes and request_classes()[verb].route.method != "GET"
    }

    assert reading_posts == {
        "search", "why_not", "why_nothing", "context_for", "briefing", "search_messages",
        "search_for_letta", "search_passages", "search_blocks", "search_documents", "search_files",
        "search_skills", "get_context_window", "get_error_history", "get_advice", "grep_files",
        "run_view", "verify", "check_embedder", "count_tokens",
    }  # fmt: skip


def test_a_verb_without_a_rule_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with team_server(tmp_path / "m.db", ["anna"]) as team:
        rec = team.memory_of("anna")
        without = {verb: rule for verb, rule in ACCESS.items() if verb != "search"}
        monkeypatch.setattr("recollect.app.user_transport.ACCESS", without)

        with pytest.raises(RequestRefused, match="no rule"):
            rec.search("anything")


def test_every_route_is_a_verb_a_page_or_classified(tmp_path: Path) -> None:
    verbs = {
        (model.route.method, PREFIX + model.route.path) for model in request_classes().values()
    }
    with team_server(tmp_path / "m.db", ["anna"], metrics=True) as team:
        routes = team.routes

    others = {f"{method} {path}" for method, path in routes - verbs if not path.startswith("/ui/")}
    assert others == {line.strip() for line in CLASSIFIED_ROUTES.strip().splitlines()}
    # A page asks the Python API of the user's memory; a stream was looked at by itself.
    assert ("GET", "/ui/events") in routes


def test_a_route_that_nothing_describes_is_refused_by_the_test_of_all_routes() -> None:
    with pytest.raises(AssertionError, match="nobody said what a request for GET /new looks like"):
        RequestMaker({"paths": {}}, ["x"], [("GET", "/new")])


def test_the_routes_of_letta_work_on_the_memory_of_the_call_alone() -> None:
    # A function that answers gets a `LettaCall`, whose `rec` is the memory of the user.
    assert len(SERVED) > 50
    for route in SERVED:
        names = route.answer.__code__.co_names
        assert "open" not in names, route.path
        assert "_services" not in names, route.path


def test_every_mcp_tool_is_classified() -> None:
    tools = {profile: " ".join(tool.name for tool in some) for profile, some in PROFILES.items()}

    assert tools == {
        "recollect": "search context remember explain review edit_block forget status",
        "memory-graph": "create_entities create_relations add_observations delete_entities "
        "delete_observations delete_relations read_graph search_nodes open_nodes",
        "chatgpt": "search fetch",
    }
    assert [prompt.name for prompt in PROMPTS] == ["recall", "review", "blame", "fix", "how"]
    assert set(TEMPLATES) == {"blocks/{label}", "memories/{id}", "skills/{name}"}


def test_every_kind_of_record_can_be_looked_up(rec: LocalRecollect) -> None:
    for kind in NamedRecord:
        assert not has_record(rec.engine.services.store, kind, "nothing")
