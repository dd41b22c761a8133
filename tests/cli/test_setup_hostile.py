"""Settings that cannot be changed safely, and disks that fail: nothing is half done."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from recollect.cli.main import main
from settings_files import (
    Run,
    contents,
    listing,
    run_setup,
    successful_output,
    use_home,
    write_settings,
)

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


HOSTILE: dict[str, Callable[[Path], object]] = {
    "invalid": lambda path: path.write_text('{"mcpServers": {', encoding="utf-8"),
    "not an object": lambda path: path.write_text("[]", encoding="utf-8"),
    "only a comment": lambda path: path.write_text("// nothing", encoding="utf-8"),
    "not text": lambda path: path.write_bytes(b"\xff\xfe{\0}\0"),
    "a folder": lambda path: path.mkdir(),
    "a link to nothing": lambda path: path.symlink_to(path.with_name("nothing")),
    "a link to itself": lambda path: path.symlink_to(path),
    "a pipe": lambda path: os.mkfifo(path),
    "a list of servers": lambda path: path.write_text('{"mcpServers": []}', encoding="utf-8"),
    "the key twice": lambda path: path.write_text(
        '{"mcpServers": {}, "mcpServers": {}}', encoding="utf-8"
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("dry", [True, False])
def test_a_file_that_cannot_be_changed_safely_stops_everything(
    kind: str, dry: bool, home: Path, run: Run
) -> None:
    (home / ".cursor").mkdir()
    HOSTILE[kind](home / ".cursor" / "mcp.json")
    before = sorted(home.rglob("*"))

    refused = run("cursor", "--dry-run" if dry else "--yes")

    assert refused.exit_code == 1
    assert "mcp.json" in refused.output
    assert len(refused.output.splitlines()) == 1
    assert sorted(home.rglob("*")) == before


@pytest.mark.parametrize("option", ["--yes", "--dry-run"])
def test_a_read_only_file_is_left_alone(option: str, home: Path, run: Run) -> None:
    path = write_settings(home, "zed")[".config/zed/settings.json"]
    path.chmod(0o444)
    before = listing(home)

    refused = run("zed", option)

    assert refused.exit_code == 1
    assert "read-only" in refused.output
    assert listing(home) == before


def test_a_broken_second_file_leaves_the_first_alone(home: Path, run: Run) -> None:
    write_settings(home, "claude-code")
    (home / ".claude" / "settings.json").write_text("{,}", encoding="utf-8")
    before = listing(home)

    assert run("claude-code", "--yes").exit_code == 1
    assert listing(home) == before


def test_a_file_that_cannot_take_its_place_puts_the_others_back(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_settings(home, "claude-code")
    before = contents(tmp_path)
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "settings.json":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    refused = run("claude-code", "--yes")

    assert refused.exit_code == 1
    assert "nothing was changed" in refused.output
    assert contents(tmp_path) == before


def test_a_link_to_the_real_settings_is_followed_and_stays(home: Path, run: Run) -> None:
    path = write_settings(home, "zed")[".config/zed/settings.json"]
    real = home / "dotfiles" / "zed.json"
    real.parent.mkdir()
    path.rename(real)
    path.symlink_to(real)
    before = real.read_bytes()

    successful_output(run("zed", "--yes"))
    changed = real.read_bytes()
    link = path.is_symlink()
    successful_output(run("zed", "--remove", "--yes"))

    assert changed != before
    assert link
    assert path.is_symlink()
    assert real.read_bytes() == before


def test_a_file_made_for_us_and_moved_behind_a_link_is_not_removed(home: Path, run: Run) -> None:
    successful_output(run("zed", "--yes"))
    path = home / ".config" / "zed" / "settings.json"
    real = path.rename(home / "zed.json")
    path.symlink_to(real)

    successful_output(run("zed", "--remove", "--yes"))

    assert path.is_symlink()
    assert "recollect" not in real.read_text(encoding="utf-8")
    assert successful_output(run("zed", "--yes"))


def test_what_another_set_up_remembers_meanwhile_is_not_lost(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fsync = os.fsync
    others = ["vscode"]

    def slow(opened: int) -> None:
        fsync(opened)
        if others:
            successful_output(CliRunner().invoke(main, ["setup", others.pop(), "--yes"]))

    monkeypatch.setattr(os, "fsync", slow)
    refused = run("zed", "--yes")

    assert "run this again" in refused.output
    assert not (home / ".config" / "zed").exists()
    successful_output(run("zed", "--yes"))
    for client in ("zed", "vscode"):
        successful_output(run(client, "--remove", "--yes"))
    assert not list(home.rglob("*.json"))


def test_the_record_keeps_no_secret_of_the_settings(home: Path, run: Run, tmp_path: Path) -> None:
    write_settings(home, "claude-code")
    successful_output(run("claude-code", "--yes"))
    record = tmp_path / "state" / "recollect" / "setup.json"

    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert "not-for-anybody" not in record.read_text(encoding="utf-8")
    assert "ana@example.com" not in record.read_text(encoding="utf-8")


def test_a_damaged_record_is_done_without(home: Path, run: Run, tmp_path: Path) -> None:
    write_settings(home, "vscode")
    successful_output(run("vscode", "--yes"))
    (tmp_path / "state" / "recollect" / "setup.json").write_text('{"files": 1}', encoding="utf-8")

    successful_output(run("vscode", "--remove", "--yes"))

    assert "recollect" not in (home / ".config/Code/User/mcp.json").read_text(encoding="utf-8")
