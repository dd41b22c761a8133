"""
The examples in the help of every command: each runs, and prints what the help shows.

The examples are sessions in src/recollect/cli/examples.txt (see cli/examples.py for its format). A
session runs from top to bottom on an empty store. The session "connect" starts servers, so it runs
in a shell; the others run in this process.
"""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from click import Context, Group
from click.testing import CliRunner

from all_commands import all_commands
from model_folders import tiny_folder
from recollect.cli.examples import FILE
from recollect.cli.main import ALIASES, COMMANDS, SECTIONS, main
from recorded_sessions import RecordedSession
from tables import each_row

pytestmark = pytest.mark.door

IN_SHELL = "connect"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SAID = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Use pnpm."]}}
_CALL = {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "pnpm build"}'}}
# The files that the examples name; a text as it is, everything else as JSON.
FILES: dict[str, object] = {
    "session.jsonl": '{"type":"user","message":{"content":"We use pnpm here, not npm."}}',
    "build.jsonl": RecordedSession()
    .say("We decided to keep the rounding in vat.ts.")
    .run("npm run build", 'npm error Missing script: "build"', failed=True)
    .edit("src/vat.ts")
    .run("npm run build:web")
    .text(),
    "answer.txt": "## Preferences\n- [2025-03-01] Prefers tea.\n- Likes short answers.\n",
    "notes.md": "- Deploys happen on Fridays.\n",
    "memory.jsonl": '{"type": "entity", "name": "Ana", "entityType": "person", '
    '"observations": ["Ana prefers tea."]}',
    "chatgpt/conversations.json": [
        {"id": "b", "title": "Builds", "mapping": {"a": {"message": _SAID, "children": []}}}
    ],
    "conversations.json": [
        {
            "uuid": "c",
            "name": "Builds",
            "created_at": "2026-05-08T10:00:00Z",
            "chat_messages": [{"sender": "human", "text": "We use pnpm."}],
        }
    ],
    "work.json": [
        {"role": "user", "content": "Please build the docs site."},
        {"role": "assistant", "content": "Now I'll build the site.", "tool_calls": [_CALL]},
        {"role": "tool", "content": "Built 120 pages\nexit code: 0", "tool_call_id": "c1"},
        {"role": "assistant", "content": "The docs site is built."},
    ],
}


class Step(NamedTuple):
    """One line that is typed, and what it prints."""

    typed: str
    printed: str


def sessions() -> dict[str, list[Step]]:
    """Return the steps of every session by its name."""
    found: dict[str, list[Step]] = {}
    for text in re.split(r"^= ", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, body = text.partition("\n")
        steps = re.split(r"^[$%] ", body, flags=re.MULTILINE)[1:]
        found[name] = [Step(step.partition("\n")[0], step.partition("\n")[2]) for step in steps]
    return found


def normalized(text: str, folder: Path) -> str:
    """Return *text* with ids, times and the test's folder replaced by what the help shows."""
    text = _UUID.sub("ID", text.replace(str(folder), "~"))
    text = re.sub(r"\d{4}-\d\d-\d\d", "2026-05-08", text)
    text = re.sub(r"\b\d\d:\d\d(:\d\d)?\b", "14:03", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def matches(printed: str, expected: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    return re.fullmatch(pattern, printed, flags=re.DOTALL) is not None


def run_session(steps: list[Step], folder: Path, run: Callable[[str], str]) -> None:
    """Run *steps* in order and compare what each prints."""
    ids = ["", ""]
    for step in steps:
        typed = step.typed.replace("ID2", ids[1] if len(ids) > 1 else "ID2")
        output = run(re.sub(r"\bID\b", ids[0], typed))
        ids = list(dict.fromkeys(_UUID.findall(output))) or ids
        printed = normalized(output, folder)
        assert matches(printed, normalized(step.printed, folder)), f"$ {step.typed}\n{printed}"


def prepare(folder: Path) -> dict[str, str]:
    """Write the files of the examples into *folder*; return the environment to run them in."""
    (folder / "chatgpt").mkdir()
    for name, content in FILES.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, encoding="utf-8")
    return {"RECOLLECT_DB": str(folder / "memory.db"), "HOME": str(folder)}


@pytest.mark.parametrize("name", [name for name in sessions() if name != IN_SHELL])
def test_the_examples_print_what_the_help_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = prepare(tmp_path) | {"RECOLLECT_EMBEDDING_BACKEND": "none"}
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> str:
        command, _, stdin = line.partition(" <<< ")
        arguments = shlex.split(command)[1:]
        text = " ".join(shlex.split(stdin))
        result = CliRunner().invoke(main, arguments, input=text, env=env)
        assert result.exit_code == 0, f"{line}\n{result.output}"
        return result.stdout

    run_session(sessions()[name], tmp_path, run)


# Commands that need a file; on a database server each says so in one line and changes nothing.
NEED_A_FILE = "repair backup restore encrypt rekey decrypt sync"
# What they print names the file, or what only a file has.
PRINTS_ANOTHER_TEXT = ("verify", "move --to moved.db", "file forget")


@pytest.mark.postgres
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in sessions() if name != IN_SHELL])
def test_the_examples_print_the_same_on_postgresql(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from postgres_server import SCHEMAS, shared_server  # psycopg: only for tests that need it

    url = shared_server().url(SCHEMAS.schema_of(tmp_path))
    env = prepare(tmp_path) | {"RECOLLECT_EMBEDDING_BACKEND": "none", "RECOLLECT_DB": url}
    monkeypatch.chdir(tmp_path)
    steps = []

    def run(line: str) -> str:
        command, _, stdin = line.partition(" <<< ")
        arguments = shlex.split(command)[1:]
        text = " ".join(shlex.split(stdin))
        result = CliRunner().invoke(main, arguments, input=text, env=env)
        if arguments[0] in NEED_A_FILE.split() and "--db" not in arguments:
            assert isinstance(result.exception, SystemExit), line
            assert result.exit_code in (1, 2), f"{line}\n{result.output}"
            assert result.exit_code == 2 or len(result.stderr.strip().splitlines()) == 1
            return ""
        assert result.exit_code == 0, f"{line}\n{result.output}"
        return result.stdout.replace(url, f"{tmp_path}/memory.db")

    for step in sessions()[name]:
        words = step.typed.removeprefix("recollect ")
        if words.split()[0] in NEED_A_FILE.split() or words.startswith(PRINTS_ANOTHER_TEXT):
            step = step._replace(printed="…")
        steps.append(step)
    run_session(steps, tmp_path, run)
    SCHEMAS.release()


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("sqlite", marks=pytest.mark.door),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ],
)
@pytest.mark.timeout(600)  # for a busy machine
def test_the_examples_that_start_programs_print_what_the_help_shows(
    backend: str, tmp_path: Path
) -> None:
    tiny_folder(tmp_path / "my-model")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **prepare(tmp_path), "RECOLLECT_PORT": str(port), "PATH": path}
    if backend == "postgres":
        from postgres_server import SCHEMAS, shared_server  # psycopg: only for tests that need it

        env["RECOLLECT_DB"] = shared_server().url(SCHEMAS.schema_of(tmp_path))

    def run(line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        printed = done.stdout.replace(env["RECOLLECT_DB"], f"{tmp_path}/memory.db")
        return printed.replace(str(port), "8283")

    try:
        run_session(sessions()[IN_SHELL], tmp_path, run)
    finally:
        run("recollect stop")


@each_row("name", all_commands())
def test_the_help_of_every_command_shows_examples(name: str) -> None:
    help_text = CliRunner().invoke(main, [*name.split(), "--help"]).stdout

    examples = help_text.partition("\n  Examples:\n")[2]
    typed = re.findall(r"^ +\$ (?:.*\| )?recollect (.+)$", examples, flags=re.MULTILINE)
    assert typed, help_text
    group = name.split()[0]
    assert all(line.startswith((name, group, name.split()[-1])) for line in typed), typed


def test_the_overview_fits_on_one_screen_and_shows_every_command() -> None:
    overview = CliRunner().invoke(main, ["--help"]).stdout.splitlines()

    names = [name for rows in SECTIONS.values() for row in rows for name in row.split(", ")]
    assert 24 <= len(overview) <= 40
    assert max(map(len, overview)) <= 80
    assert sorted(names) == sorted(COMMANDS)
    assert max(len(row) for rows in SECTIONS.values() for row in rows) < 24  # texts are aligned


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_the_command_itself_and_is_not_shown(alias: str) -> None:
    context = Context(main)
    command: object = main
    for name in ALIASES[alias]:
        assert isinstance(command, Group)
        command = command.get_command(context, name)

    assert main.get_command(context, alias) is command
    assert alias not in main.list_commands(context)


def test_a_command_that_does_not_exist_is_one_line_with_a_suggestion() -> None:
    result = CliRunner().invoke(main, ["serch", "x"])

    assert result.exit_code == 2
    assert "there is no command 'serch'; did you mean search or user or serve?" in result.stderr


def complete(*words: str) -> set[str]:
    """Return what bash offers after *words*; the last one is not complete."""
    variables = {
        "_RECOLLECT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["recollect", *words]),
        "COMP_CWORD": str(len(words)),
    }
    result = CliRunner().invoke(main, env=variables, prog_name="recollect")
    return {line.partition(",")[2] for line in result.stdout.splitlines()}


def test_shell_completion_offers_commands_options_and_values() -> None:
    assert {"search", "serve", "setup"} <= complete("s")
    assert "skills" not in complete("s")
    assert complete("search", "conv") == {"conversations"}
    assert {"--project", "--type", "--json"} <= complete("search", "pnpm", "--")
    assert "decision" in complete("add", "x", "--type", "d")
    assert complete("inbox", "prom") == {"promote"}


@pytest.mark.door
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_installed_command_prints_its_completion_script(shell: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "recollect")],
        env={**os.environ, "_RECOLLECT_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"_RECOLLECT_COMPLETE={shell}_complete" in done.stdout
