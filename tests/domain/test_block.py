"""Edits of a block: each gives the expected value, or an error that says why not and what to do."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import BlockReadOnly, InvalidInput, TooLarge
from recollect.domain.block import (
    DEFAULT_LIMIT,
    Block,
    BlockAuthor,
    Edit,
    append,
    check_limit,
    edit_block,
    insert_at,
    replace_all,
    replace_once,
)
from support import START
from tables import each_row

LATER = START + timedelta(hours=1)
EMPTY = Block(id="b", label="persona", created_at=START, updated_at=START)
TEXT = st.text(max_size=30)


def edited(value: str, edit: Edit) -> str:
    return edit_block(replace(EMPTY, value=value), edit, by=BlockAuthor.USER, at=LATER).value


@each_row(
    ("value", "edit", "expected"),
    [
        ("old", replace_all("new"), "new"),
        ("old", replace_all(""), ""),
        ("", append("first"), "first"),
        ("first", append("second"), "first\nsecond"),
        ("first\n", append("second"), "first\n\nsecond"),
        ("first", append(""), "first\n"),
        ("", append(""), ""),
        ("likes tea", replace_once("tea", "coffee"), "likes coffee"),
        ("likes tea", replace_once(" tea", ""), "likes"),
        ("likes tea", replace_once("likes tea", ""), ""),
        ("a.b", replace_once(".", r"\1"), r"a\1b"),
        ("one\ntwo\nthree", replace_once("one\ntwo", "1"), "1\nthree"),
        ("tea", replace_once("tea", "tea tea"), "tea tea"),
        ("one\ntwo", insert_at(0, "zero"), "zero\none\ntwo"),
        ("one\ntwo", insert_at(1, "and"), "one\nand\ntwo"),
        ("one\ntwo", insert_at(2, "three"), "one\ntwo\nthree"),
        ("one\ntwo", insert_at(-1, "end"), "one\ntwo\nend"),
        ("one", insert_at(1, "two\nthree"), "one\ntwo\nthree"),
        ("", insert_at(0, "first"), "first"),
        ("", insert_at(-1, "only"), "only"),
        ("one\n", insert_at(2, "end"), "one\n\nend"),
        ("one\r\ntwo", insert_at(1, "and"), "one\r\nand\ntwo"),
        ("one\u2028still one", insert_at(1, "two"), "one\u2028still one\ntwo"),
    ],
)
def test_an_edit_gives_the_expected_value(value: str, edit: Edit, expected: str) -> None:
    assert edited(value, edit) == expected


@each_row(
    ("value", "old", "told"),
    [
        ("tea", "coffee", "'coffee' does not occur in the block; give the exact text, without"),
        ("", "tea", "'tea' does not occur"),
        ("Tea", "tea", "'tea' does not occur"),
        ("tea\ntea", "tea", "'tea' occurs 2 times (lines 1, 2); give more of its surroundings"),
        ("aaa", "aa", "'aa' occurs 2 times (lines 1, 1)"),
        ("abababa", "aba", "occurs 3 times"),
        ("x\nx\nx", "x\nx", "occurs 2 times (lines 1, 2)"),
        # The same glyph in two forms is not the same text.
        ("caf\u00e9", "cafe\u0301", "does not occur"),
        ("👩‍👩‍👧 and 👩‍👩‍👧", "👩‍👩‍👧", "occurs 2 times"),
    ],
)
def test_what_does_not_occur_exactly_once_is_not_replaced(value: str, old: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(told)):
        edited(value, replace_once(old, "new"))


def test_a_hundred_occurrences_are_counted_and_ten_lines_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        edited("tea\n" * 100, replace_once("tea", "coffee"))

    assert "occurs 100 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);" in str(caught.value)


def test_a_long_text_that_is_missing_is_shown_cut() -> None:
    with pytest.raises(InvalidInput) as caught:
        edited("short", replace_once("y" * 1_000, "new"))

    assert "y" * 79 + "…" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_replacing_nothing_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidInput, match="is empty; to write at a place, insert at a line"):
        replace_once("", "new")


@each_row(
    ("value", "line", "told"),
    [
        ("", 1, "the block has 0 lines; insert at 0 to 0, or -1 for the end"),
        ("one\ntwo", 3, "the block has 2 lines; insert at 0 to 2, or -1 for the end"),
        ("one", -2, "the block has 1 lines"),
        ("one", 10**20, "the block has 1 lines"),
    ],
)
def test_a_line_the_block_does_not_have_is_refused(value: str, line: int, told: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(told)):
        edited(value, insert_at(line, "text"))


def test_an_edit_over_the_limit_says_the_limit_and_what_was_asked_for() -> None:
    small = replace(EMPTY, value="1234", limit=5)

    with pytest.raises(TooLarge) as caught:
        edit_block(small, append("6"), by=BlockAuthor.AGENT, at=LATER)

    assert str(caught.value) == (
        "Edit failed: Exceeds 5 character limit (requested 6). "
        "Shorten the text, or raise the block's limit"
    )
    assert caught.value.status == 413


@each_row(
    ("value", "limit", "fits"),
    [
        ("", 1, True),
        ("12345", 5, True),
        ("123456", 5, False),
        ("👩‍👩‍👧", 5, True),  # code points are counted, as everywhere in a block
        ("é" * 6, 5, False),
        ("x" * DEFAULT_LIMIT, DEFAULT_LIMIT, True),
        ("x" * 1_000_000, None, True),
    ],
)
def test_a_limit_counts_characters_and_includes_itself(
    value: str, limit: int | None, fits: bool
) -> None:
    if fits:
        check_limit(value, limit)
        return
    with pytest.raises(TooLarge, match="Edit failed: Exceeds 5 character limit"):
        check_limit(value, limit)


@each_row("by", [BlockAuthor.USER, BlockAuthor.AGENT])
def test_a_read_only_block_is_edited_by_the_system_alone(by: BlockAuthor) -> None:
    sealed = replace(EMPTY, read_only=True, value="as it was")

    with pytest.raises(BlockReadOnly, match="'persona' is read-only and cannot be edited"):
        edit_block(sealed, replace_all("new"), by=by, at=LATER)
    assert edit_block(sealed, replace_all("new"), by=BlockAuthor.SYSTEM, at=LATER).value == "new"


def test_a_read_only_block_says_so_before_it_looks_at_the_edit() -> None:
    sealed = replace(EMPTY, read_only=True)

    with pytest.raises(BlockReadOnly):
        edit_block(sealed, replace_once("missing", "x"), by=BlockAuthor.AGENT, at=LATER)


def test_a_change_grows_the_version_and_touches_nothing_else() -> None:
    block = replace(EMPTY, value="old", version=7, description="d", metadata={"k": 1})

    after = edit_block(block, replace_all("new"), by=BlockAuthor.AGENT, at=LATER)

    assert after == replace(block, value="new", version=8, updated_at=LATER)


@given(value=TEXT, text=TEXT)
def test_appending_keeps_all_that_was_there(value: str, text: str) -> None:
    after = edited(value, append(text))

    assert after.startswith(value)
    assert after.endswith(text)


@given(before=TEXT, old=st.text(min_size=1, max_size=5), after=TEXT, new=TEXT)
def test_replacing_either_happens_once_or_is_refused(
    before: str, old: str, after: str, new: str
) -> None:
    value = before + old + after
    places = sum(value.startswith(old, at) for at in range(len(value)))
    if places != 1:
        with pytest.raises(InvalidInput, match=f"occurs {places} times"):
            edited(value, replace_once(old, new))
        return
    assert edited(value, replace_once(old, new)) == before + new + after


@given(lines=st.lists(st.sampled_from(["a", "b", ""]), max_size=6), line=st.integers(-3, 8))
def test_inserting_is_what_inserting_into_a_list_of_lines_is(lines: list[str], line: int) -> None:
    value = "\n".join(lines)
    known = value.split("\n") if value else []
    if not -1 <= line <= len(known):
        with pytest.raises(InvalidInput, match="insert at 0 to"):
            edited(value, insert_at(line, "new"))
        return
    expected = [*known]
    expected.insert(len(known) if line == -1 else line, "new")

    assert edited(value, insert_at(line, "new")) == "\n".join(expected)
