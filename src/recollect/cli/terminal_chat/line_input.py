"""
The input line of the chat: several lines, pasting, history, completion of commands.

Knows prompt_toolkit and nothing of memory. The history is read through a function: what the user
typed is in the store, which may be encrypted, and in no file beside it.
"""

from collections.abc import Callable, Iterable, Mapping

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import History, ThreadedHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

PROMPT = "> "
_STYLE = Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack", "prompt": "bold"})


class CommandCompleter(Completer):
    """Completes the name of a `/` command."""

    def __init__(self, commands: Mapping[str, str]) -> None:
        self._commands = commands

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield the commands that begin with what was typed."""
        typed = document.text
        if typed.startswith("/") and not any(char.isspace() for char in typed):
            for name, text in self._commands.items():
                if name.startswith(typed):
                    yield Completion(name, start_position=-len(typed), display_meta=text)


class StoredHistory(History):
    """Earlier messages, newest first, read through a function; new ones are stored by the chat."""

    def __init__(self, load: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._load = load

    def load_history_strings(self) -> Iterable[str]:
        """Yield the earlier messages."""
        yield from self._load()

    def store_string(self, string: str) -> None:
        """Do nothing: a message is stored when it is sent."""


class LineInput:
    """Reads one message at a time."""

    def __init__(
        self,
        commands: Mapping[str, str],
        *,
        history: Callable[[], Iterable[str]],
        toolbar: Callable[[], str],
        on_first_render: Callable[[], None],
    ) -> None:
        self._toolbar = toolbar
        self._on_first_render: Callable[[], None] | None = on_first_render
        self._session: PromptSession[str] = PromptSession(
            history=ThreadedHistory(StoredHistory(history)),
            completer=CommandCompleter(commands),
            complete_while_typing=True,
            multiline=True,
            prompt_continuation="… ",
            bottom_toolbar=lambda: FormattedText([("", self._toolbar())]),
            key_bindings=_key_bindings(),
            style=_STYLE,
            reserve_space_for_menu=4,
        )
        self._session.app.after_render += lambda _: self._after_render()

    def read(self) -> str:
        """Return the next message; raise `KeyboardInterrupt` on ctrl-c, `EOFError` on ctrl-d."""
        return self._session.prompt(FormattedText([("class:prompt", PROMPT)]))

    def refresh(self) -> None:
        """Draw the toolbar again. May be called from any thread."""
        self._session.app.invalidate()

    def stop(self) -> None:
        """End a prompt that is shown, as ctrl-d does. May be called from any thread."""
        app = self._session.app
        if app.loop is not None and app.is_running:
            app.loop.call_soon_threadsafe(lambda: app.is_running and app.exit(exception=EOFError))

    def _after_render(self) -> None:
        call, self._on_first_render = self._on_first_render, None
        if call is not None:
            call()


def _key_bindings() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None  # takes the command that is selected in the menu
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
