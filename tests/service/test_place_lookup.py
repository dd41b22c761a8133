"""A place is known by its git remote, else by its root; a plain name is neither of them."""

import contextlib
from pathlib import Path

import pytest

from git_worktrees import linked_worktree
from recollect import InvalidInput, LocalRecollect, NotFound
from recollect.service.disk.git_checkout import find_checkout
from support import open_memory


def checkout(root: Path, remote: str = "") -> Path:
    """Make a folder look like a git checkout."""
    (root / ".git").mkdir(parents=True)
    config = "[core]\n\tbare = false\n"
    if remote:
        config += '[remote "upstream"]\n\turl = git@other.example:x/y.git\n'
        config += f'[remote "origin"]\n\turl = {remote}\n'
    (root / ".git" / "config").write_text(config)
    return root


def contents(rec: LocalRecollect, **where: object) -> list[str]:
    return [hit.memory.content for hit in rec.search("fact", **where)]  # type: ignore[arg-type]


def test_clones_of_one_remote_are_one_project_whatever_the_url_looks_like(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    here = checkout(tmp_path / "here", "git@github.com:Acme/Site.git")
    there = checkout(tmp_path / "elsewhere" / "work", "https://token@github.com/acme/site")
    rec.ingest("a fact of the site", project=here)

    assert contents(rec, project=there) == ["a fact of the site"]
    assert contents(rec, project=str(here / "src" / "deep")) == ["a fact of the site"]
    assert contents(rec, project="https://github.com/acme/site.git") == ["a fact of the site"]
    assert contents(rec, project="git@ssh.github.com:acme/site") == ["a fact of the site"]
    assert [project.name for project in rec.projects.list()] == ["site"]
    assert rec.projects.list()[0].identity == "https://github.com/acme/site"


def test_a_checkout_without_a_remote_is_known_by_its_root_and_keeps_its_memory_when_it_gets_one(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "tool")
    rec.ingest("a fact of the tool", project=root / "pkg" / "module.py")
    (root / ".git" / "config").write_text('[remote "origin"]\nurl = https://x.example/me/tool\n')
    rec.ingest("another fact", project=root)

    assert len(rec.projects.list()) == 1
    assert len(contents(rec, project="https://x.example/me/tool")) == 2


def test_two_remotes_with_the_same_last_name_are_two_projects(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    first = checkout(tmp_path / "1", "https://github.com/acme/site")
    two = checkout(tmp_path / "2", "https://github.com/other/site")
    rec.ingest("a fact of acme", project=first)
    rec.ingest("a fact of other", project=two)

    assert contents(rec, project=first) == ["a fact of acme"]
    assert contents(rec, project=two) == ["a fact of other"]
    assert [project.name for project in rec.projects.list()] == ["site", "site"]
    assert [project.identity for project in rec.projects.list()] == [
        "https://github.com/acme/site",
        "https://github.com/other/site",
    ]


def test_a_clone_does_not_own_the_name_that_a_person_uses(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    clone = checkout(tmp_path / "payments", "https://github.com/evil/payments")
    folder = tmp_path / "x" / "payments"
    folder.mkdir(parents=True)
    rec.ingest("a fact of evil", project=clone)
    rec.ingest("a fact of the folder", project=folder)
    rec.ingest("a fact of evil's repo", repo=clone)

    assert contents(rec, project="payments") == []
    assert contents(rec, repo="payments") == []
    rec.ingest("a fact of the person", project="payments")
    assert contents(rec, project="payments") == ["a fact of the person"]
    assert set(contents(rec, project=clone)) == {"a fact of evil", "a fact of evil's repo"}
    assert contents(rec, project=folder) == ["a fact of the folder"]
    assert sorted(project.identity for project in rec.projects.list()) == sorted(
        ["payments", "https://github.com/evil/payments", str(folder)]
    )


def test_ports_and_the_case_of_paths_tell_projects_apart(rec: LocalRecollect) -> None:
    remotes = [
        "https://git.acme.io/acme/x",
        "https://git.acme.io/Acme/x",
        "https://git.acme.io:8443/acme/x",
    ]
    for remote in remotes:
        rec.ingest(f"a fact of {remote}", project=remote)

    for remote in remotes:
        assert contents(rec, project=remote) == [f"a fact of {remote}"]


def test_a_linked_name_and_repository_are_one_project_until_unlinked(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    clone = checkout(tmp_path / "payments", "https://github.com/acme/payments")
    rec.ingest("a fact of the clone", project=clone)
    rec.ingest("a fact of the repo", repo=clone)
    rec.ingest("a fact of the person", project="payments")
    rec.blocks.create("stack", "Python", project=clone)
    before = {"a fact of the clone", "a fact of the repo"}

    main = rec.projects.link("payments", clone)
    rec.ingest("a fact from then on", project=clone)
    together = {*before, "a fact of the person", "a fact from then on"}

    assert main.identity == "payments"
    for reference in ("payments", clone, "https://github.com/acme/payments", main.id):
        assert set(contents(rec, project=reference)) == together
    assert [block.value for block in rec.blocks.list(project="payments")] == ["Python"]

    rec.projects.unlink(clone)
    assert set(contents(rec, project=clone)) == before
    assert set(contents(rec, project="payments")) == together - before


def test_links_of_links_end_in_one_project_and_nonsense_is_refused(rec: LocalRecollect) -> None:
    for name in ("a", "b", "c"):
        rec.ingest(f"a fact of {name}", project=name)
    rec.projects.link("b", "c")
    rec.projects.link("a", "b")

    for name in ("a", "b", "c"):
        assert len(contents(rec, project=name)) == 3
    assert rec.projects.link("c", "b").identity == "a"
    for main, other in (("a", "a"), ("c", "a")):
        with pytest.raises(InvalidInput, match="same project"):
            rec.projects.link(main, other)
    with pytest.raises(InvalidInput, match="not linked"):
        rec.projects.unlink("a")
    with pytest.raises(NotFound, match="project list"):
        rec.projects.unlink("nowhere")


def test_a_plain_folder_is_a_project_too(rec: LocalRecollect, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    rec.ingest("a fact in a folder", project=folder)

    assert contents(rec, project=str(folder)) == ["a fact in a folder"]
    assert contents(rec, project=tmp_path / "other") == []


def test_a_repo_belongs_to_a_project_that_sees_its_memory(rec: LocalRecollect) -> None:
    rec.ingest("a fact of the backend", scope="repo", project="shop", repo="backend")
    rec.ingest("a fact of the frontend", scope="repo", project="shop", repo="frontend")
    rec.ingest("a fact of the shop", project="shop")

    assert set(contents(rec, project="shop")) == {
        "a fact of the backend",
        "a fact of the frontend",
        "a fact of the shop",
    }
    assert set(contents(rec, project="shop", repo="backend")) == {
        "a fact of the backend",
        "a fact of the shop",
    }
    assert set(contents(rec, repo="backend")) == {"a fact of the backend", "a fact of the shop"}
    assert contents(rec, repo="unknown") == []


def test_a_repo_alone_makes_its_project(rec: LocalRecollect) -> None:
    memory = rec.ingest("a fact of the tool", repo="tool")
    wide = rec.ingest("a fact for the whole project", repo="tool", scope="project")

    assert memory.scope == "repo"
    assert [project.name for project in rec.projects.list()] == ["tool"]
    assert memory.project_id == wide.project_id is not None


def test_repos_of_one_name_in_one_project_are_kept_apart(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    one = checkout(tmp_path / "1", "https://a.example/x/web")
    two = checkout(tmp_path / "2", "https://b.example/y/web")
    first = rec.ingest("a fact of one", project="p", repo=one)
    second = rec.ingest("a fact of two", project="p", repo=two)

    assert first.repo_id != second.repo_id
    assert contents(rec, repo=one) == ["a fact of one"]


def test_looking_creates_nothing(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.search("anything", project="ghost", repo="ghost", agent="ghost", session="ghost")
    rec.context_for("anything", project=checkout(tmp_path / "g", "https://x.example/a/b"))

    assert rec.projects.list() == []
    assert rec.maintenance.status().counts["agents"] == 0


def test_agents_and_sessions_keep_to_themselves(rec: LocalRecollect) -> None:
    rec.ingest("a fact of anna", agent="anna")
    rec.ingest("a fact of this session", session="s1")

    assert contents(rec, agent="anna") == ["a fact of anna"]
    assert contents(rec, session="s1") == ["a fact of this session"]
    assert contents(rec, agent="bert", session="s2") == []
    assert contents(rec) == []
    assert len(contents(rec, everywhere=True)) == 2


@pytest.mark.parametrize(
    ("layout", "expected"),
    [("worktree", "host.example/acme/tree"), ("submodule", "host.example/acme/sub")],
)
def test_worktrees_and_submodules_are_followed_to_their_remote(
    tmp_path: Path, layout: str, expected: str
) -> None:
    main = checkout(tmp_path / "main", f"https://{expected}.git")
    linked = tmp_path / "linked"
    linked.mkdir()
    if layout == "worktree":
        inner = main / ".git" / "worktrees" / "linked"
        inner.mkdir(parents=True)
        (inner / "commondir").write_text("../..\n")
        (linked / ".git").write_text(f"gitdir: {inner}\n")
    else:
        (linked / ".git").write_text("gitdir: ../main/.git\n")

    found = find_checkout(linked)

    assert found.root == linked.resolve()
    assert found.remote == expected


def test_worktrees_of_a_repository_without_a_remote_are_one_project(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    main = tmp_path / "main"
    (main / ".git").mkdir(parents=True)
    worktree = linked_worktree(main, tmp_path / "elsewhere" / "feature")
    rec.ingest("The build uses pnpm.", project=worktree)

    [hit] = rec.search("what does the build use?", project=main)
    assert hit.memory.content == "The build uses pnpm."
    assert [project.identity for project in rec.projects.list()] == [str(main)]
    assert find_checkout(worktree).root == worktree


def test_a_folder_that_only_claims_to_be_a_worktree_is_a_project_of_its_own(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    main = tmp_path / "main"
    (main / ".git").mkdir(parents=True)
    linked_worktree(main, tmp_path / "feature")
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / ".git").write_text(f"gitdir: {main / '.git' / 'worktrees' / 'feature'}\n")
    rec.ingest("The build uses pnpm.", project=main)

    assert rec.search("what does the build use?", project=hostile) == []
    assert find_checkout(hostile).main_root == hostile


def test_a_remote_that_is_no_address_is_no_remote(tmp_path: Path) -> None:
    root = checkout(tmp_path / "odd", "https://[acme/site")

    assert find_checkout(root).remote == ""


def test_a_home_that_does_not_exist_is_said_to_be_unknown(rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput, match="home folder"):
        rec.search("anything", project="~no-such-user-anywhere/site")


def test_a_broken_git_folder_is_only_a_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("nonsense")

    assert find_checkout(tmp_path).remote == ""


def test_places_survive_reopening(path: Path, tmp_path: Path) -> None:
    root = checkout(tmp_path / "src", "ssh://git@host.example:22/acme/site.git")
    with open_memory(path) as rec:
        rec.ingest("a fact of the site", project=root)
    with open_memory(path) as rec:
        assert contents(rec, project=root) == ["a fact of the site"]


def test_a_folder_reused_for_another_repository_does_not_inherit_its_memory(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "work", "https://github.com/acme/one")
    rec.ingest("a fact of one", project=root)
    (root / ".git" / "config").write_text('[remote "origin"]\nurl = https://github.com/acme/two\n')

    assert contents(rec, project=root) == []
    rec.ingest("a fact of two", project=root)
    assert contents(rec, project="https://github.com/acme/one") == ["a fact of one"]
    assert contents(rec, project="https://github.com/acme/two") == ["a fact of two"]


def test_a_relative_remote_is_no_common_identity(rec: LocalRecollect, tmp_path: Path) -> None:
    first = checkout(tmp_path / "one", "../up.git")
    two = checkout(tmp_path / "elsewhere" / "two", "../up.git")
    rec.ingest("a fact of one", project=first)

    assert contents(rec, project=two) == []
    assert contents(rec, project=first) == ["a fact of one"]


def test_a_repo_is_not_found_in_a_project_that_does_not_exist(rec: LocalRecollect) -> None:
    rec.ingest("a fact of alpha's web", project="alpha", repo="web")

    assert contents(rec, project="nowhere", repo="web") == []


def test_a_name_that_looks_like_a_secret_is_refused(rec: LocalRecollect) -> None:
    secret = "ghp_" + "a1B2" * 9
    for place in ("project", "repo", "agent", "session"):
        with pytest.raises(InvalidInput, match="looks like a secret"):
            rec.ingest("fine", **{place: secret})  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="looks like a secret"):
        rec.views.save(secret, "q")


@pytest.mark.parametrize(
    "written", ["/" + "x" * 3000, "/a\x7f/../b", "./loop"], ids=["long", "odd", "loop"]
)
def test_a_path_that_cannot_be_looked_at_is_invalid_input_or_unknown(
    rec: LocalRecollect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    checkout: list[str] = []
    with contextlib.suppress(InvalidInput):
        checkout = contents(rec, project=written)

    assert checkout == []
