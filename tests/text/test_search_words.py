"""Hidden words come to light: parts of identifiers, and words of scripts without spaces."""

import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.search_words import STOP_WORDS, searchable_text
from tables import each_row


def added_words(text: str) -> list[str]:
    """Return the words that `searchable` put behind *text*."""
    result = searchable_text(text)
    assert result.startswith(text)
    return result[len(text) :].split()


@each_row(
    ("identifier", "parts"),
    [
        ("writeBoolean", ["write", "Boolean"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("parseJSONResponse", ["parse", "JSON", "Response"]),
        ("MyClass", ["My", "Class"]),
        ("getURL", ["get", "URL"]),
        ("IOError", ["IO", "Error"]),
        ("xAxis", ["x", "Axis"]),
        ("userID", ["user", "ID"]),
        ("get_userName", ["user", "Name"]),
        ("base64Encode", ["Encode"]),
        ("self.writeBoolean(x)", ["write", "Boolean"]),
        ("writeBoolean and readInt", ["write", "Boolean", "read", "Int"]),
    ],
)
def test_an_identifier_is_split_and_also_kept_whole(identifier: str, parts: list[str]) -> None:
    words = added_words(identifier)

    assert not Counter(parts) - Counter(words)


@each_row(
    "text",
    [
        "",
        "plain words, nothing hidden.",
        "Capitalised Words At Each Start",
        "SHOUTING",
        "snake_case_name and kebab-case-name",
        "C3PO 12345 v1.2.3",
        "Привет, Αθήνα, مرحبا",
        "naïve café",
    ],
)
def test_a_text_without_identifiers_is_not_changed(text: str) -> None:
    assert searchable_text(text) == text


@each_row(
    ("text", "words"),
    [
        ("数据库", ["数据", "据库"]),
        ("使用数据库", ["使用", "用数", "数据", "据库"]),
        ("字", ["字"]),
        ("データ", ["デー", "ータ"]),
        ("팀은", ["팀은"]),
        ("ฐานข", ["ฐา", "าน", "นข"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("日々", ["日々"]),
        ("Postgres数据库v16", ["Postgres", "数据", "据库", "v16"]),
        ("数据，库存", ["数据", "，", "库存"]),
    ],
)
def test_a_script_without_spaces_becomes_overlapping_pairs(text: str, words: list[str]) -> None:
    assert searchable_text(text).split() == words


def test_a_part_of_an_unspaced_phrase_shares_its_pairs_with_the_whole() -> None:
    whole, part = searchable_text("我们决定使用数据库").split(), searchable_text("数据库").split()

    assert set(part) <= set(whole)


def test_stop_words_are_lower_case_words_that_carry_no_meaning() -> None:
    assert {"the", "is", "what", "with"} <= STOP_WORDS
    assert not {"postgres", "port", "never", "without"} & STOP_WORDS
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)


@given(st.text())
def test_no_letter_of_the_text_is_lost(text: str) -> None:
    assert not Counter(text) - Counter(searchable_text(text)) - Counter(string.whitespace)


@given(st.text(string.ascii_letters + " _.\n"))
def test_ascii_text_is_kept_in_front_of_what_is_added(text: str) -> None:
    assert searchable_text(text).startswith(text)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["aB" * 100_000, "A" * 200_000, "a" * 200_000, "字" * 200_000])
def test_a_long_run_is_read_in_time(text: str) -> None:
    assert len(searchable_text(text)) <= 3 * len(text) + 3
