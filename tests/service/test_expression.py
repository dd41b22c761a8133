"""Expressions of callers do no harm, and mean within a stretch of lines what they mean in one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput, TooLarge
from recollect.service.disk.safe_regex import BATCH_CHARS, SafeRegex
from tables import each_row


def found(pattern: str, lines: list[str]) -> list[int]:
    return [at for at in SafeRegex(pattern).matching_lines(lines) if at is not None]


@each_row(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*c",
        "(a|aa)+$",
        "(.*a){20}$",
        "(x+x+)+y",
        "(?:a*)*(?:a*)*c",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(" * 400 + "a" + ")" * 400 + "$c",
        "(?:" * 190 + "a" + ")*" * 190 + "c",
        "[^x]*a.{900}$c",
    ],
)
def test_an_expression_that_would_take_for_ever_elsewhere_just_finds_nothing(pattern: str) -> None:
    assert found(pattern, ["a" * 100_000 + "b"]) == []


@each_row("pattern", ["((a{1000}){1000}){1000}", "(?:\\pL{1000}){5}", "\\pN{1000}" * 5])
def test_an_expression_that_would_eat_the_memory_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput, match="the pattern cannot be read"):
        SafeRegex(pattern)


@each_row(
    ("pattern", "said"),
    [
        ("ab[z-a]", "at position 3 \\('z-a'\\)"),
        ("x(a", "missing \\) at position 0"),
        ("ab**", "at position 2"),
        ("a(?=b)", "at position 1 .*look-around"),
        (r"(a)\1", r"at position 3"),
        ("ü\\K", "at position 1"),
        ("", "empty"),
        (None, "empty"),
        ("a\ud800", "half a character at position 1"),
    ],
)
def test_an_expression_that_cannot_be_read_is_refused_with_the_place(
    pattern: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        SafeRegex(pattern)


def test_an_expression_has_at_most_a_thousand_characters() -> None:
    assert found("a" * 1000, ["a" * 1000]) == [0]
    with pytest.raises(TooLarge, match="1,001 characters; the limit is 1,000"):
        SafeRegex("a" * 1001)


def test_a_match_is_placed_in_characters_not_in_bytes() -> None:
    assert SafeRegex("日本").span("ü日本") == (1, 3)
    assert SafeRegex("(?i)É").span("caf\u00e9") == (3, 4)
    assert SafeRegex("x").span("ü") is None


LINES = ["alpha", "", "  beta", "alpha beta", "a\rb", "ende", "", "x" * 40, "日本", "beta"]
PATTERNS = [
    "a", "^a", "a$", "^$", "^beta$", "a|^b", "beta|^$", r"\Aalpha\z", r"\Abeta", r"a\z",
    "(?-m)^beta", "(?i-m:^BETA)", r"\s", r"\s+beta", r"[^a]", r"a\nb", r"(?s)a.*e", r"(?s).",
    r"\n", r"\bbeta\b", r"\B", r"x{40}", "^.*$", r"e\s*b", r"\C", "(?U)a+", r"[\s\S]{9}",
    r"\x{65e5}", r"\r", "-m", "^(?:)$",
]  # fmt: skip


@each_row("pattern", PATTERNS)
def test_many_lines_at_once_match_as_each_one_does(pattern: str) -> None:
    expression = SafeRegex(pattern)

    assert found(pattern, LINES) == [at for at, line in enumerate(LINES) if expression.span(line)]


@given(
    st.text(alphabet="ab^$|.*+?()[]\\nsAzb ", min_size=1, max_size=12),
    st.lists(st.text(alphabet="ab \r", max_size=5), max_size=6),
)
def test_whatever_the_expression_many_lines_match_as_each_one_does(
    pattern: str, lines: list[str]
) -> None:
    try:
        expression = SafeRegex(pattern)
    except InvalidInput:
        return

    assert found(pattern, lines) == [at for at, line in enumerate(lines) if expression.span(line)]


def test_a_caller_is_back_in_control_after_each_stretch() -> None:
    lines = ["x" * 1023] * 200  # 64 of them are one stretch

    steps = list(SafeRegex("y").matching_lines(lines))

    assert steps == [None] * (200 * 1024 // BATCH_CHARS + 1)


def test_a_line_longer_than_a_stretch_is_searched() -> None:
    assert found("y$", ["x" * BATCH_CHARS * 2 + "y", "y"]) == [0, 1]
