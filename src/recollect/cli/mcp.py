"""The command that serves MCP over standard input and output. Nothing else loads the protocol."""

import logging
import signal
import sys
from pathlib import Path

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import Refused
from recollect.cli.render import visible
from recollect.config import load_settings
from recollect.errors import RecollectError

PROFILES = ("recollect", "memory-graph", "chatgpt")


@click.command()
@click.option("--db", help="The database file, made if it does not exist.")
@click.option("--project", help="The project, by name, remote or path. Default: this folder's.")
@click.option("--agent", help="The agent whose blocks and conversations are seen, by name.")
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="recollect",
    show_default=True,
    help="Whose tools to offer: Recollect's, or another server's in their place.",
)
@click.option("--trust", is_flag=True, help="Let the agent decide: nothing waits for review.")
def mcp(db: str | None, project: str | None, agent: str | None, profile: str, trust: bool) -> None:
    """
    Serve an MCP client over standard input and output.

    What the agent remembers waits in the inbox until you keep it, unless --trust. An empty
    --project means none: only what is global is seen.

    \b
    Example:
      recollect mcp --project . --agent coder < /dev/null
    """
    # The protocol's package takes half a second: no other command pays for it.
    from recollect.mcp.caller_scope import Caller
    from recollect.mcp.stdio_transport import serve_stdio

    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    # A read from the pipe cannot be interrupted, and what was acknowledged is on disk: Ctrl-C ends
    # the process, not the read.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    named = db or click.get_current_context().find_root().params.get("db")
    caller = Caller(project=project or None, agent=agent, trusted=trust, profile=profile)
    try:
        with LocalRecollect(load_settings(db=named)) as memory:
            memory.engine.viewer(**caller.read_scope)  # what cannot be a project or an agent is refused now
            serve_stdio(memory, caller, start_folder=None if project is not None else _here())
    except RecollectError as error:
        raise Refused(visible(str(error))) from error


def _here() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None  # the folder was removed: then no project is seen
