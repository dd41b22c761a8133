"""Several `recollect serve` processes of one store, each on a port that it keeps."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.server.processes import HOST, environment, free_port

COMMAND = (sys.executable, "-c", "from recollect.cli.main import main; main()", "serve")
READY_S = 120.0


class ServerGroup:
    """Servers of the store at *url*; a context that stops them at its end."""

    def __init__(self, url: str, count: int, folder: Path, **variables: str) -> None:
        self._env = environment(folder, RECOLLECT_DB=url, **variables)
        self._log = (folder / "servers.log").open("ab")
        self._ports = [free_port() for _ in range(count)]
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            self._processes = [self._start(port) for port in self._ports]
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def addresses(self) -> list[str]:
        """The URL of each server."""
        return [f"http://{HOST}:{port}" for port in self._ports]

    @property
    def pids(self) -> Sequence[int]:
        """The id of each process."""
        return [process.pid for process in self._processes]

    def restart_killed(self, place: int) -> None:
        """Kill one server with SIGKILL and start it again."""
        self._processes[place].kill()
        self._processes[place].wait()
        self._processes[place] = self._start(self._ports[place])

    def wait_until_ready(self, *places: int) -> float:
        """Wait until some servers are ready, or all of them; return how long that took."""
        begun = time.monotonic()
        for place in places or range(len(self._ports)):
            address = self.addresses[place]
            while not _is_ready(address):
                if self._processes[place].poll() is not None:  # the database was not there
                    self._processes[place] = self._start(self._ports[place])
                if time.monotonic() - begun > READY_S:
                    raise TimeoutError(f"{address} is not ready after {READY_S:g} s")
                time.sleep(0.05)
        return time.monotonic() - begun

    def stop(self) -> None:
        """Stop every server."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._log.close()

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, "--port", str(port)],
            env={**os.environ, **self._env},
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )


def _is_ready(address: str) -> bool:
    with suppress(OSError, urllib.error.URLError):
        return bool(urllib.request.urlopen(f"{address}/ready", timeout=10).status == 200)
    return False
