"""The words of a command: what is ours is known again, and users' options stay."""

import shlex
from dataclasses import replace

import pytest

from recollect.setup.invocation import Invocation, hook_words, server_entry, server_words

CALL = Invocation(program=("/opt/my tools/recollect",))
MODULE = Invocation(program=("/usr/bin/python3", "-m", "recollect"), db="/data/m.db")
ALONE = Invocation(program=("/usr/bin/python3", "-P", "-m", "recollect"))


@pytest.mark.parametrize("call", [CALL, MODULE, ALONE])
@pytest.mark.parametrize("shape", ["stdio", "plain", "joined"])
def test_our_server_is_known_again(call: Invocation, shape: str) -> None:
    entry = server_entry(call.server(), shape)  # type: ignore[arg-type]

    assert server_words(entry) == call.server()


@pytest.mark.parametrize(
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
    assert server_words(entry) is None


@pytest.mark.parametrize(
    "line",
    [None, 1, "", "recollect", "recollect hook", "echo recollect hook stop", "recollect 'hook"],
)
def test_another_hook_is_not_ours(line: object) -> None:
    assert hook_words(line) is None


def test_a_hook_is_quoted_for_the_shell() -> None:
    line = CALL.hook("stop", "codex")

    assert shlex.split(line) == ["/opt/my tools/recollect", "hook", "stop", "--client", "codex"]
    assert hook_words(line) == ["stop", "--client", "codex"]


def test_on_windows_every_shell_can_read_the_line() -> None:
    call = Invocation(program=("C:\\Program Files\\r\\recollect.exe",), windows=True)

    line = call.hook("prompt", "claude-code")

    assert line == '"C:/Program Files/r/recollect.exe" hook prompt --client claude-code'
    assert hook_words(line)
    assert call.hook("prompt", "claude-code", line) == line
    assert server_words(server_entry(call.server(), "plain"))


def test_options_of_the_user_stay_when_the_path_changes() -> None:
    former = ["/old/recollect", "mcp", "--trust", "--db", "/old.db", "--project", "site"]

    assert CALL.server(former) == [
        *CALL.program, "mcp", "--trust", "--db", "/old.db", "--project", "site"
    ]  # fmt: skip
    assert MODULE.server(former) == [
        *MODULE.program, "mcp", "--trust", "--project", "site", "--db", "/data/m.db"
    ]  # fmt: skip
    line = MODULE.hook("stop", "codex", "recollect hook stop --client=codex --project x")
    assert line.endswith("hook stop --client codex --project x --db /data/m.db")


@pytest.mark.parametrize(
    "line",
    [
        "recollect hook stop --client codex 2>/dev/null || true",
        "recollect hook stop; ./notify.sh",
        'recollect hook stop --db "$HOME/m.db"',
        "recollect hook stop --db '/a b/m.db' && date",
    ],
)
def test_a_line_that_does_more_is_left_to_its_author(line: str) -> None:
    assert CALL.hook("stop", "codex", line) == line


@pytest.mark.parametrize("call", [CALL, ALONE])
@pytest.mark.parametrize(
    "folder", ["Cloud (Ana)", "a & b", "it's $5", "{x}*", 'a "b"', "new\nline"]
)
def test_a_path_that_a_shell_would_read_is_quoted_and_still_changed(
    folder: str, call: Invocation
) -> None:
    former = replace(call, db=f"/data/{folder}/m.db").hook("stop", "codex")

    line = replace(call, db="/data/other.db").hook("stop", "codex", former)

    assert hook_words(former) == ["stop", "--client", "codex", "--db", f"/data/{folder}/m.db"]
    assert hook_words(line) == ["stop", "--client", "codex", "--db", "/data/other.db"]


def test_on_windows_a_name_with_an_apostrophe_is_known_again() -> None:
    call = Invocation(program=("C:\\Users\\O'Brien\\recollect.exe",), windows=True)

    line = call.hook("prompt", "claude-code")

    assert hook_words(line) == ["prompt", "--client", "claude-code"]
    assert call.hook("prompt", "claude-code", line) == line
