"""The words of the assistant in a transcript are indexed separately, with less weight."""

from pathlib import Path
from typing import cast

import pytest

import recollect
from recollect.store.protocol import Tables
from recollect.store.sqlite.store import SqliteTables

USERS = "user: my sister keeps a llama\nassistant: Animals are good company."
ASSISTANTS = "user: what animals are there\nassistant: A sister species of the llama is the alpaca."


@pytest.fixture
def rec(tmp_path: Path) -> recollect.LocalRecollect:
    return recollect.open(tmp_path / "memory.db", embedding_backend="none")


def test_what_the_user_said_comes_before_what_the_assistant_said(
    rec: recollect.LocalRecollect,
) -> None:
    with rec:
        theirs = rec.ingest(USERS, type="episode", scope="global")
        answer = rec.ingest(ASSISTANTS, type="episode", scope="global")

        found = rec.search("llama sister")

        assert [hit.memory.id for hit in found] == [theirs.id, answer.id]
        assert set(found[1].matched_words) == {"llama", "sister"}


def test_a_transcript_is_checked_rebuilt_and_forgotten_with_both_its_sides(
    rec: recollect.LocalRecollect,
) -> None:
    with rec:
        kept = rec.ingest(ASSISTANTS, type="episode", scope="global")
        assert rec.maintenance.verify().ok

        rec.maintenance.rebuild()
        assert rec.maintenance.verify().ok
        assert [hit.memory.id for hit in rec.search("alpaca")] == [kept.id]

        rec.forget(kept.id)
        assert rec.maintenance.verify().ok
        assert rec.search("alpaca") == []


def test_a_transcript_that_an_older_version_indexed_as_one_text_is_forgotten_whole(
    rec: recollect.LocalRecollect,
) -> None:
    with rec:
        kept = rec.ingest(ASSISTANTS, type="episode", scope="global")

        def as_one_text(tables: Tables) -> None:
            word_index = cast(SqliteTables, tables).word_index
            db = cast(SqliteTables, tables).connection.db
            item_id, partition = db.execute("SELECT seq, shelf_id FROM items").fetchall()[0]
            db.execute("DELETE FROM postings")
            db.execute("DELETE FROM terms")
            for term in set(word_index.terms(ASSISTANTS)):
                db.execute(
                    "INSERT INTO terms (shelf_id, term, items) VALUES (?, ?, 1)", (partition, term)
                )
                enter = "INSERT INTO postings SELECT id, ?, 1, 9 FROM terms WHERE term = ?"
                db.execute(enter, (item_id, term))

        rec._services.store.write(as_one_text)
        assert [hit.memory.id for hit in rec.search("alpaca")] == [kept.id]

        rec.forget(kept.id)

        assert rec.maintenance.verify().ok
