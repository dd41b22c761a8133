"""
Plain text: a dialogue with labels before what is said, or simply a text.

A text is a dialogue only where its labels give good reason. At least two lines must look alike
("Ana: …", "**User:** …", "### Assistant", "[2026-05-08 10:12] Ana: …"), and besides

- both the user and an assistant speak, or nobody but an assistant; or
- the labels carry times; or
- the text begins with a label, two or more speak, and they take turns or at least half of what they
  say is meant for somebody ("Shall we?"). A note ("Postgres: our main database") is not.

Otherwise the whole text is the user's own: to take a note for a dialogue would lose its words and
whose they are. Only the start of a line is looked at, so the work grows with the length of the text
and no faster. This file does not know languages: "Note:" is known as nobody, "Nota:" is not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts.fields import moment
from recollect.text.transcripts.labels import NOBODY, voice_of_label
from recollect.text.transcripts.parts import first_time

DIALOGUE = "dialogue"
TEXT = "text"

_HEAD_CHARS = 120  # a label and its time fit in; nothing beyond is tried
_PREAMBLE_LINES = 10  # how much may stand before the first label, where roles speak

_NAME = r"(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,3})"
_TIME = r"(?P<time>\d[\dTZAPMUCapm:.,/+ -]{3,34})"
# How a label may look; where a line fits two, the first.
_LOOKS = {
    "plain": re.compile(rf"{_NAME}(?::(?=\s|$)|：)"),
    "bold": re.compile(rf"\*\*{_NAME}(?: *\({_TIME}\))?(?::\*\*|\*\* ?:)"),
    "heading": re.compile(rf"#{{1,6}} +(?:[^\w\s]{{1,4}} +)?{_NAME}:?(?: *\({_TIME}\))?\s*$"),
    "said": re.compile(rf"(?:#{{1,6}} +)?{_NAME} said:(?=\s|$)"),
    "time first": re.compile(rf"\[{_TIME}\] ?{_NAME}:(?=\s|$)"),
    "time last": re.compile(rf"{_NAME} ?[(\[]{_TIME}[)\]]:(?=\s|$)"),
}
_TIMED = ("time first", "time last")
_LOWER_CASE = ("user", "human", "assistant", "system", "tool")  # any other is a key of YAML
_ROLES_ONLY = ("heading", "said")  # with any other name these are titles and sentences

_SPEECH_CHARS = 500
# Signs that a line is meant for somebody. "I" is none: notes are written that way too.
_SPEECH = re.compile(
    r"[?？]|\b(?:you|you're|you’re|let's|let’s)\b"
    r"|\A(?:hi|hello|hey|thanks|thank|sorry|agreed|sure|nice|great|cool)\b"
    r"|\A(?:yes|yeah|yep|no|nope|ok|okay|right|well|maybe)[,!]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Label:
    line: int
    end: int  # where in the line what is said begins
    look: str
    name: str
    voice: Voice
    speaker: str
    at: datetime | None


def parse(text: str) -> Transcript:
    """Return the dialogue that *text* is, or the whole of it as said by the user."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    labels = _labels(lines)
    for look in dict.fromkeys(label.look for label in labels):
        alike = _of_roles([label for label in labels if label.look == look])
        said = _spoken(lines, alike)
        before = [line for line in lines[: alike[0].line] if line.strip()]
        if _is_dialogue(alike, said, before):
            said = [*_preamble(before), *(one for one in said if one.text)]
            return Transcript(said=tuple(said), format=DIALOGUE, started_at=first_time(said))
    return Transcript(said=(Said(Voice.USER, text),), format=TEXT)


def _of_roles(labels: list[_Label]) -> list[_Label]:
    """Return the labels of roles where user and assistant speak: then "Ingredients:" is nobody."""
    if {Voice.USER, Voice.ASSISTANT} <= {label.voice for label in labels}:
        return [label for label in labels if label.voice is not Voice.OTHER]
    return labels


def _labels(lines: Sequence[str]) -> list[_Label]:
    found = [label for index, line in enumerate(lines) if (label := _label(index, line))]
    quoted = _fenced(lines, found)
    return [label for label in found if label.line not in quoted]


def _fenced(lines: Sequence[str], labels: Sequence[_Label]) -> set[int]:
    """
    Return the lines inside ``` fences.

    A last fence that is never closed encloses nothing. Where their number shows that one was not
    closed, it is the one in which both the user and an assistant seem to speak.
    """
    fences = [index for index, line in enumerate(lines) if line.startswith("```")]
    voices = {label.line: label.voice for label in labels}
    inside: set[int] = set()
    at = 0
    while at + 1 < len(fences):
        enclosed = range(fences[at], fences[at + 1])
        spoken = {voices[index] for index in enclosed if index in voices}
        if len(fences) % 2 and {Voice.USER, Voice.ASSISTANT} <= spoken:
            at += 1  # the next one opens
            continue
        inside.update(enclosed)
        at += 2
    return inside


def _label(index: int, line: str) -> _Label | None:
    head = line[:_HEAD_CHARS]
    if ":" not in head and "：" not in head and not head.startswith("#"):
        return None
    for look, pattern in _LOOKS.items():
        if not (match := pattern.match(head)):
            continue
        name, time = match["name"], match.groupdict().get("time") or ""
        if _names_someone(name, look) and (not time or ":" in time):
            voice, speaker = voice_of_label(name)
            return _Label(index, match.end(), look, name, voice, speaker, moment(time))
    return None


def _names_someone(name: str, look: str) -> bool:
    if name in _LOWER_CASE:
        return True
    if look in _ROLES_ONLY and voice_of_label(name)[0] is Voice.OTHER:
        return False
    return not any(word[0].islower() or word.casefold() in NOBODY for word in name.split(" "))


def _spoken(lines: Sequence[str], labels: Sequence[_Label]) -> list[Said]:
    """Return what is said at each of *labels*, up to the next, blank ones too."""
    ends = [*(label.line for label in labels[1:]), len(lines)]
    return [
        Said(label.voice, _text(lines, label, end), label.speaker, label.at)
        for label, end in zip(labels, ends, strict=True)
    ]


def _text(lines: Sequence[str], label: _Label, end: int) -> str:
    rest = lines[label.line + 1 : end]
    return "\n".join([lines[label.line][label.end :], *rest]).strip()


def _preamble(before: Sequence[str]) -> list[Said]:
    # A title, or the words of whoever handed the dialogue on: not known to be the user's.
    return [Said(Voice.OTHER, "\n".join(before).strip())] if before else []


def _is_dialogue(labels: Sequence[_Label], said: Sequence[Said], before: Sequence[str]) -> bool:
    if len(labels) < 2 or not any(one.text for one in said):
        return False
    look = labels[0].look
    voices = {label.voice for label in labels}
    both = {Voice.USER, Voice.ASSISTANT} <= voices
    if both or voices == {Voice.ASSISTANT} or look in _TIMED:
        return len(before) <= _PREAMBLE_LINES
    if before or look in _ROLES_ONLY:
        return False
    names = {label.name.casefold() for label in labels}
    meant = sum(bool(_SPEECH.search(one.text[:_SPEECH_CHARS])) for one in said)
    return len(names) >= 2 and (len(names) < len(labels) or 2 * meant >= len(said))
