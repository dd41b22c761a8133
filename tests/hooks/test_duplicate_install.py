"""With the plugin and with `recollect setup` an event reaches us twice; it is answered once."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import recollect
from hook_clients import CLAUDE_CODE, HookHome

pytestmark = pytest.mark.door

TOLD = "Answers are to be short."


@pytest.fixture
def home(tmp_path: Path) -> HookHome:
    """A person with something remembered, whose Claude Code keeps its settings apart."""
    folder = tmp_path / "claude"
    folder.mkdir()
    created = HookHome(tmp_path, {"CLAUDE_CONFIG_DIR": str(folder), "HOME": str(tmp_path)})
    with recollect.open(created.db, embedding_backend="none") as rec:
        rec.ingest(TOLD, type="profile", scope="global")
    return created


def set_up(home: HookHome, *options: str) -> None:
    command = (sys.executable, "-m", "recollect", "setup", "claude-code", "--yes", *options)
    subprocess.run(
        command, env=home.env(), cwd=home.project("site"), check=True, capture_output=True
    )


def starts(home: HookHome) -> str:
    begun = CLAUDE_CODE.payload("one", home.project("site"), None) | {"source": "startup"}
    return home.run_hook(CLAUDE_CODE.start, begun, "--client", "claude-code").injected_text


@pytest.mark.parametrize("where", ["--user", "--project-only"])
def test_the_plugins_hook_leaves_the_event_to_the_one_in_the_settings(
    home: HookHome, where: str
) -> None:
    site = str(home.project("site"))
    settings = replace(home, extra_env={**home.extra_env, "CLAUDE_PROJECT_DIR": site})
    plugin = replace(
        settings, extra_env={**settings.extra_env, "CLAUDE_PLUGIN_ROOT": str(home.folder)}
    )

    assert TOLD in starts(plugin)
    set_up(home, where)
    assert starts(plugin) == ""
    assert "skipped: the client's settings run the same hook" in home.log
    assert TOLD in starts(settings)
    set_up(home, where, "--remove")
    assert TOLD in starts(plugin)
