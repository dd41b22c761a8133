"""The command `mcp`: serve MCP over standard input and output."""

import logging
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.output import database, errors_in_one_line
from recollect.cli.store_server import StoreServer
from recollect.config import load_settings
from recollect.mcp.caller_scope import Caller
from recollect.mcp.early_answers import answer_early, take_pipes
from recollect.runtime.mcp_package import require_mcp_package

PROFILES = ("recollect", "memory-graph", "chatgpt")


@click.command()
@click.option("--db", help="The database file, created if it does not exist.")
@click.option("--project", help="The project, by name, remote or path. Default: this folder's.")
@click.option("--agent", help="The agent whose blocks and conversations are seen, by name.")
@click.option(
    "--agent-from-client",
    is_flag=True,
    help="Without --agent: an agent of the name that the client gives itself.",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="recollect",
    show_default=True,
    help="The tools to offer: Recollect's, or those of another server.",
)
@click.option("--trust", is_flag=True, help="What the agent stores is active at once.")
def mcp(
    db: str | None,
    project: str | None,
    agent: str | None,
    agent_from_client: bool,
    profile: str,
    trust: bool,
) -> None:
    """
    Serve an MCP client over standard input and output.

    What the agent stores waits in the inbox, unless --trust. With an empty --project only global
    memories are seen.
    """
    with errors_in_one_line():
        require_mcp_package()
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    # A read from the pipe cannot be interrupted, and what was acknowledged is on disk: Ctrl-C ends
    # the process, not the read.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    caller = Caller(
        project=project or None, agent=agent, trusted=trust, profile=profile, is_local=True
    )
    settings = load_settings(db=database(db))
    server = StoreServer(settings.location, token=settings.token or "")
    with (
        errors_in_one_line(),
        closing(server),
        LocalRecollect(settings, find_server=server.transport) as rec,
    ):
        rec.engine.viewer(**caller.read_scope)  # refuses an invalid project or agent now
        start_folder = None if project is not None else _current_folder()
        early = answer_early(take_pipes(), profile) if os.name == "posix" else None
        if early is not None and early.has_ended:
            return
        # Importing the package takes half a second: the first requests are answered before it.
        from recollect.mcp.stdio_transport import serve_stdio

        serve_stdio(
            rec,
            caller,
            start_folder=start_folder,
            early=early,
            agent_from_client=agent_from_client,
        )


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None  # the folder was removed, so there is no project
