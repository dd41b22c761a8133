"""
RealMem: sessions of five people with an assistant, and the records others made of them.

Each person has a store and a project; their sessions are captured in order and worked off by rules
alone. About half of the sessions are distractors without a record: what is found there counts as
wrong, true or not. A candidate belongs to every session its evidence is from. This file captures
and counts; when a candidate covers a record is decided in cover.py.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import perf_counter

from benchmarks.extraction.cover import cover
from benchmarks.extraction.door import Messages, candidates, new_memory
from benchmarks.extraction.shares import Share
from benchmarks.tasks import Item, read_task
from recollect.models.embedder import Embedder
from recollect.text.sentence_splitter import sentence_spans

# Rules are written after reading the first three people; the other two only give figures.
OPEN_PEOPLE = ("Adeleke_Okonjo", "Ethan_Hunt", "Kenta_Tanaka")
USER = "User"
LEAST_CHARS = 8  # a shorter sentence is no statement

_MESSAGE = re.compile(r"^(User|Assistant): ", re.MULTILINE)


@dataclass(frozen=True)
class Record:
    """What somebody noted of a session, and whose words it rests on."""

    text: str
    speaker: str


@dataclass(frozen=True, kw_only=True)
class Session:
    """One conversation and its records."""

    id: str
    person: str
    at: datetime | None
    messages: Messages
    records: tuple[Record, ...]

    @property
    def split(self) -> str:
        """Say whether its texts may be shown."""
        return "dev" if self.person in OPEN_PEOPLE else "test"


@dataclass(frozen=True)
class Yield:
    """Something taken from a session, and by which rule."""

    text: str
    rule: str


Yields = Mapping[str, Sequence[Yield]]  # by session


@dataclass(frozen=True)
class Captured:
    """What came of every session, and how long that took."""

    yields: Yields
    capture_s: float
    drain_s: float


@dataclass(frozen=True)
class Judged:
    """What was taken from a session: whether each covers a record, and each record, by which."""

    session: Session
    yields: tuple[Yield, ...]
    covers: tuple[bool, ...]
    covered_by: tuple[Yield | None, ...]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What some sessions came to."""

    sessions: int
    yields: int
    recall: Share
    recall_of_user: Share
    precision: Share  # in sessions that have records
    precision_overall: Share
    quiet: Share  # of the sessions without records, those that yield nothing
    by_rule: Mapping[str, tuple[Share, Share]]  # covering a record: where there are any, and of all


def read_sessions(folder: Path, split: str) -> list[Session]:
    """Return the sessions of a split, in order; 'all' is every split."""
    records: defaultdict[str, list[Record]] = defaultdict(list)
    for item in read_task(folder, "realmem-memory").items:
        records[item.session].append(Record(item.text, item.speaker))
    every = (_session(item, records) for item in read_task(folder, "realmem-session").items)
    return [one for one in every if split in (one.split, "all")]


def capture(sessions: Sequence[Session]) -> Captured:
    """Capture every session and work it off; return what came of each."""
    found: dict[str, list[Yield]] = {session.id: [] for session in sessions}
    capture_s = drain_s = 0.0
    for person in dict.fromkeys(session.person for session in sessions):
        source_of: dict[str, str | None] = {}
        with new_memory() as memory:
            started = perf_counter()
            for session in (one for one in sessions if one.person == person):
                event = memory.capture_session(
                    session.messages, project=person, session=session.id, observed_at=session.at
                )
                source_of[session.id] = event.source_id
            captured = perf_counter()
            memory.drain()
            capture_s += captured - started
            drain_s += perf_counter() - captured
            by_source: defaultdict[str | None, list[Yield]] = defaultdict(list)
            for one in candidates(memory):
                taken = Yield(one.content, str(one.metadata.get("rule", "")))
                for source_id in {piece.source_id for piece in one.evidence}:
                    by_source[source_id].append(taken)
        found |= {session_id: by_source[source] for session_id, source in source_of.items()}
    return Captured(found, capture_s, drain_s)


def every_user_sentence(sessions: Iterable[Session]) -> Yields:
    """Return what would come of taking everything the user said, sentence by sentence."""
    return {
        session.id: [
            Yield(content[start:end], "sentence")
            for content in _said_by_user(session)
            for start, end in sentence_spans(content)
            if end - start >= LEAST_CHARS
        ]
        for session in sessions
    }


def judge(sessions: Iterable[Session], yields: Yields, embedder: Embedder) -> list[Judged]:
    """Compare what was taken with the records, session by session."""
    judged = []
    for session in sessions:
        taken = tuple(yields[session.id])
        texts = [record.text for record in session.records]
        how_well = cover(texts, [one.text for one in taken], embedder)
        covers = tuple(bool((column >= 1).any()) for column in how_well.T)
        best = (taken[row.argmax()] if (row >= 1).any() else None for row in how_well)
        judged.append(Judged(session, taken, covers, tuple(best)))
    return judged


def score(judged: Sequence[Judged]) -> Scores:
    """Return the scores of some sessions."""
    told = [one for one in judged if one.session.records]
    silent = [one for one in judged if not one.session.records]
    records = [
        (record, by is not None)
        for one in told
        for record, by in zip(one.session.records, one.covered_by, strict=True)
    ]
    of_user = [found for record, found in records if record.speaker == USER]
    each = [pair for one in judged for pair in zip(one.yields, one.covers, strict=True)]
    in_told = [pair for one in told for pair in zip(one.yields, one.covers, strict=True)]
    rules = sorted({taken.rule for taken, _ in each})
    return Scores(
        sessions=len(judged),
        yields=len(each),
        recall=_share(found for _, found in records),
        recall_of_user=_share(of_user),
        precision=_share(hit for _, hit in in_told),
        precision_overall=_share(hit for _, hit in each),
        quiet=_share(not one.yields for one in silent),
        by_rule={
            rule: (
                _share(hit for taken, hit in in_told if taken.rule == rule),
                _share(hit for taken, hit in each if taken.rule == rule),
            )
            for rule in rules
        },
    )


def _share(each: Iterable[bool]) -> Share:
    values = list(each)
    return Share(sum(values), len(values))


def _session(item: Item, records: Mapping[str, Sequence[Record]]) -> Session:
    return Session(
        id=item.id,
        person=item.scope,
        at=item.at,
        messages=_messages(item.text),
        records=tuple(records.get(item.id, ())),
    )


def _messages(text: str) -> Messages:
    """Cut a session where a line begins with a role; that is how the task writes messages."""
    pieces = _MESSAGE.split(text)[1:]
    return [
        {"role": role.lower(), "content": content.strip()}
        for role, content in zip(pieces[::2], pieces[1::2], strict=True)
        if content.strip()
    ]


def _said_by_user(session: Session) -> list[str]:
    return [one["content"] for one in session.messages if one["role"] == "user"]
