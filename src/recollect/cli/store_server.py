"""
Find the running server of a store, for a process that has the same store open.

A server may start or end at any time, so its pid file is looked for before each request; the
connection is kept while the address stays the same.
"""

import os

from recollect.cli.server_files import state_folder
from recollect.client.connection import Connection
from recollect.client.remote import HttpTransport
from recollect.hooks.target_store import local_server_address

TIMEOUT_S = 30.0


class StoreServer:
    """The server of one store; used from one thread at a time or many."""

    def __init__(self, db: str, *, token: str) -> None:
        self._db = db
        self._token = token
        self._address: tuple[str, int] | None = None
        self._transport: HttpTransport | None = None

    def transport(self) -> HttpTransport | None:
        """Return the way to the server, None if none runs."""
        address = local_server_address(str(state_folder(os.environ)), self._db)
        if address != self._address:
            self.close()
            self._transport = self._connect(address) if address is not None else None
            self._address = address
        return self._transport

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    def _connect(self, address: tuple[str, int]) -> HttpTransport:
        host, port = address
        name = f"[{host}]" if ":" in host else host
        connection = Connection(
            f"http://{name}:{port}", token=self._token, timeout_s=TIMEOUT_S, attempts=1
        )
        return HttpTransport(connection)
