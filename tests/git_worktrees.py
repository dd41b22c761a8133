"""Worktrees of git repositories, made without git."""

from pathlib import Path


def linked_worktree(main: Path, folder: Path) -> Path:
    """Make a worktree of *main* as git does: each knows the other."""
    inner = main / ".git" / "worktrees" / folder.name
    inner.mkdir(parents=True)
    folder.mkdir(parents=True)
    (inner / "commondir").write_text("../..\n")
    (inner / "gitdir").write_text(f"{folder / '.git'}\n")
    (folder / ".git").write_text(f"gitdir: {inner}\n")
    return folder
