"""
Check the integrity of the file and of its indexes, and rebuild the indexes.

`check` only reads, and returns the name of every check. `rebuild` fills the derived tables again
from the canonical rows; embeddings are kept, because their texts have not changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

import apsw

from recollect.domain.maintenance import VerificationProblem
from recollect.domain.repair_report import RepairReport
from recollect.store.indexes.word_index import WordIndex
from recollect.store.repositories.indexed_items import IndexedItemReader
from recollect.store.row_conversion import to_json
from recollect.store.sqlite.export_import import (
    TABLES,
    TOMBSTONES_OF_QUOTED_SOURCES,
    check_row,
    columns_of,
    delete_tombstones_of_quoted_sources,
    primary_key_of,
)
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.text.fingerprint import sha256_hex

REBUILD = "run `recollect rebuild`"
REPAIR = "run `recollect repair`"

INTACT = "the file is intact"

_SEARCHABLE = """SELECT id FROM memories UNION ALL SELECT id FROM messages
                WHERE content <> '' OR instr(coalesce(tool_calls, ''), '"send_message"')
                   OR instr(coalesce(parts, ''), '"send_message"')
               UNION ALL SELECT id FROM blocks
               UNION ALL SELECT id FROM files WHERE project_id IS NOT NULL
               UNION ALL SELECT id FROM documents WHERE text <> ''"""

_WRONG_PARTITION = """
    SELECT i.id FROM memories t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE (s.kind, s.scope, s.owner_id) IS NOT ('memory', t.scope, t.owner_id)
     UNION ALL
    SELECT i.id FROM messages t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE (s.kind, s.scope, s.owner_id) IS NOT
           ('message', iif(t.agent_id IS NULL, 'session', 'agent'),
            coalesce(t.agent_id, t.conversation_id))
     UNION ALL
    SELECT i.id FROM blocks t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE (s.kind, s.scope, s.owner_id) IS NOT ('block', t.scope, t.owner_id)
     UNION ALL
    SELECT i.id FROM files t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE (s.kind, s.scope, s.owner_id) IS NOT
           ('file', 'project', t.project_id)
     UNION ALL
    SELECT i.id FROM documents t JOIN items i ON i.id = t.id JOIN shelves s ON s.id = i.shelf_id
     WHERE (s.kind, s.scope, s.owner_id) IS NOT ('document', 'global', t.namespace)"""

# name: (a query that finds violations, what to do about them)
_RULES: Mapping[str, tuple[str, str]] = {
    "rows refer to existing rows": ("PRAGMA foreign_key_check", REPAIR),
    "every active memory has evidence": (
        """SELECT 'memories ' || id FROM memories m WHERE status = 'active'
            AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.memory_id = m.id)""",
        REPAIR,
    ),
    "every quote occurs in its source": (
        """SELECT 'evidence ' || e.id FROM evidence e JOIN sources s ON s.id = e.source_id
            WHERE e.quote IS NOT substr(s.content, e.start_char + 1, e.end_char - e.start_char)""",
        REPAIR,
    ),
    "no quoted source counts as deleted": (
        f"SELECT 'tombstones ' || id FROM ({TOMBSTONES_OF_QUOTED_SOURCES})",
        REBUILD,
    ),
    "every searchable record is indexed": (
        f"SELECT id FROM ({_SEARCHABLE}) WHERE id NOT IN (SELECT id FROM items)",
        REBUILD,
    ),
    "every item has its record": (f"SELECT id FROM items WHERE id NOT IN ({_SEARCHABLE})", REBUILD),
    "every message belongs to its conversation's agent": (
        """SELECT 'messages ' || m.id FROM messages m
             JOIN conversations c ON c.id = m.conversation_id
            WHERE m.agent_id IS NOT c.agent_id""",
        REPAIR,
    ),
    "every block's value is in its history": (
        """SELECT 'blocks ' || b.id FROM blocks b LEFT JOIN block_history h
               ON h.block_id = b.id AND h.version = b.version WHERE h.value IS NOT b.value""",
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


def check(
    db: apsw.Connection, word_index: WordIndex
) -> tuple[list[str], list[VerificationProblem]]:
    """Run every check; return their names, and the problems found."""
    names = [INTACT]
    problems = [VerificationProblem(INTACT, line, REPAIR) for line in _integrity_errors(db)]
    if problems:
        return names, problems  # further checks of a corrupt file mean nothing
    for name, (sql, remedy) in _RULES.items():
        names.append(name)
        violations = list(islice(db.execute(sql), 5))
        if violations:
            examples = ", ".join(str(row[0]) for row in violations)
            problems.append(VerificationProblem(name, f"violated by {examples}", remedy))
    checks: list[tuple[str, Callable[[], Iterator[str]], str]] = [
        ("sources have not changed", lambda: _changed_sources(db), REPAIR),
        ("the word index matches the rows", lambda: _wrong_postings(db, word_index), REBUILD),
        ("every row can be read", lambda: _unreadable_rows(db), REPAIR),
    ]
    for name, run, remedy in checks:
        names.append(name)
        broken = next(run(), None)
        if broken is not None:
            problems.append(VerificationProblem(name, f"violated by {broken}", remedy))
    return names, problems


def unreadable(reason: str) -> tuple[list[str], list[VerificationProblem]]:
    """Return the result of a check that could not be completed."""
    return [INTACT], [VerificationProblem(INTACT, reason, REPAIR)]


def is_damaged(db: apsw.Connection) -> bool:
    """Return whether the file, or a row of it, cannot be read."""
    return bool(_integrity_errors(db)) or next(_unreadable_rows(db), None) is not None


def is_file_damaged(problems: Iterable[VerificationProblem]) -> bool:
    """Return whether one of *problems* is damage of the file itself."""
    return any(problem.check == INTACT for problem in problems)


def describe_damage(report: RepairReport) -> tuple[list[str], list[VerificationProblem]]:
    """Return the damage of a file as the result of a check: tables and rows."""
    remedy = REBUILD if report.only_indexes else REPAIR
    lines = report.describe() or ["a page is damaged that holds no rows"]
    return [INTACT], [VerificationProblem(INTACT, line, remedy) for line in lines]


def rebuild(db: apsw.Connection, word_index: WordIndex) -> Mapping[str, int]:
    """Rebuild items, partitions, terms and postings from the rows; return the row counts."""
    delete_tombstones_of_quoted_sources(db)
    db.execute(
        f"""DELETE FROM postings; DELETE FROM terms;
            DELETE FROM tool_calls; DELETE FROM unread_sources;
            INSERT INTO unread_sources SELECT id FROM sources WHERE instr(metadata, '"tool"');
            DELETE FROM items WHERE id NOT IN ({_SEARCHABLE});
            DELETE FROM embeddings WHERE seq NOT IN (SELECT seq FROM items) OR length(vector) <>
               (SELECT 2 * dimension FROM models m WHERE m.id = embeddings.model_id);
            UPDATE items SET embedded_by = NULL WHERE embedded_by IS NOT NULL AND NOT EXISTS
               (SELECT 1 FROM embeddings e WHERE e.seq = items.seq AND e.model_id = embedded_by);
            UPDATE shelves SET items = 0, words = 0"""
    )
    for item in IndexedItemReader(SqliteConnection(db), word_index).all_items():
        row = db.execute("SELECT seq FROM items WHERE id = ?", (item.id,)).fetchone()
        if row is None:
            word_index.add(item.kind, item.owner, item.id, item.text)
        else:
            word_index.reindex(item.kind, item.owner, row[0], item.text)
    db.execute("DELETE FROM shelves WHERE id NOT IN (SELECT shelf_id FROM items)")
    names = ("items", "terms", "postings", "embeddings")
    return {name: db.execute(f"SELECT count(*) FROM {name}").get for name in names}


def _unreadable_rows(db: apsw.Connection) -> Iterator[str]:
    """Yield the table and key of rows with values that no reader understands."""
    for table in TABLES:
        columns, key = columns_of(db, table), primary_key_of(db, table)
        listed = ", ".join(f'"{column}"' for column in columns)
        for row in db.execute(f"SELECT {listed} FROM {table}"):
            values = dict(zip(columns, row, strict=True))
            try:
                check_row(table, values)
            except (ValueError, TypeError, KeyError, OverflowError) as error:
                name = " ".join(str(values[column]) for column in key)
                yield f"{table} {name}: {error}"


def _integrity_errors(db: apsw.Connection) -> list[str]:
    try:
        return [line for (line,) in db.execute("PRAGMA integrity_check(10)") if line != "ok"]
    except apsw.CorruptError as error:
        return [str(error)]  # too corrupt to be read to the end


def _changed_sources(db: apsw.Connection) -> Iterator[str]:
    for source_id, content, digest in db.execute("SELECT id, content, sha256 FROM sources"):
        if sha256_hex(content) != digest:
            yield f"sources {source_id}"


def _wrong_postings(db: apsw.Connection, word_index: WordIndex) -> Iterator[str]:
    total = 0
    for item in IndexedItemReader(SqliteConnection(db), word_index).all_items():
        counts = word_index.count_words(item.text)
        expected = counts.words
        total += len(expected)
        rows = db.execute(
            """SELECT t.term, p.times, p.words FROM items i
                 CROSS JOIN json_each(?) j
                 CROSS JOIN terms t ON t.term = j.value AND t.shelf_id = i.shelf_id
                 CROSS JOIN postings p ON p.term_id = t.id AND p.seq = i.seq
                WHERE i.id = ?""",
            (to_json(list(expected)), item.id),
        ).fetchall()
        if {term: times for term, times, _ in rows} != expected:
            yield item.id
        lengths = dict.fromkeys(counts.by_user, counts.by_user.total())
        lengths |= dict.fromkeys(counts.by_assistant, counts.by_assistant.total())
        if any(length != lengths[term] for term, _, length in rows if term in lengths):
            yield item.id
    if db.execute("SELECT count(*) FROM postings").get != total:
        yield "postings without an item"
