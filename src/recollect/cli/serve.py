"""
The commands `serve` and `stop`.

The server and its framework are loaded only in the process that serves.
"""

import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect import __version__
from recollect.cli.background_server import start_in_background
from recollect.cli.output import (
    Output,
    database,
    print_json,
    print_text,
    safe,
    wants_json,
    with_output,
)
from recollect.cli.server_files import (
    ServerRecord,
    pid_file,
    read_pid,
    remove_pid,
    state_folder,
    write_pid,
)
from recollect.config import Settings, expand_home, load_settings
from recollect.errors import InvalidInput, RecollectError
from recollect.server.listen_address import NotRecollectServer, fetch_health, local_url

if TYPE_CHECKING:
    from recollect.server.serve import ServerStarted

STOP_WITHIN_S = 20.0


@click.command()
@click.option("--db", help="The database file, created if it does not exist.")
@click.option("--host", help="The address to listen on. Default: 127.0.0.1, this machine only.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), help="The port. Default: 8283. 0: any free port."
)
@click.option("--token-file", help="A file with the token that requests must have.")
@click.option("--files", multiple=True, help="A folder whose files callers may read. Repeatable.")
@click.option("--background", is_flag=True, help="Run in the background until `recollect stop`.")
@click.option("--verbose", is_flag=True, help="Log every request.")
@with_output
def serve(
    db: str | None,
    host: str | None,
    port: int | None,
    token_file: str | None,
    files: tuple[str, ...],
    background: bool,
    verbose: bool,
) -> Output | None:
    """
    Start the HTTP server, until Ctrl-C.

    Other machines reach it only with --host and a token (RECOLLECT_TOKEN or --token-file).
    """
    token = None if token_file is None else _read_token(token_file)
    roots = os.pathsep.join(str(expand_home(folder).absolute()) for folder in files) or None
    settings = load_settings(db=database(db), host=host, port=port, token=token, file_roots=roots)
    if background:
        server = start_in_background(settings, token_file=token_file, verbose=verbose)
        return Output(server.as_json(), server.text())
    _serve_here(settings, verbose=verbose)
    return None


@click.command()
@click.option("--port", type=click.IntRange(1, 65_535), help="The server's port. Default: 8283.")
@click.option("--token-file", help="The file with the server's token, if it has one.")
@with_output
def stop(port: int | None, token_file: str | None) -> Output:
    """
    Stop the server.

    Running requests are finished first. A capture that takes longer is handed back: the next server
    or worker does it.
    """
    token = None if token_file is None else _read_token(token_file)
    return _stop_server(load_settings(port=port, token=token))


def _serve_here(settings: Settings, *, verbose: bool) -> None:
    # FastAPI and uvicorn are loaded here; no other command needs them.
    from recollect.server.serve import serve as serve_until_stopped

    written: list[Path] = []

    def announce(started: "ServerStarted") -> None:
        record = ServerRecord(
            pid=os.getpid(),
            host=started.host,
            port=started.port,
            db=started.db,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            key=started.key,
        )
        path = pid_file(state_folder(os.environ), started.port)
        try:
            write_pid(path, record)
            written.append(path)
        except OSError as error:
            # The server works without it; only `recollect stop` does not know the server.
            click.echo(f"no pid file was written: {error}", err=True)
        text = (
            f"Recollect {__version__} serves {started.db} at {started.url} (stop with Ctrl-C)\n"
            "`recollect open` shows its pages in a browser."
        )
        shown_fields = {name: value for name, value in vars(record).items() if name != "key"}
        value = {"url": started.url, **shown_fields}
        print_json(value) if wants_json() else print_text(safe(text))
        sys.stdout.flush()  # a program that waits for this line may read a pipe

    try:
        serve_until_stopped(settings, on_start=announce, verbose=verbose)
    finally:
        for path in written:
            remove_pid(path, os.getpid())


def _stop_server(settings: Settings) -> Output:
    """Stop the server on the port of *settings*."""
    path = pid_file(state_folder(os.environ), settings.port)
    record = read_pid(path)
    host = settings.host if record is None else record.host
    nothing = Output(
        {"stopped": False, "port": settings.port},
        f"You have no server on port {settings.port}.",
    )
    try:
        health = fetch_health(host, settings.port, settings.token)
    except NotRecollectServer as error:
        if record is None:
            return nothing
        raise click.ClickException(
            f"{error}; the pid file {path} names {record.pid}: if that is a server which hangs, "
            f"end it with: kill {record.pid}"
        ) from error
    if health is None:
        path.unlink(missing_ok=True)  # left by a server that was killed
        return nothing
    if record is None or health["pid"] != record.pid:
        raise click.ClickException(
            f"the server at {local_url(host, settings.port)} (pid {health['pid']}) was not started "
            "from here; stop it where it was started"
        )
    os.kill(record.pid, signal.SIGTERM)
    within_s = STOP_WITHIN_S + settings.shutdown_delay_s
    if not _wait_for_end(record, path, within_s):
        raise click.ClickException(
            f"the server (pid {record.pid}) has not ended after {within_s:.0f} s; "
            f"wait, or end it at once with: kill -9 {record.pid}"
        )
    remove_pid(path, record.pid)
    value = {"stopped": True, "port": settings.port, "pid": record.pid, "db": record.db}
    return Output(value, f"Stopped the server of {safe(record.db)} (pid {record.pid}).")


def _wait_for_end(record: ServerRecord, path: Path, within_s: float) -> bool:
    """Wait until the server has ended; return whether it did in time."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        # A server removes its pid file last. A server that was killed leaves it.
        if not path.exists() or not _is_alive(record):
            return True
        time.sleep(0.02)
    return False


def _is_alive(record: ServerRecord) -> bool:
    if os.name != "posix":  # on Windows, signal 0 ends the process
        try:
            return fetch_health(record.host, record.port) is not None
        except (NotRecollectServer, RecollectError):
            return True
    try:
        os.kill(record.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _read_token(name: str) -> str:
    try:
        token = expand_home(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the token file {name}: {error}") from error
    if not token:
        raise InvalidInput(f"the token file {name} is empty")
    return token
