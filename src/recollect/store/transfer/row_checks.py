"""
Check the rows and the indexes of a store against its rules, and rebuild the indexes.

`check_rows` only reads, and returns the name of every check. `rebuild` fills the derived tables
again from the canonical rows; embeddings are kept, because their texts have not changed. The SQL
is of the kind that every database understands.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from recollect.domain.maintenance import VerificationProblem
from recollect.store.database_connection import value_shape
from recollect.store.indexes.word_index import WordIndex
from recollect.store.repositories.indexed_items import IndexedItemReader
from recollect.store.transfer.export_import import (
    TABLES,
    TOMBSTONES_OF_QUOTED_SOURCES,
    check_row,
    delete_tombstones_of_quoted_sources,
)
from recollect.store.transfer.table_rows import TableRows
from recollect.text.fingerprint import sha256_hex

REBUILD = "run `recollect rebuild`"
REPAIR = "run `recollect repair`"

# `replace` instead of a search for the text: the name of that function is not the same everywhere.
_SENDS_MESSAGE = """replace({column}, '"send_message"', '') <> {column}"""
_SEARCHABLE = f"""SELECT id FROM memories UNION ALL SELECT id FROM messages
                WHERE content <> '' OR {_SENDS_MESSAGE.format(column="tool_calls")}
                   OR {_SENDS_MESSAGE.format(column="parts")}
               UNION ALL SELECT id FROM blocks
               UNION ALL SELECT id FROM files WHERE project_id IS NOT NULL
               UNION ALL SELECT id FROM documents WHERE text <> ''"""

_WRONG_PARTITION = """
    SELECT i.id FROM memories t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE NOT (s.kind = 'memory' AND s.scope = t.scope AND s.owner_id = t.owner_id)
     UNION ALL
    SELECT i.id FROM messages t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE NOT (s.kind = 'message'
                AND s.scope = CASE WHEN t.agent_id IS NULL THEN 'session' ELSE 'agent' END
                AND s.owner_id = coalesce(t.agent_id, t.conversation_id))
     UNION ALL
    SELECT i.id FROM blocks t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE NOT (s.kind = 'block' AND s.scope = t.scope AND s.owner_id = t.owner_id)
     UNION ALL
    SELECT i.id FROM files t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE NOT (s.kind = 'file' AND s.scope = 'project' AND s.owner_id = coalesce(t.project_id, ''))
     UNION ALL
    SELECT i.id FROM documents t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE NOT (s.kind = 'document' AND s.scope = 'global' AND s.owner_id = t.namespace)"""

# name: (a query that finds violations, what to do about them)
RULES: Mapping[str, tuple[str, str]] = {
    "every active memory has evidence": (
        """SELECT 'memories ' || id FROM memories m WHERE status = 'active'
            AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.memory_id = m.id)""",
        REPAIR,
    ),
    "every quote occurs in its source": (
        """SELECT 'evidence ' || e.id FROM evidence e JOIN sources s ON s.id = e.source_id
            WHERE e.quote <> substr(s.content, CAST(e.start_char + 1 AS integer),
                                    CAST(e.end_char - e.start_char AS integer))""",
        REPAIR,
    ),
    "no quoted source counts as deleted": (
        f"SELECT 'tombstones ' || id FROM ({TOMBSTONES_OF_QUOTED_SOURCES}) quoted",
        REBUILD,
    ),
    "every searchable record is indexed": (
        f"SELECT id FROM ({_SEARCHABLE}) found WHERE id NOT IN (SELECT id FROM items)",
        REBUILD,
    ),
    "every item has its record": (f"SELECT id FROM items WHERE id NOT IN ({_SEARCHABLE})", REBUILD),
    "every message belongs to its conversation's agent": (
        """SELECT 'messages ' || m.id FROM messages m
             JOIN conversations c ON c.id = m.conversation_id
            WHERE coalesce(m.agent_id, '') <> coalesce(c.agent_id, '')""",
        REPAIR,
    ),
    "every block's value is in its history": (
        """SELECT 'blocks ' || b.id FROM blocks b LEFT JOIN block_history h
               ON h.block_id = b.id AND h.version = b.version
            WHERE h.value IS NULL OR h.value <> b.value""",
        REPAIR,
    ),
    "every item is in its owner's partition": (_WRONG_PARTITION, REBUILD),
    "partitions count their items": (
        """SELECT s.id FROM shelves s LEFT JOIN items i ON i.shelf_id = s.id GROUP BY s.id
           HAVING s.items <> count(i.seq) OR s.words <> coalesce(sum(i.words), 0)""",
        REBUILD,
    ),
    "terms count their items": (
        """SELECT t.id FROM terms t
            WHERE t.items <> (SELECT count(*) FROM postings p WHERE p.term_id = t.id)""",
        REBUILD,
    ),
    "vectors have the length of their model": (
        """SELECT e.id FROM embeddings e JOIN models m ON m.id = e.model_id
            WHERE length(e.vector) <> 2 * m.dimension""",
        REBUILD,
    ),
}

_EMPTY_INDEXES = (
    "DELETE FROM postings",
    "DELETE FROM terms",
    "DELETE FROM tool_calls",
    "DELETE FROM unread_sources",
    """INSERT INTO unread_sources
       SELECT id FROM sources WHERE replace(metadata, '"tool"', '') <> metadata""",
    f"DELETE FROM items WHERE id NOT IN ({_SEARCHABLE})",
    """DELETE FROM embeddings WHERE seq NOT IN (SELECT seq FROM items) OR length(vector) <>
       (SELECT 2 * dimension FROM models m WHERE m.id = embeddings.model_id)""",
    """UPDATE items SET embedded_by = NULL WHERE embedded_by IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM embeddings e WHERE e.seq = items.seq AND e.model_id = embedded_by)""",
    "UPDATE shelves SET items = 0, words = 0",
)
_PLAIN = value_shape()


def check_rows(
    rows: TableRows, word_index: WordIndex
) -> tuple[list[str], list[VerificationProblem]]:
    """Run every check of rows and indexes; return their names, and the problems found."""
    names: list[str] = []
    problems: list[VerificationProblem] = []
    for name, (sql, remedy) in RULES.items():
        names.append(name)
        violations = list(islice(rows.select(sql), 5))
        if violations:
            problems.append(
                violation_of(name, ", ".join(str(row[0]) for row in violations), remedy)
            )
    checks: list[tuple[str, Callable[[], Iterator[str]], str]] = [
        ("sources have not changed", lambda: _changed_sources(rows), REPAIR),
        ("the word index matches the rows", lambda: _wrong_postings(rows, word_index), REBUILD),
        ("every row can be read", lambda: unreadable_rows(rows), REPAIR),
    ]
    for name, run, remedy in checks:
        names.append(name)
        broken = next(run(), None)
        if broken is not None:
            problems.append(violation_of(name, broken, remedy))
    return names, problems


def violation_of(check: str, examples: str, remedy: str) -> VerificationProblem:
    """Return the problem of a check that *examples* do not pass."""
    return VerificationProblem(check, f"violated by {examples}", remedy)


def rebuild(rows: TableRows, word_index: WordIndex) -> Mapping[str, int]:
    """Rebuild items, partitions, terms and postings from the rows; return the row counts."""
    delete_tombstones_of_quoted_sources(rows)
    for sql in _EMPTY_INDEXES:
        rows.execute(sql)
    for item in IndexedItemReader(rows.connection, word_index).all_items():
        row = rows.find("items", ("id",), {"id": item.id})
        if row is None:
            word_index.add(item.kind, item.owner, item.id, item.text)
        else:
            word_index.reindex(item.kind, item.owner, row["seq"], item.text)
    rows.execute("DELETE FROM shelves WHERE id NOT IN (SELECT shelf_id FROM items)")
    names = ("items", "terms", "postings", "embeddings")
    return {name: next(rows.select(f"SELECT count(*) FROM {name}"))[0] for name in names}


def unreadable_rows(rows: TableRows) -> Iterator[str]:
    """Yield the table and key of rows with values that no reader understands."""
    for table in TABLES:
        columns, key = rows.columns(table), rows.primary_key(table)
        listed = ", ".join(f'"{column}"' for column in columns)
        for row in rows.select(f"SELECT {listed} FROM {table}"):
            values = dict(zip(columns, row, strict=True))
            try:
                check_row(table, values)
            except (ValueError, TypeError, KeyError, OverflowError) as error:
                name = " ".join(str(values[column]) for column in key)
                yield f"{table} {name}: {error}"


def _changed_sources(rows: TableRows) -> Iterator[str]:
    for source_id, content, digest in rows.select("SELECT id, content, sha256 FROM sources"):
        if sha256_hex(content) != digest:
            yield f"sources {source_id}"


def _wrong_postings(rows: TableRows, word_index: WordIndex) -> Iterator[str]:
    total = 0
    for item in IndexedItemReader(rows.connection, word_index).all_items():
        counts = word_index.count_words(item.text)
        expected = counts.words
        total += len(expected)
        postings = _postings_of(rows, item.id, list(expected))
        if {term: times for term, times, _ in postings} != expected:
            yield item.id
        lengths = dict.fromkeys(counts.by_user, counts.by_user.total())
        lengths |= dict.fromkeys(counts.by_assistant, counts.by_assistant.total())
        if any(length != lengths[term] for term, _, length in postings if term in lengths):
            yield item.id
    if next(rows.select("SELECT count(*) FROM postings"))[0] != total:
        yield "postings without an item"


def _postings_of(rows: TableRows, record_id: str, words: list[str]) -> list[tuple[str, int, int]]:
    """Return those of *words* that an item has, each with its count and the item's length."""

    def fetch(statement: str, **values: Any) -> list[Any]:
        return rows.connection.fetch_all(f"word_index.{statement}", values, _PLAIN)

    items = fetch("items_of", ids=[record_id])
    if not items:
        return []
    _, item_id, partition_id, _ = items[0]
    terms = fetch("find_terms", words=words, partition_ids=[partition_id])
    texts = {term_id: term for term, term_id, _, _ in terms}
    postings = fetch("postings_among", term_ids=list(texts), item_ids=[item_id])
    return [(texts[term_id], times, length) for term_id, _, times, length in postings]
