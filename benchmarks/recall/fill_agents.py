"""
Fill a store with a year of conversations of several agents, with the Python API.

Besides messages it writes blocks, archives, facts about the user, decisions of projects, pins and
some summaries, since a context bundle contains them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import recollect
from benchmarks.generated_sentences import sentences
from benchmarks.recall.generated_conversations import (
    LARGE,
    LONG,
    PROJECTS,
    SMALL,
    GeneratedConversation,
)
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

MODEL = "gpt-4o"  # whose tokens are counted
PASSAGES = {LARGE: 500, **dict.fromkeys(SMALL, 50)}
FACTS = 30  # about the user
DECISIONS = 20  # of each project
SUMMARY_EVERY = 20  # every so many conversations
OPEN_CONVERSATIONS = 20  # conversations of the large agent that still go on, with pins
PROMPT = "You are a careful programmer. Ask before you delete, and say what you did. " * 8


@dataclass(frozen=True, kw_only=True)
class AgentStore:
    """What the clock needs to know of a filled store."""

    open_ids: Sequence[str]  # conversations of the large agent
    small_open_ids: Sequence[str]  # … of the first small one
    long_ids: Sequence[str]  # conversations of LONG messages


def fill_agents(path: Path, past: Sequence[GeneratedConversation]) -> AgentStore:
    """Write everything but embeddings, which come when they are first waited for."""
    with recollect.open(path, embedding_backend="none") as rec:
        _create_agents(rec)
        ids = [_append(rec, generated) for generated in past]
        _add_memories(rec)
        for conversation in ids[::SUMMARY_EVERY]:
            rec.conversations.compact(conversation, force=True, mode="all")
        large, small = (_last_conversations(past, ids, agent) for agent in (LARGE, SMALL[0]))
        for number, conversation in enumerate([*large, *small]):
            _add_pins(rec, conversation, number)
    long_ids = [
        conversation_id
        for conversation_id, generated in zip(ids, past, strict=True)
        if len(generated.messages) == LONG
    ]
    return AgentStore(open_ids=large, small_open_ids=small, long_ids=long_ids)


def embed_pending(path: Path, embedder: Embedder) -> None:
    """Embed everything that waits."""
    with recollect.open(path, embedder=embedder) as rec:
        rec.drain()


def _create_agents(rec: LocalRecollect) -> None:
    texts = _texts(seed=21)
    for name in (LARGE, *SMALL):
        rec.agents.create(name, model=MODEL, system_prompt=PROMPT)
        rec.blocks.set(name, "persona", " ".join(next(texts) for _ in range(10)))
    rec.blocks.set(LARGE, "human", " ".join(next(texts) for _ in range(6)))
    rec.blocks.set(LARGE, "style", " ".join(next(texts) for _ in range(6)))


def _append(rec: LocalRecollect, generated: GeneratedConversation) -> str:
    conversation = rec.conversations.start(
        agent=generated.agent, project=generated.project, started_at=generated.started_at
    )
    rec.conversations.append_many(
        conversation, [message.as_arguments() for message in generated.messages]
    )
    return conversation.id


def _add_memories(rec: LocalRecollect) -> None:
    texts = _texts(seed=22)
    for agent, count in PASSAGES.items():
        for number in range(count):
            rec.archive.insert(agent, next(texts), tags=[f"tag-{number % 7}"])
    rec.memories.ingest_many([{"content": next(texts), "type": "profile"} for _ in range(FACTS)])
    decided = [
        {"content": next(texts), "type": "decision", "project": f"project-{number % PROJECTS}"}
        for number in range(PROJECTS * DECISIONS)
    ]
    rec.memories.ingest_many(decided)


def _add_pins(rec: LocalRecollect, conversation: str, number: int) -> None:
    texts = _texts(seed=23 + number)
    for kind in ("ticket", "note", "decision"):
        rec.conversations.pin(conversation, f"{next(texts)} {next(texts)}", kind=kind)
    if number % 2:
        rec.conversations.compact(conversation, force=True, window_tokens=4_000)


def _last_conversations(
    past: Sequence[GeneratedConversation], ids: Sequence[str], agent: str
) -> list[str]:
    own = [
        conversation_id
        for conversation_id, conversation in zip(ids, past, strict=True)
        if conversation.agent == agent
    ]
    return own[-OPEN_CONVERSATIONS:]


def _texts(*, seed: int) -> Iterator[str]:
    return (sentence.text for sentence in sentences(4_000, seed=seed))
