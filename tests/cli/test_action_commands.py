"""The commands `blame`, `fix` and `how`, as a person runs them in different folders."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from git_worktrees import linked_worktree
from recollect.cli.main import main
from recorded_sessions import RecordedSession
from support import open_memory

Run = Callable[..., str]

ERROR = "ModuleNotFoundError: No module named 'httpx'"


@pytest.fixture
def repository(path: Path, tmp_path: Path) -> Path:
    """A repository with a file that a captured session changed, and with a worktree."""
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    for folder in (root, linked_worktree(root, tmp_path / "fix")):
        (folder / "src").mkdir()
        (folder / "src" / "vat.py").touch()
    session = RecordedSession().say("We decided to keep VAT rounding in vat.py.")
    session.edit(str(root / "src" / "vat.py")).run("pytest -q", ERROR, failed=True)
    session.run("uv run pytest -q", "3 passed")
    with open_memory(path, words_only=True) as rec:
        rec.capture_session(session.text(), project=root)
        rec.drain()
    return root


@pytest.fixture
def run(path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder, and return what it prints."""

    def invoke(folder: Path, *args: str) -> str:
        monkeypatch.chdir(folder)
        settings = {"RECOLLECT_DB": str(path), "RECOLLECT_EMBEDDING_BACKEND": "none"}
        result = CliRunner().invoke(main, args, env=settings)
        assert result.exit_code == 0, result.output
        return result.output

    return invoke


def test_blame_finds_a_file_from_wherever_it_is_named(repository: Path, run: Run) -> None:
    src, worktree = repository / "src", repository.parent / "fix"
    for folder, name in [
        (repository, "src/vat.py"),
        (src, "vat.py"),
        (src, "../src/vat.py"),
        (repository.parent, "shop/src/vat.py"),
        (worktree, "src/vat.py"),
        (worktree, str(worktree / "src" / "vat.py")),
    ]:
        output = run(folder, "blame", name)

        assert "changed  session s-1" in output, (folder, name)
        assert "We decided to keep VAT rounding in vat.py." in output


def test_fix_and_how_answer_in_a_worktree(repository: Path, run: Run) -> None:
    worktree = repository.parent / "fix"

    assert "✓ uv run pytest -q" in run(worktree, "fix", ERROR)
    assert "✓ uv run pytest -q" in run(worktree, "how", "pytest")


@pytest.mark.parametrize("command", [("blame", "vat.py"), ("fix", ERROR), ("how", "pytest")])
def test_a_name_that_only_a_folder_has_is_explained(
    repository: Path, run: Run, command: tuple[str, str]
) -> None:
    output = run(repository.parent, *command, "--project", "shop")

    assert output.startswith("No ")
    assert "recollect project link shop URL" in output
