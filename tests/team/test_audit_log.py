"""The audit log: who read or changed what, in the transaction of the write; what it leaves out."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recollect import LocalRecollect
from recollect.cli.main import main
from recollect.config import Settings
from recollect.domain.team import AuditEntry, AuditOutcome
from recollect.errors import NotFound
from support import FakeClock
from team_server import TeamServer, team_server

pytestmark = pytest.mark.door

PATIENCE_S = 30.0


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TeamServer]:
    with team_server(tmp_path / "m.db", ["anna", "ben"]) as server:
        server.rec.engine.team.set_member("site", "ben", "writer")
        yield server


def entries(rec: LocalRecollect, **filters: Any) -> list[AuditEntry]:
    return rec.engine.team.audit(**{"limit": 1_000, **filters})


def wait_for(rec: LocalRecollect, verb: str, **filters: Any) -> AuditEntry:
    """Return the newest entry of a verb, which is written soon."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        if listed := entries(rec, verb=verb, **filters):
            return listed[0]
        time.sleep(0.02)
    raise AssertionError(f"no entry of {verb}")


def test_a_write_is_logged_in_its_transaction_with_what_it_made(team: TeamServer) -> None:
    stored = team.post("ben", "/api/memories", content="The port is 8283.", project="site")
    # No wait: the entry is there when the response is. The new id follows.
    [entry] = entries(team.rec, verb="ingest")

    assert (entry.user, entry.space, entry.is_write) == ("ben", "site", True)
    assert entry.outcome is AuditOutcome.DONE
    give_up_at = time.monotonic() + PATIENCE_S
    while entry.ids != (stored["id"],) and time.monotonic() < give_up_at:
        [entry] = entries(team.rec, verb="ingest")
    assert entry.ids == (stored["id"],)


def test_reads_and_refusals_are_logged_too(team: TeamServer) -> None:
    stored = team.post("ben", "/api/memories", content="The port is 8283.")
    team.found("ben", "port")
    team.request("anna", "GET", f"/api/memories/{stored['id']}")
    team.request("ben", "POST", "/api/rebuild", json={}, headers={"user-agent": "probe/1"})

    read = wait_for(team.rec, "search")
    assert (read.user, read.is_write, read.ids) == ("ben", False, (stored["id"],))
    failed = wait_for(team.rec, "get_memory", user="anna")
    assert (failed.outcome, failed.ids) == (AuditOutcome.FAILED, (stored["id"],))
    refused = wait_for(team.rec, "rebuild_indexes")
    assert (refused.outcome, refused.client) == (AuditOutcome.REFUSED, "probe")


def test_duplicates_that_a_review_shows_are_logged(team: TeamServer) -> None:
    place = {"project": "site", "status": "inbox"}
    first = team.post("ben", "/api/memories", content="We use uv here.", **place)
    own = team.post("ben", "/api/memories", content="I use vim.", status="inbox")
    engine = team.memory_of("ben").engine

    duplicates = engine.duplicates_of(first["id"])
    engine.duplicates_of(own["id"])

    give_up_at = time.monotonic() + PATIENCE_S
    while len(logged := entries(team.rec, verb="get_memory")) < 2 and time.monotonic() < give_up_at:
        time.sleep(0.02)
    seen = {entry.space: entry.ids for entry in logged if not entry.is_write}
    assert seen == {"site": (first["id"], *(memory.id for memory in duplicates)), "": (own["id"],)}


def test_the_log_has_no_text(team: TeamServer) -> None:
    team.post("ben", "/api/memories", content="zebrafish", title="zebrafish", project="site")
    team.found("ben", "zebrafish", project="site")
    team.post("ben", "/api/context", task="zebrafish", project="site")
    wait_for(team.rec, "context_for")

    for entry in entries(team.rec):
        assert "zebrafish" not in repr(entry)


def test_a_write_that_fails_is_logged_as_failed(team: TeamServer) -> None:
    team.post("ben", "/api/agents", name="coder")
    again = team.request("ben", "POST", "/api/agents", json={"name": "coder"})

    assert again.status_code == 409
    give_up_at = time.monotonic() + PATIENCE_S
    while len(entries(team.rec, verb="create_agent")) < 2 and time.monotonic() < give_up_at:
        time.sleep(0.02)
    outcomes = [entry.outcome for entry in entries(team.rec, verb="create_agent")]
    assert sorted(outcomes) == [AuditOutcome.DONE, AuditOutcome.FAILED]


def test_an_admin_lists_the_log_over_http(team: TeamServer) -> None:
    team.post("ben", "/api/memories", content="The port is 8283.")

    listed = team.get("anna", "/api/team/audit", user="ben", verb="ingest")
    assert [(entry["user"], entry["verb"]) for entry in listed] == [("ben", "ingest")]
    assert team.get("anna", "/api/team/audit", since="2030-01-01") == []


def test_the_log_is_listed_and_exported_by_a_command(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    with team_server(db, ["anna"]) as server:
        server.post("anna", "/api/memories", content="The port is 8283.")
    lines = tmp_path / "audit.jsonl"
    listed = CliRunner().invoke(main, ["audit", "--db", str(db), "--json", "--verb", "ingest"])
    shown = CliRunner().invoke(main, ["audit", "--db", str(db), "--user", "anna"])
    written = CliRunner().invoke(main, ["audit", "--db", str(db), "--to", str(lines)])

    assert [entry["user"] for entry in json.loads(listed.output)] == ["anna"]
    assert "anna wrote: ingest" in shown.output
    assert written.exit_code == 0, written.output
    exported = [json.loads(line) for line in lines.read_text().splitlines()]
    assert {"user": "anna", "verb": "ingest"}.items() <= exported[0].items()


def test_changes_of_users_and_members_are_logged(team: TeamServer) -> None:
    member = {"project": "site", "user": "anna", "role": "reader"}
    team.post("anna", "/api/team/users/ben/rotate")
    team.tokens["ben"] = team.post("anna", "/api/team/users/ben/rotate")["token"]
    team.request("ben", "PUT", "/api/team/members", json=member)
    team.request("anna", "PUT", "/api/team/members", json=member, headers={"user-agent": "probe"})
    team.request("ben", "GET", "/api/team/users")
    team.request("anna", "DELETE", "/api/team/users/ben")

    [refused, *_] = entries(team.rec, verb="set_member", user="ben")
    assert refused.outcome is AuditOutcome.REFUSED
    [added] = entries(team.rec, verb="set_member", user="anna")
    anna = team.get("anna", "/api/team/me")["user"]["id"]
    assert (added.ids, added.space, added.client) == ((anna,), "site", "probe")
    assert [entry.user for entry in entries(team.rec, verb="list_users")] == ["ben"]
    assert [entry.user for entry in entries(team.rec, verb="rotate_user")] == ["anna"] * 2
    assert [entry.user for entry in entries(team.rec, verb="revoke_user")] == ["anna"]
    assert [entry.user for entry in entries(team.rec, verb="add_user")] == ["", ""]  # a command


def test_old_entries_are_pruned(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db", ["anna"], audit_days=30) as server:
        server.post("anna", "/api/memories", content="The port is 8283.")
        server.found("anna", "port")
        wait_for(server.rec, "search")
        server.clock.advance(days=31)
        server.get("anna", "/api/pending")
        wait_for(server.rec, "count_pending")

        assert {entry.verb for entry in entries(server.rec)} == {"count_pending"}


@pytest.mark.parametrize(
    ("audit", "logged"), [("team", []), ("never", []), ("always", ["ingest", "get_memory"])]
)
def test_a_store_without_users_is_audited_if_it_is_switched_on(
    tmp_path: Path, audit: str, logged: list[str]
) -> None:
    db = str(tmp_path / "m.db")
    chosen = Settings(db=db, embedding_backend="none", audit=audit)
    with LocalRecollect(chosen, clock=FakeClock()) as rec:
        rec.ingest("The port is 8283.")
        with pytest.raises(NotFound):
            rec.memories.get("nothing")
    with LocalRecollect(Settings(db=db, embedding_backend="none")) as rec:
        assert sorted(entry.verb for entry in entries(rec)) == sorted(logged)


def test_a_team_may_switch_the_log_off(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db", ["anna"], audit="never") as server:
        server.post("anna", "/api/memories", content="The port is 8283.")

        assert entries(server.rec) == []


def test_a_request_of_the_first_user_is_logged_once(tmp_path: Path) -> None:
    with team_server(tmp_path / "m.db", ["anna"], audit="always") as server:
        server.post("anna", "/api/memories", content="The port is 8283.")

        assert [entry.user for entry in entries(server.rec, verb="ingest")] == ["anna"]
