"""
What else could keep messages: plain SQLite with FTS5, and ChromaDB.

Both see one agent's messages when they are asked, and neither knows times, roles, summaries or a
log of what was asked. FTS5 commits like Recollect does: WAL, synchronous=FULL, one transaction for
each append. ChromaDB gets the same vectors and the same embedded questions; it is optional.
"""

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import apsw

from benchmarks.recall.past import Question, Said
from recollect.models.embedder import Embedder
from recollect.text.search_words import STOP_WORDS

RESULTS = 10
NAMES = ("fts5", "chromadb")
_WORD = re.compile(r"\w+")


class Rival(Protocol):
    """A store of messages. Every call is complete when it returns."""

    def append(self, messages: Sequence[Said]) -> None: ...
    def search(self, question: Question) -> int: ...
    def close(self) -> None: ...


class Fts5:
    """A table of messages and an index of their words."""

    def __init__(self, path: Path) -> None:
        self._db = apsw.Connection(str(path))
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, agent TEXT NOT NULL,"
            " role TEXT NOT NULL, content TEXT NOT NULL, created_at REAL NOT NULL)"
        )
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5"
            "(content, content='messages', content_rowid='id', tokenize='porter unicode61')"
        )

    def append(self, messages: Sequence[Said]) -> None:
        with self._db:
            for one in messages:
                row = (one.agent, one.role, one.content, one.at.timestamp())
                number = self._db.execute(
                    "INSERT INTO messages (agent, role, content, created_at)"
                    " VALUES (?, ?, ?, ?) RETURNING id",
                    row,
                ).get
                self._db.execute(
                    "INSERT INTO words (rowid, content) VALUES (?, ?)", (number, one.content)
                )

    def search(self, question: Question) -> int:
        words = [word for word in _WORD.findall(question.text.lower()) if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        if not match:
            return 0
        found = self._db.execute(
            "SELECT m.id, m.role, m.content, m.created_at FROM words"
            " JOIN messages m ON m.id = words.rowid"
            " WHERE words MATCH ? AND m.agent = ? ORDER BY words.rank LIMIT ?",
            (match, question.agent, RESULTS),
        )
        return len(found.fetchall())

    def close(self) -> None:
        self._db.close()


class Chroma:
    """One collection of messages, filtered by agent."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        # Optional: the run goes on without it.
        import chromadb
        from chromadb.config import Settings

        self._embedder = embedder
        self._client: Any = chromadb.PersistentClient(
            path=str(folder), settings=Settings(anonymized_telemetry=False)
        )
        self._collection: Any = self._client.get_or_create_collection(
            "messages", metadata={"hnsw:space": "cosine"}, embedding_function=None
        )
        self._count = int(self._collection.count())

    def append(self, messages: Sequence[Said]) -> None:
        texts = [one.content or "(a call)" for one in messages]
        self._collection.add(
            ids=[str(self._count + place) for place in range(len(texts))],
            embeddings=self._embedder.embed(texts),
            documents=texts,
            metadatas=[
                {"agent": one.agent, "role": one.role, "at": one.at.timestamp()} for one in messages
            ],
        )
        self._count += len(texts)

    def search(self, question: Question) -> int:
        found = self._collection.query(
            query_embeddings=[self._embedder.embed_query(question.text)],
            n_results=RESULTS,
            where={"agent": question.agent},
        )
        return len(found["ids"][0])

    def close(self) -> None:
        self._client.close()


def is_there(name: str) -> bool:
    """Return whether a rival can be run here."""
    return name != "chromadb" or find_spec("chromadb") is not None


def open_rival(name: str, folder: Path, embedder: Embedder) -> Rival:
    """Open a rival in *folder*."""
    return Fts5(folder / "messages.db") if name == "fts5" else Chroma(folder, embedder)
