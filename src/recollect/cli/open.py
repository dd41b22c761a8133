"""
The command `open`: show the pages in a browser.

It starts a server in the background if none runs for this store, asks it for a one-time code with
the key in its pid file, and opens the browser at the address with that code.
"""

import json
import os
import webbrowser
from http.client import HTTPConnection, HTTPException

import click

from recollect.cli.background_server import start_in_background
from recollect.cli.output import Output, database, safe, with_output
from recollect.cli.server_files import ServerRecord, pid_file, read_pid, state_folder
from recollect.config import Settings, load_settings
from recollect.server.listen_address import NotRecollectServer, fetch_health, local_url

TIMEOUT_S = 10.0
KEY_HEADER = "X-Recollect-Key"


@click.command("open")
@click.option("--db", help="The database file, created if it does not exist.")
@click.option("--port", type=click.IntRange(1, 65_535), help="The server's port. Default: 8283.")
@click.option("--no-browser", is_flag=True, help="Only print the address, with a one-time code.")
@with_output
def open_(db: str | None, port: int | None, no_browser: bool) -> Output:
    """
    Show the memory in a browser: review, search, correct, forget.

    Starts a server in the background if none runs; `recollect stop` stops it. The address holds a
    code that is valid for a minute, once.
    """
    settings = load_settings(db=database(db), port=port)
    record = _running_server(settings)
    base = local_url(record.host, record.port)
    address = f"{base}/enter?code={_mint_code(record)}"
    is_open = not no_browser and webbrowser.open(address)
    value = {"url": base, "opened": is_open, "port": record.port, "db": record.db}
    if is_open:
        return Output(value, f"Opened {base} in your browser: {safe(record.db)}")
    text = f"Open this address in a browser within a minute:\n{address}"
    return Output({**value, "address": address}, text)


def _running_server(settings: Settings) -> ServerRecord:
    """Return the server of the store, started if it does not run."""
    path = pid_file(state_folder(os.environ), settings.port)
    record = read_pid(path)
    host = settings.host if record is None else record.host
    try:
        health = fetch_health(host, settings.port, settings.token)
    except NotRecollectServer as error:
        raise click.ClickException(f"{error}; choose another --port") from error
    if health is None:
        start_in_background(settings, token_file=None, verbose=False)
        record = read_pid(path)
    elif health["database_path"] != settings.location:
        raise click.ClickException(
            f"the server on port {settings.port} serves {health['database_path']}, not "
            f"{settings.location}; choose another --port, or pass --db"
        )
    if record is None or not record.key:
        raise click.ClickException(
            f"the server on port {settings.port} was not started from here; run `recollect open` "
            "where it was started, or choose another --port"
        )
    return record


def _mint_code(record: ServerRecord) -> str:
    """Return a one-time code of the server."""
    host = local_url(record.host, record.port).removeprefix("http://")
    connection = HTTPConnection(host, timeout=TIMEOUT_S)
    try:
        connection.request("POST", "/enter", headers={KEY_HEADER: record.key})
        response = connection.getresponse()
        code = json.loads(response.read(100_000)).get("code")
    except (OSError, HTTPException, ValueError) as error:
        raise click.ClickException(
            f"the server on port {record.port} does not answer: {error}"
        ) from error
    finally:
        connection.close()
    if response.status != 200 or not isinstance(code, str):
        raise click.ClickException(
            f"the server on port {record.port} refused the key of its pid file; restart it: "
            f"recollect stop --port {record.port}"
        )
    return code
