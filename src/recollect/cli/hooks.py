"""
The command of hooks, for those who ask for help.

`recollect hook` itself does not come this way (entry.py): a client waits for it.
"""

import click

from recollect.hooks.event_names import CLIENTS
from recollect.hooks.hook_command import main as run


@click.command()
@click.argument("event")
@click.option("--client", help=f"Which agent runs it: {', '.join(CLIENTS)}. Default: it tells.")
@click.option("--db", help="The database file. Default: RECOLLECT_DB, the configuration file.")
@click.option("--project", help="The project, by name or path. Default: the agent's folder.")
def hook(event: str, client: str | None, db: str | None, project: str | None) -> None:
    """
    Answer a coding agent's hook: its JSON comes in, what memory has to say goes out.

    EVENT is session-start, prompt, pre-compact, stop or session-end, or the agent's own name for
    it. It never fails: without an answer it prints nothing, and hooks.log says why.

    \b
    Example:
      echo '{"cwd": "/srv/site"}' | recollect hook session-start --client claude-code
    """
    named = db or click.get_current_context().find_root().params.get("db")
    options = {"--client": client, "--db": named, "--project": project}
    run([event, *(f"{name}={value}" for name, value in options.items() if value)])
