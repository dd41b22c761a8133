"""`recollect import` as a person runs it: what it says, its JSON, its exit code, its progress."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chat_server import chat_server
from client_session_files import TABS, write_claude_code_session
from command_results import json_of
from recollect.cli.main import main
from server_process import run_server
from support import candidates, open_memory
from terminal import environment, in_terminal

pytestmark = pytest.mark.door

Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with one session of Claude Code in it."""
    folder = tmp_path / "home"
    write_claude_code_session(folder, "s1", TABS)
    return folder


@pytest.fixture
def run(path: Path, home: Path) -> Run:
    """Run the command on a store of its own, in a home of its own."""

    def invoke(*args: str | Path, **more: str) -> Result:
        settings = {
            "RECOLLECT_DB": str(path),
            "RECOLLECT_EMBEDDING_BACKEND": "none",
            "RECOLLECT_PORT": "1",  # nobody listens there
            "HOME": str(home),
            "USERPROFILE": str(home),
            "CLAUDE_CONFIG_DIR": "",
            **more,
        }
        return CliRunner().invoke(main, [str(arg) for arg in args], env=settings)

    return invoke


def test_an_import_says_what_came_in_and_what_waits(run: Run) -> None:
    first = run("import", "claude-code")
    again = run("import", "claude-code")

    assert first.exit_code == 0
    assert first.stdout == (
        "1 conversations imported, 0 were known.\n"
        "Files: 1 taken.\n"
        "2 more candidates in the inbox; see: recollect inbox\n"
    )
    assert first.stderr == ""  # no progress where there is no terminal
    assert again.stdout == "0 conversations imported, 0 were known.\nFiles: 1 unchanged.\n"


def test_a_program_gets_the_sum_as_json(run: Run) -> None:
    told = json_of(run("import", "claude-code", "--json"))

    assert told == {
        "source": "claude-code",
        "files": {"taken": 1, "partly": 0, "unchanged": 0, "older": 0, "refused": 0},
        "conversations": 1,
        "known": 0,
        "left_out": 0,
        "candidates": 2,
        "waiting": 2,
        "left_to": "",
        "refused": [],
    }


def test_a_broken_file_is_named_and_the_exit_code_says_so(run: Run, home: Path) -> None:
    broken = home / ".claude" / "projects" / "-srv-shop" / "broken.jsonl"
    broken.write_text("[[[")
    shown = run("import", "claude-code")
    told = json_of(run("import", "claude-code", "--json"), code=1)

    assert shown.exit_code == 1
    assert f"Refused: {broken}\n  {broken} is not a session of Claude Code\n" in shown.stdout
    assert "1 conversations imported" in shown.stdout
    assert [one["path"] for one in told["refused"]] == [str(broken)]


def test_a_dry_run_stores_nothing(run: Run) -> None:
    dry = run("import", "claude-code", "--dry-run")

    assert "1 conversations would be imported" in dry.stdout
    assert json_of(run("inbox", "--json")) == []
    assert json_of(run("import", "claude-code", "--json"))["conversations"] == 1


def test_a_limit_that_ends_between_two_files_is_said(run: Run, home: Path) -> None:
    write_claude_code_session(home, "s2", "We use pnpm for builds.")

    assert "The limit was reached; run it again" in run("import", "claude-code", "-n", "1").stdout
    assert "The limit was reached" not in run("import", "claude-code", "-n", "1").stdout


def test_without_work_the_queue_is_left_to_a_worker(run: Run) -> None:
    told = run("import", "claude-code", "--no-work")

    assert "Left to a worker" in told.stdout
    assert json_of(run("status", "--json"))["jobs"] == {"todo": 1}
    assert "2 jobs done" in run("work", "--once").stdout


def test_a_server_of_the_same_store_is_left_the_work(run: Run, path: Path) -> None:
    with run_server(path) as server:
        told = json_of(run("import", "claude-code", "--json", RECOLLECT_PORT=str(server.port)))

    assert told["left_to"] == "the server"


def test_another_program_on_the_port_of_the_server_is_left_nothing(run: Run) -> None:
    with chat_server() as other:
        port = other.url.rpartition(":")[2]
        told = json_of(run("import", "claude-code", "--json", RECOLLECT_PORT=port))

    assert (told["left_to"], told["waiting"]) == ("", 2)


def test_nothing_at_the_usual_place_is_no_error(run: Run) -> None:
    told = run("import", "codex")

    assert told.exit_code == 0
    assert "Files: none found for codex." in told.stdout
    assert "found by the names" not in told.stdout


def test_a_history_in_the_wrong_place_is_an_answer_with_the_next_step(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "hello"}\n')

    unnamed = run("import", "codex", tmp_path)
    folder = run("import", tmp_path)
    transcript = run("import", tmp_path / "talk.jsonl")

    assert "files are found by the names that the client gives them" in unnamed.stdout
    for told in (folder, transcript):
        assert told.exit_code == 1
        assert "`recollect import --help` lists" in told.stderr


def test_an_export_needs_its_path(run: Run) -> None:
    told = run("import", "chatgpt")

    assert told.exit_code == 2
    assert "Missing argument '[PATH]...'" in told.stderr


def test_a_file_of_our_own_comes_in_as_before(run: Run, tmp_path: Path) -> None:
    run("add", "a fact", "--json")
    exported = tmp_path / "backup.jsonl.gz"
    run("export", exported)
    other = ("--db", tmp_path / "other.db")

    assert json_of(run("import", exported, "--trust", "--json", *other))["added"]["memories"] == 1
    assert "rows existed" in run("import", "file", exported, "--trust", *other).stdout


def test_a_terminal_shows_progress(path: Path, home: Path) -> None:
    env = environment(
        path,
        HOME=str(home),
        CLAUDE_CONFIG_DIR="",
        RECOLLECT_PORT="1",
        RECOLLECT_EMBEDDING_BACKEND="none",
    )
    shown = in_terminal("recollect", "import", "claude-code", env=env)

    assert shown.code == 0
    assert "1/1 files" in shown.text
    assert "1 conversations" in shown.text
    with open_memory(path, words_only=True) as rec:
        assert len(candidates(rec)) == 2
