"""Lines end with a line feed and nothing else; windows put together are the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.text.line_windows import line_window, split_lines, trim_line
from tables import each_row


@each_row(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g", ["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"]),
        ("ü\n日本", ["ü", "日本"]),
    ],
)
def test_a_line_ends_with_a_line_feed_and_only_with_that(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@each_row(
    ("offset", "length", "expected"),
    [
        (0, None, (1, 4, 4, "a\n\nc\nd")),
        (0, 2, (1, 2, 4, "a\n\n")),
        (1, 2, (2, 3, 4, "\nc\n")),
        (3, 1, (4, 4, 4, "d")),
        (3, 99, (4, 4, 4, "d")),
        (2, 0, (3, 2, 4, "")),
        (4, None, (5, 4, 4, "")),
        (9, 1, (10, 9, 4, "")),
    ],
)
def test_a_window_has_the_requested_lines_and_their_numbers(
    offset: int, length: int | None, expected: tuple[int, int, int, str]
) -> None:
    assert line_window("a\n\nc\nd", offset, length) == expected


def test_an_empty_text_has_a_window_without_lines() -> None:
    assert line_window("", 0) == (1, 0, 0, "")


@each_row(("offset", "length"), [(-1, None), (0, -1)])
def test_a_window_does_not_count_from_the_end(offset: int, length: int | None) -> None:
    with pytest.raises(InvalidInput, match="0 or more"):
        line_window("a", offset, length)


@given(st.text(alphabet="ab\r\n\u2028"), st.integers(1, 5))
def test_windows_put_together_are_the_text(text: str, length: int) -> None:
    total = len(split_lines(text))

    pieces = [line_window(text, offset, length).text for offset in range(0, total, length)]

    assert "".join(pieces) == text.replace("\r\n", "\n")


def test_a_long_line_is_cut_around_the_match_and_never_longer_than_allowed() -> None:
    line = "x" * 1000 + "match" + "y" * 1000

    assert trim_line(line, 1000, 1005, max_chars=21) == "…" + "x" * 7 + "match" + "y" * 7 + "…"
    assert trim_line("match" + "y" * 50, 0, 5, max_chars=10) == "matchyyyy…"
    assert trim_line("x" * 50 + "match", 50, 55, max_chars=10) == "…xxxxmatch"
    assert trim_line("match", 0, 5, max_chars=5) == "match"
    assert trim_line("m" * 50, 10, 40, max_chars=10) == "…" + "m" * 8 + "…"


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.integers(3, 30))
def test_a_cut_line_has_exactly_the_length_allowed(
    length: int, first: int, second: int, max_chars: int
) -> None:
    start, end = sorted((min(first, length), min(second, length)))

    assert len(trim_line("x" * length, start, end, max_chars=max_chars)) == min(length, max_chars)
