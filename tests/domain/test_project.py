"""How a place is written, and how the same place is known again."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.domain.project import (
    MAX_NAME,
    ByName,
    ByPath,
    ByRemote,
    Project,
    Reference,
    moved_folder_hint,
    normalise_remote,
    parse_reference,
    project_label,
    project_labels,
    remote_url,
    unknown_name_hint,
)
from recollect.errors import InvalidInput
from tables import each_row

SITE = "github.com/acme/site"
SAME_REPOSITORY = [
    "git@github.com:acme/site.git",
    "git@github.com:acme/site",
    "git@github.com:/acme/site.git",
    "git@github.com:Acme/Site.git",
    "org-1234@github.com:acme/site.git",
    "github.com:acme/site.git",
    "ssh://git@github.com/acme/site.git",
    "ssh://git@github.com:22/acme/site/",
    "ssh://git@ssh.github.com:443/acme/site.git",
    "ssh://git@ssh.github.com/acme/site.git",
    "git@ssh.github.com:acme/site.git",
    "https://www.github.com/acme/site",
    "git://github.com:9418/acme/site.git",
    "http://github.com:80/acme/site.git",
    "git+ssh://git@github.com/acme/site.git",
    "git://github.com/acme/site.git",
    "http://github.com/acme/site",
    "https://github.com/acme/site",
    "https://github.com/acme/site/",
    "https://github.com/acme/site.git",
    "https://github.com/acme/site.git/",
    "https://github.com:443/acme/site.git",
    "https://ana@github.com/acme/site.git",
    "https://ana:hunter2@github.com/acme/site.git",
    "https://x-access-token:t0ken@github.com/acme/site.git",
    "https://ana:p@ss@github.com/acme/site.git",
    "HTTPS://GitHub.com/ACME/Site.git",
    "https://github.com/acme/site.GIT",
    "https://github.com/acme/site?tab=readme#top",
    "  https://github.com/acme/site\n",
    SITE,
]


@each_row("remote", SAME_REPOSITORY)
def test_every_way_to_write_a_remote_gives_the_same_place(remote: str) -> None:
    assert normalise_remote(remote) == SITE


@each_row(
    ("remote", "normal"),
    [
        ("git@gitlab.com:acme/team/site.git", "gitlab.com/acme/team/site"),
        ("git@myhost:acme/site.git", "myhost/acme/site"),
        ("ssh://git@myhost/srv/git/site.git", "myhost/srv/git/site"),
        ("git@myhost:/srv/git/site.git", "myhost/srv/git/site"),
        ("git@10.0.0.5:site.git", "10.0.0.5/site"),
        ("ssh://git@[::1]:2222/site.git", "[::1]:2222/site"),
        ("git@altssh.gitlab.com:Acme/site.git", "gitlab.com/acme/site"),
        ("ssh://git@altssh.gitlab.com:443/acme/site.git", "gitlab.com/acme/site"),
        ("ssh://git@altssh.bitbucket.org:443/acme/site.git", "bitbucket.org/acme/site"),
        ("git@ssh.dev.azure.com:v3/Acme/web/site", "dev.azure.com/acme/web/_git/site"),
        ("https://git.acme.io/Acme/Site.git", "git.acme.io/Acme/Site"),
        ("https://GIT.acme.io:8443/acme/site", "git.acme.io:8443/acme/site"),
        ("ssh://git@git.acme.io:443/acme/site", "git.acme.io:443/acme/site"),
        ("https://git.acme.io:22/acme/site", "git.acme.io:22/acme/site"),
        ("git@git.acme.io:a/b#c?d", "git.acme.io/a/b%23c%3Fd"),
        ("https://dev.azure.com/acme/web/_git/site", "dev.azure.com/acme/web/_git/site"),
        ("https://git.acme.io/site.github.io.git", "git.acme.io/site.github.io"),
        ("file:///srv/git/site.git", ""),
        ("ext::sh -c 'ssh host' %S /x", ""),
        ("https://evil.example\\@github.com/acme/site", ""),
        ("/srv/git/site.git", ""),  # a path names nothing beyond this machine
        ("../site.git", ""),
        ("C:\\Repos\\Site.git", ""),
        ("C:/Repos/Site.git", ""),
    ],
)
def test_a_remote_is_written_as_host_and_path(remote: str, normal: str) -> None:
    assert normalise_remote(remote) == normal


@each_row("remote", SAME_REPOSITORY)
def test_no_password_survives_in_a_remote(remote: str) -> None:
    assert not any(word in normalise_remote(remote) for word in ("hunter2", "t0ken", "p@ss", "@"))


def test_different_repositories_stay_different() -> None:
    remotes = [
        "git@github.com:acme/site.git",
        "git@github.com:acme/site2.git",
        "git@github.com:other/site.git",
        "git@gitlab.com:acme/site.git",
        "https://github.com:8443/acme/site.git",
        "ssh://git@github.com:2222/acme/site.git",
        "https://evil.example/github.com/acme/site",
        "https://github.com@evil.example/acme/site",
        "https://git.acme.io/acme/x",
        "https://git.acme.io/Acme/x",
        "https://git.acme.io/acme/X",
        "https://git.acme.io:8443/acme/x",
        "https://www.acme.io/acme/x",
        "https://acme.io/acme/x",
    ]

    assert len({normalise_remote(remote) for remote in remotes}) == len(remotes)


@each_row(
    ("written", "reference"),
    [
        ("site", ByName("site")),
        ("  Site of Acme  ", ByName("Site of Acme")),
        ("acme/site", ByName("acme/site")),
        (".hidden", ByName(".hidden")),
        ("C:site", ByName("C:site")),
        ("a@b", ByName("a@b")),
        ("プロジェクト", ByName("プロジェクト")),
        ("x" * MAX_NAME, ByName("x" * MAX_NAME)),
        (".", ByPath(".")),
        ("..", ByPath("..")),
        ("./site", ByPath("./site")),
        ("../site", ByPath("../site")),
        ("~/site", ByPath("~/site")),
        ("/srv/site", ByPath("/srv/site")),
        ("C:\\site", ByPath("C:\\site")),
        ("c:/site", ByPath("c:/site")),
        (".\\site", ByPath(".\\site")),
        ("..\\site", ByPath("..\\site")),
        ("/" + "x" * 1000, ByPath("/" + "x" * 1000)),
        ("git@github.com:Acme/Site.git", ByRemote(SITE)),
        ("https://github.com/acme/site", ByRemote(SITE)),
        ("ssh://git@github.com:22/acme/site", ByRemote(SITE)),
    ],
)
def test_a_reference_is_a_remote_a_path_or_else_a_name(written: str, reference: Reference) -> None:
    assert parse_reference(written) == reference


@each_row(
    ("written", "complaint"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("a\x00b", "control"),
        ("a\nb", "control"),
        ("/" + "x" * 4096, "too long"),
        ("x" * (MAX_NAME + 1), f"over {MAX_NAME}"),
        ("https://[acme/site", "remote|address"),
        ("https://", "remote|address"),
        ("https://acme.io:99999/x", "remote|address"),
        ("file:///srv/site", "without file://"),
    ],
    ids=[
        "empty",
        "blank",
        "nul",
        "newline",
        "long path",
        "long name",
        "broken address",
        "scheme only",
        "port",
        "file",
    ],
)
def test_what_cannot_name_a_place_is_refused_with_a_reason(written: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        parse_reference(written)


fragments = st.sampled_from(
    ["://", "git@", ":", "/", "[", "]", "@", "~", ".", "\\", "C:", "a", ".git", " ", "#", "?", "é"]
)
pieces_of_text = st.lists(fragments | st.text(max_size=3), max_size=8).map("".join)


@given(pieces_of_text)
@example("https://[acme/site")
@example("https://")
def test_any_text_is_a_reference_or_invalid_input(written: str) -> None:
    try:
        reference = parse_reference(written)
    except InvalidInput:
        return

    match reference:
        case ByName(name):
            assert name == written.strip()
        case ByPath(path):
            assert path == written.strip()
        case ByRemote(remote):
            assert parse_reference(remote_url(remote)) == reference
            assert remote.strip("/")


@given(pieces_of_text)
@example("https://[acme/site")
@example("https://")
@example("git@h:a#b")
@example("https://h/a.git/.git/")
@example("git@c: .git")
@example("git@c:a .git")
@example("git@c:a\tb")
def test_the_url_of_any_remote_gives_the_same_remote(url: str) -> None:
    try:
        remote = normalise_remote(url)
    except InvalidInput:
        return

    assert not remote or normalise_remote(remote_url(remote)) == remote


def project_of(identity: str, name: str) -> Project:
    """Return a project whose id is its identity."""
    return Project(id=identity, name=name, identity=identity, created_at=datetime.now(UTC))


def test_projects_of_one_name_are_shown_with_host_and_owner_or_folder() -> None:
    projects = [
        project_of("payments", "payments"),
        project_of("https://github.com/evil/payments", "payments"),
        project_of("ssh://git.acme.io:2222/pay/payments", "payments"),
        project_of("/home/me/payments", "payments"),
        project_of("https://github.com/acme/site", "site"),
    ]

    labels = [project_label(project, projects) for project in projects]
    assert labels == [
        "payments",
        "payments (github.com/evil)",
        "payments (git.acme.io:2222/pay)",
        "payments (/home/me)",
        "site",
    ]
    assert list(project_labels(projects).values()) == labels


def test_a_name_that_only_a_repository_has_is_explained() -> None:
    projects = [project_of("https://github.com/evil/payments", "payments")]
    named = [*projects, project_of("payments", "payments")]

    assert "recollect project link payments" in unknown_name_hint("payments", projects)
    assert unknown_name_hint("payments", named) == ""
    assert unknown_name_hint("other", projects) == ""
    assert unknown_name_hint("https://github.com/evil/payments", projects) == ""
    assert "did you mean 'payments'" in unknown_name_hint("paymnets", projects)


def test_a_folder_that_may_have_been_renamed_or_moved_is_offered_as_the_same_project() -> None:
    def project(identity: str, linked_to: str = "") -> Project:
        return Project(
            id=identity,
            name="x",
            identity=identity,
            linked_to=linked_to,
            created_at=datetime(2026, 5, 8, tzinfo=UTC),
        )

    there = {"/code/there", "/srv/site", "/code/new"}
    known = ("/code/site", "/code/there", "name", "/a/old", "/srv/site", "/code/new")
    projects = [project(identity) for identity in known]
    table = {
        "moved": ("/home/anna/site", "/code/site"),
        "moved, and known by now": ("/srv/site", "/code/site"),
        "beside, and known": ("/code/new", ""),
        "renamed": ("/code/website", "/code/site"),
        "another": ("/home/anna/other", ""),
        "of a folder that is there": ("/home/anna/there", ""),
    }

    for name, (path, former) in table.items():
        hint = moved_folder_hint(path, projects, there.__contains__)
        assert (f"recollect project link {former} {path}" in hint) is bool(former), name
    linked = [project("/code/site", linked_to="p2")]
    assert moved_folder_hint("/code/website", linked, there.__contains__) == ""
