"""
Plain SQLite FTS5: one table, porter and unicode61, every row visible to every question.

It has no projects, evidence, embeddings or log.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from benchmarks.generated_sentences import GeneratedSentence, ProjectQuestion
from recollect.text.search_words import STOP_WORDS

if TYPE_CHECKING:
    from recollect.models.embedder import Embedder

RESULTS = 10
_WORD = re.compile(r"\w+")


class Fts5System:
    """One full-text table that commits like Recollect does: WAL, synchronous=FULL."""

    def __init__(self, path: Path) -> None:
        self._db = apsw.Connection(str(path))
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS memories"
            " USING fts5(content, project UNINDEXED, tokenize='porter unicode61')"
        )

    def add_many(self, sentences: Sequence[GeneratedSentence]) -> None:
        rows = [(sentence.text, sentence.project) for sentence in sentences]
        with self._db:
            self._db.executemany("INSERT INTO memories VALUES (?, ?)", rows)

    def add(self, sentence: GeneratedSentence) -> None:
        self.add_many([sentence])

    def finish_indexing(self) -> None:
        """Nothing is put off."""

    def ask(self, question: ProjectQuestion) -> int:
        words = [word for word in _WORD.findall(question.text.lower()) if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        if not match:
            return 0
        rows = self._db.execute(
            "SELECT rowid, content FROM memories WHERE memories MATCH ? ORDER BY rank LIMIT ?",
            (match, RESULTS),
        )
        return len(rows.fetchall())

    def close(self) -> None:
        self._db.close()


def open_fts5(folder: Path, embedder: "Embedder | None") -> Fts5System:
    """Open the table."""
    return Fts5System(folder / "memory.db")
