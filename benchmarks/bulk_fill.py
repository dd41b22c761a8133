"""
Fill empty stores with many memories of projects, quickly: the rows that `ingest` would write.

Storing a million memories one by one takes half an hour in a file and longer on a server. This
makes the rows of each table, words and vectors included, and copies them in bulk: into a file with
INSERT, to PostgreSQL with COPY. tests/benchmarks/test_bulk_fill.py compares them with those that
the product writes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import apsw
import numpy as np
import psycopg

from benchmarks.generated_sentences import GeneratedSentence
from recollect import LocalRecollect
from recollect.clock import to_micros, uuid7_text
from recollect.config import Settings
from recollect.models.embedder import Embedder
from recollect.store.postgres.server_address import ServerAddress
from recollect.store.sqlite.sqlite_connection import open_word_index
from recollect.text.fingerprint import fingerprint, sha256_hex, short_hash

BATCH = 10_000
START = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=1)  # from one memory to the next
_TICKS = 1_767_225_600_000 * 4096  # of START
MODEL = 1  # the id of the only model
FILE_CACHE_KB = 500_000

# The columns that are filled; the others have their defaults.
COLUMNS: Mapping[str, Sequence[str]] = {
    "projects": ("id", "identity", "name", "created_at"),
    "models": ("id", "name", "dimension"),
    "shelves": ("id", "kind", "scope", "owner_id", "items", "words"),
    "sources": ("id", "kind", "content", "sha256", "uri", "title", "captured_at", "observed_at"),
    "ingestion_events": (
        *("id", "trigger", "source_id", "scope", "owner_id", "state", "outcome", "created_at"),
        "updated_at",
    ),
    "evidence": ("id", "memory_id", "source_id", "start_char", "end_char", "quote", "created_at"),
    "memories": (
        *("id", "type", "scope", "status", "project_id", "source_kind", "content", "fingerprint"),
        *("observed_at", "confirmed_at", "created_at", "updated_at"),
    ),
    "memory_changes": ("id", "memory_id", "kind", "after", "by", "reason", "at", "effects"),
    "items": ("seq", "shelf_id", "id", "words", "embedded_by"),
    "embeddings": ("id", "seq", "model_id", "chunk", "chunks", "hash", "vector"),
    "terms": ("id", "shelf_id", "term", "items"),
    "postings": ("term_id", "seq", "times", "words"),
}
_NUMBERED = ("models", "shelves", "items", "embeddings", "terms")  # PostgreSQL counts on from them

Rows = dict[str, list[tuple[Any, ...]]]


class BulkTarget(Protocol):
    """A store that is filled."""

    def add(self, rows: Rows) -> None:
        """Add rows by table."""

    def finish(self) -> None:
        """Make the store as it is after many writes."""


@dataclass
class _Partition:
    """A project, and the words of its memories."""

    id: int
    project_id: str
    items: int = 0
    words: int = 0
    terms: dict[str, int] = field(default_factory=dict)  # their ids
    counts: Counter[str] = field(default_factory=Counter)


def fill_stores(
    targets: Sequence[BulkTarget],
    sentences: Sequence[GeneratedSentence],
    embedder: Embedder,
) -> None:
    """Store every sentence, all of which have a project, as a decision in each of the targets."""
    rows = _BulkRows(embedder)
    first = rows.first(sentences)
    for target in targets:
        target.add(first)
    remaining = iter(sentences)
    while batch := list(islice(remaining, BATCH)):
        batch_rows = rows.of_batch(batch)
        for target in targets:
            target.add(batch_rows)
    last = rows.last()
    for target in targets:
        target.add(last)
        target.finish()


class _BulkRows:
    """The rows of all memories, and the numbers that they have got so far."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._words = open_word_index(apsw.Connection(":memory:"))  # only to count words
        self._partitions: dict[str, _Partition] = {}
        self._ids = 0
        self._items = 0
        self._terms = 0

    def first(self, sentences: Sequence[GeneratedSentence]) -> Rows:
        """Return the projects and the model."""
        names = dict.fromkeys(sentence.project or "" for sentence in sentences)
        for number, name in enumerate(names, start=1):
            self._partitions[name] = _Partition(number, self._new_id())
        at = to_micros(START)
        return {
            "projects": [(p.project_id, name, name, at) for name, p in self._partitions.items()],
            "models": [(MODEL, self._embedder.name, self._embedder.dimension)],
        }

    def of_batch(self, sentences: Sequence[GeneratedSentence]) -> Rows:
        """Return the rows of some memories."""
        rows: Rows = {name: [] for name in COLUMNS}
        vectors = self._embedder.embed([sentence.text for sentence in sentences])
        halves = vectors.astype(np.float16)
        for sentence, vector in zip(sentences, halves, strict=True):
            self._add(rows, sentence.text, self._partitions[sentence.project or ""], vector)
        return {name: some for name, some in rows.items() if some}

    def last(self) -> Rows:
        """Return the rows that count the others."""
        partitions = self._partitions.values()
        return {
            "shelves": [
                (part.id, "memory", "project", part.project_id, part.items, part.words)
                for part in partitions
            ],
            "terms": [
                (term_id, part.id, term, part.counts[term])
                for part in partitions
                for term, term_id in part.terms.items()
            ],
        }

    def _add(self, rows: Rows, text: str, part: _Partition, vector: "np.ndarray[Any, Any]") -> None:
        self._items += 1
        seq = self._items
        at = to_micros(START + seq * STEP)
        source_id, memory_id, evidence_id, change_id, event_id = (self._new_id() for _ in range(5))
        sha256 = sha256_hex(text)
        rows["sources"].append((source_id, "manual", text, sha256, "", "", at, at))
        owner = ("project", part.project_id)
        rows["ingestion_events"].append(
            (event_id, "manual", source_id, *owner, "done", "1 memory active", at, at)
        )
        rows["evidence"].append((evidence_id, memory_id, source_id, 0, len(text), text, at))
        kind = ("decision", "project", "active")
        rows["memories"].append(
            (memory_id, *kind, part.project_id, "manual", text, fingerprint(text), *[at] * 4)
        )
        rows["memory_changes"].append(
            (change_id, memory_id, "created", "active", "user", "written by hand", at, "{}")
        )
        words = self._words.count_words(text)
        part.items += 1
        part.words += words.length
        rows["items"].append((seq, part.id, memory_id, words.length, MODEL))
        rows["embeddings"].append((seq, seq, MODEL, 0, 1, short_hash(text), vector.tobytes()))
        postings = rows["postings"]
        for term, times in words.by_user.items():
            term_id = part.terms.get(term)
            if term_id is None:
                self._terms += 1
                term_id = part.terms[term] = self._terms
            part.counts[term] += 1
            postings.append((term_id, seq, times, words.length))

    def _new_id(self) -> str:
        self._ids += 1
        return uuid7_text(_TICKS + self._ids, self._ids)


class FileTarget:
    """A new store in a file."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        LocalRecollect(Settings(db=str(path)), embedder=embedder).close()  # makes the tables
        self._db = apsw.Connection(str(path))
        self._db.execute(f"PRAGMA journal_mode = off; PRAGMA cache_size = -{FILE_CACHE_KB}")
        self._db.execute("PRAGMA synchronous = off; PRAGMA foreign_keys = off")

    def add(self, rows: Rows) -> None:
        with self._db:
            for name, columns in COLUMNS.items():
                listed = ", ".join(f'"{column}"' for column in columns)
                marks = ", ".join("?" * len(columns))
                some = sorted(rows.get(name, ())) if name == "postings" else rows.get(name, ())
                self._db.executemany(f"INSERT INTO {name} ({listed}) VALUES ({marks})", some)

    def finish(self) -> None:
        self._db.execute(f"UPDATE embedder SET serving = {MODEL}; PRAGMA optimize = 0x10002")
        self._db.execute("PRAGMA journal_mode = wal")
        self._db.close()


class ServerTarget:
    """A new store on a PostgreSQL server, as a role that may switch triggers off."""

    def __init__(self, address: ServerAddress, url: str, embedder: Embedder) -> None:
        LocalRecollect(Settings(db=url), embedder=embedder).close()  # makes the tables
        self._db = psycopg.connect(address.conninfo, autocommit=True)
        self._db.execute(f"SET search_path TO {address.quoted_schema}")
        self._db.execute("SET session_replication_role = replica; SET synchronous_commit = off")

    def add(self, rows: Rows) -> None:
        with self._db.transaction():
            for name, columns in COLUMNS.items():
                listed = ", ".join(f'"{column}"' for column in columns)
                some = sorted(rows.get(name, ())) if name == "postings" else rows.get(name, ())
                with self._db.cursor().copy(f"COPY {name} ({listed}) FROM STDIN") as copy:
                    for row in some:
                        copy.write_row(row)

    def finish(self) -> None:
        self._db.execute(f"UPDATE embedder SET serving = {MODEL}")
        for name in _NUMBERED:
            column = COLUMNS[name][0]
            self._db.execute(
                f"SELECT setval(pg_get_serial_sequence('{name}', '{column}'), "
                f"greatest((SELECT max({column}) FROM {name}), 1))"
            )
        self._db.execute("VACUUM ANALYZE")
        self._db.close()
