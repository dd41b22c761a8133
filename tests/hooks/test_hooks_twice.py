"""With the plugin and with `recollect setup` an event reaches us twice; it is answered once."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import recollect
from hooked import CLAUDE_CODE, Home

TOLD = "Answers are to be short."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A person with something remembered, whose Claude Code keeps its settings apart."""
    folder = tmp_path / "claude"
    folder.mkdir()
    made = Home(tmp_path, {"CLAUDE_CONFIG_DIR": str(folder), "HOME": str(tmp_path)})
    with recollect.open(made.db, embedding_backend="none") as memory:
        memory.ingest(TOLD, type="profile", scope="global")
    return made


def set_up(home: Home, *options: str) -> None:
    command = (sys.executable, "-m", "recollect", "setup", "claude-code", "--yes", *options)
    subprocess.run(
        command, env=home.env(), cwd=home.project("site"), check=True, capture_output=True
    )


def starts(home: Home) -> str:
    begun = CLAUDE_CODE.told("one", home.project("site"), None) | {"source": "startup"}
    return home.hook(CLAUDE_CODE.start, begun, "--client", "claude-code").said


@pytest.mark.parametrize("where", ["--user", "--project-only"])
def test_the_plugins_hook_leaves_the_event_to_the_one_in_the_settings(
    home: Home, where: str
) -> None:
    site = str(home.project("site"))
    settings = replace(home, more={**home.more, "CLAUDE_PROJECT_DIR": site})
    plugin = replace(settings, more={**settings.more, "CLAUDE_PLUGIN_ROOT": str(home.folder)})

    assert TOLD in starts(plugin)
    set_up(home, where)
    assert starts(plugin) == ""
    assert "left to the hook in the client's settings" in home.log
    assert TOLD in starts(settings)
    set_up(home, where, "--remove")
    assert TOLD in starts(plugin)
