"""The commands on a damaged store: what can be read, a warning, a way out, and no traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest

from damaged_store import QUERY, StoreFiles, make_store, page_of
from server_process import run_server, without_embedder

pytestmark = pytest.mark.door


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> StoreFiles:
    return make_store(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def damaged(files: StoreFiles, path: Path) -> Path:
    """Return a store with a flipped bit in the table of the memories, and without its log."""
    path.write_bytes(files.database)
    content = bytearray(files.database)
    content[page_of(path, "memories") + 3] ^= 0x20  # the number of cells
    path.write_bytes(bytes(content))
    return path


def run(path: Path, *arguments: str, code: int) -> tuple[str, str]:
    """Run a command in its own process; return what it printed and its warnings."""
    command = [sys.executable, "-m", "recollect", *arguments, "--db", str(path)]
    environment = {**os.environ, **without_embedder()}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=path.parent
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def test_a_damaged_store_is_searched_with_a_warning_that_says_what_to_do(damaged: Path) -> None:
    before = damaged.read_bytes()

    output, warning = run(damaged, "search", QUERY, "--project", "site", code=0)

    assert "Service 7 uses port 8007." in output
    assert f"{damaged} is damaged" in warning
    assert "memories" in warning
    assert "recollect repair" in warning
    assert damaged.read_bytes() == before


def test_verify_doctor_and_export_name_the_damage_and_fail(damaged: Path) -> None:
    verified, _ = run(damaged, "verify", code=1)
    checked, _ = run(damaged, "doctor", code=1)
    exported, _ = run(damaged, "export", "out.jsonl", code=1)

    assert "the file is intact: " in verified
    assert "memories" in verified
    assert "run `recollect repair`" in verified
    assert f"✗ access: {damaged} is damaged" in checked
    assert "Damaged: " in exported
    lines = damaged.with_name("out.jsonl").read_text().splitlines()
    tables = [json.loads(line).get("table") for line in lines]
    assert tables.count("memories") > 20


def test_repair_rescues_into_a_new_file_which_can_be_used(damaged: Path) -> None:
    before = damaged.read_bytes()

    output, _ = run(damaged, "repair", code=0)

    rescued = damaged.with_name("memory.rescued.db")
    assert f"Rescued into {rescued}: " in output
    assert "pages were damaged, but no row was lost: memories" in output
    assert damaged.read_bytes() == before
    found, warning = run(rescued, "search", QUERY, "--project", "site", code=0)
    assert "Service 7 uses port 8007." in found
    assert warning == ""
    _, refusal = run(damaged, "repair", code=1)
    assert "exists; choose another name" in refusal


def test_a_file_that_is_no_store_gives_one_line(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)

    for command in (["status"], ["verify"], ["repair"]):
        _, error = run(path, *command, code=1)
        assert len(error.splitlines()) == 1
        assert "is not a Recollect database" in error


def test_a_server_of_a_damaged_store_answers_and_refuses_to_write(damaged: Path) -> None:
    with run_server(damaged) as server:
        found = httpx.post(f"{server.url}/api/search", json={"query": QUERY, "project": "site"})
        write = httpx.post(f"{server.url}/api/memories", json={"content": "Something new."})
        health = httpx.get(f"{server.url}/health").json()

    assert found.status_code == 200
    assert found.json()[0]["memory"]["content"] == "Service 7 uses port 8007."
    assert write.status_code == 500
    assert write.headers["content-type"].startswith("application/problem+json")
    assert "recollect repair" in write.json()["detail"]
    assert health["status"] == "degraded"
    assert "is damaged" in health["reasons"][0]
