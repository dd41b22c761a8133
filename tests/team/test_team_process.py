"""Two server processes on one store: users are added, rotated and revoked by commands meanwhile."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import TokenRefused
from server_process import run_server
from terminal import installed

PATIENCE_S = 30.0


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.door),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new store, in a file and on PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "m.db")
    from team_postgres import two_roles  # psycopg: only for tests that need it

    return two_roles("process")[1]  # a superuser would not be held to the policies


def run(db: str, *words: str) -> Any:
    """Run a command on the store, and return what it prints as JSON."""
    command = [installed("recollect"), *words, "--db", db, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_every_server_of_a_store_follows_its_users_at_the_next_request(db: str) -> None:
    with run_server(db) as first, run_server(db) as second:
        with recollect.connect(first.url) as rec:
            rec.ingest("The office is in Graz.")
        anna = run(db, "user", "add", "anna")["token"]
        ben = run(db, "user", "add", "ben")["token"]
        run(db, "project", "member", "add", "site", "anna")
        run(db, "project", "member", "add", "site", "ben")
        refuses = time.monotonic() + PATIENCE_S
        while is_accepted(first.url, None) and time.monotonic() < refuses:
            time.sleep(0.1)  # a store without users is asked once a second

        assert not is_accepted(first.url, None)
        with (
            recollect.connect(first.url, token=anna) as of_anna,
            recollect.connect(second.url, token=ben) as of_ben,
        ):
            assert [hit.memory.content for hit in of_anna.search("office")]
            assert of_ben.search("office") == []
            of_anna.ingest("The port is 8283.", project="site")
            [hit] = of_ben.search("port", project="site")  # written by the other server
            assert hit.memory.content == "The port is 8283."
            run(db, "project", "member", "remove", "site", "ben")
            assert of_ben.search("port", project="site") == []
            renewed = run(db, "user", "rotate", "ben")["token"]
            for url in (first.url, second.url):
                assert not is_accepted(url, ben)
                assert is_accepted(url, renewed)
            run(db, "user", "revoke", "ben")
            assert not is_accepted(first.url, renewed)
            assert not is_accepted(second.url, renewed)
        assert [entry["verb"] for entry in run(db, "audit", "--verb", "ingest")] == ["ingest"]


def is_accepted(url: str, token: str | None) -> bool:
    """Return whether a server carries out a request with that token."""
    try:
        with recollect.connect(url, token=token) as rec:
            rec.maintenance.pending()
    except TokenRefused:
        return False
    return True
