"""
Options that several commands share, and the open store that most commands work on.

Options that mirror a request model are made from its fields: `request_options(SearchRequest)` gives
a command one option for each optional field with a description.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from recollect.api.transport import Transport
from recollect.app.local_recollect import LocalRecollect, key_places
from recollect.cli.output import Callback, database, errors_in_one_line, json_option, print_output
from recollect.cli.project_option import folder_as_path
from recollect.cli.project_option import project_option as project_option
from recollect.config import Settings, expand_home, is_postgres_address, load_settings
from recollect.errors import StoreKeyMissing
from recollect.hooks.state_files import state_folder
from recollect.hooks.target_store import local_server_address
from recollect.store.key_places import wrapped_keys_file
from recollect.store.sqlite.encryption import find_key

Decorator = Callable[[Callback], Callback]
DB_HELP = "The database file, or postgresql://… Default: RECOLLECT_DB, the configuration file."


agent_option = click.option("--agent", required=True, help="The agent, by name or id.")
agent_argument = click.argument("agent", metavar="AGENT")
yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
reason_option = click.option("--reason", default="", help="The reason, for the history.")
id_argument = click.argument("memory_id", metavar="ID")
ids_argument = click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)


def limit_option(default: int) -> Decorator:
    """Return the option `--limit`."""
    return click.option(
        "-n", "--limit", default=default, show_default=True, help="Maximum number of results."
    )


def with_store(command: Callback, *, creates: bool = False, searches: bool = False) -> Callback:
    """
    Give *command* `--db`, `--json` and the open store as its first argument.

    A store that is named and does not exist is created only by a command that *creates*. If it
    *searches*, a running server of the store compares meanings, so that no model is loaded here.
    """

    @click.option("--db", help=DB_HELP)
    @json_option
    @functools.wraps(command)
    def run(db: str | None, as_json: bool, **options: Any) -> None:
        path = database(db)
        is_new = path and not is_postgres_address(path) and not expand_home(path).exists()
        if is_new and not creates:
            message = f"there is no store at {path}; `recollect add` creates one"
            raise click.ClickException(message)
        with errors_in_one_line():
            settings = settings_with_passphrase(path)
            with (
                _store_server(settings if searches else None) as find_server,
                LocalRecollect(settings, find_server=find_server) as rec,
            ):
                print_output(command(rec, **options))  # before the store is closed

    return run


@contextmanager
def _store_server(settings: Settings | None) -> Iterator[Callable[[], Transport | None] | None]:
    """Yield how to find the server of the store; None if it has none."""
    if settings is None or settings.embedding_backend == "none":
        yield None
        return
    if local_server_address(state_folder(dict(os.environ)), settings.location) is None:
        yield None
        return
    # Loads the HTTP client.
    from recollect.cli.store_server import StoreServer

    with closing(StoreServer(settings.location, token=settings.token or "")) as server:
        yield server.transport


def settings_with_passphrase(db: str | None) -> Settings:
    """Return the settings; ask for the passphrase if the store needs one and a person is there."""
    settings = load_settings(db=db)
    if settings.is_on_server:
        return settings
    path = settings.db_path
    if settings.passphrase or not sys.stdin.isatty() or not wrapped_keys_file(path).exists():
        return settings
    try:
        find_key(path, key_places(settings))
    except StoreKeyMissing:
        entered = click.prompt(f"Passphrase of {path}", hide_input=True, err=True)
        return load_settings(db=db, passphrase=entered)
    return settings


def with_searched_store(command: Callback) -> Callback:
    """Give *command* the open store, whose searches a running server of it carries out."""
    return with_store(command, searches=True)


def with_new_store(command: Callback) -> Callback:
    """Give *command* the open store, which is created if it does not exist."""
    return with_store(command, creates=True)


def request_options(request: type[BaseModel], *, without: tuple[str, ...] = ()) -> Decorator:
    """
    Give a command the options of *request*: its optional fields that have a description.

    Only the options that were used are passed on, so the defaults are those of the request.
    """
    fields = {
        name: field
        for name, field in request.model_fields.items()
        if field.description and not field.is_required() and name not in without
    }

    def decorate(command: Callback) -> Callback:
        @functools.wraps(command)
        def run(*args: Any, **options: Any) -> Any:
            # By identity: 0 is a value that was given.
            return command(
                *args,
                **{
                    name: value
                    for name, value in options.items()
                    if name not in fields or not (value is None or value is False or value == ())
                },
            )

        wrapped: Callback = run
        for name, field in reversed(fields.items()):
            wrapped = _request_option(name, field)(wrapped)
        return wrapped

    return decorate


def _request_option(name: str, field: FieldInfo) -> Decorator:
    kind, is_list = _value_type(field.annotation)
    names = [f"--{(_singular(name) if is_list else name).replace('_', '-')}", name]
    if name == "limit":
        names.insert(0, "-n")
    text = field.description or ""
    if isinstance(field.default, int) and not isinstance(field.default, bool):
        text += f" Default: {field.default}."
    if kind is bool:
        return click.option(*names, is_flag=True, help=text)
    values = isinstance(kind, type) and issubclass(kind, Enum)
    callback = folder_as_path if name in ("project", "repo") else None
    choice = click.Choice([str(member.value) for member in kind]) if values else None
    number = kind if kind in (int, float) else None
    return click.option(
        *names, type=choice or number, multiple=is_list, help=text, callback=callback
    )


def _value_type(annotation: Any) -> tuple[Any, bool]:
    """Return the type of one value, and whether the field holds several."""
    while get_origin(annotation) is not None:
        first, *rest = [part for part in get_args(annotation) if part is not NoneType]
        if rest == [...]:
            return _value_type(first)[0], True
        annotation = first
    return annotation, False


def _singular(name: str) -> str:
    return name[:-2] if name.endswith("ses") else name[:-1]


class DefaultGroup(click.Group):
    """A group that runs its *default* command if its first argument is not a command."""

    def __init__(self, *args: Any, default: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command first unless a command or help is asked for."""
        completes = ctx.resilient_parsing and not args
        if not completes and (not args or args[0] not in {*self.commands, "-h", "--help"}):
            args = [self.default, *args]
        return super().parse_args(ctx, args)
