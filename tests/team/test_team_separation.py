"""What members of one project must not learn from each other, nor do to each other."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.models.scripted_turns import ScriptedTurnModel, call_turn
from team_server import TeamServer, team_server

pytestmark = pytest.mark.door

PATIENCE_S = 30.0


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TeamServer]:
    with team_server(tmp_path / "m.db", ["anna", "ben", "carl"]) as server:
        for name in ("ben", "carl"):
            server.rec.engine.team.set_member("site", name, "writer")
        yield server


def test_members_who_choose_the_same_idempotency_key_do_not_meet(team: TeamServer) -> None:
    headers = {"idempotency-key": "k1"}
    body = {"content": "The port is 8283.", "project": "site"}
    first = team.request("ben", "POST", "/api/memories", json=body, headers=headers)
    same = team.request("carl", "POST", "/api/memories", json=body, headers=headers)
    again = team.request("carl", "POST", "/api/memories", json=body, headers=headers)

    assert (first.status_code, same.status_code, again.status_code) == (200, 200, 200)
    assert "idempotent-replay" not in same.headers
    assert again.headers["idempotent-replay"] == "true"


def test_a_fact_about_the_user_stays_with_the_user(team: TeamServer) -> None:
    fact = {"content": "Allergic to nuts.", "type": "profile", "project": "site"}
    team.post("ben", "/api/memories", **fact)
    team.post("ben", "/api/memories", **{**fact, "content": "No nuts.", "scope": "project"})
    team.post("ben", "/api/memories/batch", items=[{**fact, "content": "Nuts are bad."}])

    assert len(team.found("ben", "nuts", project="site")) == 3
    assert team.found("carl", "nuts", project="site") == []
    assert "nuts" not in team.post("carl", "/api/briefing", project="site")["text"].lower()


def test_skills_in_the_home_of_the_server_are_for_its_admins(
    team: TeamServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".claude" / "skills" / "payroll"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: payroll\ndescription: Pay.\n---\nThe code is 7.\n")

    def names(user: str) -> set[str]:
        return {skill["name"] for skill in team.get(user, "/api/skills")["skills"]}

    assert "payroll" in names("anna")
    assert names("ben") == names("anna") - {"payroll"}
    team.post("ben", "/api/agents", name="coder")
    loaded = team.request("ben", "PUT", "/api/agents/coder/skills/payroll", json={})
    assert loaded.status_code == 404


def test_a_shared_agent_takes_nothing_private_along(team: TeamServer) -> None:
    """Neither what it learnt in conversations, with their text, nor former values of blocks."""
    team.post("ben", "/api/agents", name="coder")
    team.post("ben", "/api/agents/coder/archive", content="Deploy on Mondays.")
    for value in ("My doctor is Dr Zebra.", "Ben writes Python."):
        block = {"value": value, "agent": "coder"}
        assert team.request("ben", "PUT", "/api/blocks/human", json=block).status_code == 200
    transcript = "User: We decided to use port 8283.\n\nAssistant: Yes.\n\nUser: Dr Okapi called.\n"
    team.post("ben", "/api/captures/session", transcript=transcript, agent="coder")
    give_up_at = time.monotonic() + PATIENCE_S
    own = ""
    while "Okapi" not in own and time.monotonic() < give_up_at:  # the worker takes it in
        sum(team.memory_of("ben").engine.drain_in_steps())
        own = team.request("ben", "GET", "/api/agents/coder/export").text
    assert "Okapi" in own
    assert "Zebra" in own
    shared = team.post("ben", "/api/team/agents", agent="coder", project="site")["id"]

    for user in ("ben", "carl"):
        exported = team.request(user, "GET", f"/api/agents/{shared}/export").text
        assert "Deploy on Mondays." in exported
        assert "Ben writes Python." in exported
        for private in ("Zebra", "Okapi", "8283"):
            assert private not in exported
    history = team.get("carl", "/api/blocks/human/history", agent=shared)
    assert [version["value"] for version in history] == ["Ben writes Python."]


def test_a_cached_response_is_not_sent_to_a_former_member(team: TeamServer) -> None:
    team.post("carl", "/api/memories", content="The port is 8283.", project="site")
    options = {
        "json": {"task": "Which port?", "project": "site"},
        "headers": {"idempotency-key": "k1"},
    }
    first = team.request("ben", "POST", "/api/context", **options)
    again = team.request("ben", "POST", "/api/context", **options)
    team.rec.engine.team.remove_member("site", "ben")
    later = team.request("ben", "POST", "/api/context", **options)

    assert "8283" in first.text
    assert again.headers["idempotent-replay"] == "true"
    assert "8283" not in later.text


def test_a_cached_response_does_not_quote_what_another_member_deleted(team: TeamServer) -> None:
    stored = team.post("carl", "/api/memories", content="The port is 8283.", project="site")
    options = {
        "json": {"task": "Which port?", "project": "site"},
        "headers": {"idempotency-key": "k1"},
    }
    first = team.request("ben", "POST", "/api/context", **options)
    gone = team.request("carl", "DELETE", f"/api/memories/{stored['id']}")
    later = team.request("ben", "POST", "/api/context", **options)

    assert "8283" in first.text
    assert gone.status_code == 200
    assert "8283" not in later.text


def test_a_user_with_a_slash_in_the_name_can_be_revoked(team: TeamServer) -> None:
    made = team.post("anna", "/api/team/users", name="ops/night")
    team.tokens["ops/night"] = made["token"]
    team.get("ops/night", "/api/team/me")

    revoked = team.request("anna", "DELETE", "/api/team/users/ops%2Fnight")
    assert revoked.status_code == 200
    assert team.request("ops/night", "GET", "/api/team/me").status_code == 401


def test_code_of_an_agent_file_runs_for_nobody_on_a_server_with_users(tmp_path: Path) -> None:
    """The code would be the account of the server, which can read the stores of all users."""
    code = "def peek():\n    return open('/etc/hostname').read()\n"
    tool: dict[str, Any] = {"id": "tool-0", "name": "peek", "source_code": code}
    tool["json_schema"] = {"name": "peek", "parameters": {"type": "object", "properties": {}}}
    agent: dict[str, Any] = {"id": "agent-0", "name": "spy", "system": "Peek.", "messages": []}
    agent |= {"agent_type": "letta_v1_agent", "block_ids": [], "tool_ids": ["tool-0"]}
    parts: dict[str, Any] = {"agents": [agent], "tools": [tool], "blocks": [], "groups": []}
    file = json.dumps({**parts, "files": [], "sources": [], "mcp_servers": []})
    turns = [turn for _ in range(3) for turn in (call_turn(("peek", {})), "There is no such tool.")]
    headers = {"content-type": "application/json"}
    with team_server(tmp_path / "m.db", ["anna", "ben"], chat=ScriptedTurnModel(turns)) as server:
        server.rec.engine.team.set_member("site", "ben", "owner")
        agents = []
        for user in ("anna", "ben"):  # anna is an admin
            url = "/api/agents/import?trust=true"
            imported = server.request(user, "POST", url, content=file, headers=headers)
            assert imported.status_code == 200, imported.text
            agents.append((user, imported.json()["agent"]["id"]))
        shared = server.post("ben", "/api/team/agents", agent="spy", project="site")
        for user, agent_id in [*agents, ("ben", shared["id"])]:
            path = f"/api/agents/{agent_id}/run"
            events = {"accept": "text/event-stream"}
            run = server.request(user, "POST", path, json={"message": "Look."}, headers=events)

            assert '"missing_tools":["peek"]' in run.text.replace(" ", ""), run.text
            assert server.get(user, "/api/approvals", agent=agent_id) == []
            said = server.get(user, f"/api/agents/{agent_id}/messages")
            assert not any("hostname" in json.dumps(message) for message in said)
