"""A proxy for the Unix socket of a PostgreSQL server that cuts connections at any byte."""

import random
import selectors
import socket
import threading
from contextlib import suppress
from pathlib import Path

CHUNK = 4_096


class SocketProxy:
    """Listens in *folder*, and passes bytes on to the server whose socket is in *upstream*."""

    def __init__(self, folder: Path, upstream: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._upstream = str(upstream / ".s.PGSQL.5432")
        self._path = folder / ".s.PGSQL.5432"
        self._path.unlink(missing_ok=True)
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen(128)
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, count: int = 1) -> int:
        """Cut some connections; return how many there were to cut."""
        with self._lock:
            chosen = random.sample(self._pairs, min(count, len(self._pairs)))
        for pair in chosen:
            _shut_down(pair)
        return len(chosen)

    def close(self) -> None:
        """Cut every connection and stop listening."""
        _shut_down((self._listener,))
        self._listener.close()
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            _shut_down(pair)
        self._path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._upstream)
            except OSError:  # PostgreSQL does not run now
                client.close()
                server.close()
                continue
            with self._lock:
                self._pairs.append((client, server))
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        with selectors.DefaultSelector() as selector, suppress(OSError):
            for each in other:
                selector.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    source = key.fileobj
                    assert isinstance(source, socket.socket)
                    data = source.recv(CHUNK)
                    if not data:
                        raise ConnectionError
                    other[source].sendall(data)
        with self._lock:
            self._pairs.remove((client, server))
        for each in other:
            each.close()


def _shut_down(sockets: tuple[socket.socket, ...]) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
