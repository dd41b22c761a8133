"""Commands of the pipeline: capture, work, jobs."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from recollect.app.local import LocalRecollect
from recollect.cli.options import (
    creating_store_options,
    given_filters,
    place_options,
    store_options,
)
from recollect.cli.render import print_json, say, shown, standard_input
from recollect.domain.capture_event import Event, EventState
from recollect.domain.job import Job, JobState
from recollect.domain.scope import Scope
from recollect.service.handed import CaptureMode

_errors = Console(stderr=True)
TOLD_EVERY = 25  # jobs
POLL_S = 1.0  # how often an idle worker looks for jobs


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in CaptureMode]),
    default=CaptureMode.TRANSCRIPT.value,
    show_default=True,
    help="What the file is: a transcript, somebody's note, an agent's summary, an import.",
)
@click.option(
    "--scope", type=click.Choice([scope.value for scope in Scope]), help="How far it reaches."
)
@place_options
@click.option("--title", help="What it is called.")
@click.option("--user", help="The name under which the user speaks in it.")
@click.option("--observed-at", help="When it was said (2026-05-08), if the file does not tell.")
@click.option(
    "--work", "work_now", is_flag=True, help="Read it now instead of leaving it to a worker."
)
@creating_store_options
def capture(
    memory: LocalRecollect,
    *,
    as_json: bool,
    files: tuple[str, ...],
    mode: str,
    work_now: bool,
    **given: Any,
) -> None:
    """
    Hand over transcripts or notes ('-' reads standard input).

    Understands Claude Code, Codex, Gemini CLI, ChatGPT exports, JSON messages and plain text.

    \b
    Examples:
      recollect capture session.jsonl --project site --work
      recollect capture notes.md --mode note --project site
    """
    told = given_filters(given)
    materials = [standard_input() if name == "-" else Path(name) for name in files]
    events = memory.captures.add_many(materials, mode, **told)
    if work_now:
        work_off(memory)
        events = [memory.captures.get(event.id) for event in events]
    if as_json:
        print_json(events)
        return
    for event in events:
        say(f"{event.id}  {_told(event)}")
    waiting = sum(event.state in (EventState.CAPTURED, EventState.WORKING) for event in events)
    if waiting:
        say(f"[dim]{waiting} waiting to be read; `recollect work --once` reads them now.[/dim]")
    if any("held" in event.outcome for event in events):
        say("[dim]Review what is held with: recollect inbox[/dim]")


@click.command()
@click.option("--once", is_flag=True, help="Stop when nothing is due.")
@store_options
def work(memory: LocalRecollect, *, as_json: bool, once: bool) -> None:
    """
    Run a worker: read what was captured, until stopped with Ctrl-C.

    \b
    Example:
      recollect work --once
    """
    stop = _told_to_stop()
    done = Counter(work_off(memory, stop))
    if not once and not stop.is_set():
        _errors.print(f"Waiting for jobs since {time.strftime('%H:%M:%S')}; stop with Ctrl-C.")
    while not once and not stop.wait(POLL_S):
        done.update(work_off(memory, stop))
    if as_json:
        print_json({"done": dict(done)})
        return
    total = sum(done.values())
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(done.items()))
    say(f"{total} jobs done" + (f": {kinds}" if kinds else "") + ".")
    parked = len(memory.jobs.list(states=[JobState.PARKED.value]))
    if parked:
        say(f"[yellow]{parked} parked after their last try; see: recollect jobs list[/yellow]")


@click.group()
def jobs() -> None:
    """
    See what the engine has to do, and try again what failed.

    \b
    Examples:
      recollect jobs list
      recollect jobs list --state parked
    """


@jobs.command("list")
@click.option(
    "--state", "states", multiple=True, help="Only of this state: todo, doing, done, parked."
)
@click.option("-n", "--limit", default=50, show_default=True, help="How many at most.")
@store_options
def list_jobs(memory: LocalRecollect, *, as_json: bool, states: tuple[str, ...], limit: int) -> None:
    """List jobs that are not done, those due first first."""
    found = memory.jobs.list(states=states or None, limit=limit)
    if as_json:
        print_json(found)
        return
    for job in found:
        _print_job(job)
    say(f"[dim]{len(found)} jobs[/dim]")


@jobs.command("show")
@click.argument("job_id", metavar="ID")
@store_options
def show_job(memory: LocalRecollect, *, as_json: bool, job_id: str) -> None:
    """Print one job, and the capture it belongs to."""
    job = memory.jobs.get(job_id)
    event = memory.captures.get(job.event_id)
    if as_json:
        print_json({"job": job, "event": event})
        return
    _print_job(job)
    say(f"[dim]event {event.id}: {shown(_told(event))}[/dim]")
    for name, value in job.payload.items():
        say(f"[dim]{shown(name)}: {shown(str(value))}[/dim]")


@jobs.command("retry")
@click.argument("job_ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="Every job that is parked.")
@store_options
def retry_jobs(memory: LocalRecollect, *, as_json: bool, job_ids: tuple[str, ...], every: bool) -> None:
    """Make parked jobs due now, with all their tries before them."""
    if not job_ids and not every:
        raise click.UsageError("name a job, or use --all for every job that is parked")
    ids = list(job_ids)
    if every:
        ids += [job.id for job in memory.jobs.list(states=[JobState.PARKED.value], limit=1_000)]
    done = [memory.jobs.retry(job_id) for job_id in ids]
    if as_json:
        print_json(done)
    else:
        say(f"{len(done)} jobs are due now; `recollect work --once` runs them.")


def work_off(
    memory: LocalRecollect,
    stop: threading.Event | None = None,
    *,
    counting: Callable[[], str] = lambda: "",
) -> list[str]:
    """
    Run what is due until *stop*, with progress; return the kinds of the jobs that were run.

    *counting* is asked from time to time what else there is to tell.
    """
    kinds = []
    waiting = len(memory.jobs.list(limit=1_000))
    with Progress(console=_errors, transient=True, disable=not _errors.is_terminal) as progress:
        task = progress.add_task("Reading …", total=max(1, waiting))
        for job in memory.engine.run_jobs_in_steps():
            kinds.append(job.kind.value)
            waiting = max(waiting, len(kinds))
            progress.update(task, completed=len(kinds), total=waiting + 1)
            if _errors.is_terminal and len(kinds) % TOLD_EVERY == 0:
                progress.update(task, description=f"Reading … {counting()}")
            if stop is not None and stop.is_set():
                break
    while not (stop is not None and stop.is_set()) and memory.engine.prune_retrievals():
        pass
    return kinds


def _told_to_stop() -> threading.Event:
    """Return an event that is set by Ctrl-C or a polite kill; the present job is finished first."""
    stop = threading.Event()

    def told(number: int, frame: FrameType | None) -> None:
        stop.set()

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, told)
    return stop


def _told(event: Event) -> str:
    told = f"{event.state.value}"
    if event.outcome or event.state is EventState.DONE:
        told += f": {event.outcome or 'nothing worth remembering'}"
    if event.error:
        told += f" ({event.error})"
    return told


def _print_job(job: Job) -> None:
    told = f"[bold]{job.kind.value}[/bold]  {job.state.value}  {job.id}"
    if job.state is JobState.TODO:
        told += f"  [dim]due {job.run_at:%Y-%m-%d %H:%M:%S} UTC[/dim]"
    if job.attempts:
        told += f"  [dim]{job.attempts} tries[/dim]"
    say(told)
    if job.error:
        say(f"   [red]{shown(job.error)}[/red]")
