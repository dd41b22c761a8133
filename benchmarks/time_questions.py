"""
Generate questions that ask by time: `python -m benchmarks.time_questions FOLDER`.

"What did we talk about on May 8th?", "… three sessions ago?", "our first conversation in July", and
questions of LoCoMo with a time added. Each is asked at some time in the life of a chat, when only
the sessions before it are stored. Gold are the sessions in the period that a careful person means;
ambiguous questions are dropped. Writes four tasks: sessions or turns, to choose and to confirm.
time_phrases.py and session_phrases.py have the phrases, dated_chats.py the chats. Nothing of
`recollect.text` is used.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from random import Random

from benchmarks.dated_chats import Chat, DatedSession, read_chats
from benchmarks.session_phrases import NamedSessions, beside_quote, named_sessions
from benchmarks.tasks import Task, TaskQuery, TasksMissing, default_folder, write_task
from benchmarks.time_phrases import Span, phrases

SEED = 8
MOMENTS = (0.5, 0.7, 0.85, 1.0)  # how much of a chat has been said when questions are asked
BY_SPAN, BY_PLACE, BY_QUOTE, MIXED = 7, 4, 1, 6  # questions a moment; MIXED only where there are
MAX_GOLD = 5

BY_TIME = (
    "What did we talk about {}?",
    "What did we discuss {}?",
    "what were we talking about {}",
    "Remind me what we talked about {}.",
    "What did I tell you {}?",
    "Can you recap what we discussed {}?",
    "What came up in our conversation {}?",
    "Do you remember what we spoke about {}?",
    "Summarize our chat {}.",
    "What topics did we cover {}?",
    "I forgot what we went over {}, can you tell me?",
    "{}, what did we talk about?",
    "So {} we talked - what was it about?",
    "which things did we discuss {}?",
)
BY_NAME = (
    "What was {} about?",
    "Can you summarize {}?",
    "Remind me of {}.",
    "what did we cover in {}",
)
WITH_TOPIC = (
    "{q} We talked about it {t}.",
    "{t}: {q}",
    "I think it came up {t}. {q}",
    "{q} (said {t})",
    "From what was said {t}: {q}",
)
_OTHER_TIME = re.compile(
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|yesterday|last|first|recent"
    r"|recently|ago|week|weekend|month|year|summer|spring|fall|autumn|winter|christmas|new)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[A-Z][^.!?\n“”\"]{30,80}(?=[.!?])")


# Kinds of questions that have much in common; every other kind names a stretch of time.
GROUPS = ("by span", "by place", "by place and span", "by quote", "with a topic")
_GROUP = {
    "with a topic": "with a topic",
    **dict.fromkeys(["after a quote", "before a quote"], "by quote"),
    **dict.fromkeys(
        ["first of month", "last of month", "next after day", "last before day"],
        "by place and span",
    ),
    **dict.fromkeys(
        ["last session", "last time", "session before last", "sessions ago", "last several"],
        "by place",
    ),
    **dict.fromkeys(
        ["first session", "second session", "first several"],
        "by place",
    ),
}


def group_of(kind: str) -> str:
    """Return which of GROUPS a kind of questions belongs to."""
    return _GROUP.get(kind, "by span")


@dataclass(frozen=True)
class TimeQuestion:
    """A question, the sessions that answer it, and where it is told, the turns."""

    kind: str
    text: str
    sessions: tuple[DatedSession, ...]
    turns: tuple[str, ...] = ()


def time_tasks(chats: Sequence[Chat]) -> list[Task]:
    """Return the four tasks; the same chats give the same questions."""
    rng, used = Random(SEED), Counter[str]()
    rows = [row for chat in chats for row in _questions_over_time(chat, rng, used)]
    tasks = []
    for half, is_for_choosing in (("choose", True), ("confirm", False)):
        part = [row for row in rows if row[0].is_for_choosing == is_for_choosing]
        tasks += [_task(f"time-session-{half}", part, whole=True)]
        tasks += [_task(f"time-turn-{half}", part, whole=False)]
    return tasks


Row = tuple[Chat, int, datetime, TimeQuestion]


def _questions_over_time(chat: Chat, rng: Random, used: Counter[str]) -> Iterator[Row]:
    for share in MOMENTS:
        count = round(share * len(chat.sessions))
        asked_at = _asked_at(chat.sessions, count, rng)
        before = chat.sessions[:count]
        chosen = _choose_questions(_by_span(before, asked_at, rng), BY_SPAN, rng, used)
        chosen += _choose_questions(_by_place(before, asked_at, rng), BY_PLACE, rng, used)
        chosen += _choose_questions(_by_quote(before, rng), BY_QUOTE, rng, used)
        chosen += _choose_questions(
            _with_topic(chat.queries, before, asked_at, rng), MIXED, rng, used
        )
        for question in chosen:
            yield chat, count, asked_at, question


def _asked_at(sessions: Sequence[DatedSession], count: int, rng: Random) -> datetime:
    """Return a moment after *count* sessions and, where there is one, before the next."""
    last = sessions[count - 1].at
    days = rng.choice((0, 1, 1, 2, 3, 4, 6, 9))
    moment = datetime.combine(last.date() + timedelta(days=days), time(rng.choice((9, 14, 18, 21))))
    moment = max(moment, last + timedelta(hours=1))
    if count == len(sessions):
        return moment
    return min(moment, last + (sessions[count].at - last) * 0.8)


def _choose_questions(
    questions: Sequence[TimeQuestion], most: int, rng: Random, used: Counter[str]
) -> list[TimeQuestion]:
    """Return *most* of the questions, of the kinds that were asked least so far."""
    by_kind: dict[str, list[TimeQuestion]] = {}
    for question in questions:
        by_kind.setdefault(question.kind, []).append(question)
    kinds = sorted(by_kind)
    rng.shuffle(kinds)
    kinds.sort(key=lambda kind: used[kind])
    chosen = []
    for turn in range(most):
        if not kinds:
            break
        kind = kinds[turn % len(kinds)]
        pick = rng.choice(by_kind[kind])
        if pick not in chosen:
            chosen.append(pick)
            used[kind] += 1
    return chosen


def _by_span(before: Sequence[DatedSession], asked_at: datetime, rng: Random) -> list[TimeQuestion]:
    questions = []
    for target in before:
        for phrase in phrases(target.at, asked_at):
            sessions = _agreed_sessions(before, phrase.readings)
            if 0 < len(sessions) <= MAX_GOLD:
                text = _fill_template(rng.choice(BY_TIME), phrase.text)
                questions.append(TimeQuestion(phrase.kind, text, sessions))
    return questions


def _agreed_sessions(
    before: Sequence[DatedSession], readings: Sequence[Span]
) -> tuple[DatedSession, ...]:
    """Return the sessions that every reading means; none if they do not agree."""
    each = [
        tuple(session for session in before if start <= session.at < end) for start, end in readings
    ]
    return each[0] if all(sessions == each[0] for sessions in each) else ()


def _by_place(
    before: Sequence[DatedSession], asked_at: datetime, rng: Random
) -> list[TimeQuestion]:
    return [
        _by_name(phrase, before, rng) for phrase in named_sessions([s.at for s in before], asked_at)
    ]


def _by_quote(before: Sequence[DatedSession], rng: Random) -> list[TimeQuestion]:
    questions = []
    for place, session in enumerate(before):
        quotes = [quote for turn in session.turns for quote in _SENTENCE.findall(turn.text)]
        quotes = [
            quote for quote in quotes if sum(quote in other.whole.text for other in before) == 1
        ]
        if quotes:
            named = beside_quote(rng.choice(quotes), place, len(before))
            questions += [_by_name(phrase, before, rng) for phrase in named]
    return questions


def _by_name(named: NamedSessions, before: Sequence[DatedSession], rng: Random) -> TimeQuestion:
    if rng.random() < 0.5:
        text = _fill_template(rng.choice(BY_NAME), named.about)
    else:
        text = _fill_template(rng.choice(BY_TIME), named.during)
    return TimeQuestion(named.kind, text, tuple(before[place] for place in named.positions))


def _with_topic(
    queries: Sequence[TaskQuery], before: Sequence[DatedSession], asked_at: datetime, rng: Random
) -> list[TimeQuestion]:
    """Return known questions about one turn, with the time it was said at added."""
    session_of = {turn.id: session for session in before for turn in session.turns}
    questions = []
    for query in queries:
        if query.category != "single-hop" or len(query.gold) != 1 or _OTHER_TIME.search(query.text):
            continue
        turn = next(iter(query.gold))
        if turn not in session_of:
            continue
        ways = list(phrases(session_of[turn].at, asked_at))
        way = rng.choice(ways)
        text = rng.choice(WITH_TOPIC).format(q=query.text, t=way.text)
        text = text[0].upper() + text[1:]
        questions.append(TimeQuestion("with a topic", text, (session_of[turn],), (turn,)))
    return questions


def _fill_template(frame: str, words: str) -> str:
    text = frame.format(words)
    return text[0].upper() + text[1:] if frame.startswith("{}") else text


def _task(name: str, rows: Sequence[Row], *, whole: bool) -> Task:
    chats = {chat.scope: chat for chat, *_ in rows}
    items = {
        scope: [
            item
            for session in chat.sessions
            for item in ([session.whole] if whole else session.turns)
        ]
        for scope, chat in chats.items()
    }
    queries = []
    for number, (chat, count, asked_at, question) in enumerate(rows):
        seen = chat.sessions[:count]
        ids = (
            [session.whole.id for session in seen]
            if whole
            else [t.id for session in seen for t in session.turns]
        )
        if whole:
            gold = [session.whole.id for session in question.sessions]
        else:
            gold = list(question.turns) or [
                turn.id for session in question.sessions for turn in session.turns
            ]
        queries.append(
            TaskQuery(
                id=f"{chat.scope}/time{number}",
                scope=chat.scope,
                text=question.text,
                category=question.kind,
                gold=frozenset(gold),
                stale=frozenset(),
                asked_at=asked_at.isoformat(timespec="minutes"),
                candidates=frozenset(ids),
            )
        )
    return Task(
        name=name, items=tuple(i for s in items.values() for i in s), queries=tuple(queries)
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.time_questions", description=__doc__
    )
    parser.add_argument("to", type=Path, help="folder to write the tasks into")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    options = parser.parse_args(arguments)
    try:
        chats = read_chats(options.tasks)
    except TasksMissing as missing:
        print(f"time_questions: {missing}", file=sys.stderr)
        return 2
    for task in time_tasks(chats):
        write_task(options.to, task)
        print(f"{task.name}: {len(task.items)} items, {len(task.queries)} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
