"""
ChromaDB in this process: vectors only, filtered by project.

It gets the same vectors as Recollect and embeds questions with the same model. A question sees its
project but not the global memories, which is the cheaper filter. Importing this file needs the
optional package `chromadb`; its telemetry is switched off.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["ANONYMIZED_TELEMETRY"] = "False"

import chromadb
from chromadb.config import Settings

from benchmarks.generated_sentences import GeneratedSentence, ProjectQuestion
from recollect.config import load_settings
from recollect.models.embedder import Embedder
from recollect.models.model_factory import create_embedder

RESULTS = 10


class ChromaSystem:
    """One persistent collection, cosine distance."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._embedder = embedder
        self._client: Any = chromadb.PersistentClient(
            path=str(folder), settings=Settings(anonymized_telemetry=False)
        )
        self._collection: Any = self._client.get_or_create_collection(
            "memories", metadata={"hnsw:space": "cosine"}, embedding_function=None
        )
        self._count = int(self._collection.count())

    def add_many(self, sentences: Sequence[GeneratedSentence]) -> None:
        texts = [sentence.text for sentence in sentences]
        self._collection.add(
            ids=[str(self._count + place) for place in range(len(texts))],
            embeddings=self._embedder.embed(texts),
            documents=texts,
            metadatas=[{"project": sentence.project or "global"} for sentence in sentences],
        )
        self._count += len(texts)

    def add(self, sentence: GeneratedSentence) -> None:
        self.add_many([sentence])

    def finish_indexing(self) -> None:
        """Nothing is put off."""

    def ask(self, question: ProjectQuestion) -> int:
        results = self._collection.query(
            query_embeddings=[self._embedder.embed_query(question.text)],
            n_results=RESULTS,
            where={"project": question.project},
        )
        return len(results["ids"][0])

    def close(self) -> None:
        self._client.close()


def open_chroma(folder: Path, embedder: Embedder | None) -> ChromaSystem:
    """Open the collection."""
    return ChromaSystem(folder, embedder or create_embedder(load_settings()))
