"""What a terminal is shown of stored text that was written to deceive."""

import json
from datetime import date

import pytest

from recollect import LocalRecollect
from recollect.cli.memory_text import hit_lines
from recollect.cli.output import print_json
from recollect.text.visible_text import visible
from tables import each_row

REORDERED = "access\u202e\u2066// only admins\u2069\u2066"


@each_row(
    ("text", "expected"),
    [
        (REORDERED, "access<U+202E><U+2066>// only admins<U+2069><U+2066>"),
        ("pay\u200bpal\ufeff", "pay<U+200B>pal<U+FEFF>"),
        ("a\u200db c\u200cd", "a<U+200D>b c<U+200C>d"),
        ("soft\u00adhyphen \u061c\u2028\u2029", "soft<U+00AD>hyphen <U+061C><U+2028><U+2029>"),
        ("hidden\U000e0041\U000e0042", "hidden<U+E0041><U+E0042>"),
        ("x\ufe0f\ufe0f\ufe01 \u3164", "x<U+FE0F><U+FE0F><U+FE01> <U+3164>"),
        ("\x1b[2J\x07\x9b31m", "�[2J��31m"),
    ],
)
def test_characters_that_hide_or_reorder_text_are_shown(text: str, expected: str) -> None:
    assert visible(text) == expected


@each_row(
    "text",
    [
        "👩‍👩‍👧‍👦 and ❤️ and 1️⃣ and ☎︎ and 🏳️‍🌈",
        "می‌خواهم",  # Persian, with a zero-width non-joiner
        "क्‍ष",  # Devanagari, with a zero-width joiner
        "שלום, 世界! Grüße\n\ttab",
    ],
)
def test_the_writing_of_people_is_not_changed(text: str) -> None:
    assert visible(text) == text


def test_json_holds_escapes_instead_and_the_same_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    value = {"content": f"{REORDERED} \U000e0041 👩‍👧 \x9b"}

    print_json(value)

    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert "\u202e" not in printed
    assert "👩‍👧" in printed


def test_json_holds_the_days_that_a_statement_names(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"days": [date(2026, 5, 8)]})

    assert json.loads(capsys.readouterr().out) == {"days": ["2026-05-08"]}


def test_weak_matches_alone_are_no_answer(rec: LocalRecollect) -> None:
    for number in range(12):
        rec.ingest(f"The {number} red lamps of hall {number} are green at night.")
    rec.drain()

    weak, *_ = hit_lines(rec.search("green bulbs?"))
    clear, *_ = hit_lines(rec.search("are the red lamps of hall 7 green at night?"))

    assert "Nothing is clearly relevant" in weak
    assert "The 7 red lamps" in clear
