"""
A store with something of everything that ranking looks at, and over two hundred questions to it.

`answers` gives each answer as bytes: everything a caller sees but the number under which it was
logged. Run as a program it answers from a store that another process has filled:

    python sample_queries.py STORE ANSWERS [NUMBER …]
"""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import product
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

from recollect import LocalRecollect
from recollect.config import Settings
from support import START, FakeClock

ASKED_AT = datetime(2026, 7, 20, 9, 30, tzinfo=UTC)
PEOPLE = ("Ana", "Bert", "Chloé", "Dmitri", "Ewa", "Farid", "Grace", "Hiro")
PLACES = ("Lisbon", "Kraków", "Osaka", "Nairobi", "Québec", "Tromsø")
TOOLS = ("Postgres", "nginx", "pnpm", "Redis", "Terraform", "Kafka", "SQLite", "Grafana", "uv")
PROJECTS = ("site", "billing", "robot", "atlas", "kitchen", "garden", "ledger", "radio", "tower")
THINGS = (
    "the release",
    "a backup",
    "the invoice",
    "the garden fence",
    "a birthday cake",
    "the map",
)
TYPES = ("project", "decision", "artifact", "episode", "task_hint")
SCRIPTS = (
    "我喜欢简短的回答，数据库用 SQLite。",
    "الاجتماع يوم الجمعة في لشبونة",
    "Łódź jest zimna, ale Ewa lubi herbatę ☕",
    "写真は大阪で撮りました",
    "Crème brûlée für Chloé 👩‍🍳 am Freitag",
)
TRANSCRIPT = """User: Which {tool} version runs in {place}?
Assistant: In {place} it is version {number}. I suggest to move {thing} there first.
User: Then {person} should do that before Friday.
Assistant: Noted: {person} moves {thing}, and watches {tool} for a day."""


def opened(path: Path, clock: FakeClock | None = None) -> LocalRecollect:
    """Open a memory with the embedder that everybody has."""
    return LocalRecollect(Settings(db=str(path)), clock=clock)


def populate(rec: LocalRecollect, clock: FakeClock) -> None:
    """Write memories and talks into *memory*, always the same, and embed them."""
    chance = Random(20260508)
    rec.agents.create("ada")
    rec.agents.create("ben")
    rec.blocks.create("notes", "Answers are short. The team is in Lisbon.", agent="ada")
    # Partitions are created here in an order that nothing in the store records.
    for project in reversed(PROJECTS):
        rec.forget(rec.ingest("A note that nobody needs.", project=project).id)
    kept = []
    for number in range(72):
        clock.advance(hours=chance.choice([1, 5, 22, 49]))
        kept += rec.memories.ingest_many(_some_memories(chance, number, clock.now()))
    for one, other in zip(kept[::40], kept[1::40], strict=False):
        rec.link(one.id, "contradicts", other.id)
    for one in kept[7::50]:
        rec.link(one.id, "applies_to", "project:site")
    for one, status in zip(kept[3::45], ("archived", "superseded") * 9, strict=False):
        rec.memories.set_status(one.id, status)
    for one in kept[5::23]:
        rec.forget(one.id)
    for city in ("Lisbon", "Osaka", "Osaka", "Tromsø"):
        clock.advance(days=1)
        rec.upsert_profile_fact("home_city", city)
    for number in range(24):
        _talk(rec, chance, number)
    rec.drain()


def _some_memories(chance: Random, number: int, now: datetime) -> list[dict[str, Any]]:
    person, place = chance.choice(PEOPLE), chance.choice(PLACES)
    tool, thing = chance.choice(TOOLS), chance.choice(THINGS)
    project = PROJECTS[number % len(PROJECTS)]
    told = {
        "scope": "project",
        "project": project,
        "session": f"s{number // 3}",
        "observed_at": now,
    }
    lines: list[dict[str, Any]] = [
        {"content": f"{person} lives in {place}."},
        {"content": f"{person} looks after {thing} with {tool}.", "confidence": 0.7},
        {
            "content": f"We use {tool} for {thing}, and {person} reviews it.",
            "type": TYPES[number % len(TYPES)],
            "tags": [tool.lower(), "ops" if number % 2 else "home"],
            "rationale": f"{chance.choice(TOOLS)} was too slow in {place}.",
        },
        {"content": "The build is green.", "type": "episode"},
    ]
    if number % 5 == 0:
        lines.append({"content": SCRIPTS[number // 5 % len(SCRIPTS)], "title": f"note {number}"})
    if number % 6 == 0:
        names = {"person": person, "place": place, "tool": tool, "thing": thing}
        lines.append({"content": TRANSCRIPT.format(number=number, **names), "scope": "session"})
    if number % 9 == 0:
        long = [f"{chance.choice(PEOPLE)} saw {chance.choice(THINGS)}." for _ in range(60)]
        lines.append({"content": " ".join(long), "type": "artifact", "title": f"diary {number}"})
    lines.append({"content": f"Somebody in {place} prefers {tool}.", "scope": "global"})
    return [told | line for line in lines]


def _talk(rec: LocalRecollect, chance: Random, number: int) -> None:
    began = START + timedelta(days=3 * number, hours=number % 7)
    agent = "ben" if number % 6 == 5 else "ada"
    project = PROJECTS[number % 3] if number % 4 else None
    talk = rec.conversations.start(agent=agent, project=project, started_at=began)
    said: list[dict[str, Any]] = []
    for turn in range(11):  # so many that not all of ada's are compared exactly
        person, place = chance.choice(PEOPLE), chance.choice(PLACES)
        tool, thing = chance.choice(TOOLS), chance.choice(THINGS)
        asks = (
            f"Can {person} finish {thing} in {place}?",
            f"What about {tool}? It failed {turn} times.",
            "ok",
            chance.choice(SCRIPTS),
        )
        answers = (
            f"I recommend {tool} for {thing}.",
            f"{person} will be in {place} on the {turn + 1}th.",
            "Done.",
        )
        for role, texts in (("user", asks), ("assistant", answers)):
            at = began + timedelta(minutes=len(said))
            said.append({"role": role, "content": chance.choice(texts), "created_at": at})
    rec.conversations.append_many(talk, said)
    rec.conversations.end(talk, ended_at=began + timedelta(hours=1))


@dataclass(frozen=True)
class SampleQuery:
    """A question, the verb it is put to, and where and how it is asked."""

    verb: str
    query: str
    arguments: Mapping[str, Any]


def _questions() -> Iterable[SampleQuery]:
    wheres: tuple[dict[str, Any], ...] = (
        {"project": "site"},
        {"project": "billing", "session": "s2"},
        {"everywhere": True},
        {},
    )
    asked = [
        *(f"where does {person} live?" for person in PEOPLE),
        *(f"where did {person} live before?" for person in PEOPLE[:3]),
        *(f"who looks after {thing}" for thing in THINGS),
        *(f"why do we use {tool}" for tool in TOOLS[:5]),
        *(
            f"which data store or server is in {place}, and who keeps it running"
            for place in PLACES
        ),
        *SCRIPTS,
        "what did we decide last week",
        "what happened in May",
        "the session before the one in which nginx failed",
        "what was noted on June 3rd about the map",
        "what did you suggest to move first",
        "is the build green",
        "cooking sweet things for a party",
        "the capital of Mongolia",
        "who " * 400,
        " ".join((*PEOPLE, *TOOLS, *PLACES)) * 20,
        "\"'; DROP TABLE memories; -- NEAR(a b, 3) col:x* ^y",
        "half \ud83d of \x00 an emoji \u202e\u200b",
        "to be or not to be",
        "👩‍🍳☕",
    ]
    for number, query in enumerate(asked):
        where = wheres[number % len(wheres)]
        yield SampleQuery("search", query, where | {"limit": 50 if number % 3 else 10})
        yield SampleQuery("search", query, wheres[(number + 1) % len(wheres)])
        agent = "ben" if number % 5 == 0 else "ada"
        limit = 10 if number % 2 else 120
        yield SampleQuery("conversations.search", query, {"agent": agent, "limit": limit})
        place = {"agent": "ada", "project": "site"} if number % 2 else {"project": "robot"}
        yield SampleQuery("context_for", query, place)
    for tool, mode in product(TOOLS[:4], ("fts", "vector")):
        yield SampleQuery("conversations.search", f"{tool} failed", {"agent": "ada", "mode": mode})
    for kind in TYPES:
        yield SampleQuery("search", "Redis or Kafka", {"everywhere": True, "types": [kind]})
    for since in (date(2026, 5, 20), date(2026, 6, 20)):
        narrow = {"since": since.isoformat(), "tags": ["ops"], "everywhere": True}
        yield SampleQuery("search", "who reviews it", narrow)
        yield SampleQuery("conversations.search", "", {"agent": "ada", "since": since.isoformat()})


QUESTIONS = tuple(_questions())


def in_part(start: int, *, exhaustive: bool) -> range:
    """Return the numbers of every third question, which are of every kind; or of all."""
    return range(len(QUESTIONS)) if exhaustive else range(start % 3, len(QUESTIONS), 3)


def answers(rec: LocalRecollect, order: Iterable[int] | None = None) -> dict[int, bytes]:
    """Return the answer to each question (or to some, in that order), by its number."""
    numbers = range(len(QUESTIONS)) if order is None else order
    return {number: _answer(rec, QUESTIONS[number]) for number in numbers}


def _answer(rec: LocalRecollect, question: SampleQuery) -> bytes:
    found = attrgetter(question.verb)(rec)(question.query, asked_at=ASKED_AT, **question.arguments)
    told = asdict(found) if question.verb == "context_for" else [asdict(hit) for hit in found]
    return json.dumps(_without_log(told), sort_keys=True, default=str, indent=1).encode()


def _without_log(told: Any) -> Any:
    """Return *told* without the numbers of log rows, which no two answers share."""
    if isinstance(told, dict):
        return {key: _without_log(one) for key, one in told.items() if key != "retrieval_id"}
    return [_without_log(one) for one in told] if isinstance(told, list | tuple) else told


def answers_as_bytes(told: Mapping[int, bytes]) -> bytes:
    """Return answers as the bytes of a file."""
    return b"\n\0".join(told[number] for number in sorted(told))


if __name__ == "__main__":
    with opened(Path(sys.argv[1])) as there:
        Path(sys.argv[2]).write_bytes(answers_as_bytes(answers(there, map(int, sys.argv[3:]))))
