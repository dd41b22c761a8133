"""
Start a server that goes on without the terminal it was started from.

The command starts itself once more in a session of its own, with its output in the log file, and
waits until that one answers.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.cli.options import Refused
from recollect.cli.render import shown, visible
from recollect.cli.server_files import log_file, open_log, pid_file, state_folder
from recollect.config import Settings, expand_home
from recollect.errors import StoreUnavailable
from recollect.server.listen_address import NotRecollectServer, fetch_health, listen, local_url

READY_WITHIN_S = 60.0
SHOWN_LOG_LINES = 15
# -P: a file in the present folder must not stand in for a module.
ITSELF = (sys.executable, "-P", "-c", "from recollect.cli.main import main; main()")


@dataclass(frozen=True, kw_only=True)
class Started:
    """A server that answers."""

    pid: int
    port: int
    url: str
    db: str
    log: Path
    pid_file: Path
    ready_s: float

    def as_json(self) -> dict[str, object]:
        """Return it as a program wants it."""
        return {**vars(self), "log": str(self.log), "pid_file": str(self.pid_file)}

    def text(self) -> str:
        """Return it as a person wants it."""
        return (
            f"Recollect {__version__} serves {shown(self.db)} at {self.url} "
            f"(pid {self.pid}, ready after {self.ready_s:.1f} s)\n"
            f"[dim]pid {shown(str(self.pid_file))}\nlog {shown(str(self.log))}\n"
            f"stop with: recollect stop --port {self.port}[/dim]"
        )


def start_detached(settings: Settings, *, token_file: str | None, verbose: bool) -> Started:
    """Start a server with *settings* and wait until it answers."""
    begun = time.monotonic()
    # Whoever has the port is named here and now; a port the system chooses is chosen here too.
    with listen(settings) as probe:
        settings = replace(settings, port=probe.getsockname()[1])
    folder = state_folder(os.environ)
    log = log_file(folder, settings.port)
    try:
        output = open_log(log)
    except OSError as error:
        raise StoreUnavailable(f"the log {log} cannot be written: {error}") from error
    read_from = log.stat().st_size
    try:
        child = _started(settings, output, token_file=token_file, verbose=verbose)
    finally:
        os.close(output)
    while time.monotonic() - begun < READY_WITHIN_S:
        if child.poll() is not None:
            raise Refused(f"the server ended at once. Its log {log} says:\n{_end(log, read_from)}")
        try:
            found = fetch_health(settings.host, settings.port, settings.token)
        except NotRecollectServer:
            found = None  # it listens before it answers
        if found is not None:
            return Started(
                pid=found["pid"],
                port=settings.port,
                url=local_url(settings.host, settings.port),
                db=found["database_path"],
                log=log,
                pid_file=pid_file(folder, settings.port),
                ready_s=round(time.monotonic() - begun, 2),
            )
        time.sleep(0.02)
    raise Refused(
        f"the server (pid {child.pid}) does not answer after {READY_WITHIN_S:.0f} s; "
        f"see its log {log}"
    )


def _started(
    settings: Settings, output: int, *, token_file: str | None, verbose: bool
) -> subprocess.Popen[bytes]:
    command = [*ITSELF, "serve", "--db", settings.db, "--host", settings.host]
    command += [word for folder in settings.file_root_paths for word in ("--files", str(folder))]
    command += ["--port", str(settings.port)]
    if token_file is not None:  # the token itself would be seen in the list of processes
        command += ["--token-file", str(expand_home(token_file).absolute())]
    if verbose:
        command.append("--verbose")
    alone: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        alone = {"creationflags": flags}
    child: subprocess.Popen[bytes] = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, **alone
    )
    return child


def _end(log: Path, read_from: int) -> str:
    with log.open("rb") as file:
        file.seek(read_from)
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    return "\n".join(visible(line) for line in lines[-SHOWN_LOG_LINES:])
