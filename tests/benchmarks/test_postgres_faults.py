"""Faults of the database, with small counts; test_many_servers.py has those of killed servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.postgres_faults import (
    FEW_CONNECTIONS,
    SMALL_DISK_MB,
    SMALL_LOG,
    FaultResult,
    cut_connections,
    exhaust_connections,
    fill_disk,
)
from postgres_server import PostgresServer

pytestmark = pytest.mark.postgres

WRITERS = 4


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    server = PostgresServer(*request.param[0], size_mb=request.param[1])
    yield server
    server.remove()


def check(result: FaultResult, *answers: str) -> None:
    """Check that nothing was lost or doubled, and that servers gave no other answers."""
    assert (result.problems, result.lost, result.doubled) == ((), 0, 0)
    assert result.acknowledged > WRITERS
    assert set(result.answers) <= {"200", "409 AlreadyAccepted", *answers}


@pytest.mark.parametrize("database", [((), 0)], indirect=True)
def test_connections_that_are_cut_at_any_byte_lose_and_double_nothing(
    database: PostgresServer, tmp_path: Path
) -> None:
    result = cut_connections(database, tmp_path, cuts=30, writers=WRITERS)

    check(result, "503 StoreUnavailable")


@pytest.mark.parametrize("database", [((f"max_connections={FEW_CONNECTIONS}",), 0)], indirect=True)
def test_a_database_without_a_free_connection_is_busy_and_nothing_is_lost(
    database: PostgresServer, tmp_path: Path
) -> None:
    result = exhaust_connections(database, tmp_path, seconds=2.0, writers=WRITERS)

    check(result, "503 StoreUnavailable", "503 StoreBusy")


@pytest.mark.parametrize("database", [(SMALL_LOG, SMALL_DISK_MB)], indirect=True)
def test_a_full_disk_is_told_and_nothing_is_lost(database: PostgresServer, tmp_path: Path) -> None:
    result = fill_disk(database, tmp_path, times=1, writers=WRITERS)

    # If the log cannot be written, PostgreSQL restarts itself.
    check(result, "507 StoreFull", "503 StoreUnavailable")
    assert result.answers.total() > result.acknowledged
