"""
One episode per session: what it was about, in the words of those who were there.

Extractive: what the user asked first, what was asked most pointedly after that, and how it ended.
Every line of it is a quote, so the episode rests on evidence like any other memory.
"""

from collections.abc import Sequence
from datetime import datetime

from recollect.domain.candidate import INSTRUCTION, Found, Span
from recollect.domain.memory import MemoryType
from recollect.domain.source import BLANKS, Source
from recollect.domain.transcript import Voice
from recollect.engine.extract.find import flags_of
from recollect.engine.extract.utterances import Utterance, utterances
from recollect.engine.material import Turn
from recollect.text.fence import fenced_spans
from recollect.text.wording import plain

MOST_ASKED = 4
MOST_CHARS = 220
LEAST_WORDS = 3


def episode(source: Source, turns: Sequence[Turn], *, title: str = "") -> Found | None:
    """Return the episode of a session, or None where nobody said anything."""
    if source.metadata.get("mode", "transcript") in ("note", "summary"):
        return None  # a note is no session
    asked = _asked(source.content, turns) or _anything(source.content, turns)
    ended = _ended(source.content, turns)
    if not asked:
        return None
    lines = ["Asked: " + " / ".join(_shortened(one.text) for one in asked)]
    if ended is not None and ended not in asked:
        lines.append(f"Ended with: {_shortened(ended.text)}")
        asked.append(ended)
    spans = [Span(one.start, min(one.end, one.start + MOST_CHARS), one.turn.voice) for one in asked]
    return Found(
        type=MemoryType.EPISODE,
        content="\n".join(lines),
        rule="episode",
        confidence=1.0,
        observed_at=_began(source, turns),
        spans=tuple(spans),
        title=_title(source, turns, title),
        flags=flags_of(plain("\n".join(lines))),
    )


def _title(source: Source, turns: Sequence[Turn], name: str) -> str:
    talk = sum(turn.voice in (Voice.USER, Voice.ASSISTANT, Voice.OTHER) for turn in turns)
    day = f"{_began(source, turns):%Y-%m-%d}"
    return f"{name[:120] or 'Session'} ({day}, {talk} messages)"


def _asked(content: str, turns: Sequence[Turn]) -> list[Utterance]:
    """Return the first thing said, and those after it that say most, in order."""
    people = [turn for turn in turns if turn.voice in (Voice.USER, Voice.OTHER)]
    first_of_each = [one for turn in people if (one := _first(content, turn)) is not None]
    if not first_of_each:
        return []
    rest = sorted(first_of_each[1:], key=lambda one: (-_weight(one), one.start))[: MOST_ASKED - 1]
    return [first_of_each[0], *sorted(rest, key=lambda one: one.start)]


def _anything(content: str, turns: Sequence[Turn]) -> list[Utterance]:
    """Return the beginning of the first message, where no sentence in any message tells much."""
    order = (Voice.USER, Voice.OTHER, Voice.ASSISTANT)  # programs ask nothing: `/clear` is no talk
    talk = [turn for turn in turns if turn.voice in order]
    for turn in sorted(talk, key=lambda turn: (order.index(turn.voice), turn.start)):
        hidden = fenced_spans(content[turn.start : turn.end])
        end = turn.start + hidden[0][0] if hidden else turn.end
        text = content[turn.start : end].strip("".join(BLANKS) + " \n")[:MOST_CHARS]
        if text:
            start = content.index(text, turn.start)
            return [Utterance(text, start, start + len(text), turn)]
    return []


def _first(content: str, turn: Turn) -> Utterance | None:
    return next((one for one in utterances(content, turn) if _tells(one)), None)


def _ended(content: str, turns: Sequence[Turn]) -> Utterance | None:
    for turn in reversed(turns):
        if turn.voice is Voice.ASSISTANT:
            said = [one for one in utterances(content, turn) if _tells(one)]
            if said:
                return said[0]
    return None


def _tells(one: Utterance) -> bool:
    """Say whether a sentence may stand for its message: long enough, and no command to a reader."""
    text = plain(one.text)
    return len(text.split()) >= LEAST_WORDS and INSTRUCTION not in flags_of(text)


def _weight(one: Utterance) -> int:
    return len({word for word in plain(one.text[:MOST_CHARS]).split() if len(word) > 3})


def _shortened(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= MOST_CHARS else said[: MOST_CHARS - 1] + "…"


def _began(source: Source, turns: Sequence[Turn]) -> datetime:
    return turns[0].at if turns else source.observed_at
