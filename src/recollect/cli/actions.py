"""The commands `blame`, `fix` and `how`: what captured sessions did, and what was decided then."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.app.place_hint import place_hint
from recollect.cli.memory_text import memory_lines
from recollect.cli.options import request_options, with_store
from recollect.cli.output import Output, safe, shorten, text_argument
from recollect.domain.memory import Memory
from recollect.domain.tool_call import FileHistory, Outcome, RecordedCall, RecordedFailure
from recollect.service.disk.git_checkout import repository_root
from recollect.wire.requests.captures import ActionHistoryFields

_HINT = "Sessions are recorded by the hooks (`recollect setup`) or by `recollect capture FILE`."
_OUTCOMES = {Outcome.FAILED: "failed", Outcome.DECLINED: "declined by the user"}


@click.command()
@click.argument("path", metavar="[FILE]", required=False)
@request_options(ActionHistoryFields)
@with_store
def blame(rec: LocalRecollect, *, path: str | None, **place: Any) -> Output:
    """
    Print when FILE was changed, by which sessions, and what was decided about it.

    Without FILE, print the files that the latest session changed, or the one given by --session.
    The project is that of the file, or of the current folder, unless --project names another.
    """
    if path is None:
        place.setdefault("project", ".")
        changed = rec.captures.session_files(**place)
        lines = _session_lines(changed.session, changed.files, changed.decisions)
        return Output(changed, lines)
    place.pop("session", None)
    project = "."
    if Path(path).exists():
        path = os.path.abspath(path)  # a relative one is compared by its last parts alone
        project = repository_root(Path(path)) or project
    place.setdefault("project", project)
    history = rec.captures.file_history(path, **place)
    return Output(
        history, _file_lines(history) or _nothing_recorded_lines(rec, f"change of {path}", **place)
    )


@click.command()
@click.argument("error")
@request_options(ActionHistoryFields, without=("session",))
@with_store
def fix(rec: LocalRecollect, *, error: str, **place: Any) -> Output:
    """
    Print commands that failed with a similar ERROR, and what worked afterwards.

    `-` reads the error from the input. The project is that of the current folder unless --project
    names another.
    """
    place.setdefault("project", ".")
    history = rec.captures.error_history(text_argument(error), **place)
    lines = [*_failure_lines(history.failures), *_memory_section(history.memories)]
    return Output(history, lines or _nothing_recorded_lines(rec, "similar error", **place))


@click.command()
@click.argument("tool")
@request_options(ActionHistoryFields, without=("session",))
@with_store
def how(rec: LocalRecollect, *, tool: str, **place: Any) -> Output:
    """
    Print how TOOL was run: the commands that worked, and those that failed.

    The project is that of the current folder unless --project names another.
    """
    place.setdefault("project", ".")
    history = rec.captures.command_history(tool, **place)
    lines = [f"[green]✓[/green] {_call_text(call)}" for call in history.worked]
    lines += [*_failure_lines(history.failures), *_memory_section(history.memories)]
    return Output(history, lines or _nothing_recorded_lines(rec, f"command of {tool}", **place))


def _nothing_recorded_lines(rec: LocalRecollect, what: str, *, project: str, **_: Any) -> list[str]:
    """Return what to do if nothing was recorded: perhaps the project goes by another name."""
    hint = place_hint(rec, project)
    return [f"No {safe(what)} was recorded. {_HINT}", *([safe(hint)] if hint else [])]


def _file_lines(history: FileHistory) -> list[str]:
    lines = []
    for edit in history.edits:
        outcome = f" ({_OUTCOMES[edit.outcome]})" if edit.outcome in _OUTCOMES else ""
        origin = f"[dim]{_origin(edit)}[/dim]"
        lines.append(f"{edit.called_at:%Y-%m-%d %H:%M} changed{outcome}  {origin}")
    lines += _memory_section(history.memories)
    lines += _memory_section(history.decisions, "Decided in the same sessions:")
    return lines


def _session_lines(
    session: str, files: Sequence[FileHistory], decisions: Sequence[Memory]
) -> Iterator[str]:
    count = f"{len(files)} file{'' if len(files) == 1 else 's'}"
    yield f"Session {safe(session)} changed {count}."
    for history in files:
        times = "once" if len(history.edits) == 1 else f"{len(history.edits)} times"
        yield f"[bold]{safe(history.path)}[/bold]  {times}"
        for memory in history.memories:
            yield f"  {safe(shorten(memory.content, 200))}  [dim]{memory.id}[/dim]"
    yield from _memory_section(decisions, "Decided in this session:")


def _failure_lines(failures: Sequence[RecordedFailure]) -> Iterator[str]:
    for failure in failures:
        yield f"[red]✗[/red] {_call_text(failure.call)}"
        if failure.call.error:
            yield f"  “{safe(failure.call.error)}”"
        if failure.worked is not None:
            is_same = failure.worked.subject == failure.call.subject
            text = "the same command worked later" if is_same else _call_text(failure.worked)
            yield f"  [green]✓[/green] {text}"


def _memory_section(memories: Sequence[Memory], heading: str = "Remembered:") -> Iterator[str]:
    if memories:
        yield f"[bold]{heading}[/bold]"
        yield from memory_lines(*memories)


def _call_text(call: RecordedCall) -> str:
    command = safe(shorten(" ".join(call.subject.split()), 160))
    return f"{command}  [dim]{call.called_at:%Y-%m-%d} · {_origin(call)}[/dim]"


def _origin(call: RecordedCall) -> str:
    return f"session {safe(call.session)}" if call.session else f"source {call.source_id}"
