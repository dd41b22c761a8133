"""The transactions of the SQLite connection that writes. See `recollect.store.group_commit`."""

from contextlib import AbstractContextManager
from pathlib import Path

import apsw

from recollect.store.sqlite.connection import translate_errors


class SqliteTransactions:
    """See `recollect.store.group_commit.WriteTransactions`."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    @property
    def location(self) -> str:
        return str(self._path)

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def finish_statements(self) -> None:
        pass  # each one is finished when `execute` returns

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        self._db.execute("ROLLBACK")

    def savepoint(self) -> None:
        self._db.execute("SAVEPOINT ticket")

    def rollback_to_savepoint(self) -> None:
        self._db.execute("ROLLBACK TO ticket")

    def release_savepoint(self) -> None:
        self._db.execute("RELEASE ticket")

    def must_retry(self, error: BaseException) -> bool:
        return False  # the only writer of a file is not interrupted

    def translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self._path)

    def end(self) -> None:
        pass  # the file has one connection that writes

    def close(self) -> None:
        self._db.close()
