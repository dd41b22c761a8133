"""A pattern behaves as the expression it stands for, and is compiled when it is first used."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.lazy_pattern import LazyPattern

texts = st.text("ab \n", max_size=20)
bounds = st.integers(min_value=0, max_value=25)


def test_making_a_pattern_compiles_nothing() -> None:
    broken = LazyPattern("(")

    with pytest.raises(re.error):
        broken.search("anything")


def test_several_ways_are_alternatives_that_do_not_mix() -> None:
    pattern = LazyPattern("ab|cd", "^ef$")

    assert [bool(pattern.search(text)) for text in ("xab", "cdx", "ef", "xef")] == [
        True,
        True,
        True,
        False,
    ]


def test_the_first_way_that_fits_is_taken() -> None:
    match = LazyPattern("a(?P<short>b)", "a(?P<long>bc)").search("abc")

    assert match is not None
    assert (match["short"], match["long"]) == ("b", None)


def test_flags_hold_for_every_way() -> None:
    pattern = LazyPattern("one", "two", flags=re.IGNORECASE)

    assert pattern.findall("ONE two Two") == ["ONE", "two", "Two"]


def test_match_is_tried_only_at_the_start_and_search_continues() -> None:
    pattern = LazyPattern("b")

    assert pattern.match("ab") is None
    assert pattern.match("ab", 1) is not None
    assert pattern.search("ab") is not None
    assert pattern.search("ab", 0, 1) is None


def test_sub_replaces_every_piece() -> None:
    assert LazyPattern(r"(a)(b)").sub(r"\2\1", "abxab") == "baxba"


@given(texts, bounds, bounds)
def test_it_finds_what_the_expression_finds(text: str, start: int, end: int) -> None:
    pattern, plain = LazyPattern("a+", "b "), re.compile("(?:a+)|(?:b )")

    assert [match.span() for match in pattern.finditer(text, start, end)] == [
        match.span() for match in plain.finditer(text, start, end)
    ]
    assert str(pattern.search(text, start, end)) == str(plain.search(text, start, end))
    assert str(pattern.match(text, start, end)) == str(plain.match(text, start, end))
    assert pattern.findall(text) == plain.findall(text)
    assert pattern.sub("-", text) == plain.sub("-", text)
