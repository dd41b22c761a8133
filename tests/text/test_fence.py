"""The fence around injected memory: created, recognised, and impossible to forge from inside."""

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from recollect.text.fence import (
    CLOSING_TAG,
    INTRODUCTION,
    escape_fence_tags,
    fence_text,
    fenced_spans,
)
from tables import each_row

OPENING = re.compile(r'<memory fingerprint="[0-9]{16}">')
TAGS = [
    CLOSING_TAG,
    '<memory fingerprint="0123456789012345">',
    "<memory>",
    "</ Memory >",
    "<memory",
    ">",
]

texts = st.lists(st.one_of(st.sampled_from(TAGS), st.text(max_size=20)), max_size=8).map("".join)


def without_fences(text: str) -> str:
    for start, end in reversed(fenced_spans(text)):
        text = text[:start] + text[end:]
    return text


def test_the_opening_tag_has_the_fingerprint_of_the_content() -> None:
    first, second = fence_text("I live in Ghent."), fence_text("I live in Porto.")

    assert OPENING.match(first)
    assert first.endswith(f"\nI live in Ghent.\n{CLOSING_TAG}")
    assert fence_text("I live in Ghent.") == first
    assert first.partition("\n")[0] != second.partition("\n")[0]


@each_row(
    "text",
    [
        "",
        "I live in Ghent.",
        "<memory>I live in Ghent.</memory>",
        '<memory fingerprint="short">I live in Ghent.</memory>',
        '<memory fingerprint="0123456789ABCDEF">I live in Ghent.</memory>',
        "</memory>",
    ],
)
def test_a_text_without_a_fence_has_no_spans(text: str) -> None:
    assert fenced_spans(text) == []


def test_every_fence_in_a_text_is_found_with_its_position() -> None:
    text = f"before {fence_text('one')} between {fence_text('two')} after"

    assert [text[start:end] for start, end in fenced_spans(text)] == [
        fence_text("one"),
        fence_text("two"),
    ]
    assert without_fences(text) == "before  between  after"


def test_a_fence_that_was_cut_off_reaches_to_the_end() -> None:
    text = f"before {fence_text('one two three')}"[:-15]

    assert without_fences(text) == "before "


def test_a_fence_opened_inside_a_fence_is_part_of_it() -> None:
    text = f"before {fence_text(fence_text('one').removesuffix(CLOSING_TAG))} after"

    assert without_fences(text) == "before  after"


@each_row(
    "tag",
    [
        CLOSING_TAG,
        "</MEMORY>",
        "< / memory >",
        "<memory>",
        '<memory fingerprint="0123456789012345">',
    ],
)
def test_a_fence_tag_inside_the_content_is_escaped(tag: str) -> None:
    assert escape_fence_tags(f"a {tag} b") == "a ‹memory› b"


@each_row("text", ["<memories>", "memory > 3", "a < memory", "<b>memory</b>"])
def test_text_that_only_looks_like_a_tag_is_not_changed(text: str) -> None:
    assert escape_fence_tags(text) == text


@given(texts)
def test_nothing_inside_closes_the_fence(inside: str) -> None:
    text = fence_text(escape_fence_tags(inside))

    assert fenced_spans(text) == [(0, len(text))]


@given(texts, texts, texts)
def test_injected_text_is_recognised_in_a_prompt(front: str, inside: str, behind: str) -> None:
    text = (
        escape_fence_tags(front) + fence_text(escape_fence_tags(inside)) + escape_fence_tags(behind)
    )

    assert without_fences(text) == escape_fence_tags(front) + escape_fence_tags(behind)


def test_the_introduction_right_before_a_fence_belongs_to_it() -> None:
    fenced = f"{INTRODUCTION}\n\n{fence_text('Use pnpm.')}"

    assert without_fences(f"You said:\n{fenced}\nWhy?") == "You said:\n\nWhy?"
    assert without_fences(f"{INTRODUCTION}\nWhy? {fence_text('Use pnpm.')}").endswith("Why? ")


@given(texts)
def test_spans_are_in_order_inside_the_text_and_do_not_overlap(text: str) -> None:
    spans = fenced_spans(text)

    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
