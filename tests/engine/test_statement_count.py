"""Learning from a session runs few statements: on a server database each is a round trip."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from support import FakeClock, open_memory

MESSAGES = [
    {"role": "user", "content": "We decided to keep the release on Fridays."},
    {"role": "assistant", "content": "Understood, I will plan for that."},
    {"role": "user", "content": "I prefer short reports for the team."},
]
# As benchmarks.walks counts them: what begins and ends a transaction is counted as a transaction.
MAX_STATEMENTS = 60
MAX_TRANSACTIONS = 16
TRANSACTION_CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """The statements of every connection that is opened."""
    ran: list[str] = []

    def watch(connection: apsw.Connection) -> None:
        def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
            ran.append(sql)
            return True

        connection.exec_trace = trace

    apsw.connection_hooks.append(watch)
    yield ran
    apsw.connection_hooks.remove(watch)


def test_draining_a_session_of_three_messages_runs_few_statements(
    statements: list[str], path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock) as rec:
        rec.capture_session("The staging server is called heron.", project="site")
        rec.drain()
        rec.capture_session(MESSAGES, project="site")
        statements.clear()
        rec.drain()

        counted = [sql for sql in statements if not sql.startswith(TRANSACTION_CONTROL)]
        begun = [sql for sql in statements if sql.startswith("BEGIN")]
        assert 20 < len(counted) <= MAX_STATEMENTS
        assert 0 < len(begun) <= MAX_TRANSACTIONS
