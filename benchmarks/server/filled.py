"""
Fill a store: one agent that has said and heard so many messages, and some memories around it.

Texts are those of benchmarks.recall. Vectors of items are made up as there; whoever opens the store
later embeds with the real model, which bears the same name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

import recollect
from benchmarks.capture.messages import Pool
from benchmarks.random_vectors import RandomVectors
from benchmarks.recall.past import ENDS_AT, YEAR, Said, Talk, more_messages
from benchmarks.sentences import sentences
from recollect.config import Settings
from recollect.models.model_factory import create_embedder

AGENT = "helper"
LENGTH = 100  # messages of a conversation
PROJECTS = 20
FACTS = 30  # about the user
DECISIONS = 400  # of the projects
PASSAGES = 200  # in the agent's archive
SAMPLE = 64  # real vectors, for the mean of the made-up ones


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A closed store, and what was said in it."""

    path: Path
    past: Sequence[Talk]


def fill(path: Path, pool: Pool, count: int) -> Filled:
    """Make a store of *count* messages of one agent, embedded."""
    past = list(_talks(pool, count))
    real = create_embedder(Settings())
    embedder = RandomVectors(real, [one.content for one in past[0].messages][:SAMPLE])
    with recollect.open(path, embedder=embedder) as memory:
        memory.agents.create(AGENT, system_prompt="You are a careful assistant. Say what you did.")
        memory.blocks.set(AGENT, "persona", " ".join(_texts(5, seed=71)))
        memory.blocks.set(AGENT, "human", " ".join(_texts(5, seed=72)))
        for talk in past:
            conversation = memory.conversations.start(agent=AGENT, started_at=talk.started_at)
            memory.conversations.append_many(conversation, [one.as_given() for one in talk.messages])
            memory.conversations.end(conversation, ended_at=talk.messages[-1].at)
        memory.memories.ingest_many([{"content": one, "type": "profile"} for one in _texts(FACTS, seed=73)])
        memory.memories.ingest_many(
            [
                {"content": one, "type": "decision", "project": f"project-{number % PROJECTS}"}
                for number, one in enumerate(_texts(DECISIONS, seed=74))
            ]
        )
        for one in _texts(PASSAGES, seed=75):
            memory.archive.insert(AGENT, one)
        memory.drain()
    return Filled(path=path, past=past)


def spoken(pool: Pool, count: int, *, seed: int) -> list[Said]:
    """Return messages as `learning()` overhears them: what users and assistants say, no tools."""
    made = more_messages(pool, AGENT, 2 * count, seed=seed)
    return list(islice((one for one in made if one.role != "tool"), count))


def _talks(pool: Pool, count: int) -> Iterator[Talk]:
    said = spoken(pool, count, seed=70)
    number = max(count // LENGTH, 1)
    for place in range(number):
        part = said[place * LENGTH : (place + 1) * LENGTH]
        begins = ENDS_AT - YEAR + place * (YEAR - timedelta(days=2)) / number
        earlier = part[0].at - begins
        messages = tuple(replace(one, at=one.at - earlier) for one in part)
        yield Talk(agent=AGENT, project="", started_at=begins, messages=messages)


def _texts(count: int, *, seed: int) -> list[str]:
    return [one.text for one in sentences(count, seed=seed)]
