"""
Fill a store once, and keep it: what is filled is filled again only where its folder was not kept.

Everything goes through the Python door, in batches, and says how far it has come.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import recollect
from benchmarks.capture.messages import Pool
from benchmarks.recall.past import Said, Talk
from benchmarks.recall.rivals import open_rival
from benchmarks.scale.past import LARGE, ORDINARY, talks
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

MEMORIES_AT_ONCE = 1_000
RIVALS_AT_ONCE = 1_000
SAY_EVERY_S = 20.0
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Filling:
    """What a store is filled with, and how fast that went; 0 where it was filled before."""

    folder: Path
    per_second: float


def fill(kind: str, folder: Path, pool: Pool, count: int, embedder: Embedder) -> Filling:
    """Make *folder* hold *count* messages: as messages, as memories, or in a rival's store."""
    done = folder / "filled.json"
    if done.exists():
        return Filling(folder=folder, per_second=json.loads(done.read_text())["per_second"])
    folder.mkdir(parents=True, exist_ok=True)
    started = perf_counter()
    match kind:
        case "messages":
            with recollect.open(folder / "memory.db", embedding_backend="none") as memory:
                _append(memory, _told("messages", talks(pool, count), count, len_of))
        case "memories":
            with recollect.open(folder / "memory.db", embedding_backend="none") as memory:
                _ingest(memory, _told("memories", _spoken(pool, count), count))
        case _:
            rival = open_rival(kind, folder, embedder)
            for some in _batches(_told(kind, _spoken(pool, count), count), RIVALS_AT_ONCE):
                rival.append(some)
            rival.close()
    per_second = count / (perf_counter() - started)
    if kind in ("messages", "memories"):
        _settle(folder / "memory.db", embedder)
    done.write_text(json.dumps({"per_second": per_second}))
    return Filling(folder=folder, per_second=per_second)


def len_of(talk: Talk) -> int:
    """Return how many messages a conversation counts for."""
    return len(talk.messages)


def _append(memory: LocalRecollect, past: Iterable[Talk]) -> None:
    for project in (LARGE, *ORDINARY):
        memory.agents.create(project)
    for talk in past:
        conversation = memory.conversations.start(
            agent=talk.agent, project=talk.project, started_at=talk.started_at
        )
        memory.conversations.append_many(conversation, [one.as_given() for one in talk.messages])


def _ingest(memory: LocalRecollect, past: Iterable[Said]) -> None:
    for some in _batches(past, MEMORIES_AT_ONCE):
        memory.memories.ingest_many(
            [
                {
                    "content": one.content,
                    "type": "decision" if one.role == "user" else "episode",
                    "project": one.agent,
                    "observed_at": one.at,
                }
                for one in some
            ]
        )


def _settle(path: Path, embedder: Embedder) -> None:
    _say("  embedding")
    with recollect.open(path, embedder=embedder) as memory:
        memory.drain()


def _spoken(pool: Pool, count: int) -> Iterator[Said]:
    """Yield what is said in words: of a call of a tool there is nothing to find."""
    return (one for talk in talks(pool, count) for one in talk.messages if one.content)


def _told(
    what: str, given: Iterable[T], count: int, weight: Callable[[T], int] = lambda _: 1
) -> Iterator[T]:
    """Yield what is given, and say from time to time how much that was."""
    started = said_at = perf_counter()
    seen = 0
    for one in given:
        yield one
        seen += weight(one)
        if perf_counter() - said_at > SAY_EVERY_S:
            said_at = perf_counter()
            _say(f"  {what}: {seen:,} of {count:,}, {seen / (said_at - started):,.0f}/s")


def _batches(given: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    left = iter(given)
    while some := list(islice(left, size)):
        yield some


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
