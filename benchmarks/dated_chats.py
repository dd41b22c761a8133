"""
The conversations of the tasks as dated sessions with their turns.

Three families: chats of two people (LoCoMo), histories of 50 sessions (LongMemEval), and projects
with an assistant (RealMem, whose sessions have a day but no hour, so they are spread over the day).
Families and scopes alternate between the halves to choose and to confirm.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from benchmarks.tasks import Task, TaskItem, TaskQuery, read_task

HISTORIES = 6  # of LongMemEval
LEAST_SESSIONS = 15
_HOURS = (9, 12, 15, 18, 20, 21, 22)
_TURN = re.compile(r"^(User|Assistant): ", re.MULTILINE)


@dataclass(frozen=True)
class DatedSession:
    """One conversation: as one item, and turn by turn."""

    whole: TaskItem
    turns: tuple[TaskItem, ...]

    @property
    def at(self) -> datetime:
        assert self.whole.at is not None
        return self.whole.at


@dataclass(frozen=True)
class Chat:
    """The sessions of one scope in order of time, and the questions others ask about them."""

    scope: str
    family: str
    sessions: tuple[DatedSession, ...]
    queries: tuple[TaskQuery, ...]
    is_for_choosing: bool


def read_chats(folder: Path) -> list[Chat]:
    """Return every dated chat of the tasks in *folder*."""
    chats: list[Chat] = []
    for family in (_locomo(folder), _histories(folder), _realmem(folder)):
        long_enough = [chat for chat in family if len(chat.sessions) >= LEAST_SESSIONS]
        chats += [replace(chat, is_for_choosing=n % 2 == 0) for n, chat in enumerate(long_enough)]
    return chats


def _locomo(folder: Path) -> Iterator[Chat]:
    wholes, turns = read_task(folder, "locomo-session"), read_task(folder, "locomo-turn")
    for scope in sorted({item.scope for item in wholes.items}):
        sessions = _sessions(_of(wholes, scope), _of(turns, scope))
        queries = tuple(query for query in turns.queries if query.scope == scope)
        yield Chat(scope, "locomo", sessions, queries, True)


def _histories(folder: Path) -> Iterator[Chat]:
    wholes, turns = read_task(folder, "lme-h50-session"), read_task(folder, "lme-h50-turn")
    in_order = sorted(wholes.queries, key=lambda query: query.id)
    for query in in_order[:: max(len(in_order) // HISTORIES, 1)][:HISTORIES]:
        seen = query.candidates or frozenset()
        items = [_with_scope(item, query.id) for item in wholes.items if item.id in seen]
        turn_items = [_with_scope(item, query.id) for item in turns.items if item.session in seen]
        yield Chat(query.id, "lme", _sessions(items, turn_items), (), True)


def _realmem(folder: Path) -> Iterator[Chat]:
    wholes = read_task(folder, "realmem-session")
    for scope in sorted({item.scope for item in wholes.items}):
        items = sorted(_of(wholes, scope), key=lambda item: item.at or datetime.min)
        spread: list[TaskItem] = []
        for _, day in groupby(items, key=lambda item: item.at):
            hours = zip(_HOURS, day, strict=False)
            spread += [
                replace(item, at=item.at + timedelta(hours=hour)) for hour, item in hours if item.at
            ]
        turns = [turn for item in spread for turn in _turns(item)]
        yield Chat(scope, "realmem", _sessions(spread, turns), (), True)


def _of(task: Task, scope: str) -> list[TaskItem]:
    return [item for item in task.items if item.scope == scope and item.at is not None]


def _with_scope(item: TaskItem, scope: str) -> TaskItem:
    """Return *item* in a scope of its own; several histories share sessions."""
    session = f"{scope}/{item.session}" if item.session else ""
    return replace(item, id=f"{scope}/{item.id}", scope=scope, session=session)


def _sessions(wholes: Sequence[TaskItem], turns: Sequence[TaskItem]) -> tuple[DatedSession, ...]:
    turns_by_session: dict[str, list[TaskItem]] = {}
    for turn in turns:
        turns_by_session.setdefault(turn.session, []).append(turn)
    sessions = [DatedSession(whole, tuple(turns_by_session.get(whole.id, ()))) for whole in wholes]
    return tuple(
        sorted((session for session in sessions if session.turns), key=lambda session: session.at)
    )


def _turns(item: TaskItem) -> Iterator[TaskItem]:
    pieces = _TURN.split(item.text)[1:]
    for number, (speaker, text) in enumerate(zip(pieces[::2], pieces[1::2], strict=True)):
        if text.strip():
            yield replace(
                item, id=f"{item.id}#{number}", text=text.strip(), session=item.id, speaker=speaker
            )
