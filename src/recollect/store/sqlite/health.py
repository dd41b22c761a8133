"""
Is the file whole, and do the indexes say what the rows say?

`check` reads only and names every rule it tried. `rebuild` makes the derived tables anew from the
canonical rows; embeddings are kept, since their texts have not changed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import apsw

from recollect.domain.memory import Memory
from recollect.domain.scope import ItemKind
from recollect.domain.upkeep import Problem
from recollect.store.sqlite.memories import SqliteMemories, indexed_text
from recollect.store.sqlite.rows import to_json
from recollect.store.sqlite.words import SqliteWords
from recollect.text.fingerprint import sha256_hex

REBUILD = "run `recollect rebuild`"
RESTORE = "restore a backup or an export"

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
    "every memory can be found": (
        "SELECT id FROM memories WHERE id NOT IN (SELECT id FROM items)",
        REBUILD,
    ),
    "every item is a thing that exists": (
        """SELECT i.id FROM items i JOIN shelves s ON s.id = i.shelf_id
            WHERE s.kind = 'memory' AND i.id NOT IN (SELECT id FROM memories)""",
        REBUILD,
    ),
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


def check(
    db: apsw.Connection, memories: SqliteMemories, words: SqliteWords
) -> tuple[list[str], list[Problem]]:
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
        (
            "the word index says what the memories say",
            lambda: _wrong_words(db, memories, words),
            REBUILD,
        ),
    ]
    for name, run, remedy in checks:
        names.append(name)
        broken = next(run(), None)
        if broken is not None:
            problems.append(Problem(name, f"broken by {broken}", remedy))
    return names, problems


def rebuild(db: apsw.Connection, memories: SqliteMemories, words: SqliteWords) -> Mapping[str, int]:
    """Make items, shelves, terms and postings say what the memories say; return the counts."""
    db.execute(
        """DELETE FROM postings; DELETE FROM terms;
           DELETE FROM items WHERE id NOT IN (SELECT id FROM memories)
              AND shelf_id IN (SELECT id FROM shelves WHERE kind = 'memory');
           DELETE FROM embeddings WHERE seq NOT IN (SELECT seq FROM items) OR length(vector) <>
              (SELECT 2 * dimension FROM models m WHERE m.id = embeddings.model_id);
           UPDATE items SET embedded_by = NULL WHERE embedded_by IS NOT NULL AND NOT EXISTS
              (SELECT 1 FROM embeddings e WHERE e.seq = items.seq AND e.model_id = embedded_by);
           UPDATE shelves SET items = 0, words = 0"""
    )
    for memory in _every_memory(db, memories):
        row = db.execute("SELECT seq, shelf_id FROM items WHERE id = ?", (memory.id,)).fetchone()
        text = indexed_text(memory)
        if row is None:
            words.add(ItemKind.MEMORY, memory.owner, memory.id, text)
            continue
        words.index_again(row[1], row[0], text)
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


def _wrong_words(
    db: apsw.Connection, memories: SqliteMemories, words: SqliteWords
) -> Iterator[str]:
    total = 0
    for memory in _every_memory(db, memories):
        expected = Counter(words.terms(indexed_text(memory)))
        total += len(expected)
        rows = db.execute(
            """SELECT t.term, p.times, p.words FROM items i
                 CROSS JOIN json_each(?) j
                 CROSS JOIN terms t ON t.term = j.value AND t.shelf_id = i.shelf_id
                 CROSS JOIN postings p ON p.term_id = t.id AND p.seq = i.seq
                WHERE i.id = ?""",
            (to_json(list(expected)), memory.id),
        ).fetchall()
        if {term: times for term, times, _ in rows} != expected:
            yield memory.id
        if any(length != expected.total() for _, _, length in rows):
            yield memory.id
    if db.execute("SELECT count(*) FROM postings").get != total:
        yield "postings of no memory"


def _every_memory(db: apsw.Connection, memories: SqliteMemories) -> Iterator[Memory]:
    ids = [
        row[0]
        for row in db.execute(
            "SELECT m.id FROM memories m LEFT JOIN items i ON i.id = m.id ORDER BY i.seq, m.id"
        )
    ]
    for start in range(0, len(ids), 500):
        yield from memories.get_many(ids[start : start + 500])
