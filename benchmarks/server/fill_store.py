"""
Fill a store with one agent's messages, and some memories.

Texts are those of benchmarks.recall. Vectors of items are random; whoever opens the store later
embeds with the real model, which has the same name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

import recollect
from benchmarks.capture.generated_messages import TextPool
from benchmarks.generated_sentences import sentences
from benchmarks.random_vectors import RandomVectors
from benchmarks.recall.generated_conversations import (
    ENDS_AT,
    YEAR,
    ConversationMessage,
    GeneratedConversation,
    more_messages,
)
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
class FilledStore:
    """A closed store, and what was said in it."""

    path: Path
    past: Sequence[GeneratedConversation]


def fill_store(path: Path, pool: TextPool, count: int) -> FilledStore:
    """Make a store of *count* messages of one agent, embedded."""
    past = list(_conversations(pool, count))
    real = create_embedder(Settings())
    embedder = RandomVectors(real, [message.content for message in past[0].messages][:SAMPLE])
    with recollect.open(path, embedder=embedder) as rec:
        rec.agents.create(AGENT, system_prompt="You are a careful assistant. Say what you did.")
        rec.blocks.set(AGENT, "persona", " ".join(_texts(5, seed=71)))
        rec.blocks.set(AGENT, "human", " ".join(_texts(5, seed=72)))
        for generated in past:
            conversation = rec.conversations.start(agent=AGENT, started_at=generated.started_at)
            rec.conversations.append_many(
                conversation, [message.as_arguments() for message in generated.messages]
            )
            rec.conversations.end(conversation, ended_at=generated.messages[-1].at)
        rec.memories.ingest_many(
            [{"content": text, "type": "profile"} for text in _texts(FACTS, seed=73)]
        )
        rec.memories.ingest_many(
            [
                {"content": text, "type": "decision", "project": f"project-{number % PROJECTS}"}
                for number, text in enumerate(_texts(DECISIONS, seed=74))
            ]
        )
        for text in _texts(PASSAGES, seed=75):
            rec.archive.insert(AGENT, text)
        rec.drain()
    return FilledStore(path=path, past=past)


def user_and_assistant_messages(
    pool: TextPool, count: int, *, seed: int
) -> list[ConversationMessage]:
    """Return messages as `learning()` overhears them: what users and assistants say, no tools."""
    messages = more_messages(pool, AGENT, 2 * count, seed=seed)
    return list(islice((message for message in messages if message.role != "tool"), count))


def _conversations(pool: TextPool, count: int) -> Iterator[GeneratedConversation]:
    spoken = user_and_assistant_messages(pool, count, seed=70)
    number = max(count // LENGTH, 1)
    for place in range(number):
        part = spoken[place * LENGTH : (place + 1) * LENGTH]
        begins = ENDS_AT - YEAR + place * (YEAR - timedelta(days=2)) / number
        earlier = part[0].at - begins
        messages = tuple(replace(message, at=message.at - earlier) for message in part)
        yield GeneratedConversation(agent=AGENT, project="", started_at=begins, messages=messages)


def _texts(count: int, *, seed: int) -> list[str]:
    return [sentence.text for sentence in sentences(count, seed=seed)]
