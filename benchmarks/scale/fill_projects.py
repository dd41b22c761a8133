"""Fill a store for `benchmarks.scale` with the Python API, in batches, printing the progress."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import recollect
from benchmarks.capture.generated_messages import TextPool
from benchmarks.recall.generated_conversations import ConversationMessage, GeneratedConversation
from benchmarks.recall.message_baselines import open_baseline
from benchmarks.scale.generated_projects import LARGE, ORDINARY, project_conversations
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

MEMORY_BATCH = 1_000
BASELINE_BATCH = 1_000
SAY_EVERY_S = 20.0
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class FillResult:
    """What a store is filled with, and how fast that went; 0 where it was filled before."""

    folder: Path
    per_second: float


def fill(kind: str, folder: Path, pool: TextPool, count: int, embedder: Embedder) -> FillResult:
    """Make *folder* hold *count* messages: as messages, as memories, or in a baseline's store."""
    done = folder / "filled.json"
    if done.exists():
        return FillResult(folder=folder, per_second=json.loads(done.read_text())["per_second"])
    folder.mkdir(parents=True, exist_ok=True)
    started = perf_counter()
    match kind:
        case "messages":
            with recollect.open(folder / "memory.db", embedding_backend="none") as rec:
                _append(
                    rec,
                    _with_progress(
                        "messages", project_conversations(pool, count), count, message_count
                    ),
                )
        case "memories":
            with recollect.open(folder / "memory.db", embedding_backend="none") as rec:
                _ingest(rec, _with_progress("memories", _messages_with_text(pool, count), count))
        case _:
            baseline = open_baseline(kind, folder, embedder)
            for some in _batches(
                _with_progress(kind, _messages_with_text(pool, count), count), BASELINE_BATCH
            ):
                baseline.append(some)
            baseline.close()
    per_second = count / (perf_counter() - started)
    if kind in ("messages", "memories"):
        _embed_pending(folder / "memory.db", embedder)
    done.write_text(json.dumps({"per_second": per_second}))
    return FillResult(folder=folder, per_second=per_second)


def message_count(conversation: GeneratedConversation) -> int:
    """Return how many messages a conversation counts for."""
    return len(conversation.messages)


def _append(rec: LocalRecollect, past: Iterable[GeneratedConversation]) -> None:
    for project in (LARGE, *ORDINARY):
        rec.agents.create(project)
    for generated in past:
        conversation = rec.conversations.start(
            agent=generated.agent, project=generated.project, started_at=generated.started_at
        )
        rec.conversations.append_many(
            conversation, [message.as_arguments() for message in generated.messages]
        )


def _ingest(rec: LocalRecollect, past: Iterable[ConversationMessage]) -> None:
    for some in _batches(past, MEMORY_BATCH):
        rec.memories.ingest_many(
            [
                {
                    "content": message.content,
                    "type": "decision" if message.role == "user" else "episode",
                    "project": message.agent,
                    "observed_at": message.at,
                }
                for message in some
            ]
        )


def _embed_pending(path: Path, embedder: Embedder) -> None:
    _print_progress("  embedding")
    with recollect.open(path, embedder=embedder) as rec:
        rec.drain()


def _messages_with_text(pool: TextPool, count: int) -> Iterator[ConversationMessage]:
    """Yield what is said in words: of a call of a tool there is nothing to find."""
    return (
        message
        for conversation in project_conversations(pool, count)
        for message in conversation.messages
        if message.content
    )


def _with_progress(
    what: str, items: Iterable[T], count: int, weight: Callable[[T], int] = lambda _: 1
) -> Iterator[T]:
    """Yield what is given, and say from time to time how much that was."""
    started = said_at = perf_counter()
    seen = 0
    for item in items:
        yield item
        seen += weight(item)
        if perf_counter() - said_at > SAY_EVERY_S:
            said_at = perf_counter()
            _print_progress(f"  {what}: {seen:,} of {count:,}, {seen / (said_at - started):,.0f}/s")


def _batches(items: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    left = iter(items)
    while some := list(islice(left, size)):
        yield some


def _print_progress(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
