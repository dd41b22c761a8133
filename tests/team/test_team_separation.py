"""What members of one project must not learn from each other, nor do to each other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from team_server import TeamServer, team_server


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
