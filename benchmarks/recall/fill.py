"""
Fill a store with a year of conversations, through the Python door.

Besides the messages there is what a bundle is made of: blocks with text, archives, facts about the
user, decisions of projects, pins, and summaries of some conversations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import recollect
from benchmarks.recall.past import LARGE, LONG, PROJECTS, SMALL, Talk
from benchmarks.sentences import sentences
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

MODEL = "gpt-4o"  # whose tokens are counted
PASSAGES = {LARGE: 500, **dict.fromkeys(SMALL, 50)}
FACTS = 30  # about the user
DECISIONS = 20  # of each project
SUMMED_UP = 20  # every so many conversations
OPEN = 20  # conversations of the large agent that still go on, with pins
PROMPT = "You are a careful programmer. Ask before you delete, and say what you did. " * 8


@dataclass(frozen=True, kw_only=True)
class Filled:
    """What the clock needs to know of a filled store."""

    open_ids: Sequence[str]  # conversations of the large agent
    small_open_ids: Sequence[str]  # … of the first small one
    long_ids: Sequence[str]  # conversations of LONG messages


def fill(path: Path, past: Sequence[Talk]) -> Filled:
    """Write everything but embeddings, which come when they are first waited for."""
    with recollect.open(path, embedding_backend="none") as memory:
        _agents(memory)
        ids = [_append(memory, talk) for talk in past]
        _memories(memory)
        for conversation in ids[::SUMMED_UP]:
            memory.conversations.compact(conversation, force=True, mode="all")
        large, small = (_last(past, ids, agent) for agent in (LARGE, SMALL[0]))
        for number, conversation in enumerate([*large, *small]):
            _pinned(memory, conversation, number)
    long_ids = [one for one, talk in zip(ids, past, strict=True) if len(talk.messages) == LONG]
    return Filled(open_ids=large, small_open_ids=small, long_ids=long_ids)


def settle(path: Path, embedder: Embedder) -> None:
    """Embed everything that waits."""
    with recollect.open(path, embedder=embedder) as memory:
        memory.drain()


def _agents(memory: LocalRecollect) -> None:
    texts = _texts(seed=21)
    for name in (LARGE, *SMALL):
        memory.agents.create(name, model=MODEL, system_prompt=PROMPT)
        memory.blocks.set(name, "persona", " ".join(next(texts) for _ in range(10)))
    memory.blocks.set(LARGE, "human", " ".join(next(texts) for _ in range(6)))
    memory.blocks.set(LARGE, "style", " ".join(next(texts) for _ in range(6)))


def _append(memory: LocalRecollect, talk: Talk) -> str:
    conversation = memory.conversations.start(
        agent=talk.agent, project=talk.project, started_at=talk.started_at
    )
    memory.conversations.append_many(conversation, [one.as_given() for one in talk.messages])
    return conversation.id


def _memories(memory: LocalRecollect) -> None:
    texts = _texts(seed=22)
    for agent, count in PASSAGES.items():
        for number in range(count):
            memory.archive.insert(agent, next(texts), tags=[f"tag-{number % 7}"])
    memory.memories.ingest_many([{"content": next(texts), "type": "profile"} for _ in range(FACTS)])
    decided = [
        {"content": next(texts), "type": "decision", "project": f"project-{number % PROJECTS}"}
        for number in range(PROJECTS * DECISIONS)
    ]
    memory.memories.ingest_many(decided)


def _pinned(memory: LocalRecollect, conversation: str, number: int) -> None:
    texts = _texts(seed=23 + number)
    for kind in ("ticket", "note", "decision"):
        memory.conversations.pin(conversation, f"{next(texts)} {next(texts)}", kind=kind)
    if number % 2:
        memory.conversations.compact(conversation, force=True, window_tokens=4_000)


def _last(past: Sequence[Talk], ids: Sequence[str], agent: str) -> list[str]:
    own = [one for one, talk in zip(ids, past, strict=True) if talk.agent == agent]
    return own[-OPEN:]


def _texts(*, seed: int) -> Iterator[str]:
    return (one.text for one in sentences(4_000, seed=seed))
