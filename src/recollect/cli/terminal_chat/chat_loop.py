"""
The loop of the chat: show the prompt, read a message, have it answered.

The prompt is shown before the store is open: loading the store takes longer than loading the
prompt, and the user types meanwhile. A message that is sent earlier waits for it.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Protocol

import click

from recollect.cli.output import print_text
from recollect.cli.terminal_chat.command_help import COMMAND_HELP
from recollect.cli.terminal_chat.line_input import LineInput


class ChatHandler(Protocol):
    """What the loop needs of an open chat."""

    def handle(self, text: str) -> bool:
        """Answer a message or carry out a command; return False to leave."""

    def toolbar(self) -> str:
        """Return the line under the prompt."""

    def history(self) -> Iterable[str]:
        """Yield earlier messages of the user, newest first."""

    def close(self) -> None:
        """End the conversation and close the store."""


class OpeningChat:
    """A chat that is being opened in another thread."""

    def __init__(self, open_chat: Callable[[], ChatHandler], done: Callable[[], None]) -> None:
        self._open_chat = open_chat
        self._done = done
        self._handler: ChatHandler | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="recollect-chat-open", daemon=True)

    def start(self) -> None:
        """Begin to open it; a second call does nothing."""
        if self._thread.ident is None:
            self._thread.start()

    def ready(self) -> ChatHandler | None:
        """Return the chat if it is open, without waiting."""
        return self._handler

    @property
    def has_failed(self) -> bool:
        """Whether it could not be opened."""
        return self._error is not None

    def result(self) -> ChatHandler:
        """Wait until it is open; raise what went wrong."""
        self.start()
        while self._thread.is_alive():
            self._thread.join(0.1)  # ctrl-c is noticed in between
        if self._error is not None:
            raise self._error
        assert self._handler is not None
        return self._handler

    def history(self) -> Iterable[str]:
        """Return earlier messages once it is open; none if it could not be opened."""
        self._thread.join()
        return self._handler.history() if self._handler else ()

    def _run(self) -> None:
        try:
            self._handler = self._open_chat()
        except Exception as error:  # raised again by `result`, in the thread of the loop
            self._error = error
        self._done()


def run_loop(open_chat: Callable[[], ChatHandler], *, first: ChatHandler | None = None) -> None:
    """Chat until the user leaves; *first* is a chat that is open already."""

    def done() -> None:
        line.stop() if opening.has_failed else line.refresh()

    def toolbar() -> str:
        handler = opening.ready()
        return handler.toolbar() if handler else "opening the store…"

    opening = OpeningChat((lambda: first) if first else open_chat, done)
    line = LineInput(
        COMMAND_HELP,
        history=opening.history,
        toolbar=toolbar,
        on_first_render=opening.start,
    )
    try:
        while _handle_next_message(line, opening):
            pass
    finally:
        if handler := opening.ready():
            handler.close()


def _handle_next_message(line: LineInput, opening: OpeningChat) -> bool:
    """Read and answer one message; return False to leave."""
    try:
        text = line.read()
    except KeyboardInterrupt:
        print_text("[dim]ctrl-d or /quit leaves[/dim]")
        return True
    except EOFError:
        opening.result()  # raises why the store could not be opened
        return False
    if not text.strip():
        return True
    try:
        return opening.result().handle(text)
    except (KeyboardInterrupt, click.Abort):
        print_text("[dim]stopped[/dim]")
        return True
