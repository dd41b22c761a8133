"""
Is the file whole, and do the indexes say what the rows say?

`check` reads only and names every rule it tried. `rebuild` makes the derived tables anew from the
canonical rows; embeddings are kept, since their texts have not changed.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import apsw

from recollect.domain.upkeep import Problem
from recollect.store.sqlite.indexed import IndexedRows
from recollect.store.sqlite.rows import to_json
from recollect.store.sqlite.words import SqliteWords
from recollect.text.fingerprint import sha256_hex

REBUILD = "run `recollect rebuild`"
RESTORE = "restore a backup or an export"

_FINDABLE = """SELECT id FROM memories UNION ALL SELECT id FROM messages
                WHERE content <> '' OR instr(coalesce(tool_calls, ''), '"send_message"')
                   OR instr(coalesce(parts, ''), '"send_message"')
               UNION ALL SELECT id FROM blocks
               UNION ALL SELECT id FROM files WHERE project_id IS NOT NULL"""

_MISPLACED = """
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
           ('file', 'project', t.project_id)"""

# name: (a query that finds what breaks the rule, what mends it)
_RULES: Mapping[str, tuple[str, str]] = {
    "rows name rows that exist": ("PRAGMA foreign_key_check", RESTORE),
    "every active memory has evidence": (
        """SELECT id FROM memories m WHERE status = 'active'
            AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.memory_id = m.id)""",
        RESTORE,
    ),
    "every quote stands in its source": (
        """SELECT e.id FROM evidence e JOIN sources s ON s.id = e.source_id
            WHERE e.quote IS NOT substr(s.content, e.start_char + 1, e.end_char - e.start_char)""",
        RESTORE,
    ),
    "every memory, message, block and file can be found": (
        f"SELECT id FROM ({_FINDABLE}) WHERE id NOT IN (SELECT id FROM items)",
        REBUILD,
    ),
    "every item is a thing that exists": (
        f"SELECT id FROM items WHERE id NOT IN ({_FINDABLE})",
        REBUILD,
    ),
    "every message is its conversation's agent's": (
        """SELECT m.id FROM messages m JOIN conversations c ON c.id = m.conversation_id
            WHERE m.agent_id IS NOT c.agent_id""",
        RESTORE,
    ),
    "every block keeps its last value": (
        """SELECT b.id FROM blocks b LEFT JOIN block_history h
               ON h.block_id = b.id AND h.version = b.version WHERE h.value IS NOT b.value""",
        RESTORE,
    ),
    "every item stands on its owner's shelf": (_MISPLACED, REBUILD),
    "shelves count their items": (
        """SELECT s.id FROM shelves s LEFT JOIN items i ON i.shelf_id = s.id GROUP BY s.id
           HAVING s.items <> count(i.seq) OR s.words <> coalesce(sum(i.words), 0)""",
        REBUILD,
    ),
    "words count their items": (
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


def check(db: apsw.Connection, words: SqliteWords) -> tuple[list[str], list[Problem]]:
    """Return the names of all checks, and the problems found."""
    names = ["the file is whole"]
    problems = [Problem(names[0], line, RESTORE) for line in _torn(db)]
    if problems:
        return names, problems  # what a torn file says of the rest means nothing
    for name, (sql, remedy) in _RULES.items():
        names.append(name)
        found = list(islice(db.execute(sql), 5))
        if found:
            examples = ", ".join(str(row[0]) for row in found)
            problems.append(Problem(name, f"broken by {examples}", remedy))
    checks: list[tuple[str, Callable[[], Iterator[str]], str]] = [
        ("sources have not changed", lambda: _changed_sources(db), RESTORE),
        ("the word index says what the rows say", lambda: _wrong_words(db, words), REBUILD),
    ]
    for name, run, remedy in checks:
        names.append(name)
        broken = next(run(), None)
        if broken is not None:
            problems.append(Problem(name, f"broken by {broken}", remedy))
    return names, problems


def rebuild(db: apsw.Connection, words: SqliteWords) -> Mapping[str, int]:
    """Make items, shelves, terms and postings say what the rows say; return the counts."""
    db.execute(
        f"""DELETE FROM postings; DELETE FROM terms;
            DELETE FROM items WHERE id NOT IN ({_FINDABLE});
            DELETE FROM embeddings WHERE seq NOT IN (SELECT seq FROM items) OR length(vector) <>
               (SELECT 2 * dimension FROM models m WHERE m.id = embeddings.model_id);
            UPDATE items SET embedded_by = NULL WHERE embedded_by IS NOT NULL AND NOT EXISTS
               (SELECT 1 FROM embeddings e WHERE e.seq = items.seq AND e.model_id = embedded_by);
            UPDATE shelves SET items = 0, words = 0"""
    )
    for item in IndexedRows(db, words).everything():
        row = db.execute("SELECT seq FROM items WHERE id = ?", (item.id,)).fetchone()
        if row is None:
            words.add(item.kind, item.owner, item.id, item.text)
            continue
        words.index_again(item.kind, item.owner, row[0], item.text)
    db.execute("DELETE FROM shelves WHERE id NOT IN (SELECT shelf_id FROM items)")
    return {
        name: db.execute(f"SELECT count(*) FROM {name}").get
        for name in ("items", "terms", "postings", "embeddings")
    }


def _torn(db: apsw.Connection) -> list[str]:
    try:
        return [line for (line,) in db.execute("PRAGMA integrity_check(10)") if line != "ok"]
    except apsw.CorruptError as error:
        return [str(error)]  # too torn to be read to the end


def _changed_sources(db: apsw.Connection) -> Iterator[str]:
    for source_id, content, digest in db.execute("SELECT id, content, sha256 FROM sources"):
        if sha256_hex(content) != digest:
            yield source_id


def _wrong_words(db: apsw.Connection, words: SqliteWords) -> Iterator[str]:
    total = 0
    for item in IndexedRows(db, words).everything():
        entry = words.entry(item.text)
        expected = entry.words
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
        lengths = {term: entry.said.total() for term in entry.said}
        lengths |= dict.fromkeys(entry.aside, entry.aside.total())
        if any(length != lengths[term] for term, _, length in rows if term in lengths):
            yield item.id
    if db.execute("SELECT count(*) FROM postings").get != total:
        yield "postings of nothing"
