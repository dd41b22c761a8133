"""The programs that stored or asked something, with counts and times."""

from datetime import datetime

from recollect.domain.maintenance import ClientActivity
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import Repository

MAX_CLIENTS = 200

_client = record_shape(
    ClientActivity,
    "name first_seen_at last_seen_at writes last_write_at retrievals last_retrieval_at",
)


class ClientRepository(Repository):
    """The programs that stored or asked something."""

    _statements = "clients"

    def count_write(self, name: str, *, at: datetime) -> None:
        """Count one write of the client *name*."""
        self._count("count_write", name, at)

    def count_retrieval(self, name: str, *, at: datetime) -> None:
        """Count one retrieval of the client *name*."""
        self._count("count_retrieval", name, at)

    def latest(self, *, limit: int) -> list[ClientActivity]:
        """Return the clients, the most recently seen first."""
        return self._all(_client, "latest", limit=limit)

    def _count(self, statement: str, name: str, at: datetime) -> None:
        if self._run_counted(statement, name=name, at=at):
            return
        self._run("add", name=name, at=at)
        self._run(statement, name=name, at=at)
        self._run("prune", keep=MAX_CLIENTS)
