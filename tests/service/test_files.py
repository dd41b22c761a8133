"""Files an agent has open: a few windows at once, inside a wall, as they stand on disk now."""

import os
from pathlib import Path
from typing import Any

import pytest

from recollect import InvalidInput, LocalRecollect, NotFound
from support import FakeClock, open_memory
from tables import each_row

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A project's folder with ten files of ten lines."""
    folder = tmp_path / "site"
    folder.mkdir()
    for n in range(10):
        (folder / f"{n}.txt").write_text("".join(f"line {line} of {n}\n" for line in range(1, 11)))
    return folder


@pytest.fixture
def coder(rec: LocalRecollect) -> str:
    rec.agents.create("coder")
    return "coder"


def names(rec: LocalRecollect, agent: str = "coder") -> list[str]:
    return [Path(one.path).name for one in rec.files.list_open(agent)]


def stored(path: Path, text: str) -> bool:
    return any(text.encode() in one.read_bytes() for one in path.parent.glob("memory.db*"))


# Windows


def test_a_window_is_the_lines_asked_for(rec: LocalRecollect, coder: str, site: Path) -> None:
    whole, part, end = rec.files.open(
        coder,
        [
            "0.txt",
            {"path": "1.txt", "offset": 2, "length": 3},
            {"path": site / "2.txt", "offset": 8, "length": 100},
        ],
        roots=[site],
    )

    assert (whole.first_line, whole.last_line, whole.total_lines) == (1, 10, 10)
    assert part.text == "line 3 of 1\nline 4 of 1\nline 5 of 1\n"
    assert (end.first_line, end.last_line) == (9, 10)
    assert rec.files.list_open(coder) == [whole, part, end]


def test_another_window_of_an_open_file_takes_the_place_of_the_first(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, ["0.txt", "1.txt"], roots=[site])
    rec.files.open(coder, [{"path": "0.txt", "offset": 4, "length": 1}], roots=[site])

    assert {Path(one.path).name: one.text for one in rec.files.list_open(coder)}["0.txt"] == (
        "line 5 of 0\n"
    )
    assert len(rec.files.list_open(coder)) == 2


def test_a_file_is_one_file_with_or_without_its_project(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, ["0.txt"], project=site)
    rec.files.open(coder, [{"path": "0.txt", "offset": 4}], roots=[site])
    once = names(rec)
    rec.files.close(coder)

    assert once == ["0.txt"]
    assert names(rec) == []


def test_an_empty_file_is_open_without_lines(rec: LocalRecollect, coder: str, site: Path) -> None:
    (site / "empty.txt").write_text("")
    [window] = rec.files.open(coder, ["empty.txt"], roots=[site])

    assert (window.first_line, window.last_line, window.total_lines) == (1, 0, 0)
    assert rec.files.list_open(coder) == [window]


@each_row(
    "request_",
    [
        {"path": "0.txt", "offset": -1},
        {"path": "0.txt", "offset": 10},
        {"path": "0.txt", "offset": 10**12},
        {"path": "0.txt", "offset": 1.5},
        {"path": "0.txt", "length": 0},
        {"path": "0.txt", "length": True},
        {"path": "0.txt", "lines": 3},
        {"offset": 3},
        {},
        "",
        "  ",
        "a\0b",
        "~/x",
        {"path": None},
    ],
)
def test_a_request_that_makes_no_sense_is_refused_and_opens_nothing(
    rec: LocalRecollect, coder: str, site: Path, request_: Any
) -> None:
    with pytest.raises(InvalidInput):
        rec.files.open(coder, ["1.txt", request_], roots=[site])
    assert names(rec) == []


@pytest.mark.parametrize("request_", [None, 5])
def test_what_is_no_path_is_refused_in_words(
    rec: LocalRecollect, coder: str, site: Path, request_: Any
) -> None:
    with pytest.raises(InvalidInput):
        rec.files.open(coder, [request_], roots=[site])


def test_who_or_where_is_not_known(rec: LocalRecollect, coder: str, site: Path) -> None:
    with pytest.raises(NotFound, match="no agent"):
        rec.files.open("nobody", ["0.txt"], roots=[site])
    with pytest.raises(InvalidInput, match="which folder may be read"):
        rec.files.open(coder, ["0.txt"])
    with pytest.raises(InvalidInput, match="which folder may be read"):
        rec.files.open(coder, ["0.txt"], project="only-a-name")
    assert rec.agents.list()[0].name == "coder"
    assert len(rec.agents.list()) == 1


# The least recently used


def test_the_least_recently_used_are_closed_to_make_room(
    rec: LocalRecollect, coder: str, site: Path, clock: FakeClock
) -> None:
    for n in range(7):
        rec.files.open(coder, [f"{n}.txt"], roots=[site])
        clock.advance(seconds=1)

    assert names(rec) == ["2.txt", "3.txt", "4.txt", "5.txt", "6.txt"]


def test_opening_again_is_using(
    rec: LocalRecollect, coder: str, site: Path, clock: FakeClock
) -> None:
    for n in (0, 1, 2, 3, 4, 0, 5):
        rec.files.open(coder, [f"{n}.txt"], roots=[site])
        clock.advance(seconds=1)

    assert names(rec) == ["2.txt", "3.txt", "4.txt", "0.txt", "5.txt"]


def test_a_match_of_a_search_is_using_and_only_for_who_searched(
    rec: LocalRecollect, coder: str, site: Path, clock: FakeClock
) -> None:
    rec.agents.create("other")
    for n in range(5):
        for agent in (coder, "other"):
            rec.files.open(agent, [f"{n}.txt"], roots=[site])
        clock.advance(seconds=1)
    rec.files.grep("of 0", agent=coder, roots=[site])
    clock.advance(seconds=1)
    for agent in (coder, "other"):
        rec.files.open(agent, ["5.txt"], roots=[site])

    assert names(rec, coder) == ["2.txt", "3.txt", "4.txt", "0.txt", "5.txt"]
    assert names(rec, "other") == ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"]


def test_searching_opens_nothing_that_was_not_open(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, ["1.txt"], roots=[site])
    page = rec.files.grep("of 0", agent=coder, roots=[site])

    assert page.total == 10
    assert names(rec) == ["1.txt"]


def test_fewer_may_be_open_where_that_is_asked(
    rec: LocalRecollect, coder: str, site: Path, clock: FakeClock
) -> None:
    for n in range(5):
        rec.files.open(coder, [f"{n}.txt"], roots=[site])
        clock.advance(seconds=1)
    rec.files.open(coder, ["5.txt"], roots=[site], most_open=2)

    assert names(rec) == ["4.txt", "5.txt"]


def test_more_at_once_than_may_be_open_is_refused_and_nothing_is_closed(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, ["0.txt"], roots=[site])

    with pytest.raises(InvalidInput, match="at most 2"):
        rec.files.open(coder, ["1.txt", "2.txt", "3.txt"], roots=[site], most_open=2)
    with pytest.raises(InvalidInput, match="most_open"):
        rec.files.open(coder, ["1.txt"], roots=[site], most_open=0)
    assert names(rec) == ["0.txt"]


def test_one_path_asked_for_twice_is_one_file_and_its_last_window(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    again = {"path": str(site / "0.txt"), "offset": 9}
    requests: list[Any] = ["0.txt", "./0.txt", again]
    windows = rec.files.open(coder, requests, roots=[site], most_open=1)

    assert len(windows) == 3
    assert [one.text for one in rec.files.list_open(coder)] == ["line 10 of 0\n"]


def test_the_others_are_closed_where_that_is_asked(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, ["0.txt", "1.txt", "2.txt"], roots=[site])
    rec.files.open(coder, ["2.txt", "3.txt"], roots=[site], close_others=True)

    assert names(rec) == ["2.txt", "3.txt"]


# Closing


def test_files_are_closed_by_name_by_path_or_all(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, ["0.txt", "1.txt", "2.txt", "3.txt"], roots=[site])
    by_name = rec.files.close(coder, ["0.txt"])
    by_path = rec.files.close(coder, [site / "1.txt"])
    rest = rec.files.close(coder)

    assert by_name == [str(site.resolve() / "0.txt")]
    assert by_path == [str(site.resolve() / "1.txt")]
    assert len(rest) == 2
    assert names(rec) == []
    assert rec.files.close(coder) == []


def test_a_file_that_is_not_open_cannot_be_closed_and_the_others_stay(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, ["0.txt", "1.txt"], roots=[site])

    with pytest.raises(NotFound, match="is not open"):
        rec.files.close(coder, ["0.txt", "9.txt"])
    assert names(rec) == ["0.txt", "1.txt"]


def test_what_one_agent_has_open_another_has_not(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.agents.create("other")
    rec.files.open(coder, ["0.txt"], roots=[site])

    assert names(rec, "other") == []
    with pytest.raises(NotFound):
        rec.files.close("other", ["0.txt"])
    rec.agents.delete(coder)
    rec.agents.create(coder)
    assert names(rec, coder) == []
    assert rec.maintenance.verify().ok


def test_what_is_open_outlives_a_restart(path: Path, clock: FakeClock, site: Path) -> None:
    with open_memory(path, clock=clock) as rec:
        rec.agents.create("coder")
        rec.files.open("coder", [{"path": "0.txt", "offset": 3, "length": 2}], roots=[site])
        before = rec.files.list_open("coder")
    with open_memory(path, clock=clock) as rec:
        assert rec.files.list_open("coder") == before


# Files that change


def test_what_is_open_is_shown_as_it_stands_on_disk_now(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    rec.files.open(coder, [{"path": "0.txt", "offset": 1, "length": 1}], roots=[site])
    (site / "0.txt").write_text("new 1\nnew 2\nnew 3\n")

    assert rec.files.list_open(coder)[0].text == "new 2\n"


@pytest.mark.parametrize("change", ["gone", "short", "folder", "binary", "unreadable name"])
def test_a_file_that_can_no_longer_be_shown_is_told_and_can_be_closed(
    rec: LocalRecollect, coder: str, site: Path, change: str
) -> None:
    rec.files.open(coder, ["1.txt", {"path": "0.txt", "offset": 5}], roots=[site])
    file = site / "0.txt"
    file.unlink()
    if change == "short":
        file.write_text("one line\n")
    elif change == "folder":
        file.mkdir()
    elif change == "binary":
        file.write_bytes(b"\0\1\2" * 100)
    elif change == "unreadable name":
        file.symlink_to(file)
    shown = {Path(one.path).name: one for one in rec.files.list_open(coder)}

    assert shown["1.txt"].total_lines == 10
    assert shown["0.txt"].total_lines == 0
    assert shown["0.txt"].text.startswith("(")
    assert len(rec.files.close(coder, ["0.txt"])) == 1


# The wall


@pytest.mark.parametrize(
    "way", ["../outside.txt", "sub/../../outside.txt", "link.txt", "linked/outside.txt", "absolute"]
)
def test_nothing_outside_of_the_roots_is_opened(
    rec: LocalRecollect, coder: str, site: Path, tmp_path: Path, path: Path, way: str
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("zanzibar is outside")
    (site / "sub").mkdir()
    (site / "link.txt").symlink_to(outside)
    (site / "linked").symlink_to(tmp_path)
    wanted = str(outside) if way == "absolute" else way

    with pytest.raises(InvalidInput, match="outside of what may be read"):
        rec.files.open(coder, ["0.txt", wanted], roots=[site])
    rec.files.index(project=site)
    assert rec.files.grep("zanzibar", roots=[site]).matches == ()
    rec.close()
    assert not stored(path, "zanzibar")


@pytest.mark.parametrize("name", [".env", "id_rsa", ".netrc", "linked.txt"])
def test_files_that_hold_secrets_are_not_opened_nor_indexed(
    rec: LocalRecollect, coder: str, site: Path, path: Path, name: str
) -> None:
    (site / ".env").write_text("CODENAME=zanzibar\n")
    if name == "linked.txt":
        (site / name).symlink_to(site / ".env")
    elif name != ".env":
        (site / name).write_text("zanzibar\n")

    with pytest.raises(InvalidInput, match="is not read"):
        rec.files.open(coder, [name], roots=[site])
    rec.files.index(project=site)
    rec.close()
    assert not stored(path, "zanzibar")


def test_a_file_replaced_by_a_link_out_is_no_longer_shown(
    rec: LocalRecollect, coder: str, site: Path, tmp_path: Path
) -> None:
    rec.files.open(coder, ["0.txt"], roots=[site])
    (tmp_path / "outside.txt").write_text("zanzibar")
    (site / "0.txt").unlink()
    (site / "0.txt").symlink_to(tmp_path / "outside.txt")
    [shown] = rec.files.list_open(coder)

    assert "zanzibar" not in shown.text
    assert "outside of what may be read" in shown.text


@pytest.mark.parametrize("roots", [False, True])
def test_a_folder_replaced_by_a_link_out_is_no_longer_shown(
    rec: LocalRecollect, coder: str, site: Path, tmp_path: Path, roots: bool
) -> None:
    (site / "docs").mkdir()
    (site / "docs/a.txt").write_text("inside")
    rec.files.open(coder, ["docs/a.txt"], roots=[site])
    (site / "docs").rename(site / "old")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.txt").write_text("zanzibar")
    (site / "docs").symlink_to(tmp_path / "outside")
    [shown] = rec.files.list_open(coder, roots=[site] if roots else ())

    assert "zanzibar" not in shown.text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe needs POSIX")
def test_a_pipe_is_refused_and_nobody_waits_for_it(
    rec: LocalRecollect, coder: str, site: Path
) -> None:
    os.mkfifo(site / "pipe.txt")

    with pytest.raises(InvalidInput):
        rec.files.open(coder, ["pipe.txt"], roots=[site])
    assert rec.files.index(project=site) == 10


# Kept for search


def test_indexed_files_are_found_by_words_and_meaning(path: Path, site: Path) -> None:
    (site / "ops.md").write_text("# Operations\n\nThe walnut server restarts nightly.\n")
    with open_memory(path, synonyms={"reboot": "restarts"}) as rec:
        count = rec.files.index(project=site, include="*.md")
        rec.drain()
        by_words = rec.files.search("walnut", project=site)
        by_meaning = rec.files.search("reboot nightly", project=site)

    assert count == 1
    assert [Path(hit.path).name for hit in by_words] == ["ops.md"]
    assert "restarts nightly" in by_words[0].excerpt
    assert [Path(hit.path).name for hit in by_meaning] == ["ops.md"]


def test_one_project_finds_nothing_of_another(rec: LocalRecollect, tmp_path: Path) -> None:
    for name in ("one", "two", "none"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(f"The walnut server of {name}.")
    rec.files.index(project=tmp_path / "one")
    rec.files.index(project=tmp_path / "two")
    with pytest.raises(InvalidInput, match="pass project="):
        rec.files.index(roots=[tmp_path / "none"])

    def found(project: Any) -> list[str]:
        hits = rec.files.search("walnut server", project=project)
        return [Path(hit.path).name for hit in hits]

    assert found(tmp_path / "one") == ["one.txt"]
    assert found(tmp_path / "two") == ["two.txt"]
    assert found("never heard of") == []


def test_what_changed_is_found_as_it_is_once_it_is_read_again(
    rec: LocalRecollect, site: Path
) -> None:
    (site / "ops.md").write_text("The walnut server restarts nightly.")
    rec.files.index(project=site)
    (site / "ops.md").write_text("The almond server restarts weekly.")
    rec.files.index(project=site)

    assert rec.files.search("walnut", project=site) == []
    assert len(rec.files.search("almond", project=site)) == 1
    assert rec.maintenance.verify().ok


def test_what_is_gone_is_no_longer_found_once_the_project_is_read_again(
    rec: LocalRecollect, site: Path
) -> None:
    (site / "ops.md").write_text("The walnut server restarts nightly.")
    rec.files.index(project=site)
    (site / "ops.md").unlink()
    rec.files.index(project=site)

    assert rec.files.search("walnut", project=site) == []


def test_secrets_are_taken_out_before_a_file_is_stored(
    rec: LocalRecollect, coder: str, site: Path, path: Path
) -> None:
    (site / "notes.txt").write_text(f"The walnut token is {SECRET}.\npassword: hunter2hunter2\n")
    rec.files.open(coder, ["notes.txt"], project=site)
    rec.files.index(project=site)
    [hit] = rec.files.search("walnut token", project=site)
    rec.close()

    assert SECRET not in hit.excerpt
    assert not stored(path, SECRET)
    assert not stored(path, "hunter2hunter2")


def test_a_secret_at_the_edge_of_what_is_kept_is_taken_out_too(
    rec: LocalRecollect, site: Path, path: Path
) -> None:
    (site / "long.txt").write_text("x " * 99_990 + SECRET + "\n")
    rec.files.index(project=site)
    rec.close()

    assert not stored(path, SECRET[:20])


@each_row("query", ["", "  ", "\0", '"*(', "x" * 20_000, "🤖"])
def test_no_question_breaks_the_search(rec: LocalRecollect, site: Path, query: str) -> None:
    rec.files.index(project=site)

    assert isinstance(rec.files.search(query, project=site), list)


def test_a_store_with_files_is_whole(rec: LocalRecollect, coder: str, site: Path) -> None:
    rec.files.index(project=site)
    rec.files.open(coder, ["0.txt", "1.txt"], project=site)
    (site / "0.txt").write_text("changed")
    rec.files.open(coder, ["0.txt"], project=site)
    rec.files.close(coder, ["1.txt"])
    rec.drain()

    assert rec.maintenance.verify().ok
    rec.maintenance.rebuild()
    assert rec.maintenance.verify().ok
    assert len(rec.files.search("changed", project=site)) == 1
