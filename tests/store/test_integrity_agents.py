"""`verify` finds damage to rows of agents; `rebuild` repairs the index of messages and blocks."""

from pathlib import Path

import apsw
import pytest

from old_retrieval_log import OLD_LOG_TABLES, copy_retrievals
from recollect import LocalRecollect
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import known_migrations, migrate
from support import FakeClock, open_memory

REBUILD = "run `recollect rebuild`"
RESTORE = "run `recollect repair`"
MESSAGES = "SELECT id FROM messages"
BLOCKS = "SELECT id FROM blocks"


def damage(path: Path, sql: str) -> None:
    """Change the file directly, without triggers and foreign keys."""
    db = apsw.Connection(str(path))
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute(sql)
    db.close()


@pytest.fixture
def filled(path: Path) -> Path:
    """A store in which anna and ben have conversations about different things."""
    with open_memory(path) as rec:
        for name, word in (("anna", "zebra"), ("ben", "giraffe")):
            rec.agents.create(name)
            rec.blocks.set(name, "persona", f"fond of {word}")
            talk = rec.conversations.start(agent=name)
            rec.conversations.append(talk, "user", f"a {word}")
            rec.conversations.append(talk, "user", f"another {word}")
        rec.drain()
    return path


def problems(path: Path) -> dict[str, str]:
    with open_memory(path) as rec:
        return {problem.check: problem.remedy for problem in rec.maintenance.verify().problems}


def search_results(rec: LocalRecollect) -> dict[str, list[str]]:
    """Return what each agent finds for each word, in messages and blocks."""
    results = {}
    for name in ("anna", "ben"):
        for word in ("zebra", "giraffe"):
            hits = rec.conversations.search(word, agent=name, mode="fts")
            blocks = rec.blocks.search(word, agent=name)
            results[f"{name} {word}"] = [hit.message.content for hit in hits] + [
                hit.block.value for hit in blocks if hit.matched_words
            ]
    return results


EXPECTED = {
    "anna zebra": ["another zebra", "a zebra", "fond of zebra"],
    "anna giraffe": [],
    "ben zebra": [],
    "ben giraffe": ["another giraffe", "a giraffe", "fond of giraffe"],
}


@pytest.mark.parametrize("of", [MESSAGES, BLOCKS], ids=["messages", "blocks"])
@pytest.mark.parametrize(
    ("sql", "check"),
    [
        (
            "DELETE FROM postings WHERE seq IN (SELECT seq FROM items WHERE id IN ({of}))",
            "the word index matches the rows",
        ),
        (
            "UPDATE postings SET times = times + 1 "
            "WHERE seq IN (SELECT seq FROM items WHERE id IN ({of}))",
            "the word index matches the rows",
        ),
        (
            "DELETE FROM items WHERE id IN ({of})",
            "every searchable record is indexed",
        ),
        (
            "UPDATE items SET words = words + 1 WHERE id IN ({of})",
            "partitions count their items",
        ),
        (
            "UPDATE terms SET items = items + 1 WHERE shelf_id IN "
            "(SELECT shelf_id FROM items WHERE id IN ({of}))",
            "terms count their items",
        ),
        (
            "UPDATE embeddings SET vector = x'00' "
            "WHERE seq IN (SELECT seq FROM items WHERE id IN ({of}))",
            "vectors have the length of their model",
        ),
    ],
)
def test_a_damaged_index_of_messages_or_blocks_is_found_and_rebuilt(
    filled: Path, of: str, sql: str, check: str
) -> None:
    damage(filled, sql.format(of=of))
    found = problems(filled)
    with open_memory(filled) as rec:
        rec.maintenance.rebuild()
        rec.drain()
        verified = rec.maintenance.verify()
        status = rec.maintenance.status()

        assert found.get(check) == REBUILD
        assert verified.ok, verified.problems
        assert status.waiting == 0
        assert search_results(rec) == EXPECTED


@pytest.mark.parametrize(
    ("sql", "check"),
    [
        ("UPDATE blocks SET value = 'forged'", "every block's value is in its history"),
        ("DELETE FROM block_history", "every block's value is in its history"),
        ("UPDATE blocks SET version = version + 1", "every block's value is in its history"),
        (
            "UPDATE messages SET agent_id = (SELECT max(id) FROM agents)",
            "every message belongs to its conversation's agent",
        ),
        (
            "UPDATE messages SET agent_id = NULL",
            "every message belongs to its conversation's agent",
        ),
        ("DELETE FROM conversations", "rows refer to existing rows"),
        ("DELETE FROM agents", "rows refer to existing rows"),
    ],
)
def test_damaged_rows_of_agents_are_found(filled: Path, sql: str, check: str) -> None:
    damage(filled, f"PRAGMA foreign_keys = OFF; {sql}")

    assert problems(filled)[check] == RESTORE


def test_an_item_whose_message_changed_is_found_and_indexed_again(filled: Path) -> None:
    damage(filled, "UPDATE messages SET content = 'a walrus' WHERE content = 'a zebra'")
    found = problems(filled)
    with open_memory(filled) as rec:
        rec.maintenance.rebuild()

        assert found["the word index matches the rows"] == REBUILD
        assert len(rec.conversations.search("walrus", agent="anna", mode="fts")) == 1
        assert rec.maintenance.verify().ok


def test_an_item_in_another_agents_partition_is_moved_back(filled: Path) -> None:
    damage(
        filled,
        "UPDATE items SET shelf_id = (SELECT max(id) FROM shelves WHERE kind = 'message') "
        f"WHERE id IN ({MESSAGES})",
    )
    found = problems(filled)
    with open_memory(filled) as rec:
        rec.maintenance.rebuild()

        assert found
        assert rec.maintenance.verify().ok
        assert search_results(rec) == EXPECTED


SWAPPED = """
CREATE TEMP TABLE swapped AS SELECT s.id, (SELECT o.owner_id FROM shelves o
    WHERE o.kind = s.kind AND o.scope = s.scope AND o.id <> s.id) AS owner_id
  FROM shelves s WHERE s.kind = 'message';
UPDATE shelves SET owner_id = 'moved ' || id WHERE id IN (SELECT id FROM swapped);
UPDATE shelves SET owner_id = (SELECT w.owner_id FROM swapped w WHERE w.id = shelves.id)
 WHERE id IN (SELECT id FROM swapped);
"""


def test_partitions_with_swapped_owners_are_found(filled: Path) -> None:
    damage(filled, SWAPPED)
    with open_memory(filled) as rec:
        crossed = rec.conversations.search("zebra", agent="ben", mode="fts")

    assert crossed  # ben sees the messages of anna
    assert problems(filled)


def test_partitions_with_swapped_owners_are_rebuilt(filled: Path) -> None:
    damage(filled, SWAPPED)
    with open_memory(filled) as rec:
        rec.maintenance.rebuild()

        assert search_results(rec) == EXPECTED


def test_rebuilding_changes_no_result_about_messages_or_blocks(filled: Path) -> None:
    with open_memory(filled) as rec:
        before = search_results(rec)
        rec.maintenance.rebuild()

        assert search_results(rec) == before == EXPECTED


# A store of the second schema


def test_a_store_of_the_second_schema_keeps_its_memories_and_takes_agents(
    tmp_path: Path, clock: FakeClock
) -> None:
    path, now = tmp_path / "memory.db", tmp_path / "now.db"
    with open_memory(now, clock=clock) as rec:
        kept = rec.ingest("Use pnpm, not npm.", project="site", agent="bob")
        rec.ingest("a habit of bob", agent="bob", scope="agent")
        rec.search("pnpm", project="site")
        rec.drain()
    as_second_schema(now, path, clock)

    with open_memory(path, clock=clock) as rec:
        checked = rec.maintenance.verify()
        assert rec.maintenance.status().schema == known_migrations()[-1].number
        assert checked.ok, checked.problems
        assert rec.memories.get(kept.id) == kept
        assert [hit.memory.id for hit in rec.search("pnpm", project="site")] == [kept.id]
        assert [agent.name for agent in rec.agents.list()] == ["bob"]
        assert [hit.memory.content for hit in rec.archive.search("bob", "habit")] == [
            "a habit of bob"
        ]
        talk = rec.conversations.start(agent="bob")
        rec.conversations.append(talk, "user", "zebra")
        rec.blocks.set(None, "ticket", "ABC-1", conversation=talk)
        assert len(rec.conversations.search("zebra", agent="bob")) == 1
        rec.agents.delete("bob")
        assert rec.memories.get(kept.id).agent_id is None
        assert rec.maintenance.verify().ok
    assert path.with_name("memory.db.before-0003").exists()


def as_second_schema(source: Path, target: Path, clock: FakeClock) -> None:
    """Write the rows of the store *source* into a new one that has the first two schemas only."""
    db = connect(target, create=True)
    assert migrate(db, target, clock, migrations=known_migrations()[:2]) == 2
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("ATTACH ? AS now", (str(source),))
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'")
        if name != "migrations" and not name.startswith("sqlite_")
    ]
    first = ["sources", "evidence", "memories"]  # a quote needs its source, a memory its quote
    for table in [*first, *sorted(set(tables) - set(first) - OLD_LOG_TABLES)]:
        rows = db.execute(f"PRAGMA main.table_xinfo({table})")
        # The last field of a row is 0 for an ordinary column, and more for generated ones.
        columns = ", ".join(f'"{row[1]}"' for row in rows if row[-1] == 0)
        db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}")
    copy_retrievals(str(source), db)
    db.close()


def test_rows_that_were_in_the_file_before_agents_had_verbs_are_upgraded(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "memory.db"
    db = connect(path, create=True)
    migrate(db, path, clock, migrations=known_migrations()[:2])
    db.execute(
        """INSERT INTO agents (id, name, created_at, updated_at) VALUES ('a', 'anna', 0, 0);
           INSERT INTO conversations (id, agent_id, started_at) VALUES ('c', 'a', 0);"""
    )
    db.close()

    with open_memory(path, clock=clock) as rec:
        rec.conversations.append("c", "user", "zebra")
        assert len(rec.conversations.search("zebra", agent="anna")) == 1
        assert rec.maintenance.verify().ok
