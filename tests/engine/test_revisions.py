"""
What changes something known is noticed, linked and told with it, however it is worded.

`tests/data/revisions.jsonl` has invented people who say facts and later change them in passing, in
ten languages ("bump the client to 5 retries", "no, blue"), among requests that change nothing. Half
of the people were looked at when the rules were chosen. The words of the other half were known to
the writer of the rules, too: they are no blind test.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import MemoryExplanation
from support import START
from tables import each_row

DATA = Path(__file__).parents[1] / "data" / "revisions.jsonl"
AGENT = "helper"
BUDGET, NEW_BUDGET = "The budget is 18,000 euros.", "Actually make the budget 20,000 euros"

Person = Mapping[str, Any]


@pytest.fixture
def real() -> Iterator[LocalRecollect]:
    """A memory with the default model: a scripted embedder knows nothing of meaning."""
    with LocalRecollect(Settings(db=":memory:")) as opened:
        yield opened


@dataclass(frozen=True)
class Learnt:
    """What a memory holds after a person's sessions."""

    rec: LocalRecollect
    project: str
    memories: tuple[Memory, ...]
    links: frozenset[frozenset[str]]

    def quoting(self, text: str) -> set[str]:
        """Return the ids of the memories that say *text*."""
        return {
            memory.id
            for memory in self.memories
            if text in memory.content or any(text in piece.quote for piece in memory.evidence)
        }

    def status(self, memory_id: str) -> Status:
        return next(memory.status for memory in self.memories if memory.id == memory_id)

    def told(self, question: str) -> str:
        return self.rec.context_for(question, project=self.project, agent=AGENT).text


def learn(rec: LocalRecollect, *sessions: list[str], project: str = "p") -> Learnt:
    as_messages = [[{"role": "user", "content": text} for text in said] for said in sessions]
    return learn_messages(rec, as_messages, project)


def learn_messages(
    rec: LocalRecollect, sessions: Sequence[Sequence[Mapping[str, str]]], project: str
) -> Learnt:
    for number, session in enumerate(sessions):
        messages: list[dict[str, Any]] = [
            {**message, "created_at": START + timedelta(days=3 * number, minutes=2 * minute)}
            for minute, message in enumerate(session)
        ]
        rec.capture_session(messages, project=project, agent=AGENT)
        rec.drain()
    listed = rec.memories.list(everywhere=True, statuses=list(Status), limit=500)
    memories = tuple(memory for memory in listed if memory.type is not MemoryType.EPISODE)
    with rec._services.store.read() as tables:
        conflicts = tables.links.conflicts([memory.id for memory in memories])
    pairs = {frozenset((one, other)) for one, others in conflicts.items() for other in others}
    return Learnt(rec, project, memories, frozenset(pairs))


def people(half: str) -> list[Person]:
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["half"] == half]


def counts(person: Person) -> Counter[str]:
    """Count what became of a person's changes, and the links between other statements."""
    count: Counter[str] = Counter()
    with LocalRecollect(Settings(db=":memory:")) as rec:
        learnt = learn_messages(rec, person["sessions"], person["project"])
        right: set[frozenset[str]] = set()
        for change in person["changes"]:
            new, old = learnt.quoting(change["later"]), learnt.quoting(change["earlier"])
            pairs = {frozenset((one, other)) for one in new for other in old if one != other}
            right |= pairs
            text = learnt.told(change["question"])
            is_told = change["new"] in text
            count["changes"] += 1
            count["noticed"] += any(learnt.status(one) is not Status.STATED for one in new)
            count["linked"] += not learnt.links.isdisjoint(pairs)
            count["told"] += is_told
            count["old one alone"] += change["earlier"] in text and not is_told
        count["wrong links"] += len(learnt.links - right)
        count["superseded"] += sum(m.status is Status.SUPERSEDED for m in learnt.memories)
    return count


@each_row(("half", "noticed", "linked", "told"), [("choose", 28, 27, 28), ("confirm", 28, 24, 28)])
def test_a_change_is_noticed_linked_and_told_however_it_is_worded(
    half: str, noticed: int, linked: int, told: int
) -> None:
    """Of 32 and 35 changes, 7 and 8 were noticed and 4 and 3 linked before."""
    total = sum((counts(person) for person in people(half)), Counter[str]())

    assert total["noticed"] >= noticed
    assert total["linked"] >= linked
    assert total["told"] >= told
    assert total["old one alone"] == 0
    assert total["wrong links"] <= 1
    assert total["superseded"] == 0


@pytest.mark.parametrize(
    "sessions",
    [
        [[BUDGET], [NEW_BUDGET]],
        [[BUDGET, NEW_BUDGET]],
        [[BUDGET, "The venue is the old mill.", "We invite 80 people.", NEW_BUDGET]],
    ],
    ids=["another session", "next message", "later message"],
)
def test_a_change_in_passing_is_a_candidate_beside_what_it_changes(
    real: LocalRecollect, sessions: list[list[str]]
) -> None:
    learnt = learn(real, *sessions)

    text = learnt.told("what is the budget?")
    (new,) = learnt.quoting("20,000")
    (old,) = learnt.quoting("18,000")
    assert frozenset((new, old)) in learnt.links
    assert {learnt.status(new), learnt.status(old)} == {Status.INBOX}
    assert text.index("20,000") < text.index("18,000")
    assert "a newer memory contradicts it" in text


def test_a_change_of_a_mere_statement_proposes_both(real: LocalRecollect) -> None:
    learnt = learn(
        real,
        ["The client gives up after 3 retries.", "Staging runs in eu-west-1."],
        ["bump the client to 5 retries"],
    )

    contents = {
        entry.memory.content: {memory.content for memory in entry.conflicts}
        for entry in real.inbox.list(grouped=False)
    }
    old = "The client gives up after 3 retries."
    assert contents["bump the client to 5 retries"] == {old}
    assert "bump the client to 5 retries" in contents[old]
    explanation = real.explain(next(iter(learnt.quoting("5 retries"))))
    assert isinstance(explanation, MemoryExplanation)
    assert any("may change" in change.reason for change in explanation.changes)


def test_requests_in_the_same_words_change_nothing(real: LocalRecollect) -> None:
    learnt = learn(
        real,
        ["I live in Leeds.", "no, make it shorter"],
        ["My sister is called Ann.", "make it bold"],
        ["We use Postgres 15.", "now bump the version in setup.py to 2.1"],
        ["The report is due on Friday.", "no, that's wrong, run it again"],
    )

    assert not learnt.links
    proposed = {memory.content for memory in learnt.memories if memory.status is Status.INBOX}
    assert proposed <= {
        "I live in Leeds.",
        "My sister is called Ann.",
        "We use Postgres 15.",
        "The report is due on Friday.",
    }


def test_a_session_that_grows_keeps_the_revision_and_what_it_revised(real: LocalRecollect) -> None:
    said = ["The tasting is on Thursday at the mill.", "make it Friday instead", "thanks"]
    for count in (1, 2, 3):
        messages = [
            {"role": "user", "content": text, "created_at": START + timedelta(minutes=minute)}
            for minute, text in enumerate(said[:count])
        ]
        real.capture_session(messages, session="s1", project="p", agent=AGENT)
        real.drain()

    contents = sorted(entry.memory.content for entry in real.inbox.list(grouped=False))
    assert contents == [said[0], f"{said[0]} {said[1]}"]


def test_a_statement_of_another_agents_user_is_not_changed(real: LocalRecollect) -> None:
    for agent, text in (("a", "My desk is on floor 3."), ("b", "put my desk on floor 5 instead")):
        real.capture_session([{"role": "user", "content": text}], project="p", agent=agent)
        real.drain()

    assert not any(entry.conflicts for entry in real.inbox.list(grouped=False))
