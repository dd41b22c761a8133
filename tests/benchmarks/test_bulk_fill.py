"""A store that the benchmark fills in bulk has the rows that the product writes."""

from pathlib import Path
from random import Random

import pytest

from benchmarks.bulk_fill import START, STEP, BulkTarget, FileTarget, ServerTarget, fill_stores
from benchmarks.generated_sentences import GeneratedSentence, questions, sentences
from postgres_server import SCHEMAS, shared_server
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.store.postgres.postgres_rows import PostgresRows
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.transfer.export_import import TABLES
from support import FakeClock

pytestmark = pytest.mark.postgres
MEMORIES = 120
DERIVED = ("shelves", "items", "terms", "postings", "models", "embedder", "embeddings")


def some_sentences() -> list[GeneratedSentence]:
    chance = Random(2)
    return [
        GeneratedSentence(sentence.text, f"project-{chance.randrange(5)}")
        for sentence in sentences(MEMORIES)
    ]


def rows_without_ids(rec: LocalRecollect) -> dict[str, list[str]]:
    """Return the rows of each table without ids, numbers that stand for rows, and times."""
    rows: dict[str, list[str]] = {}
    with rec._services.store.read() as tables:
        connection = tables.connection  # type: ignore[attr-defined]  # every store's have one
        is_file = isinstance(connection, SqliteConnection)
        source = SqliteRows(connection.db) if is_file else PostgresRows(connection, {})
        for name in (*TABLES, *DERIVED):
            columns = [
                column
                for column in source.columns(name)
                if column not in ("id", "seq")
                and not column.endswith(("_id", "_at"))
                and not (name == "memory_changes" and column == "at")
            ]
            if columns:
                listed = ", ".join(f'"{column}"' for column in columns)
                found = source.select(f"SELECT {listed} FROM {name}")
                rows[name] = sorted(repr(tuple(row)) for row in found)
    return rows


def test_stores_that_are_filled_in_bulk_have_the_rows_of_the_product(
    path: Path, tmp_path: Path
) -> None:
    generated = some_sentences()
    embedder = ScriptedEmbedder()
    url = shared_server().url(SCHEMAS.schema_of(tmp_path))
    bulk = Settings(db=str(tmp_path / "bulk.db"))
    clock = FakeClock(START)
    with LocalRecollect(Settings(db=str(path)), clock=clock, embedder=embedder) as expected:
        for sentence in generated:
            clock.moment += STEP
            expected.ingest(sentence.text, type="decision", project=sentence.project)
        expected.drain()
        expected_rows = rows_without_ids(expected)
        address = shared_server().address(SCHEMAS.schema_of(tmp_path))
        targets: list[BulkTarget] = [
            FileTarget(bulk.db_path, embedder),
            ServerTarget(address, url, embedder),
        ]
        fill_stores(targets, generated, embedder)
        for settings in (bulk, Settings(db=url)):
            with LocalRecollect(settings, clock=clock, embedder=embedder) as filled:
                assert rows_without_ids(filled) == expected_rows
                assert filled.maintenance.verify().problems == (), settings.location
                for question in questions(generated, 20, seed=3):
                    hits, expected_hits = (
                        rec.search(question.text, project=question.project)
                        for rec in (filled, expected)
                    )
                    assert [(hit.memory.content, hit.score) for hit in hits] == [
                        (hit.memory.content, hit.score) for hit in expected_hits
                    ]
                later = filled.ingest("The zebra sleeps.", project="project-1")
                assert filled.memories.get(later.id).content == "The zebra sleeps."
    SCHEMAS.release()
