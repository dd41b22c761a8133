"""What of a message may be read for facts: only what somebody said, each sentence in its place."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.transcript import Voice
from recollect.engine.extract.utterances import (
    MAX_CHARS,
    MAX_TURN_CHARS,
    MIN_CHARS,
    utterances,
)
from recollect.engine.source_text import SourceTurn
from recollect.text.fence import fence_text
from support import START
from tables import each_row

FIRST, LAST = "This is said first.", "This is said last."


def spoken(text: str, *, voice: Voice = Voice.USER) -> list[str]:
    return [
        sentence.text for sentence in utterances(text, SourceTurn(0, len(text), voice, "", START))
    ]


def test_each_sentence_knows_its_place_and_its_turn() -> None:
    content = f"User: {FIRST} {LAST}\n\nUser: Something else entirely."
    at = START - timedelta(days=1)
    turn = SourceTurn(6, 6 + len(FIRST) + 1 + len(LAST), Voice.USER, "", at)

    sentences = utterances(content, turn)

    assert [sentence.text for sentence in sentences] == [FIRST, LAST]
    assert all(content[sentence.start : sentence.end] == sentence.text for sentence in sentences)
    assert all(sentence.turn is turn and sentence.at == at for sentence in sentences)


@each_row("voice", [Voice.USER, Voice.ASSISTANT, Voice.OTHER])
def test_those_who_talk_are_read(voice: Voice) -> None:
    assert spoken(FIRST, voice=voice) == [FIRST]


@each_row("voice", [Voice.TOOL, Voice.SYSTEM])
def test_programs_do_not_say_anything(voice: Voice) -> None:
    assert spoken(FIRST, voice=voice) == []


PASTED = [
    "```\ncode. code code.\n```",
    "```python\nprint('one. two. three')\n```",
    "~~~\ncode. code code.\n~~~",
    "> quoted by somebody else",
    "  > quoted by somebody else\n> and more of it",
    "    an indented block",
    "\tan indented block",
    '  File "a.py", line 3, in b',
    "  at foo.bar (baz.js:3)",
    "Traceback (most recent call last):",
    "KeyError: 'nothing of that name'",
    "MyOwnException: nothing of that name",
    "$ ls a directory",
    ">>> print('a prompt')",
    "2026-05-08T12:00:00Z a line of a log",
    "diff --git a/one b/two",
    "index 3f2a..9c1b 100644",
    "@@ -1,3 +1,3 @@ def one",
    "--- a/one of the files",
    "+++ b/one of the files",
    "+added in this version",
    "-removed in this version",
    "<system-reminder>said by a program</system-reminder>",
    '<file path="a">\ncontent of a file\n</file>',
    "<document>content of a document</document>",
    "<command-name>a command</command-name>",
    "<local-command-stdout>what it printed</local-command-stdout>",
    "<environment_context>where it ran</environment_context>",
    "████████████",
    fence_text("Known from before, and put into the prompt."),
]


@each_row("pasted", PASTED)
def test_what_was_pasted_or_put_in_is_left_out_and_the_rest_is_read(pasted: str) -> None:
    assert spoken(f"{FIRST}\n{pasted}\n{LAST}") == [FIRST, LAST]


@each_row(
    "opened",
    [
        "```\ncode without an end. And more.",
        "~~~\ncode without an end. And more.",
        "<system-reminder>\nnever closed. And more.",
        fence_text("Never closed. And more.").removesuffix("</memory>"),
    ],
)
def test_what_is_not_closed_reaches_to_the_end(opened: str) -> None:
    assert spoken(f"{FIRST}\n{opened}\n{LAST}") == [FIRST]


@each_row(
    "text",
    [
        "- a point of a list",
        "* a point of a list",
        "1. a point of a list",
        "Use `make ship` for that",
        "a < b and c > d here",
        "The <b>bold</b> word stays",
        "Line of 3 spaces",
        "We add one-by-one here",
    ],
)
def test_what_only_looks_a_little_like_a_paste_is_read(text: str) -> None:
    assert len(spoken(text)) == 1


@each_row(
    ("length", "read"),
    [
        (MIN_CHARS - 1, False),
        (MIN_CHARS, True),
        (MAX_CHARS, True),
        (MAX_CHARS + 1, False),
    ],
)
def test_too_short_says_nothing_and_too_long_is_a_paste(length: int, read: bool) -> None:
    assert bool(spoken("x" * length)) is read


@each_row(("length", "read"), [(MAX_TURN_CHARS, True), (MAX_TURN_CHARS + 1, False)])
def test_a_message_as_long_as_a_document_is_not_read(length: int, read: bool) -> None:
    text = f"{FIRST}\n{'x' * length}"[:length]

    assert bool(spoken(text)) is read


pieces = st.one_of(st.sampled_from([*PASTED, FIRST, LAST, "\n", "```", "█"]), st.text(max_size=40))


@given(st.lists(pieces, max_size=10).map("\n".join), st.text(max_size=30), st.sampled_from(Voice))
def test_every_utterance_stands_word_for_word_inside_its_turn(
    text: str, front: str, voice: Voice
) -> None:
    content = front + text + "\n\nUser: another message."
    turn = SourceTurn(len(front), len(front) + len(text), voice, "", START)

    sentences = utterances(content, turn)

    assert all(turn.start <= sentence.start < sentence.end <= turn.end for sentence in sentences)
    assert all(content[sentence.start : sentence.end] == sentence.text for sentence in sentences)
    assert all("█" not in sentence.text and "```" not in sentence.text for sentence in sentences)
    starts = [sentence.start for sentence in sentences]
    assert starts == sorted(set(starts))


@given(st.lists(st.sampled_from([*PASTED, FIRST, LAST]), max_size=8).map("\n\n".join))
def test_nothing_that_was_pasted_is_ever_said(text: str) -> None:
    assert set(spoken(text)) <= {FIRST, LAST}
