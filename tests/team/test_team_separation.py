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
