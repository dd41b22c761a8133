"""
Other ways to store messages: plain SQLite with FTS5, and ChromaDB.

Both search the messages of one agent; neither has times, roles, summaries or a log. FTS5 commits
like Recollect: WAL, synchronous=FULL, one transaction for each append. ChromaDB gets the same
vectors and the same embedded questions; it is optional.
"""

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import apsw

from benchmarks.recall.generated_conversations import AgentQuestion, ConversationMessage
from recollect.models.embedder import Embedder
from recollect.text.search_words import STOP_WORDS

RESULTS = 10
BASELINES = ("fts5", "chromadb")
_WORD = re.compile(r"\w+")


class MessageBaseline(Protocol):
    """A store of messages. Every call is complete when it returns."""

    def append(self, messages: Sequence[ConversationMessage]) -> None: ...
    def search(self, question: AgentQuestion) -> int: ...
    def close(self) -> None: ...


class Fts5Messages:
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

    def append(self, messages: Sequence[ConversationMessage]) -> None:
        with self._db:
            for message in messages:
                row = (message.agent, message.role, message.content, message.at.timestamp())
                number = self._db.execute(
                    "INSERT INTO messages (agent, role, content, created_at)"
                    " VALUES (?, ?, ?, ?) RETURNING id",
                    row,
                ).get
                self._db.execute(
                    "INSERT INTO words (rowid, content) VALUES (?, ?)", (number, message.content)
                )

    def search(self, question: AgentQuestion) -> int:
        words = [word for word in _WORD.findall(question.text.lower()) if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        if not match:
            return 0
        rows = self._db.execute(
            "SELECT m.id, m.role, m.content, m.created_at FROM words"
            " JOIN messages m ON m.id = words.rowid"
            " WHERE words MATCH ? AND m.agent = ? ORDER BY words.rank LIMIT ?",
            (match, question.agent, RESULTS),
        )
        return len(rows.fetchall())

    def close(self) -> None:
        self._db.close()


class ChromaMessages:
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

    def append(self, messages: Sequence[ConversationMessage]) -> None:
        texts = [message.content or "(a call)" for message in messages]
        self._collection.add(
            ids=[str(self._count + place) for place in range(len(texts))],
            embeddings=self._embedder.embed(texts),
            documents=texts,
            metadatas=[
                {"agent": message.agent, "role": message.role, "at": message.at.timestamp()}
                for message in messages
            ],
        )
        self._count += len(texts)

    def search(self, question: AgentQuestion) -> int:
        results = self._collection.query(
            query_embeddings=[self._embedder.embed_query(question.text)],
            n_results=RESULTS,
            where={"agent": question.agent},
        )
        return len(results["ids"][0])

    def close(self) -> None:
        self._client.close()


def is_installed(name: str) -> bool:
    """Return whether a baseline can be run here."""
    return name != "chromadb" or find_spec("chromadb") is not None


def open_baseline(name: str, folder: Path, embedder: Embedder) -> MessageBaseline:
    """Open a baseline in *folder*."""
    return (
        Fts5Messages(folder / "messages.db") if name == "fts5" else ChromaMessages(folder, embedder)
    )
