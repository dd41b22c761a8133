"""Searching files: what is found, what is passed over, and every limit."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.domain.file import GrepMatch, GrepPage
from recollect.errors import InvalidInput
from recollect.service.disk.grep import SEARCHED_CHARS, SHOWN_CHARS, GrepLimits, grep

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "root"
    folder.mkdir()
    return folder


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())


def places(page: GrepPage, root: Path) -> list[tuple[str, int]]:
    return [(Path(one.path).relative_to(root).as_posix(), one.line) for one in page.matches]


def clock(*moments: float) -> Iterator[float]:
    """Return the moments, and the last one for ever."""
    yield from moments
    while True:
        yield moments[-1]


def test_matches_come_by_path_and_line_folders_where_their_name_stands(root: Path) -> None:
    write(root, {"b.txt": "hit\nmiss\nhit", "a/z.txt": "hit\n", "c/a.txt": "hit", "a.txt": "a hit"})

    page = grep("hit", roots=[root])

    assert places(page, root) == [
        ("a/z.txt", 1), ("a.txt", 1), ("b.txt", 1), ("b.txt", 3), ("c/a.txt", 1)
    ]  # fmt: skip
    assert (page.total, page.offset, page.next_offset) == (5, 0, None)
    assert (page.stopped, page.skipped) == ("", ())
    assert (page.files_scanned, page.bytes_scanned) == (4, 24)


def test_a_match_is_its_line_with_the_lines_around_it(root: Path) -> None:
    write(root, {"a.txt": "one\r\ntwo\r\nhit ü\r\nfour"})

    page = grep("hit", roots=[root], context_lines=2)

    assert page.matches == (
        GrepMatch(
            path=str(root / "a.txt"), line=3, text="hit ü", before=("one", "two"), after=("four",)
        ),
    )


def test_the_first_and_the_last_line_have_fewer_lines_around_them(root: Path) -> None:
    write(root, {"a.txt": "hit 1\nx\ny\nhit 2\n"})

    first, last = grep("hit", roots=[root], context_lines=1).matches

    assert (first.before, first.after) == ((), ("x",))
    assert (last.before, last.after) == (("y",), ())


def test_a_pattern_is_matched_within_a_line(root: Path) -> None:
    write(root, {"a.txt": "one\r\ntwo\n\nthree"})

    assert places(grep(r"^t\w+$", roots=[root]), root) == [("a.txt", 2), ("a.txt", 4)]
    assert places(grep("^$", roots=[root]), root) == [("a.txt", 3)]
    assert grep(r"one\s+two|e\nt", roots=[root]).total == 0


def test_a_page_has_twenty_matches_and_says_where_the_next_begins(root: Path) -> None:
    write(root, {"a.txt": "hit\n" * 45})

    pages = [grep("hit", roots=[root], offset=offset) for offset in (0, 20, 40, 60)]

    assert [len(page.matches) for page in pages] == [20, 20, 5, 0]
    assert [page.next_offset for page in pages] == [20, 40, None, None]
    assert {page.total for page in pages} == {45}
    assert pages[1].matches[0].line == 21


def test_an_exact_last_page_has_no_next_one(root: Path) -> None:
    write(root, {"a.txt": "hit\n" * 20})

    assert grep("hit", roots=[root]).next_offset is None


def test_a_glob_chooses_files(root: Path) -> None:
    write(root, {"a.py": "hit", "a.txt": "hit", "src/deep/b.py": "hit", "lib/b.ts": "hit"})

    assert places(grep("hit", roots=[root], include="*.py"), root) == [
        ("a.py", 1),
        ("src/deep/b.py", 1),
    ]
    assert places(grep("hit", roots=[root], include="src/**/*.py"), root) == [("src/deep/b.py", 1)]
    assert grep("hit", roots=[root], include="*.{ts,txt}").total == 2


def test_files_and_folders_can_be_named_and_each_file_is_searched_once(root: Path) -> None:
    write(root, {"a.txt": "hit", "b.txt": "hit", "sub/c.txt": "hit", "sub/d.txt": "hit"})

    page = grep("hit", roots=[root], paths=["sub/d.txt", root / "a.txt", "sub", "./a.txt"])

    assert places(page, root) == [("a.txt", 1), ("sub/c.txt", 1), ("sub/d.txt", 1)]
    assert grep("hit", roots=[root], paths=["sub"], include="sub/c*").total == 1
    assert grep("hit", roots=[root], paths=[]).files_scanned == 0


def test_a_named_file_that_cannot_be_searched_is_told_and_the_others_are_searched(
    root: Path,
) -> None:
    write(root, {"a.txt": "hit", ".env": "hit", "../outside.txt": "hit"})

    page = grep("hit", roots=[root], paths=["none.txt", "../outside.txt", ".env", "a.txt"])

    assert places(page, root) == [("a.txt", 1)]
    assert [sentence.split(" in ")[0] for sentence in page.skipped[:1]] == ["there is no none.txt"]
    assert "outside of what may be read" in page.skipped[1]
    assert page.skipped[2] == "not searched, what looks like a secret: 1 (.env)"


def test_roots_that_lie_in_each_other_are_searched_once(root: Path) -> None:
    write(root, {"a.txt": "hit", "sub/b.txt": "hit"})
    (root.parent / "link").symlink_to(root)

    page = grep("hit", roots=[root / "sub", root.parent / "link", root, root])

    assert places(page, root) == [("a.txt", 1), ("sub/b.txt", 1)]


def test_what_is_passed_over_is_told_in_short(root: Path) -> None:
    write(
        root,
        {f"{name}/x.txt": "hit" for name in (".git", "node_modules", "p/.venv", "__pycache__")},
    )
    write(root, {"a.bin": "hit\0", ".env": "hit", "key.pem": "hit", ".ssh/config": "hit"})
    write(root, {f"many{number}.bin": "\0" for number in range(5)})
    write(root, {".github/ci.yml": "hit", ".gitignore": "hit", "build/x.txt": "hit"})
    (root / "link.txt").symlink_to("build/x.txt")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "pipe")

    page = grep("hit", roots=[root])

    assert places(page, root) == [(".github/ci.yml", 1), (".gitignore", 1), ("build/x.txt", 1)]
    assert page.skipped == (
        "not searched, binary files: 6 (a.bin, many0.bin, many1.bin, …)",
        "not searched, folders of tools: 4 (.git, __pycache__, node_modules, …)",
        "not searched, links: 2 (link.txt, loop)",
        "not searched, pipes, sockets, devices and system folders: 1 (pipe)",
        "not searched, what looks like a secret: 3 (.env, .ssh, key.pem)",
    )


def test_a_file_that_a_glob_does_not_mean_is_not_told_of(root: Path) -> None:
    write(root, {"a.py": "hit", "b.bin": "\0", ".env": "hit", ".git/x": "hit"})

    page = grep("hit", roots=[root], include="*.py")

    assert page.skipped == ("not searched, folders of tools: 1 (.git)",)


def test_a_root_that_does_not_exist_is_told(root: Path) -> None:
    page = grep("hit", roots=[root / "none"])

    assert page.skipped == (f"not searched, what cannot be read: 1 ({root / 'none'})",)


def test_a_name_that_is_not_utf8_is_told_and_not_searched(root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9.txt")).write_text("hit")

    page = grep("hit", roots=[root])

    assert (page.total, page.skipped) == (
        0,
        ("not searched, names that are not UTF-8: 1 (caf?.txt)",),
    )


def test_a_link_that_leads_out_is_not_followed(root: Path) -> None:
    write(root, {"../outside/a.txt": "hit"})
    (root / "out").symlink_to("../outside")
    (root / "out.txt").symlink_to("../outside/a.txt")

    assert grep("hit", roots=[root]).total == 0


@pytest.fixture
def deep(root: Path) -> Iterator[Path]:
    """A file below more folders than Python's stack has room for."""
    folder = os.open(root, os.O_RDONLY)
    for _ in range(1_200):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    with os.fdopen(os.open("a.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder), "w") as file:
        file.write("hit")
    os.close(folder)
    yield root
    subprocess.run(["rm", "-r", root / "d"], check=True)  # pytest's own cleaning up recurses


@pytest.mark.door
def test_folders_nested_deeper_than_pythons_stack_are_searched(deep: Path) -> None:
    page = grep("hit", roots=[deep])

    assert (page.total, page.stopped, page.skipped) == (1, "", ())


def test_a_file_over_the_limit_is_not_searched_even_if_it_is_huge(root: Path) -> None:
    write(root, {"a.txt": "hit", "b.txt": "hit but too long"})
    with (root / "c.txt").open("wb") as file:
        file.truncate(1 << 40)

    page = grep("hit", roots=[root], limits=GrepLimits(file_bytes=1024 * 1024))
    tight = grep("hit", roots=[root], limits=GrepLimits(file_bytes=3))

    assert page.skipped == ("not searched, files of more than 1 MB: 1 (c.txt)",)
    assert places(tight, root) == [("a.txt", 1)]


def test_the_search_stops_before_the_file_that_would_be_over_the_total(root: Path) -> None:
    write(root, {"a.txt": "hit", "b.txt": "hit", "c.txt": "hit"})

    page = grep("hit", roots=[root], limits=GrepLimits(total_bytes=8))

    assert (page.total, page.files_scanned, page.bytes_scanned) == (2, 2, 6)
    assert page.stopped.startswith("the search was stopped before it had read")
    assert page.stopped.endswith("choose fewer files with include, or name them")


def test_the_search_stops_when_its_time_is_over_and_gives_what_it_has(root: Path) -> None:
    write(root, {"a.txt": "hit", "b.txt": "hit"})
    moments = clock(0, 1, 1, 1, 31)

    page = grep("hit", roots=[root], timer=lambda: next(moments))

    assert (page.total, page.files_scanned) == (1, 1)
    assert page.stopped.startswith("the search was stopped after 30 s; ")


def test_the_time_is_looked_at_within_a_file_too(root: Path) -> None:
    write(root, {"a.txt": "hit\n" + "x" * 1023 + "\n" + ("x" * 1023 + "\n") * 200 + "hit\n"})
    moments = clock(0, 1, 1, 1, 31)

    page = grep("hit", roots=[root], timer=lambda: next(moments))

    assert page.total == 1
    assert page.stopped


def test_without_any_time_nothing_is_searched(root: Path) -> None:
    write(root, {"a.txt": "hit"})

    page = grep("hit", roots=[root], limits=GrepLimits(seconds=0))

    assert (page.total, page.files_scanned) == (0, 0)
    assert page.stopped


def test_no_more_matches_are_collected_than_the_limit(root: Path) -> None:
    write(root, {"a.txt": "hit\n" * 1_500})

    page = grep("hit", roots=[root], offset=980)

    assert (page.total, len(page.matches), page.next_offset) == (1_000, 20, None)
    assert page.stopped.startswith("1,000 matches were found, the most that are collected; write a")
    assert grep("hit", roots=[root], offset=1_000).matches == ()


def test_exactly_as_many_matches_as_the_limit_are_all_there_are(root: Path) -> None:
    write(root, {"a.txt": "hit\n" * 3})

    page = grep("hit", roots=[root], limits=GrepLimits(matches=3))

    assert (page.total, page.stopped) == (3, "")


def test_a_catastrophic_pattern_ends(root: Path) -> None:
    write(root, {"a.txt": "a" * 90_000 + "b\n", "b.txt": "aaa"})

    assert places(grep("(a+)+$", roots=[root]), root) == [("b.txt", 1)]


@pytest.mark.parametrize(
    "asked",
    [
        {"offset": -1},
        {"offset": 1_001},
        {"context_lines": -1},
        {"context_lines": 21},
        {"include": ""},
    ],
)
def test_what_makes_no_sense_is_refused(root: Path, asked: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(asked))):
        grep("hit", roots=[root], **asked)  # type: ignore[arg-type]


def test_a_long_line_is_shown_around_its_match(root: Path) -> None:
    write(root, {"a.txt": "x" * 5_000 + "hit" + "y" * 5_000 + "\n" + "z" * 5_000})

    [match] = grep("hit", roots=[root], context_lines=1).matches

    assert len(match.text) == len(match.after[0]) == SHOWN_CHARS
    assert "xhity" in match.text
    assert match.text[0] == match.text[-1] == match.after[0][-1] == "…"


def test_an_endless_line_is_searched_only_so_far_and_that_is_told(root: Path) -> None:
    write(root, {"a.txt": "x" * SEARCHED_CHARS + "hit"})

    page = grep("hit", roots=[root])

    assert page.total == 0
    assert page.skipped == ("1 long lines were searched only to character 100,000",)


def test_secrets_are_not_shown_in_matching_lines_nor_around_them(root: Path) -> None:
    write(root, {"a.py": f"before = '{TOKEN}'\nhit = '{TOKEN}'\nafter = '{TOKEN}'\n"})

    [match] = grep("hit", roots=[root], context_lines=1).matches

    assert match.text == "hit = '[redacted:github-token]'"
    assert match.before == ("before = '[redacted:github-token]'",)
    assert match.after == ("after = '[redacted:github-token]'",)


def test_a_secret_whose_name_stands_on_the_line_before_is_not_shown(root: Path) -> None:
    write(root, {"a.txt": "Authorization: Bearer\n  abcdef0123456789abcdef\n"})

    [match] = grep("^  ", roots=[root]).matches

    assert match.text == "  [redacted:authorization]"


def test_a_line_that_matches_only_inside_a_secret_does_not_match(root: Path) -> None:
    write(root, {"a.py": f"token = '{TOKEN}'\n"})

    assert grep("ghp_a1", roots=[root]).total == 0
    assert grep("^token", roots=[root]).total == 1


def test_the_lines_of_a_private_key_and_of_private_parts_are_not_searched_and_count_as_lines(
    root: Path,
) -> None:
    inner = "MIIhit\n" * 8  # further apart than what is looked at around a match
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{inner}-----END RSA PRIVATE KEY-----"
    write(root, {"a.md": f"{key}\nhit 11\n<private>\n{inner}</private>\nhit 22\n"})

    page = grep("hit", roots=[root], context_lines=1)

    assert [(match.line, match.text) for match in page.matches] == [(11, "hit 11"), (22, "hit 22")]
    assert "MII" not in repr(page)
