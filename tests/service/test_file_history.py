"""What git knows of a file, from real repositories, hostile ones too."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.domain.file import Commit
from recollect.errors import InvalidInput
from recollect.service.disk.file_history import file_history

pytestmark = pytest.mark.door


def git(folder: Path, *words: str, given: str = "") -> str:
    """Run git in *folder* as somebody with a fixed name and time."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "Ada Löwe" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_DATE": "2026-05-08T14:00:00+02:00" for who in ("AUTHOR", "COMMITTER")},
    }
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env=env,
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path, name: str, text: str, subject: str) -> str:
    """Write a file, commit it and return the commit's hash."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "--literal-pathspecs", "add", "--", name)
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


def sign(folder: Path) -> None:
    """Make the last commit look signed, so that git would ask its program about it."""
    header, _, message = git(folder, "cat-file", "commit", "HEAD").partition("\n\n")
    mark = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = f"{header}\n{mark}\n\n{message}\n"
    made = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", given=signed)
    git(folder, "reset", "-q", "--soft", made)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Where the machine is busy, git may need longer than a person would wait for it.
    monkeypatch.setattr("recollect.service.disk.file_history.TIME_LIMIT_S", 60.0)
    folder = tmp_path.resolve() / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def subjects(path: Path, root: Path, limit: int = 5) -> list[str]:
    return [one.subject for one in file_history(path, roots=[root], limit=limit)]


def test_the_last_commits_of_a_file_come_newest_first(repo: Path) -> None:
    first = commit(repo, "a.txt", "one\n", "Add a")
    commit(repo, "b.txt", "other\n", "Add b")
    second = commit(repo, "a.txt", "two\n", "Change a\n\nA body that is not shown.")
    at = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)

    assert file_history(repo / "a.txt", roots=[repo]) == (
        Commit(hash=second, authored_at=at, author="Ada Löwe", subject="Change a"),
        Commit(hash=first, authored_at=at, author="Ada Löwe", subject="Add a"),
    )


def test_a_file_is_followed_through_renames(repo: Path) -> None:
    commit(repo, "old.txt", "a long enough text to be known again\n" * 5, "Add old")
    git(repo, "mv", "old.txt", "new.txt")
    git(repo, "commit", "-q", "-m", "Rename")

    assert subjects(repo / "new.txt", repo) == ["Rename", "Add old"]


def test_no_more_commits_come_than_asked_for(repo: Path) -> None:
    for number in range(4):
        commit(repo, "a.txt", str(number), f"Change {number}")

    assert subjects(repo / "a.txt", repo, limit=2) == ["Change 3", "Change 2"]
    with pytest.raises(InvalidInput, match="limit"):
        file_history(repo / "a.txt", roots=[repo], limit=0)


@pytest.mark.parametrize("name", ["-p", ":(top)x", "*.txt", "a b\nc", "ünï.txt", "sub/--output=x"])
def test_a_name_is_a_name_and_never_an_option_or_a_pattern(repo: Path, name: str) -> None:
    commit(repo, "other.txt", "x", "Add other")
    commit(repo, name, "y", "Add it")

    assert subjects(repo / name, repo) == ["Add it"]
    assert not (repo / "x").exists()


def test_a_root_below_the_checkout_is_enough(repo: Path) -> None:
    commit(repo, "sub/a.txt", "x", "Add a")

    assert subjects(Path("a.txt"), repo / "sub") == ["Add a"]


def test_a_worktree_has_the_history_of_its_repository(repo: Path) -> None:
    commit(repo, "a.txt", "x", "Add a")
    git(repo, "worktree", "add", "-q", "../tree")

    assert subjects(repo.parent / "tree" / "a.txt", repo.parent / "tree") == ["Add a"]


def test_the_path_must_lie_in_the_roots(repo: Path) -> None:
    commit(repo, "a.txt", "x", "Add a")
    (repo / "sub").mkdir()

    with pytest.raises(InvalidInput, match="outside"):
        file_history(repo / "a.txt", roots=[repo / "sub"])


def test_there_is_no_history_without_a_repository_a_commit_or_a_file(
    repo: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.txt").write_text("x")
    (repo / "new.txt").write_text("x")

    assert file_history(plain / "a.txt", roots=[plain]) == ()
    assert file_history(repo / "new.txt", roots=[repo]) == ()
    assert file_history(repo / "none.txt", roots=[repo]) == ()


@pytest.mark.parametrize("config", ["[broken", "[core]\n\trepositoryformatversion = 99\n"])
def test_there_is_no_history_in_a_damaged_repository(repo: Path, config: str) -> None:
    commit(repo, "a.txt", "x", "Add a")
    (repo / ".git" / "config").write_text(config)

    assert file_history(repo / "a.txt", roots=[repo]) == ()


def test_there_is_no_history_without_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, "a.txt", "x", "Add a")
    monkeypatch.setenv("PATH", str(repo / "nothing-here"))

    assert file_history(repo / "a.txt", roots=[repo]) == ()


def test_there_is_no_history_from_a_git_that_takes_too_long(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repo, "a.txt", "x", "Add a")
    slow = repo / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("recollect.service.disk.file_history.TIME_LIMIT_S", 0.05)

    assert file_history(repo / "a.txt", roots=[repo]) == ()


def test_what_git_was_told_about_another_repository_does_not_matter(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repo, "a.txt", "x", "Add a")
    monkeypatch.setenv("GIT_DIR", str(repo.parent / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")

    assert subjects(repo / "a.txt", repo) == ["Add a"]


def test_the_configuration_of_a_checkout_runs_no_program(repo: Path) -> None:
    commit(repo, "a.txt", "x", "Add a")
    sign(repo)
    trap = repo.parent / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {repo.parent}/sprung\nexit 1\n")
    trap.chmod(0o755)
    for setting in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "pager.log"):
        git(repo, "config", setting, str(trap))
    git(repo, "config", "log.showSignature", "true")
    git(repo, "config", "alias.log", f"!{trap}")
    git(repo, "config", "diff.x.textconv", str(trap))
    git(repo, "config", "diff.x.command", str(trap))
    (repo / ".gitattributes").write_text("*.txt diff=x\n")

    assert subjects(repo / "a.txt", repo) == ["Add a"]
    assert not (repo.parent / "sprung").exists()


def test_a_subject_is_cut_and_shown_without_secrets(repo: Path) -> None:
    commit(repo, "a.txt", "x", "Set token ghp_" + "a1B2" * 9 + " " + "word " * 400)

    [subject] = subjects(repo / "a.txt", repo)

    assert subject.startswith("Set token [redacted:github-token]")
    assert len(subject) <= 220
