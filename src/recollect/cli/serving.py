"""
Commands of the server: serve, stop.

The server itself, and the framework it is built on, load only in the process that serves.
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
from recollect.cli.detached import start_detached
from recollect.cli.options import Refused
from recollect.cli.render import print_json, say, shown, visible
from recollect.cli.server_files import (
    Running,
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

STOP_WITHIN_S = 15.0


@click.command()
@click.option("--db", help="The database file, made if it does not exist.")
@click.option("--host", help="The address to listen on. Default: 127.0.0.1, this machine only.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), help="The port. Default: 8283. 0: any that is free."
)
@click.option("--token-file", help="A file with the token that requests must have.")
@click.option(
    "--files", multiple=True, help="A folder whose files callers may read. May be repeated."
)
@click.option("--background", is_flag=True, help="Go on in the background, until `recollect stop`.")
@click.option("--verbose", is_flag=True, help="Log every request.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def serve(
    db: str | None,
    host: str | None,
    port: int | None,
    token_file: str | None,
    files: tuple[str, ...],
    background: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """
    Serve the memory over HTTP, until stopped with Ctrl-C.

    Other machines reach it only with --host and a token (RECOLLECT_TOKEN or --token-file).

    \b
    Example:
      recollect serve --background
    """
    named = db or click.get_current_context().find_root().params.get("db")
    try:
        token = None if token_file is None else _token_in(token_file)
        roots = os.pathsep.join(str(expand_home(one).absolute()) for one in files) or None
        settings = load_settings(db=named, host=host, port=port, token=token, file_roots=roots)
        if background:
            started = start_detached(settings, token_file=token_file, verbose=verbose)
            _tell(started.as_json(), started.text(), as_json=as_json)
        else:
            _serve_here(settings, verbose=verbose, as_json=as_json)
    except RecollectError as error:
        raise Refused(visible(str(error))) from error


@click.command()
@click.option("--port", type=click.IntRange(1, 65_535), help="The server's port. Default: 8283.")
@click.option("--token-file", help="The file with the server's token, where it has one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def stop(port: int | None, token_file: str | None, as_json: bool) -> None:
    """
    Stop the server; what it has begun is finished first.

    \b
    Example:
      recollect stop
    """
    try:
        token = None if token_file is None else _token_in(token_file)
        settings = load_settings(port=port, token=token)
        told, text = _stopped(settings)
    except RecollectError as error:
        raise Refused(visible(str(error))) from error
    _tell(told, text, as_json=as_json)


def _serve_here(settings: Settings, *, verbose: bool, as_json: bool) -> None:
    # FastAPI and uvicorn load here: no other command pays for them.
    from recollect.server.serve import serve as serve_until_stopped

    written: list[Path] = []

    def announce(serving: "ServerStarted") -> None:
        running = Running(
            pid=os.getpid(),
            host=serving.host,
            port=serving.port,
            db=serving.db,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        path = pid_file(state_folder(os.environ), serving.port)
        try:
            write_pid(path, running)
            written.append(path)
        except OSError as error:
            # It can serve all the same; only `recollect stop` will not know of it.
            click.echo(f"no pid file was written: {error}", err=True)
        text = f"Recollect {__version__} serves {serving.db} at {serving.url} (stop with Ctrl-C)"
        _tell({"url": serving.url, **vars(running)}, shown(text), as_json=as_json)
        sys.stdout.flush()  # whoever waits for the line may read a pipe

    try:
        serve_until_stopped(settings, on_start=announce, verbose=verbose)
    finally:
        for path in written:
            remove_pid(path, os.getpid())


def _stopped(settings: Settings) -> tuple[dict[str, object], str]:
    """Stop the server on the port of *settings*; return what was done, for programs and people."""
    path = pid_file(state_folder(os.environ), settings.port)
    running = read_pid(path)
    host = settings.host if running is None else running.host
    try:
        found = fetch_health(host, settings.port, settings.token)
    except NotRecollectServer as error:
        if running is None:
            return _nothing(settings.port)
        raise Refused(
            f"{error}; the pid file {path} names {running.pid}: if that is a server which hangs, "
            f"end it with: kill {running.pid}"
        ) from error
    if found is None:
        path.unlink(missing_ok=True)  # left by one that was killed
        return _nothing(settings.port)
    if running is None or found["pid"] != running.pid:
        raise Refused(
            f"the server at {local_url(host, settings.port)} (pid {found['pid']}) was not started "
            "from here; stop it where it was started"
        )
    os.kill(running.pid, signal.SIGTERM)
    if not _ends(running, path):
        raise Refused(
            f"the server (pid {running.pid}) has not ended after {STOP_WITHIN_S:.0f} s; "
            f"wait, or end it at once with: kill -9 {running.pid}"
        )
    remove_pid(path, running.pid)
    told = {"stopped": True, "port": settings.port, "pid": running.pid, "db": running.db}
    return told, f"Stopped the server of {shown(running.db)} (pid {running.pid})."


def _nothing(port: int) -> tuple[dict[str, object], str]:
    return {"stopped": False, "port": port}, f"No server of yours runs on port {port}."


def _ends(running: Running, path: Path) -> bool:
    """Wait until a server that was told to stop has ended; say whether it did in time."""
    until = time.monotonic() + STOP_WITHIN_S
    while time.monotonic() < until:
        # Removing its pid file is the last thing it does. One that was killed leaves it.
        if not path.exists() or not _is_there(running):
            return True
        time.sleep(0.02)
    return False


def _is_there(running: Running) -> bool:
    if os.name != "posix":  # there, signal 0 is not a question
        try:
            return fetch_health(running.host, running.port) is not None
        except (NotRecollectServer, RecollectError):
            return True
    try:
        os.kill(running.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _token_in(name: str) -> str:
    try:
        token = expand_home(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the token file {name}: {error}") from error
    if not token:
        raise InvalidInput(f"the token file {name} is empty")
    return token


def _tell(told: dict[str, object], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(told)
    else:
        say(text)
