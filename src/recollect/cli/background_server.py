"""
Start a server in the background.

The command starts itself again as a new session, with its output in the log file, and waits until
the server answers.
"""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from recollect import __version__
from recollect.cli.output import safe
from recollect.cli.server_files import log_file, open_log, pid_file, state_folder
from recollect.config import Settings, expand_home
from recollect.errors import StoreUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.server.listen_address import NotRecollectServer, fetch_health, listen, local_url
from recollect.text.visible_text import visible

READY_WITHIN_S = 60.0
LOG_LINES_SHOWN = 15
# -P: a file in the current folder must not be imported as a module.
THIS_COMMAND = (sys.executable, "-P", "-c", "from recollect.cli.main import main; main()")


@dataclass(frozen=True, kw_only=True)
class BackgroundServer:
    """A server that answers."""

    pid: int
    port: int
    url: str
    db: str
    log: Path
    pid_file: Path
    ready_s: float

    def as_json(self) -> dict[str, object]:
        """Return it for --json."""
        return {**vars(self), "log": str(self.log), "pid_file": str(self.pid_file)}

    def text(self) -> str:
        """Return it in words."""
        return (
            f"Recollect {__version__} serves {safe(self.db)} at {self.url} "
            f"(pid {self.pid}, ready after {self.ready_s:.1f} s)\n"
            f"[dim]pid {safe(str(self.pid_file))}\nlog {safe(str(self.log))}\n"
            f"stop with: recollect stop --port {self.port}[/dim]"
        )


def start_in_background(
    settings: Settings, *, token_file: str | None, verbose: bool
) -> BackgroundServer:
    """Start a server with *settings* and wait until it answers."""
    begun = time.monotonic()
    # If the port is taken, fail now and name who has it. Port 0 is replaced by a free port.
    with listen(settings) as probe:
        settings = replace(settings, port=probe.getsockname()[1])
    folder = state_folder(os.environ)
    log = log_file(folder, settings.port)
    try:
        output = open_log(log)
    except OSError as error:
        raise StoreUnavailable(f"the log {log} cannot be written: {error}") from error
    log_start = log.stat().st_size
    try:
        child = _spawn(settings, output, token_file=token_file, verbose=verbose)
    finally:
        os.close(output)
    while time.monotonic() - begun < READY_WITHIN_S:
        if child.poll() is not None:
            raise click.ClickException(
                f"the server ended at once; the end of its log {log}:\n{_log_tail(log, log_start)}"
            )
        try:
            health = fetch_health(settings.host, settings.port, settings.token)
        except NotRecollectServer:
            health = None  # it listens before it answers
        if health is not None:
            return BackgroundServer(
                pid=health["pid"],
                port=settings.port,
                url=local_url(settings.host, settings.port),
                db=health["database_path"],
                log=log,
                pid_file=pid_file(folder, settings.port),
                ready_s=round(time.monotonic() - begun, 2),
            )
        time.sleep(0.02)
    raise click.ClickException(
        f"the server (pid {child.pid}) does not answer after {READY_WITHIN_S:.0f} s; "
        f"see its log {log}"
    )


def _spawn(
    settings: Settings, output: int, *, token_file: str | None, verbose: bool
) -> subprocess.Popen[bytes]:
    command = [*THIS_COMMAND, "serve", "--host", settings.host]
    # The list of processes would show the password in an address.
    command += [] if settings.is_on_server else ["--db", settings.db]
    command += [word for folder in settings.file_root_paths for word in ("--files", str(folder))]
    command += ["--port", str(settings.port)]
    if token_file is not None:  # the list of processes would show the token itself
        command += ["--token-file", str(expand_home(token_file).absolute())]
    if verbose:
        command.append("--verbose")
    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        detached = {"creationflags": flags}
    child: subprocess.Popen[bytes] = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=os.environ | {"RECOLLECT_DB": settings.db},
        **detached,
    )
    return child


def _log_tail(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    return "\n".join(visible(line) for line in lines[-LOG_LINES_SHOWN:])
