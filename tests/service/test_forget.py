"""Forget leaves no trace in any table or index, nor in the file's bytes."""

from pathlib import Path

import apsw
import pytest

from recollect import LocalRecollect, NotFound
from support import FakeClock, file_store, open_memory

SECRET = "quetzalcoatl"


def traces(path: Path, word: str) -> list[str]:
    """
    Return every table and column in which *word* occurs, in any case.

    A tombstone has the id of what was forgotten, so that no import brings it back.
    """
    db = apsw.Connection(str(path))
    traces = []
    names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    tables = [row[0] for row in names if row[0] != "tombstones"]
    for table in tables:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        for column in columns:
            sql = f'SELECT count(*) FROM {table} WHERE instr(lower(CAST("{column}" AS TEXT)), ?)'
            if db.execute(sql, (word,)).get:
                traces.append(f"{table}.{column}")
    db.close()
    return traces


def in_files(path: Path, word: str) -> list[str]:
    """Return which of the store's files hold *word* in their bytes."""
    return [
        file.name
        for file in path.parent.glob(f"{path.name}*")
        if word.encode() in file.read_bytes().lower()
    ]


def test_a_forgotten_memory_leaves_no_trace_in_any_table_index_or_file(path: Path) -> None:
    with open_memory(path) as rec:
        for number in range(50):
            rec.ingest(f"an ordinary fact, number {number}", project="p")
        gone = rec.ingest(
            f"The code name is {SECRET}.",
            project="p",
            title=f"About {SECRET}",
            summary=SECRET,
            tags=[SECRET],
            rationale=SECRET,
            alternatives=[SECRET],
        )
        near = rec.ingest("Code names are chosen by the team.", project="p")
        rec.link(near.id, "supports", gone.id)
        rec.search(f"what is {SECRET}?", project="p")
        rec.context_for(f"tell me about {SECRET}", project="p")
        rec.search(f"The code name is {SECRET}.", project="elsewhere")
        assert traces(path, SECRET)
        assert in_files(path, SECRET)

        receipt = rec.forget(gone.id)

        assert traces(path, SECRET) == []
        assert traces(path, gone.id) == []
        assert in_files(path, SECRET) == []
        assert receipt.memory_id == gone.id
        assert receipt.removed["memories"] == 1
        assert receipt.removed["sources"] == 1
        assert receipt.removed["embeddings"] >= 1
        assert receipt.removed["memory_links"] == 1
        assert receipt.kept == ()
        assert rec.maintenance.verify().ok
        with pytest.raises(NotFound):
            rec.memories.get(gone.id)
    assert in_files(path, SECRET) == []
    with open_memory(path) as rec:
        assert rec.search(SECRET, everywhere=True) == []


def test_a_source_that_another_memory_rests_on_stays_and_the_receipt_says_so(
    rec: LocalRecollect,
) -> None:
    memory = rec.ingest("the same words")
    other = rec.ingest("the same words")

    receipt = rec.forget(memory.id)

    assert "another memory quotes the same words" in receipt.kept[0]
    assert rec.memories.get(other.id).evidence[0].quote == "the same words"
    assert rec.forget(other.id).removed["sources"] == 1


def test_in_a_shared_source_only_the_forgotten_span_is_blanked(
    rec: LocalRecollect, path: Path, clock: FakeClock
) -> None:
    long = "First we talked. " * 70
    memory = rec.ingest(long + "Then the zebra came.")
    db = apsw.Connection(str(path))
    source = memory.evidence[0].source_id
    start = len(long)
    db.execute(
        "INSERT INTO evidence VALUES ('e2', 'm2', ?, ?, ?, 'Then the zebra came.', 1, '')",
        (source, start, start + 20),
    )
    db.execute(
        """INSERT INTO memories (id, type, scope, status, source_kind, content, fingerprint,
                                 observed_at, confirmed_at, created_at, updated_at)
           VALUES ('m2', 'profile', 'global', 'active', 'manual', 'Zebra came.', '', 1, 1, 1, 1)"""
    )
    db.close()
    rec.maintenance.rebuild()

    receipt = rec.forget("m2")
    explained = rec.explain(memory.id)

    assert receipt.removed["source spans blanked"] == 1
    assert explained.sources[0].content.endswith("█" * 20)  # type: ignore[union-attr]
    assert traces(path, "zebra came") == ["memories.content"]
    assert rec.maintenance.verify().ok


def test_a_snapshot_that_may_hold_it_is_named(rec: LocalRecollect, path: Path) -> None:
    memory = rec.ingest("something")
    path.with_name("memory.db.before-0002").write_bytes(b"")

    receipt = rec.forget(memory.id)

    assert "before a change" in receipt.kept[0]


def test_while_another_process_reads_the_receipt_says_what_waits(
    rec: LocalRecollect, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = rec.ingest("something")
    reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM memories").fetchall()
    file_store(rec)._tables.connection.db.set_busy_timeout(10)

    receipt = rec.forget(memory.id)
    reader.close()

    assert "another process reads" in receipt.kept[0]


def test_saved_searches_reasons_and_explanations_that_repeat_it_go_too(
    rec: LocalRecollect, path: Path
) -> None:
    gone = rec.ingest("Alice divorced Bob")
    other = rec.ingest("Alice likes Bob, divorced or not")
    rec.link(gone.id, "supersedes", other.id)
    rec.views.save("gossip", "alice divorced bob")
    rec.search("has Alice divorced Bob?", statuses=["active", "superseded"])

    rec.forget(gone.id)

    assert traces(path, gone.id) == []
    assert traces(path, "divorced bob") == []
    assert "retrieval_hits.explanation" not in traces(path, "divorced")


def test_forgetting_a_very_short_memory_leaves_other_questions_alone(rec: LocalRecollect) -> None:
    memory = rec.ingest("A fact about apples.")
    [hit] = rec.search("apples")
    short = rec.ingest("a")

    rec.forget(short.id)

    assert rec.explain(hit.retrieval_id or "").query == "apples"  # type: ignore[union-attr]
    assert rec.memories.get(memory.id).content == "A fact about apples."


def test_the_title_given_to_the_same_words_elsewhere_is_not_shown(rec: LocalRecollect) -> None:
    rec.ingest("Use pnpm.", project="a", title="Merger with Foocorp")
    other = rec.ingest("Use pnpm.", project="b")

    assert rec.explain(other.id).sources[0].title == ""  # type: ignore[union-attr]
