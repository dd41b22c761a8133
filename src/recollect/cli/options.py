"""What every command shares: which store, which form of output, and how it fails."""

import functools
from collections.abc import Callable
from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.render import visible
from recollect.config import expand_home, load_settings
from recollect.errors import RecollectError

Command = Callable[..., Any]


class Refused(click.ClickException):
    """An error of ours as one line and exit code 1."""

    exit_code = 1


def store_options(command: Command, *, creates: bool = False) -> Command:
    """
    Give *command* `--db` and `--json`, an open memory as its first argument, and kind errors.

    A store that is named and does not exist is made only by a command that *creates*.
    """

    @click.option("--db", help="The database file. Default: RECOLLECT_DB, the configuration file.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
    @functools.wraps(command)
    def run(db: str | None, as_json: bool, **given: Any) -> Any:
        root = click.get_current_context().find_root()
        try:
            named = db or root.params.get("db")
            if named and not creates and not expand_home(named).exists():
                raise Refused(f"there is no store at {named}; `recollect add` makes one")
            with LocalRecollect(load_settings(db=named)) as memory:
                return command(memory, as_json=as_json, **given)
        except RecollectError as error:
            # A message may quote what was stored, and a terminal would obey it.
            raise Refused(visible(str(error))) from error

    return run


def place_options(command: Command) -> Command:
    """Give *command* the options that say from where a request is made."""
    for option in (
        click.option("--session", help="The session it belongs to."),
        click.option("--agent", help="The agent it belongs to, by name."),
        click.option("--repo", help="The repo, by name, remote or path."),
        click.option("--project", help="The project, by name, remote or path ('.' is here)."),
    ):
        command = option(command)
    return command


def filter_options(command: Command) -> Command:
    """Give *command* the options that narrow a search."""
    for option in (
        click.option("--everywhere", is_flag=True, help="Look in every project and agent."),
        click.option("--until", help="Only what was observed until then (2026-05-08)."),
        click.option("--since", help="Only what was observed since then (2026-05-08)."),
        click.option("--tag", "tags", multiple=True, help="Only with this tag. May be repeated."),
        click.option("--status", "statuses", multiple=True, help="Only of this status."),
        click.option("--type", "types", multiple=True, help="Only of this type."),
        click.option("--scope", "scopes", multiple=True, help="Only of this scope."),
        click.option("-n", "--limit", default=10, show_default=True, help="How many at most."),
    ):
        command = option(command)
    return command


def given_filters(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a search without those that were not used."""
    # By identity: 0 is a value somebody gave.
    return {
        name: value
        for name, value in given.items()
        if value is not None and value is not False and value != ()
    }


def creating_store_options(command: Command) -> Command:
    """Give *command* the same, and let it make the store."""
    return store_options(command, creates=True)
