"""
Progress of long commands: one line on standard error that is overwritten and erased at the end.

Only a terminal gets it, so that the output of a command is the same in a pipe.
"""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

BAR_WIDTH = 30
REDRAW_S = 0.1
ESTIMATE_AFTER_S = 2.0  # before that the speed is not known
_ERASE = "\r\x1b[2K"


@contextmanager
def show_status(text: str) -> Iterator[None]:
    """Show *text* while the block runs."""
    line = ProgressLine(text)
    line.draw(text)
    try:
        yield
    finally:
        line.erase()


@contextmanager
def progress_line(label: str) -> Iterator["ProgressLine"]:
    """Show how much is done while the block runs; the block calls `update`."""
    line = ProgressLine(label)
    line.draw(label)
    try:
        yield line
    finally:
        line.erase()


class ProgressLine:
    """One line with a bar. Does nothing if standard error is not a terminal."""

    def __init__(self, label: str) -> None:
        self.is_shown = sys.stderr.isatty()
        self._label = label
        self._started = self._drawn = time.monotonic()
        self._first: int | None = None

    def update(self, done: int, total: int, text: str = "") -> None:
        """Show that *done* of *total* are done, and *text* beside it."""
        now = time.monotonic()
        if self._first is None:
            self._first = done
        if not self.is_shown or (done < total and now - self._drawn < REDRAW_S):
            return
        self._drawn = now
        filled = BAR_WIDTH * min(done, total) // max(1, total)
        bar = "━" * filled + " " * (BAR_WIDTH - filled)
        left = _time_left(now - self._started, done - self._first, total - done)
        self.draw(" ".join(filter(None, [self._label, bar, f"{done}/{total}", left, text])))

    def draw(self, line: str) -> None:
        """Overwrite the line."""
        if self.is_shown:
            click.echo(_ERASE + line[: shutil.get_terminal_size().columns - 1], nl=False, err=True)

    def erase(self) -> None:
        """Remove the line."""
        self.draw("")


def _time_left(elapsed_s: float, done: int, left: int) -> str:
    if elapsed_s < ESTIMATE_AFTER_S or done < 1 or left < 1:
        return ""
    seconds = round(elapsed_s / done * left)
    return f"{seconds // 60}:{seconds % 60:02} left"
