"""
The command `chat`: talk to an agent in the terminal, or send one message with `-p`.

Loads no store before the prompt is shown (cli/terminal_chat/chat_loop.py). A local store is kept
up to date by the background worker while the chat is open.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.output import (
    database,
    errors_in_one_line,
    json_option,
    print_output,
    text_argument,
    wants_json,
)
from recollect.cli.project_option import project_option
from recollect.config import load_settings
from recollect.lazy_dataclass import dataclass
from recollect.store.key_places import wrapped_keys_file

if TYPE_CHECKING:
    # For the type checker only: these load the store, and the prompt is shown before.
    from recollect.api.recollect import Recollect
    from recollect.cli.terminal_chat.chat_program import ChatProgram

MISSING_EXTRA = (
    "the chat needs two more packages: pip install '.[chat]' (in the checkout of Recollect)"
)


@dataclass(frozen=True)
class OpenedStore:
    """A store, and how to close it."""

    rec: "Recollect"
    close: Callable[[], None]


@click.command(context_settings={"allow_extra_args": True})
@click.option("--agent", help="The agent, by name or id. Default: the one you talked to last.")
@project_option
@click.option(
    "--context-file", "context_files", multiple=True, help="Open this file for the agent."
)
@click.option("--model", default="", help="The model to use instead of the configured one.")
@click.option(
    "--resume",
    is_flag=False,
    flag_value="last",
    metavar="[ID]",
    help="Continue a conversation; without an id the last one.",
)
@click.option(
    "-p", "--print", "message", metavar="TEXT", help="Print the answer to TEXT ('-': stdin), exit."
)
@click.option(
    "--server",
    is_flag=False,
    flag_value="",
    metavar="[URL]",
    help="Talk through a memory server; without a URL the configured one.",
)
@click.option("--db", help="The database file. Default: RECOLLECT_DB, the configuration file.")
@json_option
def chat(
    message: str | None, server: str | None, db: str | None, as_json: bool, **options: Any
) -> None:
    """
    Talk to an agent in the terminal, with its memory.

    Without a configured model the answers are the memories that match. `/help` lists the commands.
    With -p one message is sent; with --json the answer is an object for programs.
    """
    if words := click.get_current_context().args:
        raise click.UsageError(
            f"{words[0]!r} is no option: --agent NAME chooses an agent, -p TEXT sends a message"
        )
    open_store = _store_opener(server, database(db), works=message is None)
    with errors_in_one_line():
        if message is not None:
            _answer_once(open_store, text_argument(message), options)
            return
        if wants_json():
            raise click.UsageError("--json needs a message: recollect chat -p TEXT --json")
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise click.UsageError("the chat needs a terminal; -p TEXT sends one message")
        _run_chat(open_store, options)


def _run_chat(open_store: Callable[[], OpenedStore], options: dict[str, Any]) -> None:
    try:
        # The extra `chat`. Loaded here so that the other commands and -p do without it.
        import rich  # noqa: F401

        from recollect.cli.terminal_chat.chat_loop import run_loop
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("prompt_toolkit", "rich"):
            raise
        raise click.ClickException(MISSING_EXTRA) from None

    def open_chat() -> "ChatProgram":
        # Loads the store and everything that is not needed for the prompt.
        from recollect.cli.terminal_chat.chat_program import ChatProgram
        from recollect.cli.terminal_chat.chat_session import open_session

        opened = open_store()
        try:
            session = open_session(opened.rec, **options)
        except BaseException:
            opened.close()
            raise
        return ChatProgram(session, opened.close)

    if options["resume"] is None:
        run_loop(open_chat)
        return
    program = open_chat()  # what was said last is printed before the prompt
    program.show_earlier()
    run_loop(open_chat, first=program)


def _answer_once(
    open_store: Callable[[], OpenedStore], message: str, options: dict[str, Any]
) -> None:
    # Loaded here because the prompt does not need it.
    from recollect.cli.terminal_chat.chat_session import open_session
    from recollect.cli.terminal_chat.single_message import answer_once

    opened = open_store()
    try:
        print_output(answer_once(open_session(opened.rec, **options), message))
    finally:
        opened.close()


def _store_opener(server: str | None, db: str | None, *, works: bool) -> Callable[[], OpenedStore]:
    """Return what opens the store, with a background worker; a passphrase is asked for before."""
    if server is not None:

        def connect() -> OpenedStore:
            # The client of a server does not load a store, and a store not the client.
            import recollect

            remote = recollect.connect(server or None)
            return OpenedStore(remote, remote.close)

        return connect
    settings = load_settings(db=db)
    may_be_encrypted = not settings.is_on_server and not settings.passphrase
    if may_be_encrypted and wrapped_keys_file(settings.db_path).exists():
        # Rare: loads the store before the prompt, to find out whether a passphrase is needed.
        from recollect.cli.options import settings_with_passphrase

        settings = settings_with_passphrase(db)

    def open_local() -> OpenedStore:
        from recollect.app.background_worker import BackgroundWorker
        from recollect.app.local_recollect import LocalRecollect

        rec = LocalRecollect(settings)
        if not works:
            return OpenedStore(rec, rec.close)
        worker = BackgroundWorker(rec)
        worker.start()

        def close() -> None:
            worker.stop()
            rec.close()

        return OpenedStore(rec, close)

    return open_local
