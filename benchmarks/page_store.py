"""
Fill a store for the measurement of the pages: many memories, an inbox, conflicts, agents, a log.

The sentences are made up (generated_sentences.py) and so are the vectors of items; queries are
embedded by the real model. A tenth of the candidates repeats another one but for a word, because
an inbox folds those.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.generated_sentences import GeneratedSentence, questions, sentences
from benchmarks.random_vectors import RandomVectors
from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings, load_settings
from recollect.models.model_factory import create_embedder

BATCH = 500
SESSIONS = 100
CONFLICTS = 200
RETRIEVALS = 300
CONVERSATIONS = 40
MESSAGES = 25
TYPES = ("project", "decision", "artifact")
SAMPLE = 64  # real vectors, for the mean of the made-up ones


def open_store(db: Path) -> LocalRecollect:
    """Open a store whose items get made-up vectors."""
    sample = [sentence.text for sentence in sentences(SAMPLE)]
    embedder = RandomVectors(create_embedder(load_settings()), sample)
    return LocalRecollect(Settings(db=str(db)), embedder=embedder)


def fill(rec: LocalRecollect, *, memories: int, candidates: int) -> None:
    """Store *memories* memories, of which *candidates* wait in the inbox, and the rest."""
    generated = sentences(memories)
    waiting, active = generated[:candidates], generated[candidates:]
    ids = _ingest(rec, active, "active")
    _ingest(rec, list(_with_near_duplicates(waiting)), "inbox")
    for first, other in zip(ids[:CONFLICTS], ids[CONFLICTS : 2 * CONFLICTS], strict=True):
        rec.link(other, "contradicts", first)
    _capture_sessions(rec)
    _add_agents(rec)
    rec.drain()
    for question in questions(active, RETRIEVALS, seed=3):
        rec.search(question.text, project=question.project)


def _ingest(rec: LocalRecollect, drafts: Sequence[GeneratedSentence], status: str) -> list[str]:
    ids: list[str] = []
    for start in range(0, len(drafts), BATCH):
        items: list[dict[str, Any]] = [
            {
                "content": draft.text,
                "project": draft.project,
                "type": TYPES[(start + number) % len(TYPES)],
                "status": status,
            }
            for number, draft in enumerate(drafts[start : start + BATCH])
        ]
        ids += [memory.id for memory in rec.memories.ingest_many(items)]
    return ids


def _with_near_duplicates(drafts: Sequence[GeneratedSentence]) -> Iterator[GeneratedSentence]:
    """Yield the drafts; every tenth is the one thirty places before, without its last word."""
    for number, draft in enumerate(drafts):
        if number % 10 == 9 and number > 300:
            earlier = drafts[number - 300]  # of the same project and type
            yield GeneratedSentence(f"{earlier.text.rsplit(' ', 1)[0]}.", earlier.project)
        else:
            yield draft


def _capture_sessions(rec: LocalRecollect) -> None:
    random = Random(5)
    words = [sentence.text.split() for sentence in sentences(500, seed=7)]
    for number in range(SESSIONS):
        messages = []
        for _ in range(10):
            tool, task = random.choice(words)[2], random.choice(words)[3]
            text = f"We decided to use {tool} for {task}, because it is simpler. How is the build?"
            messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "OK."}]
        rec.capture_session(messages, project=f"project-{number % 100}", title=f"Session {number}")


def _add_agents(rec: LocalRecollect) -> None:
    for name in ("coder", "writer", "planner"):
        rec.agents.create(name)
        rec.blocks.set(name, "persona", "Answer in short sentences.")
    texts = [sentence.text for sentence in sentences(CONVERSATIONS * MESSAGES, seed=9)]
    for number in range(CONVERSATIONS):
        conversation = rec.conversations.start(agent="coder", title=f"Conversation {number}")
        for text in texts[number * MESSAGES : (number + 1) * MESSAGES]:
            rec.conversations.append(conversation, "user", text)
