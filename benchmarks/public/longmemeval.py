"""
LongMemEval (`longmemeval_s.json`, `…_s_cleaned`, `…_m`, `…_oracle`) as two tasks: `lme-session`,
`lme-turn`.

Every question has a history of its own, so every question is a scope: the same filler session lies
in many histories, each time on another day, and could not be one item for all of them. What exists
for a question is what its scope holds.

A session is all its turns with their roles; a turn is either role's. Gold is what the authors
marked: `answer_session_ids`, and the turns with `has_answer`. As they do, questions that must not
be answered (ids with `_abs`) are left out of recall. Their own turn-level figures count only turns
of the user, and leave out the questions whose answer the assistant gave: those stay in here, as
the category `single-session-assistant`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.public.json_entries import UnexpectedFile, read_entries
from benchmarks.public.task_folder import TaskFolder

ABSTENTION = "_abs"


@dataclass(frozen=True, kw_only=True)
class LongMemEvalTurn:
    """One turn; `number` counts all turns of its session, so it stays when an empty one is left."""

    number: int
    role: str
    text: str
    has_answer: bool


@dataclass(frozen=True, kw_only=True)
class LongMemEvalSession:
    """A session of a history; `id` is the authors', with a number where it occurs again."""

    id: str
    at: str
    turns: tuple[LongMemEvalTurn, ...]
    has_answer: bool


def write_longmemeval(file: Path, folder: Path) -> list[TaskFolder]:
    """Write both tasks into *folder*, a question at a time."""
    with TaskFolder(folder, "lme-turn") as turns, TaskFolder(folder, "lme-session") as whole:
        for entry in read_entries(file):
            try:
                if ABSTENTION not in entry["question_id"]:
                    _write(entry, turns, whole)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise UnexpectedFile(
                    f"{file} has an entry that is no LongMemEval question ({error!r}); "
                    "give the file as its authors publish it"
                ) from error
    return [turns, whole]


def history_of(entry: Mapping[str, Any]) -> list[LongMemEvalSession]:
    """Return the sessions of a question by time (the oracle file has them in no order)."""
    answers = frozenset(entry["answer_session_ids"])
    seen: dict[str, int] = {}
    sessions = []
    for name, date, turns in zip(
        entry["haystack_session_ids"],
        entry["haystack_dates"],
        entry["haystack_sessions"],
        strict=True,
    ):
        seen[name] = seen.get(name, 0) + 1  # thirteen histories hold a filler twice
        session_turns = tuple(_turns(turns))
        if session_turns:
            sessions.append(
                LongMemEvalSession(
                    id=name if seen[name] == 1 else f"{name}~{seen[name]}",
                    at=moment(date),
                    turns=session_turns,
                    # Of two copies one is enough: the authors count ids, not places.
                    has_answer=name in answers and seen[name] == 1,
                )
            )
    return sorted(sessions, key=lambda session: session.at)


def moment(written: str) -> str:
    """Return "2023/05/30 (Tue) 23:40" as ISO 8601, '' where it is written otherwise."""
    day, _, rest = written.partition(" ")
    try:
        parsed = datetime.strptime(f"{day} {rest.split()[-1]}", "%Y/%m/%d %H:%M")
    except (ValueError, IndexError):
        return ""
    return parsed.isoformat(timespec="minutes")


def _turns(turns: list[Mapping[str, Any]]) -> Iterator[LongMemEvalTurn]:
    for number, turn in enumerate(turns):
        text = turn["content"] or ""
        if text.strip():
            marked = bool(turn.get("has_answer"))
            yield LongMemEvalTurn(number=number, role=turn["role"], text=text, has_answer=marked)


def _write(entry: Mapping[str, Any], turns: TaskFolder, whole: TaskFolder) -> None:
    scope = entry["question_id"]
    turn_gold, session_gold = [], []
    for session in history_of(entry):
        session_id = f"{scope}/{session.id}"
        if session.has_answer:
            session_gold.append(session_id)
        for turn in session.turns:
            turn_id = f"{session_id}#{turn.number}"
            if session.has_answer and turn.has_answer:
                turn_gold.append(turn_id)
            turns.item(
                turn_id,
                turn.text,
                scope=scope,
                session=session_id,
                speaker=turn.role,
                at=session.at,
            )
        lines = "\n".join(f"{turn.role}: {turn.text}" for turn in session.turns)
        whole.item(session_id, lines, scope=scope, session=session_id, at=session.at)
    for task, gold in ((turns, turn_gold), (whole, session_gold)):
        task.query(
            scope,
            entry["question"],
            scope=scope,
            gold=gold,
            category=entry["question_type"],
            asked_at=moment(entry.get("question_date") or ""),
        )
