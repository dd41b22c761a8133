"""Recollect itself, through its Python door, with its default settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect
from benchmarks.sentences import Question, Sentence

if TYPE_CHECKING:
    from recollect.models.embedder import Embedder

RESULTS = 10


class Own:
    """A memory; its questions see their project and what is global."""

    def __init__(self, memory: recollect.LocalRecollect) -> None:
        self._memory = memory

    def add_many(self, sentences: Sequence[Sentence]) -> None:
        self._memory.memories.ingest_many([_draft(sentence) for sentence in sentences])

    def add(self, sentence: Sentence) -> None:
        given = _draft(sentence)
        self._memory.ingest(given.pop("content"), **given)

    def settle(self) -> None:
        self._memory.drain()

    def ask(self, question: Question) -> int:
        found = self._memory.search(question.text, project=question.project, limit=RESULTS)
        return len(found)

    def ask_everywhere(self, question: Question) -> int:
        """Ask over every project, as a store without projects does."""
        found = self._memory.search(question.text, everywhere=True, limit=RESULTS)
        return len(found)

    def context(self, question: Question) -> int:
        """Ask for a whole bundle instead of hits."""
        bundle = self._memory.context_for(question.text, project=question.project)
        return len(bundle.sections)

    def close(self) -> None:
        self._memory.close()


def open_with_meaning(folder: Path, embedder: "Embedder | None") -> Own:
    """Open a memory that finds by words and meaning."""
    return Own(recollect.open(folder / "memory.db", embedder=embedder))


def open_words_only(folder: Path, embedder: "Embedder | None") -> Own:
    """Open a memory without embeddings."""
    return Own(recollect.open(folder / "memory.db", embedding_backend="none"))


def _draft(sentence: Sentence) -> dict[str, Any]:
    scope = "project" if sentence.project else "global"
    return {
        "content": sentence.text,
        "type": "episode",
        "scope": scope,
        "project": sentence.project,
    }
