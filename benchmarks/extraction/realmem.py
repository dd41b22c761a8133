"""
RealMem: sessions of five people with an assistant, and the records annotated for them.

Each person has a store and a project; sessions are captured in order and processed by rules only.
About half of the sessions are distractors without a record: candidates from them count as wrong,
true or not. A candidate belongs to every session that its evidence is from. record_coverage.py
decides whether a candidate covers a record.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import perf_counter

from benchmarks.extraction.extraction_store import Messages, candidates, new_memory
from benchmarks.extraction.proportion import Proportion
from benchmarks.extraction.record_coverage import record_coverage
from benchmarks.tasks import TaskItem, read_task
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
class RealMemSession:
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
class Finding:
    """Something taken from a session, and by which rule."""

    text: str
    rule: str


FindingsBySession = Mapping[str, Sequence[Finding]]  # by session


@dataclass(frozen=True)
class CapturedSessions:
    """What came of every session, and how long that took."""

    findings: FindingsBySession
    capture_s: float
    drain_s: float


@dataclass(frozen=True)
class JudgedSession:
    """What was taken from a session: whether each covers a record, and each record, by which."""

    session: RealMemSession
    findings: tuple[Finding, ...]
    covers: tuple[bool, ...]
    covered_by: tuple[Finding | None, ...]


@dataclass(frozen=True, kw_only=True)
class RealMemScores:
    """What some sessions came to."""

    sessions: int
    findings: int
    recall: Proportion
    recall_of_user: Proportion
    precision: Proportion  # in sessions that have records
    precision_overall: Proportion
    quiet: Proportion  # of the sessions without records, those that yield nothing
    by_rule: Mapping[
        str, tuple[Proportion, Proportion]
    ]  # covering a record: where there are any, and of all


def read_sessions(folder: Path, split: str) -> list[RealMemSession]:
    """Return the sessions of a split, in order; 'all' is every split."""
    records: defaultdict[str, list[Record]] = defaultdict(list)
    for item in read_task(folder, "realmem-memory").items:
        records[item.session].append(Record(item.text, item.speaker))
    every = (_session(item, records) for item in read_task(folder, "realmem-session").items)
    return [session for session in every if split in (session.split, "all")]


def capture(sessions: Sequence[RealMemSession]) -> CapturedSessions:
    """Capture every session and work it off; return what came of each."""
    findings: dict[str, list[Finding]] = {session.id: [] for session in sessions}
    capture_s = drain_s = 0.0
    for person in dict.fromkeys(session.person for session in sessions):
        source_of: dict[str, str | None] = {}
        with new_memory() as memory:
            started = perf_counter()
            for session in (session for session in sessions if session.person == person):
                event = memory.capture_session(
                    session.messages, project=person, session=session.id, observed_at=session.at
                )
                source_of[session.id] = event.source_id
            captured = perf_counter()
            memory.drain()
            capture_s += captured - started
            drain_s += perf_counter() - captured
            by_source: defaultdict[str | None, list[Finding]] = defaultdict(list)
            for candidate in candidates(memory):
                finding = Finding(candidate.content, candidate.provenance.rule)
                for source_id in {piece.source_id for piece in candidate.evidence}:
                    by_source[source_id].append(finding)
        findings |= {session_id: by_source[source] for session_id, source in source_of.items()}
    return CapturedSessions(findings, capture_s, drain_s)


def every_user_sentence(sessions: Iterable[RealMemSession]) -> FindingsBySession:
    """Return what would come of taking everything the user said, sentence by sentence."""
    return {
        session.id: [
            Finding(content[start:end], "sentence")
            for content in _user_texts(session)
            for start, end in sentence_spans(content)
            if end - start >= LEAST_CHARS
        ]
        for session in sessions
    }


def judge(
    sessions: Iterable[RealMemSession], yields: FindingsBySession, embedder: Embedder
) -> list[JudgedSession]:
    """Compare what was taken with the records, session by session."""
    judged = []
    for session in sessions:
        findings = tuple(yields[session.id])
        texts = [record.text for record in session.records]
        how_well = record_coverage(texts, [finding.text for finding in findings], embedder)
        covers = tuple(bool((column >= 1).any()) for column in how_well.T)
        best = (findings[row.argmax()] if (row >= 1).any() else None for row in how_well)
        judged.append(JudgedSession(session, findings, covers, tuple(best)))
    return judged


def score(judged: Sequence[JudgedSession]) -> RealMemScores:
    """Return the scores of some sessions."""
    with_records = [session for session in judged if session.session.records]
    silent = [session for session in judged if not session.session.records]
    records = [
        (record, by is not None)
        for session in with_records
        for record, by in zip(session.session.records, session.covered_by, strict=True)
    ]
    of_user = [is_covered for record, is_covered in records if record.speaker == USER]
    each = [
        pair for session in judged for pair in zip(session.findings, session.covers, strict=True)
    ]
    in_told = [
        pair
        for session in with_records
        for pair in zip(session.findings, session.covers, strict=True)
    ]
    rules = sorted({finding.rule for finding, _ in each})
    return RealMemScores(
        sessions=len(judged),
        findings=len(each),
        recall=_proportion(is_covered for _, is_covered in records),
        recall_of_user=_proportion(of_user),
        precision=_proportion(hit for _, hit in in_told),
        precision_overall=_proportion(hit for _, hit in each),
        quiet=_proportion(not session.findings for session in silent),
        by_rule={
            rule: (
                _proportion(hit for finding, hit in in_told if finding.rule == rule),
                _proportion(hit for finding, hit in each if finding.rule == rule),
            )
            for rule in rules
        },
    )


def _proportion(each: Iterable[bool]) -> Proportion:
    values = list(each)
    return Proportion(sum(values), len(values))


def _session(item: TaskItem, records: Mapping[str, Sequence[Record]]) -> RealMemSession:
    return RealMemSession(
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


def _user_texts(session: RealMemSession) -> list[str]:
    return [message["content"] for message in session.messages if message["role"] == "user"]
