"""Group commit: what happens to the writers of a group when its commit fails."""

from pathlib import Path

import apsw
import pytest

from recollect.store.sqlite.writer_thread import Writer, _Ticket


def test_a_commit_that_fails_raises_in_every_writer_of_the_group(path: Path) -> None:
    class FailingConnection:
        """A connection whose commits and rollbacks fail."""

        in_transaction = True

        def execute(self, sql: str) -> None:
            if sql in ("COMMIT", "ROLLBACK"):
                raise apsw.IOError(sql)

    writer = Writer(FailingConnection(), path)  # type: ignore[arg-type]
    tickets = [_Ticket(lambda: "done"), _Ticket(lambda: "done")]

    with pytest.raises(apsw.IOError):
        writer._commit(tickets)

    assert all(ticket.done and ticket.error is not None for ticket in tickets)
