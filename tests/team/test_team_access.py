"""
Nothing is reachable on a team's server that nobody has looked at: every verb has a rule, and every
other route and every MCP tool is listed here with the reason why it is safe.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect import LocalRecollect
from recollect.app.access_rules import ACCESS, AccessTarget, NamedRecord
from recollect.app.merged_responses import MERGERS
from recollect.app.record_lookup import has_record
from recollect.config import Settings
from recollect.errors import RequestRefused
from recollect.mcp.tool_profiles import PROFILES
from recollect.server.letta_v1.letta_app import SERVED
from recollect.server.route_index import RouteIndex
from recollect.server.web_app import web_app
from recollect.wire.request import PREFIX
from recollect.wire.request_registry import request_classes
from support import open_memory
from team_server import team_server

pytestmark = pytest.mark.door

# Routes that are no verb. Each works on the memory of the user alone (`MemberRecollect`), whose
# transport applies the rules of the verbs; or it says nothing about any memory.
CLASSIFIED_ROUTES = """
/ /ui /enter /openapi.json /health /ready /live /metrics /mcp /mcp/ /v1
/api/hooks/{client}/{event}
/api/export /api/import /api/agents/{agent}/export /api/agents/import
/agents /agents/{name} /messages /messages/{agent_name} /messages/search
/memory-blocks /memory-blocks/{agent_name} /memory-blocks/{agent_name}/{label}
/context/{agent_name}
"""


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "m.db", words_only=True) as opened:
        yield opened


def all_paths(routes: Sequence[Any]) -> Iterator[str]:
    """Yield the paths of routes, also of those that were included from a router."""
    for route in routes:
        if isinstance(route, RouteIndex):
            yield from all_paths(route.routes)
        elif hasattr(route, "path"):
            yield route.path
        else:
            yield from all_paths(route.original_router.routes)


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
        member = team.member("anna")
        without = {verb: rule for verb, rule in ACCESS.items() if verb != "search"}
        monkeypatch.setattr("recollect.app.member_transport.ACCESS", without)

        with pytest.raises(RequestRefused, match="no rule"):
            member.search("anything")


def test_every_route_is_a_verb_or_classified(rec: LocalRecollect) -> None:
    verbs = {PREFIX + model.route.path for model in request_classes().values()}
    paths = set(all_paths(web_app(rec, Settings(metrics=True)).routes))

    assert paths - verbs - set(CLASSIFIED_ROUTES.split()) == set()
    assert set(CLASSIFIED_ROUTES.split()) - paths == set()


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


def test_every_kind_of_record_can_be_looked_up(rec: LocalRecollect) -> None:
    for kind in NamedRecord:
        assert not has_record(rec.engine.services.store, kind, "nothing")
