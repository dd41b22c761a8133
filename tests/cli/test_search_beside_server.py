"""`recollect search` and `context` let a running server of the store compare meanings."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from server_process import run_server

pytestmark = pytest.mark.door

_COMMAND = """
import json, sys
from recollect.entry import main
sys.argv = ["recollect", *json.loads(sys.argv[1])]
try:
    main()
finally:
    print(json.dumps(sorted({"numpy", "onnxruntime"} & {*sys.modules})), file=sys.stderr)
"""
# Asked at one time: how recent a memory is takes part in its score.
RELEASE = ["when is the release published?", "--project", "site"]
COMMANDS = (
    ["search", "memories", *RELEASE, "--asked-at", "2040-01-01", "--json"],
    ["context", *RELEASE],
    ["search", "conversations", "--agent", "ada", "--query", "boats"],
)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with recollect.open(path) as rec:
        rec.ingest("We deploy the site on Fridays.", type="decision", project="site")
        rec.ingest("We use pnpm, not npm.", type="decision", project="site")
        rec.agents.create("ada")
        talk = rec.conversations.start(agent="ada")
        rec.conversations.append(talk, "user", "My ship is called Alba.")
        rec.drain()
    return path


def environment(db: Path, **more: str) -> dict[str, str]:
    own = {
        "RECOLLECT_DB": str(db),
        "XDG_STATE_HOME": str(db.parent / "state"),
        "XDG_CONFIG_HOME": str(db.parent / "config"),
    }
    others = {key: value for key, value in os.environ.items() if "RECOLLECT" not in key}
    return {**others, **own, **more}


def run(db: Path, command: list[str], **env: str) -> tuple[str, list[str]]:
    """Return what a command printed, without what differs in each run, and what it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, json.dumps(command)],
        env=environment(db, **env),
        capture_output=True,
        text=True,
        check=True,
    )
    printed = re.sub(r'"retrieval_id": "[^"]*"', "", done.stdout)
    return printed, json.loads(done.stderr.splitlines()[-1])


def test_the_answers_are_the_same_and_no_model_is_loaded(db: Path) -> None:
    alone = [run(db, command) for command in COMMANDS]
    with run_server(db, env=environment(db)):
        beside = [run(db, command) for command in COMMANDS]

    assert [printed for printed, _ in beside] == [printed for printed, _ in alone]
    assert "Fridays" in beside[0][0]
    assert all("onnxruntime" in modules for _, modules in alone)
    assert all(modules == [] for _, modules in beside)


def test_a_server_that_wants_another_token_is_not_needed(db: Path) -> None:
    with run_server(db, env=environment(db, RECOLLECT_TOKEN="of-the-server")):
        printed, modules = run(db, COMMANDS[0])

    assert "Fridays" in printed
    assert "onnxruntime" in modules


def test_who_wants_words_alone_does_not_ask_the_server(db: Path) -> None:
    with run_server(db, env=environment(db)):
        printed, modules = run(db, COMMANDS[0], RECOLLECT_EMBEDDING_BACKEND="none")

    assert json.loads(printed) == []
    assert modules == []
