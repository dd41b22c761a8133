"""A server with users: tokens, roles, members, shared agents, and signing in to the pages."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from in_process_server import LOCAL
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.errors import AlreadyExists, InvalidInput, NotFound
from recollect.models.scripted_turns import ScriptedTurnModel
from recollect.service.team import TeamDirectory
from recollect.store.store_key import StoreKey
from store_backends import open_encrypted_sqlite
from support import FakeClock, open_memory
from tables import each_row
from team_server import TeamServer, team_server

pytestmark = pytest.mark.door


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TeamServer]:
    with team_server(tmp_path / "m.db", ["anna", "ben", "carl"]) as server:
        yield server


def test_a_store_without_users_is_served_as_before(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db") as server:
        server.post("", "/api/memories", content="The port is 8283.")

        assert server.found("", "port") == ["The port is 8283."]
        assert server.request("", "GET", "/api/team/users").status_code == 404


def test_nobody_is_let_in_while_the_users_cannot_be_read(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db", ["anna"]) as server:
        server.post("anna", "/api/memories", content="The port is 8283.")
    with team_server(tmp_path / "m.db", metrics=True) as server:  # has not read the users yet
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as db:
            db.execute("ALTER TABLE users RENAME TO hidden_users")
        search = server.request("", "POST", "/api/search", json={"query": "port"})
        page = server.request("", "GET", "/ui/")
        probes = [server.request("", "GET", path) for path in ("/live", "/ready")]
        monitors = [server.request("", "GET", path) for path in ("/health", "/metrics")]

        assert search.status_code >= 500, search.text
        assert search.headers["content-type"] == "application/problem+json"
        assert "8283" not in search.text
        assert page.status_code == search.status_code
        assert [probe.status_code for probe in probes] == [200, 200]
        assert [monitor.status_code for monitor in monitors] == [200, 200]


def test_the_single_token_stays_valid_without_users_and_not_with_them(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db", token="sesame") as server:
        server.tokens["anybody"] = "sesame"
        assert server.request("", "GET", "/api/status").status_code == 401
        server.get("anybody", "/api/status")

        server.add_users("anna")
        server.clock.advance(seconds=2)
        server.dispatcher.expire()

        assert server.request("anybody", "GET", "/api/status").status_code == 401
        server.get("anna", "/api/status")


def test_the_first_user_is_an_admin_and_has_what_the_store_held(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.ingest("The office is in Graz.")
    with team_server(tmp_path / "m.db", ["anna", "ben"]) as server:
        assert server.found("anna", "office") == ["The office is in Graz."]
        assert server.found("ben", "office") == []
        assert server.get("anna", "/api/team/me")["user"]["is_admin"]
        assert not server.get("ben", "/api/team/me")["user"]["is_admin"]


@each_row(
    ("method", "path"),
    [
        ("GET", "/api/status"),
        ("GET", "/health"),
        ("GET", "/openapi.json"),
        ("GET", "/agents"),
        ("GET", "/v1/agents"),
        ("POST", "/mcp"),
        ("POST", "/api/hooks/claude-code/SessionStart"),
        ("GET", "/api/team/me"),
        ("GET", "/nothing"),
    ],
)
def test_every_request_needs_the_token_of_a_user(
    tmp_path_factory: pytest.TempPathFactory, method: str, path: str
) -> None:
    with team_server(tmp_path_factory.mktemp("team") / "m.db", ["anna"]) as server:
        server.tokens["stranger"] = "rcl_" + "x" * 43
        for who in ("", "stranger"):
            response = server.request(who, method, path)

            assert response.status_code == 401
            assert response.headers["www-authenticate"].startswith("Bearer")


def test_what_a_user_stores_nobody_else_sees(team: TeamServer) -> None:
    stored = team.post("ben", "/api/memories", content="Ben likes tabs.", type="profile")
    team.post("ben", "/api/agents", name="helper")
    team.post("carl", "/api/agents", name="helper")  # names of others are not taken

    assert team.found("ben", "tabs") == ["Ben likes tabs."]
    for other in ("anna", "carl"):
        assert team.found(other, "tabs", everywhere=True) == []
        assert team.request(other, "GET", f"/api/memories/{stored['id']}").status_code == 404
        assert team.request(other, "DELETE", f"/api/memories/{stored['id']}").status_code == 404
    assert team.get("ben", f"/api/memories/{stored['id']}")["content"] == "Ben likes tabs."


def test_members_of_a_project_share_its_memories(team: TeamServer) -> None:
    team.rec.engine.team.set_member("site", "anna", "owner")
    team.rec.engine.team.set_member("site", "ben", "writer")
    stored = team.post("ben", "/api/memories", content="Deploy on Fridays.", project="site")
    team.post("anna", "/api/memories", content="Deploy notes of Anna.", project="private")

    assert team.found("anna", "deploy", project="site") == ["Deploy on Fridays."]
    assert team.found("carl", "deploy", project="site") == []
    assert team.request("carl", "GET", f"/api/memories/{stored['id']}").status_code == 404
    bundle = team.post("anna", "/api/context", task="When do we deploy?", project="site")
    assert "Deploy on Fridays." in bundle["text"]
    assert bundle["citations"][0]["memory_id"] == stored["id"]
    source = bundle["citations"][0]["source_id"]
    assert "Fridays" in team.get("anna", f"/api/sources/{source}")["text"]


def test_the_own_memories_and_those_of_the_project_are_found_together(team: TeamServer) -> None:
    team.rec.engine.team.set_member("site", "ben", "writer")
    team.post("ben", "/api/memories", content="The site is deployed by Carl.", project="site")
    team.post("ben", "/api/memories", content="I deploy with a checklist.", type="profile")

    hits = team.post("ben", "/api/search", query="deploy", project="site")
    page = team.post("ben", "/api/search", query="deploy", project="site", limit=1, offset=1)

    assert {hit["memory"]["content"] for hit in hits} == {
        "The site is deployed by Carl.",
        "I deploy with a checklist.",
    }
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert [hit["memory"]["id"] for hit in page] == [hits[1]["memory"]["id"]]
    briefing = team.post("ben", "/api/briefing", project="site")["text"]
    assert "deployed by Carl" in briefing
    assert "checklist" in briefing


def test_a_reader_reads_and_writes_nothing(team: TeamServer) -> None:
    team.rec.engine.team.set_member("site", "anna", "writer")
    team.rec.engine.team.set_member("site", "ben", "reader")
    stored = team.post("anna", "/api/memories", content="The port is 8283.", project="site")

    refused = [
        team.request("ben", "POST", "/api/memories", json={"content": "x y", "project": "site"}),
        team.request("ben", "DELETE", f"/api/memories/{stored['id']}"),
        team.request("ben", "PATCH", f"/api/memories/{stored['id']}", json={"content": "9"}),
        team.request("ben", "POST", f"/api/memories/{stored['id']}/confirm"),
        team.request(
            "ben",
            "POST",
            "/api/memories/batch",
            json={"items": [{"content": "a", "project": "site"}]},
        ),
        team.request(
            "ben", "POST", "/api/blocks", json={"label": "notes", "value": "x", "project": "site"}
        ),
    ]

    assert [response.status_code for response in refused] == [403] * len(refused)
    assert "writer" in refused[0].json()["detail"]
    assert team.found("ben", "port", project="site") == ["The port is 8283."]
    assert team.get("ben", f"/api/explain/{stored['id']}")["memory"]["id"] == stored["id"]


def test_a_member_who_is_removed_sees_nothing_at_the_next_request(team: TeamServer) -> None:
    for name in ("anna", "ben"):
        team.rec.engine.team.set_member("site", name, "writer")
    stored = team.post("anna", "/api/memories", content="The port is 8283.", project="site")
    assert team.found("ben", "port", project="site") == ["The port is 8283."]

    team.rec.engine.team.remove_member("site", "ben")

    assert team.found("ben", "port", project="site") == []
    assert team.request("ben", "GET", f"/api/memories/{stored['id']}").status_code == 404
    assert team.request("ben", "GET", f"/api/explain/{stored['id']}").status_code == 404
    assert team.get("ben", "/api/projects") == []


def test_a_token_is_refused_as_soon_as_it_is_replaced_or_revoked(team: TeamServer) -> None:
    former = team.tokens["ben"]
    team.tokens["ben"] = team.rec.engine.team.rotate_user("ben").token
    team.get("ben", "/api/status")
    team.tokens["former"] = former

    assert team.request("former", "GET", "/api/status").status_code == 401
    team.rec.engine.team.set_member("site", "ben", "writer")
    team.rec.engine.team.revoke_user("ben")
    assert team.request("ben", "GET", "/api/status").status_code == 401
    assert team.rec.engine.team.list_members("site") == []
    with pytest.raises(InvalidInput, match="revoked"):
        team.rec.engine.team.rotate_user("ben")
    with pytest.raises(InvalidInput, match="only admin"):
        team.rec.engine.team.revoke_user("anna")


def test_only_the_hash_of_a_token_is_stored(team: TeamServer, tmp_path: Path) -> None:
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

    assert team.tokens["ben"].encode() not in stored
    assert len(team.tokens["ben"]) > 40
    assert "token" not in repr(team.rec.engine.team.list_users())


def test_names_are_unique_and_projects_are_named_alike(team: TeamServer) -> None:
    with pytest.raises(AlreadyExists):
        team.rec.engine.team.add_user("ben")
    with pytest.raises(NotFound, match="user list"):
        team.rec.engine.team.set_member("site", "nobody")
    with pytest.raises(InvalidInput, match="reader, writer, owner"):
        team.rec.engine.team.set_member("site", "ben", "king")
    team.rec.engine.team.set_member("https://github.com/Acme/Site.git", "ben", "writer")
    team.rec.engine.team.set_member("git@github.com:acme/site", "anna", "owner")
    team.post("ben", "/api/memories", content="It is blue.", project="git@github.com:acme/site.git")

    assert len(team.rec.engine.team.list_members("https://github.com/acme/site")) == 2
    assert team.found("anna", "blue", project="https://github.com/acme/site") == ["It is blue."]


def test_candidates_of_a_project_wait_for_its_members(team: TeamServer) -> None:
    for name in ("anna", "ben"):
        team.rec.engine.team.set_member("site", name, "writer")
    stored = team.post("ben", "/api/memories", content="We use uv.", project="site", status="inbox")
    team.post("ben", "/api/memories", content="I use vim.", status="inbox")

    assert [item["memory"]["id"] for item in team.get("anna", "/api/inbox")] == [stored["id"]]
    assert len(team.get("ben", "/api/inbox")) == 2
    team.post("anna", "/api/inbox/promote", memory_ids=[stored["id"]])
    assert team.get("ben", f"/api/memories/{stored['id']}")["status"] == "active"
    mixed = [stored["id"], team.get("ben", "/api/inbox")[0]["memory"]["id"]]
    refused = team.request("ben", "POST", "/api/inbox/reject", json={"memory_ids": mixed})
    assert refused.status_code == 422


def test_blocks_of_a_project_belong_to_its_members(team: TeamServer) -> None:
    for name in ("anna", "ben"):
        team.rec.engine.team.set_member("site", name, "writer")
    block = team.post("ben", "/api/blocks", label="rules", value="Be kind.", project="site")

    assert team.get("anna", "/api/blocks", project="site")[0]["value"] == "Be kind."
    assert team.get("anna", "/api/blocks/rules", project="site")["id"] == block["id"]
    changed = team.request(
        "anna", "PUT", "/api/blocks/rules", json={"value": "Be brief.", "project": "site"}
    )
    assert changed.status_code == 200
    assert team.get("ben", f"/api/blocks/{block['id']}")["value"] == "Be brief."
    assert team.request("carl", "GET", f"/api/blocks/{block['id']}").status_code == 404
    assert team.get("carl", "/api/blocks", project="site") == []


def test_an_agent_is_shared_with_the_members_of_a_project(team: TeamServer) -> None:
    team.rec.engine.team.set_member("site", "ben", "writer")
    team.rec.engine.team.set_member("site", "carl", "writer")
    team.post("ben", "/api/agents", name="coder", system_prompt="Write tests first.")
    team.post("ben", "/api/agents/coder/messages", role="user", content="a private question")
    shared = team.post("ben", "/api/team/agents", agent="coder", project="site")

    assert [agent["name"] for agent in team.get("carl", "/api/agents")] == ["coder"]
    assert team.get("carl", "/api/agents/coder")["system_prompt"] == "Write tests first."
    assert team.get("carl", "/api/agents/coder/messages") == []
    team.post("carl", f"/api/agents/{shared['id']}/messages", role="user", content="hello")
    assert len(team.get("ben", f"/api/agents/{shared['id']}/messages")) == 1
    assert team.request("anna", "GET", f"/api/agents/{shared['id']}").status_code == 404
    assert len(team.get("ben", "/api/agents")) == 2
    refused = team.request(
        "anna", "POST", "/api/team/agents", json={"agent": "coder", "project": "site"}
    )
    assert refused.status_code == 404


def test_what_is_captured_stays_with_the_user(team: TeamServer) -> None:
    for name in ("anna", "ben"):
        team.rec.engine.team.set_member("site", name, "writer")
    event = team.post(
        "ben", "/api/captures/session", transcript="User: The key is blue.\n", project="site"
    )

    assert team.request("anna", "GET", f"/api/events/{event['id']}").status_code == 404
    assert team.get("anna", "/api/events") == []
    assert team.get("ben", "/api/events")[0]["id"] == event["id"]


def test_verbs_that_reach_the_servers_disk_are_for_admins(team: TeamServer) -> None:
    for path, body in (
        ("/api/files/grep", {"pattern": "x"}),
        ("/api/backups", {}),
        ("/api/rebuild", {}),
        ("/api/reembed", {}),
    ):
        refused = team.request("ben", "POST", path, json=body)
        assert refused.status_code == 403
        assert "admin" in refused.json()["detail"]
    assert team.request("anna", "POST", "/api/rebuild", json={}).status_code == 200
    bundle = team.request("ben", "POST", "/api/context", json={"task": "x", "file": "/etc/passwd"})
    assert bundle.status_code in (403, 404, 422)


def test_owners_manage_members_and_admins_manage_users(team: TeamServer) -> None:
    team.rec.engine.team.set_member("site", "ben", "owner")
    member = {"project": "site", "user": "carl", "role": "reader"}

    assert team.request("carl", "PUT", "/api/team/members", json=member).status_code == 403
    assert team.request("ben", "PUT", "/api/team/members", json=member).status_code == 200
    assert len(team.get("carl", "/api/team/members", project="site")) == 2
    assert team.request("ben", "GET", "/api/team/users").status_code == 403
    assert team.request("ben", "POST", "/api/team/users", json={"name": "d"}).status_code == 403
    assert team.request("ben", "DELETE", "/api/team/users/carl").status_code == 403
    assert team.request("ben", "GET", "/api/team/audit").status_code == 403
    made = team.post("anna", "/api/team/users", name="dora")
    team.tokens["dora"] = made["token"]
    assert team.get("dora", "/api/team/me") == {"user": made["user"], "projects": []}
    assert team.get("dora", "/api/team/members", project="site") == []
    team.tokens["dora"] = team.post("dora", "/api/team/users/dora/rotate")["token"]
    team.get("dora", "/api/team/me")
    leaving = {"project": "site", "user": "carl"}
    assert team.request("carl", "DELETE", "/api/team/members", params=leaving).status_code == 204
    assert team.request("anna", "DELETE", "/api/team/users/dora").status_code == 200
    assert team.request("dora", "GET", "/api/team/me").status_code == 401


def test_a_write_with_a_key_is_carried_out_once_in_a_project_too(team: TeamServer) -> None:
    team.rec.engine.team.set_member("site", "ben", "writer")
    body = {"content": "The port is 8283.", "project": "site"}
    headers = {"idempotency-key": "k1"}
    first = team.request("ben", "POST", "/api/memories", json=body, headers=headers)
    team.rec.engine.team.rotate_user("ben")  # a new application, without the cached response
    team.clock.advance(seconds=1)
    team.tokens["ben"] = team.rec.engine.team.rotate_user("ben").token
    again = team.request("ben", "POST", "/api/memories", json=body, headers=headers)

    assert first.status_code == 200
    assert again.status_code == 409
    assert len(team.get("ben", "/api/memories", project="site")) == 1


def test_a_browser_signs_in_with_the_token(team: TeamServer) -> None:
    team.post("ben", "/api/memories", content="Ben likes tabs.", type="profile")
    asked = team.client.get("/ui/", follow_redirects=False)
    form = team.client.get("/enter")
    wrong = team.client.post("/enter", data={"token": "rcl_wrong"}, follow_redirects=False)
    foreign = team.client.post(
        "/enter",
        data={"token": team.tokens["ben"]},
        headers={"sec-fetch-site": "cross-site"},
        follow_redirects=False,
    )
    entered = team.client.post(
        "/enter",
        data={"token": team.tokens["ben"]},
        headers={"origin": LOCAL},
        follow_redirects=False,
    )

    assert (asked.status_code, asked.headers["location"]) == (303, "/enter")
    assert "Your token" in form.text
    assert (wrong.status_code, foreign.status_code) == (403, 403)
    assert (entered.status_code, entered.headers["location"]) == (303, "/ui/")
    assert "Ben likes tabs." in team.client.get("/ui/memories").text
    assert team.client.get("/ui/static/style.css").status_code == 200

    team.clock.advance(seconds=1)
    team.rec.engine.team.rotate_user("ben")

    assert team.client.get("/ui/memories", follow_redirects=False).status_code == 303
    assert team.client.get("/ui/events").status_code == 401


def test_a_program_gets_a_code_for_the_browser(team: TeamServer) -> None:
    code = team.request("ben", "POST", "/enter").json()["code"]
    entered = team.client.get(f"/enter?code={code}", follow_redirects=False)
    again = team.client.get(f"/enter?code={code}", follow_redirects=False)

    assert entered.headers["location"] == "/ui/"
    assert again.status_code == 403
    assert (
        team.request("", "POST", "/enter", headers={"authorization": "Bearer x"}).status_code == 401
    )
    assert team.client.get("/ui/settings").status_code == 200


def test_stores_of_users_are_files_beside_the_first_one(team: TeamServer, tmp_path: Path) -> None:
    team.post("ben", "/api/memories", content="Ben likes tabs.")
    folder = tmp_path / "m.db.spaces"
    [path] = folder.glob("*.db")

    assert path.stat().st_mode & 0o077 == 0
    with open_memory(path, words_only=True) as rec:
        assert [memory.content for memory in rec.memories.list()] == ["Ben likes tabs."]


def test_probes_need_no_token_and_metrics_an_admin(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db", ["anna", "ben"], metrics=True, token="sesame") as server:
        server.get("ben", "/api/pending")
        server.request("", "GET", "/api/pending")

        assert server.request("", "GET", "/live").status_code == 200
        assert server.request("", "GET", "/ready").status_code == 200
        assert server.request("", "GET", "/metrics").status_code == 401
        assert server.request("ben", "GET", "/metrics").status_code == 404
        metrics = server.request("anna", "GET", "/metrics").text
        assert 'route="/api/pending",status="200"' in metrics.replace(", ", ",")
        assert 'status="401"' in metrics


def test_a_command_on_the_first_store_is_not_answered_by_its_team_server(tmp_path: Path) -> None:
    asked: list[str] = []

    def find_server() -> None:
        asked.append("server")

    chosen = Settings(db=str(tmp_path / "m.db"), embedding_backend="none")
    with LocalRecollect(chosen, find_server=find_server) as rec:
        rec.search("port")
        rec.engine.team.add_user("anna")
        rec.search("port")

    assert asked == ["server"]


def test_guesses_of_tokens_are_limited(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db", ["anna"], requests_per_second=2) as server:
        server.tokens["stranger"] = "rcl_guess"
        statuses = [server.request("stranger", "GET", "/api/status").status_code for _ in range(9)]

    assert statuses[0] == 401
    assert 429 in statuses


def test_an_agent_of_a_project_answers_its_members_as_a_stream_too(tmp_path: Path) -> None:
    chat = ScriptedTurnModel(["From the project.", "In private."])
    events = {"accept": "text/event-stream"}
    with team_server(tmp_path / "m.db", ["anna", "ben", "carl"], chat=chat) as team:
        for name in ("anna", "ben"):
            team.rec.engine.team.set_member("site", name, "writer")
        team.post("ben", "/api/agents", name="coder")
        shared = team.post("ben", "/api/team/agents", agent="coder", project="site")

        def run(user: str, agent: str, **headers: str) -> Any:
            body = {"message": "hello"}
            path = f"/api/agents/{agent}/run"
            return team.request(user, "POST", path, json=body, headers=headers)

        streamed = run("anna", shared["id"], **events)
        assert "From the project." in streamed.text
        refused = run("carl", shared["id"], **events)
        assert (refused.status_code, "hello" in refused.text) == (404, False)
        assert "In private." in run("ben", "coder").text
        assert len(team.get("ben", f"/api/agents/{shared['id']}/messages")) == 2
        assert len(team.get("ben", "/api/agents/coder/messages")) == 2
        runs = team.rec.engine.team.audit(verb="run_agent", limit=9)
        assert sorted((entry.user, entry.space) for entry in runs if entry.outcome == "done") == [
            ("anna", "site"),
            ("ben", ""),
        ]


def test_an_encrypted_store_has_no_users(tmp_path: Path) -> None:
    store = open_encrypted_sqlite(tmp_path, FakeClock(), StoreKey.generate())
    with closing(store), pytest.raises(InvalidInput, match="is encrypted"):
        TeamDirectory(store, FakeClock(), is_audited=True).add_user("anna")


def test_a_new_token_ends_the_worker_and_the_sessions_of_the_former_one(team: TeamServer) -> None:
    team.get("ben", "/api/pending")
    [former] = [member for member in team.dispatcher.open_apps() if member.user.name == "ben"]
    team.clock.advance(seconds=1)
    team.tokens["ben"] = team.rec.engine.team.rotate_user("ben").token
    team.get("ben", "/api/pending")
    [renewed] = [member for member in team.dispatcher.open_apps() if member.user.name == "ben"]

    assert former.ended.is_set()
    assert renewed is not former
    assert not renewed.ended.is_set()


def test_each_user_has_a_rate_limit_of_its_own_also_behind_one_address(tmp_path: Path) -> None:
    with team_server(
        tmp_path / "m.db", ["anna", "ben"], requests_per_second=2, user_requests_per_second=4
    ) as server:
        server.dispatcher._clock = lambda: 1_000.0
        of_anna = [server.request("anna", "GET", "/api/pending") for _ in range(6)]
        of_ben = [server.request("ben", "GET", "/api/pending") for _ in range(4)]

    assert [response.status_code for response in of_anna] == [200] * 4 + [429] * 2
    assert [response.status_code for response in of_ben] == [200] * 4
    assert "of this user" in of_anna[-1].json()["detail"]
    assert of_anna[-1].headers["retry-after"] == "1"


def test_an_address_that_guesses_tokens_is_refused_and_the_users_behind_it_are_not(
    tmp_path: Path,
) -> None:
    with team_server(tmp_path / "m.db", ["anna"], requests_per_second=3) as server:
        server.dispatcher._clock = lambda: 1_000.0
        assert server.request("anna", "GET", "/api/pending").status_code == 200
        server.tokens["nobody"] = "rcl_guessed"
        guesses = [server.request("nobody", "GET", "/api/pending") for _ in range(4)]
        without = server.request("", "GET", "/api/pending")
        again = server.request("anna", "GET", "/api/pending")
        server.tokens["anna"] = server.rec.engine.team.rotate_user("anna").token
        renewed = server.request("anna", "GET", "/api/pending")

    assert [response.status_code for response in guesses] == [401, 401, 429, 429]
    assert without.status_code == 429
    assert again.status_code == 200
    assert renewed.status_code == 429  # a token that is not known yet counts for the address


def test_a_page_of_a_session_counts_for_its_user(tmp_path: Path) -> None:
    with team_server(
        tmp_path / "m.db", ["anna"], requests_per_second=2, user_requests_per_second=3
    ) as server:
        server.dispatcher._clock = lambda: 1_000.0
        entered = server.client.post(
            "/enter",
            data={"token": server.tokens["anna"]},
            headers={"origin": LOCAL},
            follow_redirects=False,
        )
        pages = [server.client.get("/ui/memories").status_code for _ in range(4)]

    assert entered.status_code in (302, 303), entered.text
    assert pages == [200, 200, 200, 429]
