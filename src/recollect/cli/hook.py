"""
The command `hook`, for its help and for completion.

`recollect hook` itself does not run through here (entry.py): a client waits for it.
"""

import click

from recollect.cli.output import database
from recollect.hooks.event_names import CLIENTS
from recollect.hooks.hook_command import main as run_hook


@click.command()
@click.argument("event")
@click.option("--client", help=f"The agent that runs it: {', '.join(CLIENTS)}. Default: by input.")
@click.option("--db", help="The database file. Default: RECOLLECT_DB, the configuration file.")
@click.option("--project", help="The project, by name or path. Default: the agent's folder.")
def hook(event: str, client: str | None, db: str | None, project: str | None) -> None:
    """
    Answer a hook of a coding agent: read its JSON, print what the memory holds.

    EVENT is session-start, prompt, pre-tool, post-tool, pre-compact, stop or session-end, or the
    agent's own name for it. A hook never fails: if there is no answer it prints nothing, and
    hooks.log says why.
    """
    options = {"--client": client, "--db": database(db), "--project": project}
    run_hook([event, *(f"{name}={value}" for name, value in options.items() if value)])
