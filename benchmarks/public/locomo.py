"""
LoCoMo (`locomo10.json`) as two tasks: `locomo-turn`, `locomo-session`.

A turn is stored as its speaker said it, with the caption of a picture it shared; a session is its
turns, one a line. Every conversation is a scope. Questions keep their place in the authors' list;
those without evidence that exists are left out.

The evidence is written by hand. "D8:6; D9:17", "D9:1 D4:4", "D:11:26" and "D30:05" are all meant as
turns, and read as such; what names no turn is dropped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.public.json_entries import UnexpectedFile, read_entries
from benchmarks.public.task_folder import TaskFolder

# As the authors' evaluation counts them; the paper lists them in another order.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")


@dataclass(frozen=True, kw_only=True)
class LocomoTurn:
    """One turn: `number` is its session's and its own, as evidence names it."""

    number: tuple[int, int]
    id: str
    speaker: str
    text: str


@dataclass(frozen=True, kw_only=True)
class LocomoSession:
    """A session in which something was said."""

    number: int
    at: str
    turns: tuple[LocomoTurn, ...]


def write_locomo(file: Path, folder: Path) -> list[TaskFolder]:
    """Write both tasks into *folder*."""
    with TaskFolder(folder, "locomo-turn") as turns, TaskFolder(folder, "locomo-session") as whole:
        for sample in read_entries(file):
            try:
                _write(sample, turns, whole)
            except (KeyError, TypeError, AttributeError) as error:
                raise UnexpectedFile(
                    f"{file} has an entry that is no LoCoMo conversation ({error!r}); "
                    "give locomo10.json as its authors publish it"
                ) from error
    return [turns, whole]


def sessions_of(conversation: Mapping[str, Any]) -> list[LocomoSession]:
    """Return the sessions in order; times without a session and sessions without words are left."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    sessions = (
        LocomoSession(
            number=number,
            at=moment(conversation.get(f"session_{number}_date_time") or ""),
            turns=tuple(_turns(number, conversation[f"session_{number}"] or ())),
        )
        for number in numbers
    )
    return [session for session in sessions if session.turns]


def evidence_of(written: object) -> list[tuple[int, int]]:
    """Return the turns that evidence names, each once, however it is written."""
    lines = written if isinstance(written, list) else [written]
    matches = (_TURN.findall(str(line)) for line in lines)
    return list(dict.fromkeys((int(a), int(b)) for pairs in matches for a, b in pairs))


def moment(written: str) -> str:
    """Return "1:56 pm on 8 May, 2023" as ISO 8601, '' where it is written otherwise."""
    try:
        return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").isoformat()
    except ValueError:
        return ""


def _turns(session: int, turns: Iterable[Mapping[str, Any]]) -> Iterator[LocomoTurn]:
    for place, turn in enumerate(turns, start=1):
        text, caption = turn.get("text") or "", turn.get("blip_caption")
        if not text.strip() and not caption:
            continue
        named = evidence_of(turn.get("dia_id"))
        yield LocomoTurn(
            number=named[0] if named else (session, place),
            id=turn.get("dia_id") or f"D{session}:{place}",
            speaker=turn["speaker"],
            text=f"{turn['speaker']}: {text}" + (f" [shared image: {caption}]" if caption else ""),
        )


def _write(sample: Mapping[str, Any], turns: TaskFolder, whole: TaskFolder) -> None:
    scope = sample["sample_id"]
    sessions = sessions_of(sample["conversation"])
    turn_ids, session_ids = {}, {}
    for session in sessions:
        session_id = f"{scope}/S{session.number}"
        for turn in session.turns:
            turn_id = f"{scope}/{turn.id}"
            turn_ids[turn.number] = turn_id
            session_ids[turn.number] = session_id
            turns.item(
                turn_id,
                turn.text,
                scope=scope,
                session=session_id,
                speaker=turn.speaker,
                at=session.at,
            )
        lines = "\n".join(turn.text for turn in session.turns)
        whole.item(session_id, lines, scope=scope, session=session_id, at=session.at)
    for place, question in enumerate(sample["qa"]):
        evidence = evidence_of(question.get("evidence"))
        for task, ids in ((turns, turn_ids), (whole, session_ids)):
            task.query(
                f"{scope}/q{place}",
                question["question"],
                scope=scope,
                gold=list(dict.fromkeys(ids[number] for number in evidence if number in ids)),
                category=CATEGORIES.get(question.get("category"), "other"),
            )
