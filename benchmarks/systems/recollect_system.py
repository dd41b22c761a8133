"""Recollect, used with its Python API and default settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect
from benchmarks.generated_sentences import GeneratedSentence, ProjectQuestion

if TYPE_CHECKING:
    from recollect.models.embedder import Embedder

RESULTS = 10


class RecollectSystem:
    """A memory; its questions see their project and what is global."""

    def __init__(self, rec: recollect.LocalRecollect) -> None:
        self._memory = rec

    def add_many(self, sentences: Sequence[GeneratedSentence]) -> None:
        self._memory.memories.ingest_many([_draft(sentence) for sentence in sentences])

    def add(self, sentence: GeneratedSentence) -> None:
        draft = _draft(sentence)
        self._memory.ingest(draft.pop("content"), **draft)

    def finish_indexing(self) -> None:
        self._memory.drain()

    def ask(self, question: ProjectQuestion) -> int:
        hits = self._memory.search(question.text, project=question.project, limit=RESULTS)
        return len(hits)

    def ask_everywhere(self, question: ProjectQuestion) -> int:
        """Ask over every project, as a store without projects does."""
        hits = self._memory.search(question.text, everywhere=True, limit=RESULTS)
        return len(hits)

    def context(self, question: ProjectQuestion) -> int:
        """Ask for a whole bundle instead of hits."""
        bundle = self._memory.context_for(question.text, project=question.project)
        return len(bundle.sections)

    def close(self) -> None:
        self._memory.close()


def open_with_embeddings(folder: Path, embedder: "Embedder | None") -> RecollectSystem:
    """Open a memory that finds by words and meaning."""
    return RecollectSystem(recollect.open(folder / "memory.db", embedder=embedder))


def open_words_only(folder: Path, embedder: "Embedder | None") -> RecollectSystem:
    """Open a memory without embeddings."""
    return RecollectSystem(recollect.open(folder / "memory.db", embedding_backend="none"))


def _draft(sentence: GeneratedSentence) -> dict[str, Any]:
    scope = "project" if sentence.project else "global"
    return {
        "content": sentence.text,
        "type": "episode",
        "scope": scope,
        "project": sentence.project,
    }
