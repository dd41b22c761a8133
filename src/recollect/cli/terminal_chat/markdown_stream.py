"""
Print an answer as Markdown while it arrives.

Finished blocks (paragraphs, lists, code) are printed for good, so that they scroll as any other
output. Only the unfinished last block is drawn again with each part that arrives.
"""

import time

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown

from recollect.text.visible_text import visible

REDRAW_S = 0.05
_FENCES = ("```", "~~~")


class MarkdownStream:
    """The answer of one step."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text = ""
        self._live: Live | None = None
        self._drawn_at = 0.0

    def feed(self, text: str) -> None:
        """Add a part of the answer."""
        self._text += visible(text)
        finished, self._text = split_blocks(self._text)
        if finished:
            self._stop_live()
            self._print(finished)
        if self._text.strip():
            self._draw()

    def finish(self) -> None:
        """Print what is left of the answer."""
        self._stop_live()
        if self._text.strip():
            self._print(self._text)
        self._text = ""

    def discard(self) -> None:
        """Take the unfinished block back: the model is asked again."""
        self._stop_live()
        self._text = ""

    def _draw(self) -> None:
        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        now = time.monotonic()
        is_due = now - self._drawn_at >= REDRAW_S
        self._live.update(self._rendered(self._text), refresh=is_due)
        if is_due:
            self._drawn_at = now

    def _stop_live(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _print(self, text: str) -> None:
        self._console.print(self._rendered(text))

    def _rendered(self, text: str) -> Markdown:
        # A link shows its address: its text is the model's, and may name another one.
        return Markdown(text, hyperlinks=False)


def split_blocks(text: str) -> tuple[str, str]:
    """Return the finished blocks of a Markdown text that grows, and the unfinished last one."""
    end = position = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        position += len(line)
        stripped = line.strip()
        marker = next((mark for mark in _FENCES if stripped.startswith(mark)), "")
        if marker and not fence:
            fence = marker
        elif marker and marker == fence:
            fence = ""
        is_blank = not stripped and line.endswith("\n")
        if is_blank and not fence:
            end = position
    return text[:end], text[end:]
