"""Setting up a client: what is there stays, what was done can be seen before and taken back."""

import json
import re
import shutil
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from recollect.setup.invocation import parse_hook_command, parse_server_entry
from recollect.setup.jsonc_parser import scan, value_of
from recollect.setup.supported_clients import BY_NAME, CLIENTS
from settings_files import (
    SETTINGS_BY_CLIENT,
    Run,
    contents,
    files_after_diff,
    listing,
    run_setup,
    successful_output,
    use_home,
    write_settings,
)
from terminal import environment, in_terminal

NAMES = [client.name for client in CLIENTS]
WITH_PROJECT = [client.name for client in CLIENTS if client.files[0].project_paths]

pytestmark = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="the homes are those of Linux"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of a test's own."""
    return use_home(tmp_path, monkeypatch)


@pytest.fixture
def run(home: Path) -> Run:
    """Run `recollect setup` in that home."""
    return run_setup


def parsed(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else value_of(scan(text))


def servers(client: str, value: Any) -> Any:
    below = BY_NAME[client].files[0].servers_key
    if client == "opencode" and "servers" in value["mcp"]:
        below = ("mcp", "servers")
    for step in below:
        value = value[step]
    return value


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("bare", [False, True])
def test_a_dry_run_changes_nothing_and_shows_what_will(
    client: str, bare: bool, home: Path, run: Run, tmp_path: Path
) -> None:
    if not bare:
        write_settings(home, client)
    before = listing(tmp_path)

    dry = run(client, "--dry-run")
    untouched = listing(tmp_path)
    expected = files_after_diff(dry.stdout_bytes.decode(), home)
    real = run(client, "--yes")

    assert successful_output(dry)
    assert untouched == before
    assert successful_output(real)
    assert expected
    for name, text in expected.items():
        assert text is not None
        assert (home / name).read_bytes().decode() == text
    dry_removal = run(client, "--remove", "--dry-run")
    after = files_after_diff(dry_removal.stdout_bytes.decode(), home)
    successful_output(run(client, "--remove", "--yes"))
    for name, text in after.items():
        assert (home / name).exists() == (text is not None)
        assert text is None or (home / name).read_bytes().decode() == text


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("bare", [False, True])
def test_removing_restores_every_file_byte_for_byte(
    client: str, bare: bool, home: Path, run: Run
) -> None:
    if not bare:
        write_settings(home, client)
    before = contents(home)

    successful_output(run(client, "--yes"))
    between = contents(home)
    successful_output(run(client, "--remove", "--yes"))

    assert between != before
    assert contents(home) == before
    assert "Nothing of Recollect" in successful_output(run(client, "--remove", "--yes"))


@pytest.mark.parametrize("client", NAMES)
def test_twice_is_once_and_what_was_there_is_still_there(
    client: str, home: Path, run: Run, tmp_path: Path
) -> None:
    paths = write_settings(home, client)
    before = {
        name: parsed(path) if SETTINGS_BY_CLIENT[client][name].strip() else {}
        for name, path in paths.items()
    }

    successful_output(run(client, "--yes"))
    once = listing(tmp_path)
    again = successful_output(run(client, "--yes"))

    assert "set up already" in again
    assert listing(tmp_path) == once
    for name, path in paths.items():
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert _includes(parsed(path), before[name])
    assert parse_server_entry(servers(client, parsed(next(iter(paths.values()))))["recollect"])
    assert f"● {client} " in successful_output(run())


def _includes(value: Any, former: Any) -> bool:
    if isinstance(former, dict):
        return all(key in value and _includes(value[key], inner) for key, inner in former.items())
    if isinstance(former, list):
        return bool(value[: len(former)] == former)
    return bool(value == former)


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("forgotten", [False, True])
def test_what_the_user_changed_since_stays_and_the_rest_goes_back(
    client: str, forgotten: bool, home: Path, run: Run, tmp_path: Path
) -> None:
    paths = write_settings(home, client)
    successful_output(run(client, "--yes"))
    for path in paths.values():
        _edit(path)
    if forgotten:
        shutil.rmtree(tmp_path / "state")

    successful_output(run(client, "--remove", "--yes"))

    for name, path in paths.items():
        former = SETTINGS_BY_CLIENT[client][name]
        left = path.read_bytes().decode()
        if not forgotten and former.strip() not in ("", "{ }"):
            assert left == _edited(former)
        assert "recollect" not in left
        assert parsed(path)["theirs" if path.suffix == ".toml" else "mine"] == {"a": 1}


def _edit(path: Path) -> None:
    path.write_bytes(_edited(path.read_bytes().decode()).encode())


def _edited(text: str) -> str:
    """Return *text* as after an edit somewhere else in it: at the front, in TOML at the end."""
    if "[mcp_servers" in text:
        return f"{text}\n\n[theirs]\na = 1\n"
    return re.sub(r"^(\ufeff?(?:\s*//.*\n)*\s*){", r'\1{ "mine": {"a": 1}, ', text, count=1)


def test_user_changes_beside_our_hooks_survive_removal(home: Path, run: Run) -> None:
    paths = write_settings(home, "claude-code")
    settings = paths[".claude/settings.json"]
    successful_output(run("claude-code", "--yes"))
    value = parsed(settings)
    value["hooks"]["SessionStart"][-1]["hooks"].insert(0, {"type": "command", "command": "mine"})
    value["hooks"]["SessionEnd"].append({"hooks": [{"type": "command", "command": "also mine"}]})
    settings.write_text(json.dumps(value, indent=4), encoding="utf-8")

    successful_output(run("claude-code", "--remove", "--yes"))

    left = parsed(settings)
    assert left["hooks"]["SessionStart"][1:] == [
        {"hooks": [{"type": "command", "command": "mine"}]}
    ]
    assert left["hooks"]["SessionEnd"] == [{"hooks": [{"type": "command", "command": "also mine"}]}]
    assert left["hooks"]["PostToolUse"] == []
    assert "PreCompact" not in left["hooks"]
    assert left["env"] == {"API_KEY": "not-for-anybody"}


def test_a_line_that_somebody_made_more_of_stays_theirs(home: Path, run: Run) -> None:
    hooks = home / ".cursor" / "hooks.json"
    hooks.parent.mkdir()
    line = "recollect hook stop --client cursor; ./notify.sh"
    hooks.write_text(json.dumps({"version": 1, "hooks": {"stop": [{"command": line}]}}))
    before = hooks.read_bytes()

    successful_output(run("cursor", "--yes"))
    assert parsed(hooks)["hooks"]["stop"] == [{"command": line}]
    successful_output(run("cursor", "--remove", "--yes"))

    assert hooks.read_bytes() == before


def test_a_file_made_for_us_stays_once_the_user_wrote_into_it(home: Path, run: Run) -> None:
    successful_output(run("cursor", "--yes"))
    hooks, mcp = home / ".cursor" / "hooks.json", home / ".cursor" / "mcp.json"
    value = parsed(hooks)
    value["hooks"]["stop"].append({"command": "mine"})
    hooks.write_text(json.dumps(value), encoding="utf-8")
    mcp.write_text(json.dumps(parsed(mcp), indent=8), encoding="utf-8")

    successful_output(run("cursor", "--remove", "--yes"))

    assert parsed(hooks) == {"version": 1, "hooks": {"stop": [{"command": "mine"}]}}
    assert not mcp.exists()


def test_a_file_that_says_all_of_it_already_need_not_be_writable(home: Path, run: Run) -> None:
    path = write_settings(home, "zed")[".config/zed/settings.json"]
    successful_output(run("zed", "--yes"))
    path.chmod(0o444)

    assert "set up already" in successful_output(run("zed", "--yes"))
    assert run("zed", "--remove", "--yes").exit_code == 1


@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor"])
def test_hooks_run_the_command_for_each_event_of_the_client(
    client: str, home: Path, run: Run
) -> None:
    file = BY_NAME[client].files[1]
    successful_output(run(client, "--yes"))
    value = parsed(
        home / Path(file.user_paths[0].replace("{home}", ".").replace("{", ".").replace("}", ""))
    )

    for event, hook in file.events.items():
        [entry] = value["hooks"][event]
        line = entry["hooks"][0]["command"] if file.hooks_in_groups else entry["command"]
        assert parse_hook_command(line) == [hook.event, "--client", client]
        assert entry.get("matcher", "") == hook.tools
        assert Path(line.split()[0]).is_absolute()
    assert value.get("version") == (1 if client == "cursor" else None)


def test_an_entry_of_ours_with_an_old_path_is_brought_up_to_date(home: Path, run: Run) -> None:
    folder = home / ".cursor"
    folder.mkdir()
    old = {"command": "/old/recollect", "args": ["mcp", "--trust"], "env": {"A": "b"}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"recollect": old}}))
    hook = {"command": "/old/recollect hook stop --client cursor", "timeout": 99}
    (folder / "hooks.json").write_text(json.dumps({"version": 1, "hooks": {"stop": [hook]}}))

    successful_output(run("cursor", "--yes", "--db", "~/my memory.db"))

    entry = parsed(folder / "mcp.json")["mcpServers"]["recollect"]
    [stop] = parsed(folder / "hooks.json")["hooks"]["stop"]
    assert entry["command"] != "/old/recollect"
    assert entry["args"][-4:] == ["mcp", "--trust", "--db", str(home / "my memory.db")]
    assert entry["env"] == {"A": "b"}
    assert parse_hook_command(stop["command"]) == [
        "stop", "--client", "cursor", "--db", str(home / "my memory.db")
    ]  # fmt: skip
    assert stop["timeout"] == 99
    successful_output(run("cursor", "--remove", "--yes"))
    assert parsed(folder / "mcp.json") == {}
    assert parsed(folder / "hooks.json") == {"version": 1}


def test_a_table_of_ours_with_an_old_path_is_brought_up_to_date(home: Path, run: Run) -> None:
    path = write_settings(home, "codex")[".codex/config.toml"]
    successful_output(run("codex", "--yes"))
    text = re.sub(r'command = ".*recollect"', 'command = "/old/recollect"', path.read_text())
    own = text.replace('"mcp", "--agent", "codex"]', '"mcp", "--trust"]')
    path.write_text(own, encoding="utf-8")

    successful_output(run("codex", "--yes"))

    entry = parsed(path)["mcp_servers"]["recollect"]
    assert entry["command"] != "/old/recollect"
    assert entry["args"][-2:] == ["mcp", "--trust"]
    successful_output(run("codex", "--remove", "--yes"))
    assert path.read_bytes().decode() == SETTINGS_BY_CLIENT["codex"][".codex/config.toml"]


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {"recollect": {"command": "other"}}}'),
        ("codex", ".codex/config.toml", '[mcp_servers.recollect]\nurl = "http://x"\n'),
    ],
)
def test_an_entry_of_that_name_that_is_not_ours_is_left_alone(
    client: str, name: str, text: str, home: Path, run: Run
) -> None:
    (home / name).parent.mkdir()
    (home / name).write_text(text, encoding="utf-8")
    before = contents(home)

    refused = run(client, "--yes")
    removal = run(client, "--remove", "--yes")

    assert refused.exit_code == 1
    assert "rename or remove it" in refused.output
    assert str(home / name) in refused.output
    assert successful_output(removal)
    assert contents(home) == before


def test_only_the_server_or_only_the_hooks(home: Path, run: Run) -> None:
    successful_output(run("cursor", "--yes", "--no-hooks"))
    servers_only = sorted(contents(home / ".cursor"))
    successful_output(run("cursor", "--yes"))
    successful_output(run("cursor", "--remove", "--yes", "--no-hooks"))

    assert servers_only == ["mcp.json"]
    assert "only the hooks" in successful_output(run())
    assert sorted(contents(home / ".cursor")) == ["hooks.json"]
    assert run("vscode", "--no-mcp").exit_code == 2


@pytest.mark.parametrize("client", WITH_PROJECT)
def test_one_project_alone(client: str, home: Path, run: Run) -> None:
    before = contents(home)

    said = successful_output(run(client, "--project-only", "--yes"))
    made = set(contents(home)) - set(before)
    listed = successful_output(run())
    successful_output(run(client, "--remove", "--project-only", "--yes"))

    assert "do not commit" in said
    assert made
    assert all(name.startswith("work/site/") for name in made)
    assert f"● {client} " in listed
    assert contents(home) == before


def test_a_client_without_settings_for_a_project_says_so(run: Run) -> None:
    refused = run("windsurf", "--project-only", "--yes")

    assert refused.exit_code == 1
    assert "--project-only" in refused.output


def test_the_snippet_alone_is_printed(home: Path, run: Run, tmp_path: Path) -> None:
    before = listing(tmp_path)

    told = successful_output(run("codex", "--print", "--db", "m.db"))

    toml, hooks = re.split(r"^# /.*\n", told, flags=re.MULTILINE)[1:]
    assert tomllib.loads(toml)["mcp_servers"]["recollect"]["args"][-1].endswith("site/m.db")
    assert set(json.loads(hooks)["hooks"]) == set(BY_NAME["codex"].files[1].events)
    assert listing(tmp_path) == before


def test_the_clients_are_listed_with_how_they_stand(home: Path, run: Run) -> None:
    (home / ".gemini").mkdir()
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{", encoding="utf-8")
    successful_output(run("zed", "--yes"))

    told = json.loads(successful_output(run("--json")))

    by_name = {one["client"]: one for one in told}
    assert list(by_name) == NAMES
    assert by_name["zed"]["set_up"]
    assert by_name["gemini-cli"]["found"]
    assert not by_name["gemini-cli"]["set_up"]
    assert "mcp.json" in by_name["cursor"]["trouble"]
    assert not by_name["windsurf"]["found"]
    assert "cannot" in successful_output(run()) or "was not changed" in successful_output(run())


def test_without_a_terminal_nothing_is_written_unless_told_so(
    home: Path, run: Run, tmp_path: Path
) -> None:
    before = listing(tmp_path)

    refused = run("zed")
    as_json = run("zed", "--json")

    assert refused.exit_code == as_json.exit_code == 1
    assert "--yes" in refused.output
    assert listing(tmp_path) == before
    written = json.loads(successful_output(run("zed", "--json", "--yes")))
    assert written["written"]
    assert [one["action"] for one in written["changed"]] == ["create"]


def test_a_store_named_only_in_this_shell_is_pointed_out(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_DB", "/data/mine.db")

    assert "--db writes it into the settings" in successful_output(run("zed", "--yes"))


def test_an_unknown_client_is_told_which_there_are(run: Run) -> None:
    refused = run("emacs")

    assert refused.exit_code == 2
    assert all(name in refused.output for name in NAMES)


def test_the_folders_of_other_configurations_are_respected(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "other"))
    monkeypatch.setenv("CODEX_HOME", "~/codex")

    successful_output(run("claude-code", "--yes"))
    successful_output(run("codex", "--yes"))

    made = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert made == {
        "other/.claude.json", "other/settings.json", "codex/config.toml", "codex/hooks.json"
    }  # fmt: skip


@pytest.mark.door
@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("n\n", False)])
def test_in_a_terminal_the_change_is_shown_and_asked_about(
    answer: str, written: bool, home: Path, path: Path
) -> None:
    told = in_terminal("recollect", "setup", "zed", env=environment(path), typed=answer)

    assert '+  "context_servers": {' in told.text
    assert "Write this?" in told.text
    assert (told.code == 0) == written
    assert (home / ".config" / "zed" / "settings.json").exists() == written


def test_the_plugin_is_copied_once_and_only_to_a_folder_of_its_own(
    home: Path, run: Run, tmp_path: Path
) -> None:
    shown = successful_output(run("plugin", "mine", "--dry-run"))
    before = list(Path("mine").parent.iterdir())
    successful_output(run("plugin", "mine"))
    again = successful_output(run("plugin", "mine"))
    Path("other").mkdir()
    Path("other/README.md").write_text("theirs", encoding="utf-8")
    refused = run("plugin", "other")

    assert "would be written" in shown
    assert before == []
    assert "+" not in again
    assert (Path("mine") / "skills" / "recollect-memory" / "SKILL.md").is_file()
    assert (Path("mine") / ".claude-plugin" / "plugin.json").is_file()
    assert refused.exit_code == 1
    assert run("plugin").exit_code == 2


def test_another_plugin_is_not_written_over(home: Path, run: Run) -> None:
    manifest = Path("theirs/.claude-plugin/plugin.json")
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "theirs"}', encoding="utf-8")
    before = contents(Path("theirs"))

    refused = run("plugin", "theirs", "--yes")

    assert refused.exit_code == 1
    assert "not a copy of this plugin" in refused.output
    assert contents(Path("theirs")) == before


def test_a_copy_of_the_plugin_that_was_changed_is_not_written_over_unasked(
    home: Path, run: Run
) -> None:
    successful_output(run("plugin", "mine"))
    skill = Path("mine/skills/recollect-memory/SKILL.md")
    whole = skill.read_text(encoding="utf-8")
    skill.write_text("my own words", encoding="utf-8")

    refused = run("plugin", "mine")
    assert refused.exit_code == 1
    assert "-my own words" in refused.output
    assert "--yes" in refused.output
    successful_output(run("plugin", "mine", "--dry-run"))
    assert skill.read_text(encoding="utf-8") == "my own words"
    successful_output(run("plugin", "mine", "--yes"))

    assert skill.read_text(encoding="utf-8") == whole


def test_without_a_script_no_file_of_the_project_stands_in_for_a_module(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alone = tmp_path / "bin" / "python"
    alone.parent.mkdir()
    alone.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(alone))

    entry = json.loads(
        re.sub(r"^#.*\n", "", successful_output(run("cursor", "--print", "--no-hooks")))
    )

    args = entry["mcpServers"]["recollect"]["args"]
    assert args == ["-P", "-m", "recollect", "mcp", "--agent", "cursor"]
