"""The wall around the files an agent may read, and reading without a gap to slip through."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import InvalidInput, NotFound, TooLarge
from recollect.service.disk.allowed_roots import allowed_path, file_window, locate, read_text
from recollect.service.disk.safe_read import FileText, UnreadFile, UnreadReason, read_file
from tables import each_row


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file in it, and a file outside."""
    folder = tmp_path.resolve() / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"one\r\ntwo\n")
    (folder / "sub" / "b.txt").write_text("inside")
    (folder.parent / "outside").mkdir()
    (folder.parent / "outside" / "b.txt").write_text("outside")
    return folder


@pytest.fixture(params=["folder by folder", "looking again"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of opening: the second is for platforms that cannot open below a folder."""
    if request.param == "looking again":
        monkeypatch.setattr(os, "supports_dir_fd", set[object]())
    return str(request.param)


@contextlib.contextmanager
def listening(path: Path) -> Iterator[None]:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's address is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
            yield
    finally:
        os.chdir(here)


def test_a_path_is_confined_to_its_real_place(root: Path) -> None:
    assert allowed_path(root / "a.txt", [root]) == root / "a.txt"
    assert allowed_path("sub/b.txt", [root]) == root / "sub" / "b.txt"
    assert allowed_path("./sub/../a.txt", [root]) == root / "a.txt"
    assert allowed_path(root, [root]) == root


def test_a_relative_path_starts_at_the_first_root_but_may_lie_in_another(root: Path) -> None:
    other = root.parent / "outside"

    assert allowed_path("b.txt", [other, root]) == other / "b.txt"
    assert allowed_path("../outside/b.txt", [root, other]) == other / "b.txt"


def test_the_innermost_root_is_the_one_a_file_lies_in(root: Path) -> None:
    assert locate("sub/b.txt", [root, root / "sub"]).root == root / "sub"


@pytest.mark.parametrize(
    "path",
    [
        "../outside/b.txt",
        "sub/../../outside/b.txt",
        "../outside/there-is-no-such-file",
        "/etc/passwd",
        "/",
        "../root-beside/a.txt",
    ],
)
def test_what_is_outside_is_refused_with_the_roots_and_whether_it_exists_is_not_told(
    root: Path, path: str
) -> None:
    with pytest.raises(InvalidInput, match="outside of what may be read") as caught:
        allowed_path(path, [root])

    assert path in str(caught.value)
    assert str(root) in str(caught.value)


def test_a_link_that_leads_out_is_refused_and_one_that_stays_in_is_followed(root: Path) -> None:
    (root / "out").symlink_to("../outside")
    (root / "out.txt").symlink_to(root.parent / "outside" / "b.txt")
    (root / "in.txt").symlink_to("sub/b.txt")
    (root / "chain.txt").symlink_to("out.txt")

    assert allowed_path("in.txt", [root]) == root / "sub" / "b.txt"
    for path in ("out", "out/b.txt", "out.txt", "chain.txt", "out/../root/a.txt/../../outside"):
        with pytest.raises(InvalidInput, match="outside"):
            allowed_path(path, [root])


def test_dots_after_a_link_go_where_the_system_would_go(root: Path) -> None:
    (root / "sub" / "up").symlink_to(root.parent / "outside")

    with pytest.raises(InvalidInput, match="outside"):
        allowed_path("sub/up/../outside/b.txt", [root])


def test_a_root_may_itself_be_a_link(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)

    assert read_text("a.txt", [link]).path == root / "a.txt"
    assert read_text(link / "a.txt", [link]).path == root / "a.txt"
    assert read_text(root / "a.txt", [link]).path == root / "a.txt"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a\0.txt", "NUL"),
        ("~/a.txt", "home folder"),
        ("~root/a.txt", "home folder"),
        ("\ud800", "is not a path"),
        (3, "must be text"),
        (None, "must be text"),
    ],
)
def test_what_is_no_path_is_refused(root: Path, path: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        allowed_path(path, [root])


def test_a_name_that_starts_with_a_tilde_can_be_written(root: Path) -> None:
    (root / "~notes").write_text("x")

    assert allowed_path("./~notes", [root]) == root / "~notes"


def test_a_name_too_long_for_any_file_system_is_refused(root: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot look at"):
        allowed_path("a" * 5000, [root])


def test_without_roots_nothing_is_read(root: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder may be read"):
        allowed_path(root / "a.txt", [])


@pytest.mark.parametrize("path", ["none.txt", "none/none.txt", "a.txt/none", "sub/none"])
def test_what_does_not_exist_inside_is_not_found(root: Path, path: str) -> None:
    with pytest.raises(NotFound, match="there is no"):
        allowed_path(path, [root])


@each_row("path", ["/proc/self/environ", "/proc/self/root/proc/version", "/dev/null"])
def test_the_system_is_not_read_even_where_the_root_is_everything(path: str) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        read_text(path, [Path("/")])


def test_a_text_is_read_with_its_size_and_place(root: Path, way: str) -> None:
    read = read_text("a.txt", [root])

    assert read == FileText(root / "a.txt", root, "one\r\ntwo\n", 9)


def test_bytes_that_are_no_utf8_are_replaced_and_a_mark_at_the_start_is_no_text(
    root: Path,
) -> None:
    (root / "latin.txt").write_bytes(b"caf\xe9\n")
    (root / "marked.txt").write_bytes(b"\xef\xbb\xbfimport os\n")

    assert read_text("latin.txt", [root]).text == "caf�\n"
    assert read_text("marked.txt", [root]).text == "import os\n"


def test_an_empty_file_is_a_text(root: Path) -> None:
    (root / "empty").touch()

    assert read_text("empty", [root]).text == ""


def test_a_binary_file_is_refused(root: Path) -> None:
    (root / "x.bin").write_bytes(b"GIF89a\0\0")
    (root / "late").write_bytes(b"a" * 8191 + b"\0")
    (root / "utf16.txt").write_bytes("text".encode("utf-16"))

    for name in ("x.bin", "late", "utf16.txt"):
        with pytest.raises(InvalidInput, match="is binary"):
            read_text(name, [root])


def test_a_huge_file_is_refused_without_reading_it(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(TooLarge, match=r"1,099,511,627,776 bytes; the limit is 52,428,800"):
        read_text("huge", [root])


def test_the_limit_is_the_last_size_that_is_read(root: Path) -> None:
    assert read_text("a.txt", [root], max_bytes=9).size == 9
    with pytest.raises(TooLarge):
        read_text("a.txt", [root], max_bytes=8)


def test_a_folder_is_no_file(root: Path, way: str) -> None:
    for path in ("sub", "."):
        with pytest.raises(InvalidInput, match="is a folder"):
            read_text(path, [root])


def test_a_pipe_or_a_socket_is_refused_and_nobody_waits_for_it(root: Path, way: str) -> None:
    os.mkfifo(root / "pipe")
    with listening(root / "socket"):
        for name in ("pipe", "socket"):
            with pytest.raises(InvalidInput, match="pipe, socket or device"):
                read_text(name, [root])


@pytest.fixture
def looked_too_early(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is called late is seen as the ordinary file that was there before."""
    ordinary = (root / "a.txt").stat()
    look = os.stat

    def stat(path: str, **how: Any) -> os.stat_result:
        return ordinary if str(path).endswith("late") else look(path, **how)

    monkeypatch.setattr(os, "stat", stat)


@pytest.mark.usefixtures("looked_too_early")
def test_a_pipe_that_takes_the_place_of_a_file_after_the_look_does_not_block(
    root: Path, way: str
) -> None:
    os.mkfifo(root / "late")

    outcome = read_file(root / "late", root)

    assert isinstance(outcome, UnreadFile)
    assert outcome.reason is UnreadReason.NO_FILE


@pytest.mark.usefixtures("looked_too_early")
def test_a_link_that_takes_the_place_of_a_file_after_the_look_is_not_followed(
    root: Path, way: str
) -> None:
    (root / "late").symlink_to(root.parent / "outside" / "b.txt")

    outcome = read_file(root / "late", root)

    assert isinstance(outcome, UnreadFile)
    assert outcome.reason is UnreadReason.CHANGED


def test_a_link_that_leads_in_a_circle_is_refused(root: Path, way: str) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")

    with pytest.raises(InvalidInput, match="link"):
        read_text("one", [root])


def test_a_folder_that_becomes_a_link_after_the_check_leads_nowhere(root: Path, way: str) -> None:
    found = locate("sub/b.txt", [root])
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(root.parent / "outside")

    outcome = read_file(found.path, found.root)

    assert isinstance(outcome, UnreadFile)
    assert outcome.reason is UnreadReason.CHANGED


def test_a_file_that_becomes_a_link_after_the_check_is_not_followed(root: Path, way: str) -> None:
    found = locate("a.txt", [root])
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to(root.parent / "outside" / "b.txt")

    outcome = read_file(found.path, found.root)

    assert isinstance(outcome, UnreadFile)
    assert outcome.reason is UnreadReason.CHANGED


def test_a_file_that_goes_away_after_the_check_is_missing(root: Path, way: str) -> None:
    found = locate("a.txt", [root])
    (root / "a.txt").unlink()

    outcome = read_file(found.path, found.root)

    assert isinstance(outcome, UnreadFile)
    assert isinstance(outcome.error(), NotFound)


def test_no_descriptor_is_left_open_whatever_was_read(root: Path, way: str) -> None:
    os.mkfifo(root / "pipe")
    (root / "x.bin").write_bytes(b"\0")
    (root / "link").symlink_to("a.txt")
    lowest = os.dup(0)
    os.close(lowest)

    for name in ("a.txt", "sub/b.txt", "sub", "pipe", "x.bin", "none", "link", "a.txt/none"):
        read_file(root / name, root)

    after = os.dup(0)
    os.close(after)
    assert after == lowest


@pytest.mark.parametrize("name", [".env", "id_rsa", "server.pem", ".git/config"])
def test_a_file_that_looks_like_a_secret_is_refused_unless_that_is_allowed(
    root: Path, name: str
) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("x")

    with pytest.raises(InvalidInput, match="is not read, since"):
        read_text(name, [root])
    assert read_text(name, [root], allow_secret=True).text == "x"


def test_a_link_hides_no_secret_by_either_of_its_names(root: Path) -> None:
    (root / ".env").write_text("x")
    (root / "notes.txt").symlink_to(".env")
    (root / "id_rsa").symlink_to("a.txt")

    for name in ("notes.txt", "id_rsa"):
        with pytest.raises(InvalidInput, match="is not read, since"):
            read_text(name, [root])


def test_a_window_of_a_file_says_which_lines_it_has(root: Path) -> None:
    shown = file_window(read_text("a.txt", [root]), offset=1)

    assert (shown.path, shown.first_line, shown.last_line, shown.total_lines, shown.text) == (
        str(root / "a.txt"),
        2,
        2,
        2,
        "two\n",
    )


def test_an_offset_past_the_end_is_an_error_that_names_the_lines_there_are(root: Path) -> None:
    with pytest.raises(InvalidInput, match="has 2 lines; an offset is 0 to 1, not 2"):
        file_window(read_text("a.txt", [root]), offset=2)


def test_an_empty_file_can_be_shown_from_its_start(root: Path) -> None:
    (root / "empty").touch()

    assert file_window(read_text("empty", [root])).last_line == 0
