"""Group commit: what happens to the writers of a group when its commit fails."""

from pathlib import Path

import apsw
import pytest

from recollect.store.group_commit import Writer, _Ticket
from recollect.store.sqlite.sqlite_transactions import SqliteTransactions


def test_a_commit_that_fails_raises_in_every_writer_of_the_group(path: Path) -> None:
    class FailingConnection:
        """A connection whose commits and rollbacks fail."""

        in_transaction = True

        def execute(self, sql: str) -> None:
            if sql in ("COMMIT", "ROLLBACK"):
                raise apsw.IOError(sql)

    writer = Writer(SqliteTransactions(FailingConnection(), path))  # type: ignore[arg-type]
    tickets = [_Ticket(lambda: "done"), _Ticket(lambda: "done")]

    with pytest.raises(apsw.IOError):
        writer._commit(tickets)

    assert all(ticket.done and ticket.error is not None for ticket in tickets)
