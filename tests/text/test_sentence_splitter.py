"""Sentences are found as people write them, each with its position."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.sentence_splitter import MAX_CHARS, sentence_spans
from tables import each_row

LONG = "This line is long enough that whoever wrote it may have let it wrap somewhere"

prose = st.text("aB1 .!?…;:,\n\r\t-*>#\"')]é", max_size=300)


def split(text: str, start: int = 0, end: int | None = None) -> list[str]:
    return [text[first:last] for first, last in sentence_spans(text, start, end)]


@each_row("text", ["", " ", "\n\n", " \t\r\n "])
def test_a_blank_text_has_no_sentences(text: str) -> None:
    assert split(text) == []


@each_row(
    ("text", "pieces"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("What?! No way... Well", ["What?!", "No way...", "Well"]),
        ("wait… what", ["wait…", "what"]),
        ("no. capitals. here", ["no.", "capitals.", "here"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("(Really.) Yes.", ["(Really.)", "Yes."]),
        ("**Bold.** Next one.", ["**Bold.**", "Next one."]),
        ("One line\nand another", ["One line", "and another"]),
        ("One line\r\nand another\r\n", ["One line", "and another"]),
        ("One, two: three; four", ["One, two: three; four"]),
        ("我住在成都。你呢？好！", ["我住在成都。", "你呢？", "好！"]),
        ("「終わりました。」次は何ですか？", ["「終わりました。」", "次は何ですか？"]),
    ],
)
def test_a_sentence_ends_with_its_mark_or_with_its_line(text: str, pieces: list[str]) -> None:
    assert split(text) == pieces


@each_row(
    "text",
    [
        "Use a fork, e.g. mine, i.e. the blue one",
        "Dr. Ana met Prof. Bea vs. Mr. Cruz",
        "J. R. R. Tolkien wrote it",
        "Version 3.10 needs v2.1.0 of foo.bar.baz",
        "See https://a.example/x.html?y=z!w for more",
        "On 4. March we met",
        "Pages (approx. 30) are missing",
        "We went to St. Louis in Dec. 2024",
        "Wow!that was close",
    ],
)
def test_abbreviations_initials_numbers_and_addresses_end_no_sentence(text: str) -> None:
    assert split(text) == [text]


@each_row("first", ["The limit is 30.", "It costs 3.", "We write it in C."])
def test_a_sentence_may_end_with_a_number_or_a_letter(first: str) -> None:
    assert split(f"{first} Then we left.") == [first, "Then we left."]


def test_the_marks_of_lists_and_headings_belong_to_no_sentence() -> None:
    text = "- one\n* two\n• three\n1. four\n2) five\n## six\n[ ] seven\n- [x] eight\n  - nine"

    assert split(text) == ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def test_a_long_line_that_goes_on_in_the_next_is_one_sentence() -> None:
    text = f"{LONG}\nto the next line. Done."

    assert split(text) == [f"{LONG}\nto the next line.", "Done."]


@each_row(
    "text",
    [
        "a short line\nis not wrapped",
        f"{LONG}.\nthis one ended",
        f"{LONG}:\nthis one opens a list",
        f"{LONG}\n\nafter an empty line",
        f"{LONG}\nBut this begins anew",
        f"{LONG}\n- and this is a point",
    ],
)
def test_other_lines_are_sentences_of_their_own(text: str) -> None:
    assert len(split(text)) == 2


def test_only_the_given_part_is_read() -> None:
    text = "Before. Inside one. Inside two. After."

    assert split(text, 8, 31) == ["Inside one.", "Inside two."]
    assert split(text, 8, 17) == ["Inside on"]


def test_a_sentence_that_never_ends_is_truncated() -> None:
    [piece] = split("word " * 1_000)

    assert MAX_CHARS - 5 <= len(piece) <= MAX_CHARS


@given(prose)
def test_sentences_are_in_order_without_overlap_or_surrounding_space(text: str) -> None:
    spans = list(sentence_spans(text))

    assert all(first < last for first, last in spans)
    assert all(text[first:last] == text[first:last].strip() for first, last in spans)
    assert all(
        first_span[1] <= second_span[0] for first_span, second_span in itertools.pairwise(spans)
    )


@given(prose)
def test_no_word_is_lost(text: str) -> None:
    words = [word for word in text.split() if any(letter.isalpha() for letter in word)]

    joined = " ".join(split(text))

    assert all(word.strip("-*>#.!?…;:,\"')]1") in joined for word in words)


@given(prose, prose, prose)
def test_a_part_is_read_as_if_it_stood_alone(front: str, text: str, behind: str) -> None:
    whole = f"{front}\n{text}\n{behind}"
    at = len(front) + 1

    spans = list(sentence_spans(whole, at, at + len(text)))

    assert all(at <= first < last <= at + len(text) for first, last in spans)
    assert [(first - at, last - at) for first, last in spans] == list(sentence_spans(text))


@pytest.mark.fuzz
@each_row(
    "piece",
    ["a ", "a. ", "\n", "- ", "1. ", "# ", "[ ] ", '"', ")", "e.g. ", f"{LONG}\n", f"{LONG}\na"],
)
def test_a_long_text_is_cut_in_no_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()

    for _ in sentence_spans(text):
        pass

    assert time.process_time() - began < 10


@each_row("mark", [".", "…", "!?"])
def test_a_run_of_marks_is_cut_in_no_time(mark: str) -> None:
    began = time.process_time()

    split(f"{mark * (40_000 // len(mark))}x")

    assert time.process_time() - began < 3
