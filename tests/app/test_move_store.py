"""A store is moved completely, compared, and a move that was interrupted continues."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from populated_memory import populate_memory
from recollect import LocalRecollect
from recollect.app import copy_store as copying
from recollect.app.move_store import move_store
from recollect.app.store_encryption import encrypt_store
from recollect.config import Settings
from recollect.domain.move_report import MoveReport
from recollect.errors import AlreadyExists, ImportRefused, InvalidInput
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.store.values import ChunkEmbedding
from support import open_memory


def filled(path: Path) -> Settings:
    """Return the settings of a store with records of every kind, all of them embedded."""
    with open_memory(path) as rec:
        populate_memory(rec)
        rec.drain()
        rec.search("which port?", project="site")
    return Settings(db=str(path))


def move(settings: Settings, to: str | Path, *, plain: bool = False) -> MoveReport:
    return move_store(settings, str(to), plain=plain, report=lambda text: None)


def rows(db: str) -> list[object]:
    with LocalRecollect(Settings(db=db), embedder=ScriptedEmbedder()) as rec:
        return list(rec._store.export_rows())


def test_everything_is_copied_and_the_source_stays(path: Path, tmp_path: Path) -> None:
    settings = filled(path)
    before = rows(settings.db)

    report = move(settings, tmp_path / "copy.db")

    assert rows(str(tmp_path / "copy.db")) == before == rows(settings.db)
    assert report.rows["memories"] > 3
    assert report.vectors > 3
    assert report.compared_rankings > 0
    with open_memory(tmp_path / "copy.db") as rec:
        assert rec.maintenance.verify().ok
        assert rec.maintenance.status().waiting == 0  # nothing is embedded again
        assert rec.maintenance.status().unfinished == ()


def test_a_place_with_rows_of_its_own_is_refused(path: Path, tmp_path: Path) -> None:
    settings = filled(path)
    with open_memory(tmp_path / "other.db") as rec:
        rec.ingest("Something else.")

    with pytest.raises(AlreadyExists, match="not empty"):
        move(settings, tmp_path / "other.db")
    with pytest.raises(InvalidInput, match="to itself"):
        move(settings, path)


def test_a_move_that_was_interrupted_continues(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, other = filled(path), filled(tmp_path / "other.db")

    def interrupt(chunks: Iterator[ChunkEmbedding]) -> Iterator[list[ChunkEmbedding]]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(copying, "_batches", interrupt)
        with pytest.raises(KeyboardInterrupt):
            move(settings, tmp_path / "copy.db")

    with open_memory(tmp_path / "copy.db") as rec:
        [unfinished] = rec.maintenance.status().unfinished
        assert "recollect move" in unfinished
    with pytest.raises(AlreadyExists, match="finish that move first"):
        move(other, tmp_path / "copy.db")
    assert move(settings, tmp_path / "copy.db").rows == move(settings, tmp_path / "new.db").rows
    assert rows(str(tmp_path / "copy.db")) == rows(settings.db)


def test_a_store_that_changed_meanwhile_is_noticed(path: Path, tmp_path: Path) -> None:
    settings = filled(path)

    def write_at_the_end(text: str) -> None:
        if text == "Comparing":
            with open_memory(path) as rec:
                rec.ingest("Written meanwhile.")

    with pytest.raises(ImportRefused, match=r"differs from .* in .*memories"):
        move_store(settings, str(tmp_path / "copy.db"), plain=False, report=write_at_the_end)


def test_an_encrypted_store_becomes_a_plain_one_only_on_request(path: Path, tmp_path: Path) -> None:
    filled(path)
    settings = Settings(db=str(path), key_file=str(tmp_path / "keys"), keyring=False)
    encrypt_store(settings)

    with pytest.raises(InvalidInput, match="--plain"):
        move(settings, tmp_path / "copy.db")

    assert move(settings, tmp_path / "copy.db", plain=True).rows["memories"] > 3


def analyzed_rows(url: str, table: str) -> int:
    """Return how many rows PostgreSQL counted in *table* when it last collected statistics."""
    import psycopg

    from recollect.store.postgres.server_address import parse_address

    address = parse_address(url)
    with psycopg.connect(address.conninfo) as db:
        name = f"{address.schema}.{table}"
        row = db.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", (name,))
        return int(next(row)[0])


@pytest.mark.postgres
def test_a_store_is_moved_to_postgresql_and_back(path: Path, tmp_path: Path) -> None:
    from postgres_server import SCHEMAS, shared_server

    settings = filled(path)
    url = shared_server().url(SCHEMAS.schema_of(tmp_path))
    try:
        there = move(settings, url)
        analyzed = analyzed_rows(url, "embeddings")
        back = move(Settings(db=url), tmp_path / "back.db")
    finally:
        SCHEMAS.release()

    assert there.rows == back.rows
    assert analyzed == there.vectors  # else the first searches are slow
    assert rows(str(tmp_path / "back.db")) == rows(settings.db)
    with open_memory(tmp_path / "back.db") as rec:
        assert rec.maintenance.verify().ok
