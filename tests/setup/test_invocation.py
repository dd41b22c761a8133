"""The words of a command: what is ours is known again, and users' options stay."""

import shlex
from dataclasses import replace

from recollect.setup.invocation import (
    Invocation,
    parse_hook_command,
    parse_server_entry,
    server_entry,
)
from tables import each_row

CALL = Invocation(program=("/opt/my tools/recollect",))
MODULE = Invocation(program=("/usr/bin/python3", "-m", "recollect"), db="/data/m.db")
ALONE = Invocation(program=("/usr/bin/python3", "-P", "-m", "recollect"))


@each_row("call", [CALL, MODULE, ALONE])
@each_row("shape", ["stdio", "plain", "joined"])
def test_our_server_is_known_again(call: Invocation, shape: str) -> None:
    entry = server_entry(call.server_command(), shape)  # type: ignore[arg-type]

    assert parse_server_entry(entry) == call.server_command()


@each_row(
    "entry",
    [
        None,
        "recollect mcp",
        {},
        {"command": "npx", "args": ["recollect", "mcp"]},
        {"command": "recollect"},
        {"command": "recollect", "args": ["serve"]},
        {"command": "recollect", "args": "mcp"},
        {"command": "recollect", "args": [1]},
        {"command": ["recollect", 1]},
        {"url": "http://127.0.0.1:8283/mcp"},
    ],
)
def test_another_server_is_not_ours(entry: object) -> None:
    assert parse_server_entry(entry) is None


@each_row(
    "line",
    [None, 1, "", "recollect", "recollect hook", "echo recollect hook stop", "recollect 'hook"],
)
def test_another_hook_is_not_ours(line: object) -> None:
    assert parse_hook_command(line) is None


def test_a_hook_is_quoted_for_the_shell() -> None:
    line = CALL.hook_command("stop", "codex")

    assert shlex.split(line) == ["/opt/my tools/recollect", "hook", "stop", "--client", "codex"]
    assert parse_hook_command(line) == ["stop", "--client", "codex"]


def test_on_windows_every_shell_can_read_the_line() -> None:
    call = Invocation(program=("C:\\Program Files\\r\\recollect.exe",), is_windows=True)

    line = call.hook_command("prompt", "claude-code")

    assert line == '"C:/Program Files/r/recollect.exe" hook prompt --client claude-code'
    assert parse_hook_command(line)
    assert call.hook_command("prompt", "claude-code", line) == line
    assert parse_server_entry(server_entry(call.server_command(), "plain"))


def test_options_of_the_user_stay_when_the_path_changes() -> None:
    former = ["/old/recollect", "mcp", "--trust", "--db", "/old.db", "--project", "site"]

    assert CALL.server_command(former) == [
        *CALL.program, "mcp", "--trust", "--db", "/old.db", "--project", "site"
    ]  # fmt: skip
    assert MODULE.server_command(former) == [
        *MODULE.program, "mcp", "--trust", "--project", "site", "--db", "/data/m.db"
    ]  # fmt: skip
    line = MODULE.hook_command("stop", "codex", "recollect hook stop --client=codex --project x")
    assert line.endswith("hook stop --client codex --project x --db /data/m.db")


@each_row(
    "line",
    [
        "recollect hook stop --client codex 2>/dev/null || true",
        "recollect hook stop; ./notify.sh",
        'recollect hook stop --db "$HOME/m.db"',
        "recollect hook stop --db '/a b/m.db' && date",
    ],
)
def test_a_line_that_does_more_is_left_to_its_author(line: str) -> None:
    assert CALL.hook_command("stop", "codex", line) == line


@each_row("call", [CALL, ALONE])
@each_row("folder", ["Cloud (Ana)", "a & b", "it's $5", "{x}*", 'a "b"', "new\nline"])
def test_a_path_that_a_shell_would_read_is_quoted_and_still_changed(
    folder: str, call: Invocation
) -> None:
    former = replace(call, db=f"/data/{folder}/m.db").hook_command("stop", "codex")

    line = replace(call, db="/data/other.db").hook_command("stop", "codex", former)

    assert parse_hook_command(former) == [
        "stop",
        "--client",
        "codex",
        "--db",
        f"/data/{folder}/m.db",
    ]
    assert parse_hook_command(line) == ["stop", "--client", "codex", "--db", "/data/other.db"]


def test_on_windows_a_name_with_an_apostrophe_is_known_again() -> None:
    call = Invocation(program=("C:\\Users\\O'Brien\\recollect.exe",), is_windows=True)

    line = call.hook_command("prompt", "claude-code")

    assert parse_hook_command(line) == ["prompt", "--client", "claude-code"]
    assert call.hook_command("prompt", "claude-code", line) == line
