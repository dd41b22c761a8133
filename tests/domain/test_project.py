"""How a place is written, and how the same place is known again."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.domain.project import (
    MAX_NAME,
    ByName,
    ByPath,
    ByRemote,
    Reference,
    normalise_remote,
    parse_reference,
    remote_names,
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
    "ssh://git@github.com:2222/acme/site.git/",
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
        ("ssh://git@[::1]:2222/site.git", "::1/site"),
        ("https://dev.azure.com/acme/web/_git/site", "dev.azure.com/acme/web/_git/site"),
        ("https://git.acme.io/site.github.io.git", "git.acme.io/site.github.io"),
        ("file:///srv/git/site.git", "srv/git/site"),
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
            assert remote == remote.lower()
            assert remote.strip("/")


@given(pieces_of_text)
@example("https://[acme/site")
@example("https://")
def test_any_text_a_checkout_calls_its_remote_is_written_small_or_invalid_input(url: str) -> None:
    try:
        remote = normalise_remote(url)
    except InvalidInput:
        return

    assert remote == remote.lower()


@each_row(
    ("remote", "names"),
    [
        (SITE, ["site", "acme/site", "github.com/acme/site"]),
        ("site", ["site"]),
        ("/srv//git/", ["git", "srv/git"]),
        ("", []),
    ],
)
def test_a_remote_offers_names_from_short_to_long(remote: str, names: list[str]) -> None:
    assert remote_names(remote) == names
