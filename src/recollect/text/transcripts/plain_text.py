"""
Read plain text: a dialogue with speaker labels, or a text without speakers.

A text is a dialogue only if at least two lines have labels of the same style ("Ana: …",
"**User:** …", "### Assistant", "[2026-05-08 10:12] Ana: …"), and

- both the user and an assistant speak, or only an assistant; or
- the labels have times; or
- the text begins with a label, two or more people speak, and they take turns or at least half of
  their messages address somebody ("Shall we?"). A note ("Postgres: our main database") does not.

Otherwise the whole text is the user's: reading a note as a dialogue would lose text and attribute
it wrongly. No program wrote the labels of a dialogue, and a web page may contain them too, so what
they attribute to the user counts as pasted. Only the start of each line is checked, so the time is
linear in the length of the text. Words that are not speakers are known in English only ("Note:",
but not "Nota:").
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts.json_fields import parse_time
from recollect.text.transcripts.message_parts import first_timestamp
from recollect.text.transcripts.speaker_labels import NOT_SPEAKERS, voice_of_label

DIALOGUE = "dialogue"
TEXT = "text"

_LABEL_CHARS = 120  # enough for a label and its time
_PREAMBLE_LINES = 10  # allowed before the first label if roles speak

_NAME = r"(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,3})"
_TIME = r"(?P<time>\d[\dTZAPMUCapm:.,/+ -]{3,34})"
# Styles of labels; if a line matches two, the first counts.
_LABEL_STYLES = {
    "plain": re.compile(rf"{_NAME}(?::(?=\s|$)|：)"),
    "bold": re.compile(rf"\*\*{_NAME}(?: *\({_TIME}\))?(?::\*\*|\*\* ?:)"),
    "heading": re.compile(rf"#{{1,6}} +(?:[^\w\s]{{1,4}} +)?{_NAME}:?(?: *\({_TIME}\))?\s*$"),
    "said": re.compile(rf"(?:#{{1,6}} +)?{_NAME} said:(?=\s|$)"),
    "time first": re.compile(rf"\[{_TIME}\] ?{_NAME}:(?=\s|$)"),
    "time last": re.compile(rf"{_NAME} ?[(\[]{_TIME}[)\]]:(?=\s|$)"),
}
_TIMED_STYLES = ("time first", "time last")
# Any other lower-case label is a YAML key.
_LOWER_CASE_ROLES = ("user", "human", "assistant", "system", "tool")
_ROLE_ONLY_STYLES = ("heading", "said")  # with other names, these are titles and sentences

_SPEECH_CHARS = 500
# Signs that a line addresses somebody. "I" is not one: people write notes with it too.
_ADDRESSED_SPEECH = re.compile(
    r"[?？]|\b(?:you|you're|you’re|let's|let’s)\b"
    r"|\A(?:hi|hello|hey|thanks|thank|sorry|agreed|sure|nice|great|cool)\b"
    r"|\A(?:yes|yeah|yep|no|nope|ok|okay|right|well|maybe)[,!]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _SpeakerLabel:
    line: int
    end: int  # where the message begins in the line
    style: str
    name: str
    voice: Voice
    speaker: str
    at: datetime | None


def parse(text: str) -> Transcript:
    """Return *text* as a dialogue, or all of it as one message of the user."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    labels = _find_labels(lines)
    for style in dict.fromkeys(label.style for label in labels):
        same_style = _role_labels([label for label in labels if label.style == style])
        messages = _messages_at_labels(lines, same_style)
        before = [line for line in lines[: same_style[0].line] if line.strip()]
        if _is_dialogue(same_style, messages, before):
            speeches = [_with_doubt(message) for message in messages if message.text]
            spoken = (*_preamble(before), *speeches)
            started_at = first_timestamp(spoken)
            return Transcript(messages=spoken, format=DIALOGUE, started_at=started_at)
    return Transcript(messages=(TranscriptMessage(Voice.USER, text),), format=TEXT)


def _role_labels(labels: list[_SpeakerLabel]) -> list[_SpeakerLabel]:
    """Return only the labels of roles if user and assistant speak: "Ingredients:" is not one."""
    if {Voice.USER, Voice.ASSISTANT} <= {label.voice for label in labels}:
        return [label for label in labels if label.voice is not Voice.OTHER]
    return labels


def _find_labels(lines: Sequence[str]) -> list[_SpeakerLabel]:
    labels = [label for index, line in enumerate(lines) if (label := _parse_label(index, line))]
    code_lines = _lines_in_code_blocks(lines, labels)
    return [label for label in labels if label.line not in code_lines]


def _lines_in_code_blocks(lines: Sequence[str], labels: Sequence[_SpeakerLabel]) -> set[int]:
    """
    Return the indexes of lines inside ``` code blocks.

    A last block that is never closed contains nothing. If the number of fences is odd, the unclosed
    block is the one in which both the user and an assistant seem to speak.
    """
    fences = [index for index, line in enumerate(lines) if line.startswith("```")]
    voices = {label.line: label.voice for label in labels}
    inside: set[int] = set()
    position = 0
    while position + 1 < len(fences):
        enclosed = range(fences[position], fences[position + 1])
        speaking = {voices[index] for index in enclosed if index in voices}
        if len(fences) % 2 and {Voice.USER, Voice.ASSISTANT} <= speaking:
            position += 1  # the next fence opens a block
            continue
        inside.update(enclosed)
        position += 2
    return inside


def _parse_label(index: int, line: str) -> _SpeakerLabel | None:
    head = line[:_LABEL_CHARS]
    if ":" not in head and "：" not in head and not head.startswith("#"):
        return None
    for style, pattern in _LABEL_STYLES.items():
        if not (match := pattern.match(head)):
            continue
        name, time = match["name"], match.groupdict().get("time") or ""
        if _is_speaker_name(name, style) and (not time or ":" in time):
            voice, speaker = voice_of_label(name)
            return _SpeakerLabel(index, match.end(), style, name, voice, speaker, parse_time(time))
    return None


def _is_speaker_name(name: str, style: str) -> bool:
    if name in _LOWER_CASE_ROLES:
        return True
    if style in _ROLE_ONLY_STYLES and voice_of_label(name)[0] is Voice.OTHER:
        return False
    return not any(word[0].islower() or word.casefold() in NOT_SPEAKERS for word in name.split(" "))


def _messages_at_labels(
    lines: Sequence[str], labels: Sequence[_SpeakerLabel]
) -> list[TranscriptMessage]:
    """Return the message after each of *labels*, up to the next label, including blank ones."""
    ends = [*(label.line for label in labels[1:]), len(lines)]
    return [
        TranscriptMessage(label.voice, _message_text(lines, label, end), label.speaker, label.at)
        for label, end in zip(labels, ends, strict=True)
    ]


def _message_text(lines: Sequence[str], label: _SpeakerLabel, end: int) -> str:
    rest = lines[label.line + 1 : end]
    return "\n".join([lines[label.line][label.end :], *rest]).strip()


def _with_doubt(message: TranscriptMessage) -> TranscriptMessage:
    return replace(message, voice=Voice.PASTED) if message.voice is Voice.USER else message


def _preamble(before: Sequence[str]) -> list[TranscriptMessage]:
    # A title, or words of the person who passed the dialogue on, who may not be the user.
    return [TranscriptMessage(Voice.OTHER, "\n".join(before).strip())] if before else []


def _is_dialogue(
    labels: Sequence[_SpeakerLabel], messages: Sequence[TranscriptMessage], before: Sequence[str]
) -> bool:
    if len(labels) < 2 or not any(message.text for message in messages):
        return False
    style = labels[0].style
    voices = {label.voice for label in labels}
    has_both_roles = {Voice.USER, Voice.ASSISTANT} <= voices
    if has_both_roles or voices == {Voice.ASSISTANT} or style in _TIMED_STYLES:
        return len(before) <= _PREAMBLE_LINES
    if before or style in _ROLE_ONLY_STYLES:
        return False
    names = {label.name.casefold() for label in labels}
    starts = [message.text[:_SPEECH_CHARS] for message in messages]
    addressed = sum(bool(_ADDRESSED_SPEECH.search(start)) for start in starts)
    return len(names) >= 2 and (len(names) < len(labels) or 2 * addressed >= len(messages))
