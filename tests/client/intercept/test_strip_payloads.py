"""Payloads are removed from message content; texts and links stay."""

import time
from typing import Any

from recollect.client.intercept.strip_payloads import (
    MAX_CHARS,
    MIN_BASE64_RUN,
    strip_payload_text,
    strip_payloads,
)
from tables import each_row

PICTURE = "iVBORw0KGgo" * 16_000  # 176,000 characters of base64: 132 kB
URL = f"data:image/png;base64,{PICTURE}"
NOTE = "(132 kB left out)"


@each_row(
    ("part", "kept"),
    [
        (
            {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
            {"type": "image_url", "image_url": {"url": NOTE, "detail": "low"}},
        ),
        (
            {"type": "input_image", "image_url": URL},
            {"type": "input_image", "image_url": NOTE},
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": PICTURE, "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": NOTE, "format": "wav"}},
        ),
        (
            {"type": "file", "file": {"file_data": URL, "filename": "a.pdf"}},
            {"type": "file", "file": {"file_data": NOTE, "filename": "a.pdf"}},
        ),
        (
            {"type": "input_file", "file_data": PICTURE, "filename": "a.pdf"},
            {"type": "input_file", "file_data": NOTE, "filename": "a.pdf"},
        ),
        (
            {"type": "image", "source": {"type": "base64", "data": PICTURE}},
            {"type": "image", "source": {"type": "base64", "data": NOTE}},
        ),
        (
            {"type": "document", "source": {"type": "text", "data": "The lamp is red."}},
            {"type": "document", "source": {"type": "text", "data": "The lamp is red."}},
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        ),
    ],
)
def test_payloads_are_left_out_and_links_stay(part: dict[str, Any], kept: dict[str, Any]) -> None:
    assert strip_payloads(part) == kept


@each_row(
    ("text", "kept"),
    [
        ("data: three lamps, two chairs", "data: three lamps, two chairs"),
        ("The data:image type, as they say", "The data:image type, as they say"),
        ("data:image/svg+xml,%3Csvg%3E", "(1 kB left out)"),
        (f'{{"screenshot": "{URL}"}}', f'{{"screenshot": "{NOTE}"}}'),
        (f"look ![]({URL}) here", f"look ![]({NOTE}) here"),
        (f"raw {PICTURE} end", f"raw {NOTE} end"),
        ("a" * (MIN_BASE64_RUN - 1), "a" * (MIN_BASE64_RUN - 1)),
    ],
)
def test_files_written_into_a_text_are_left_out(text: str, kept: str) -> None:
    assert strip_payload_text(text) == kept


def test_text_without_end_is_cut_with_a_note() -> None:
    kept = strip_payload_text("word " * 300_000)

    assert kept.endswith("word  (1,000 kB left out)")
    assert len(kept) < MAX_CHARS + 50


def test_numbers_that_are_none_become_words() -> None:
    assert strip_payloads({"at": [float("nan"), float("inf"), 1.5]}) == {"at": ["nan", "inf", 1.5]}


def test_nesting_without_end_is_cut() -> None:
    value: Any = "deep"
    for _ in range(5_000):
        value = [value]

    assert "nested too deep" in str(strip_payloads(value))


@each_row(
    "text",
    ["a" * (MIN_BASE64_RUN - 1) + " ", "data:a/b;c", "data:" + "a" * 90, "data:a/" + ";b" * 90],
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    whole = text * (1_000_000 // len(text))
    started = time.perf_counter()

    strip_payload_text(whole)

    assert time.perf_counter() - started < 10
