"""
Print what a command returns: as JSON for programs, as text for people.

A command returns an `Output`; `with_output` prints it and turns our errors into one line and exit
code 1. Stored text is not trusted: control characters, which a terminal would obey, are replaced,
and characters that reorder or hide text are shown by their number (`<U+202E>`).
"""

import contextlib
import dataclasses
import errno
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import Enum
from typing import Any

import click

from recollect.cli.markup import escape, to_terminal
from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.text.visible_text import replace_invisible, visible

_C1 = re.compile(r"[\x7f-\x9f]")  # JSON escapes the other control characters itself
Callback = Callable[..., Any]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@dataclass(frozen=True)
class Output:
    """
    The result of a command: *value* for --json, *text* for people.

    *text* may be a generator of lines; with --json it does not run. *failed* sets exit code 1.
    """

    value: Any
    text: str | Iterable[str]
    failed: bool = False


def with_output(command: Callback) -> Callback:
    """Give *command* `--json`, print the `Output` it returns, and report errors in one line."""

    @json_option
    @functools.wraps(command)
    def run(as_json: bool, **options: Any) -> None:
        with errors_in_one_line():
            print_output(command(**options))

    return run


def print_output(output: Output | None) -> None:
    """Print *output* as JSON or text; exit with code 1 if it says so."""
    if output is not None:
        with _failed_writes_in_one_line():
            print_json(output.value) if wants_json() else print_text(output.text)
        if output.failed:
            sys.exit(1)


@contextlib.contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn an error of Recollect into the one line that click prints, with exit code 1."""
    try:
        yield
    except RecollectError as error:
        raise click.ClickException(visible(str(error))) from error


@contextlib.contextmanager
def _failed_writes_in_one_line() -> Iterator[None]:
    """Report in one line that standard output cannot be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:  # click itself ends quietly if the reader has gone
            raise
        # What is still buffered would fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        message = f"the command is done, but its output was not written: {error.strerror}"
        raise click.ClickException(message) from error


def database(db: str | None) -> str | None:
    """Return the database that was named: after the command, or before it."""
    return db or click.get_current_context().find_root().params.get("db")


def wants_json() -> bool:
    """Return whether the running command prints JSON."""
    return bool(click.get_current_context().params.get("as_json"))


def ask(question: str, *, yes: bool) -> None:
    """Ask *question* unless *yes*; abort the command if the answer is no."""
    if not yes:
        click.confirm(visible(question), abort=True, err=wants_json())


def print_text(text: str | Iterable[str]) -> None:
    """Print lines with markup."""
    for line in [text] if isinstance(text, str) else text:
        click.echo(to_terminal(line), color=_uses_colour())


def print_json(value: Any) -> None:
    """Print *value* as JSON."""
    text = json.dumps(_to_json(value), ensure_ascii=False, indent=2)
    text = _C1.sub(lambda char: f"\\u{ord(char.group()):04x}", text)
    click.echo(replace_invisible(text, lambda char: json.dumps(char)[1:-1]))


def _to_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _to_json(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _to_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_to_json(inner) for inner in value]
    return value


def text_argument(text: str) -> str:
    """Return *text*, or what was piped in if it is '-', whatever its bytes are."""
    return sys.stdin.buffer.read().decode("utf-8", errors="replace") if text == "-" else text


def safe(text: object) -> str:
    """Return *text* safe for a terminal and for markup."""
    return escape(visible(str(text)))


def shorten(text: str, length: int) -> str:
    """Return *text* on one line of at most *length* characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def counts(numbers: Mapping[Any, int]) -> str:
    """Return '3 memories, 1 links'."""
    return ", ".join(f"{number} {name}" for name, number in numbers.items())


def warnings(texts: Iterable[str]) -> Iterator[str]:
    """Yield *texts* as warnings."""
    return (f"[yellow]{safe(text)}[/yellow]" for text in texts)


def receipt_lines(
    action: str,
    removed: Mapping[str, int],
    remaining: Sequence[str],
    rewritten: Sequence[str] = (),
) -> Iterator[str]:
    """Yield what was removed, from where, what was rewritten, and what stayed."""
    yield f"{action}: {counts(removed)}."
    if rewritten:
        yield f"Text removed from: {safe(', '.join(rewritten))}."
    yield from warnings(f"Kept: {line}" for line in remaining)


def _uses_colour() -> bool | None:
    """Return what the user wants; None: colours if the output is a terminal."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return True if os.environ.get("FORCE_COLOR") else None
