"""The commands `work` and `jobs`: run pending jobs, list them and retry failed ones."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import click

from recollect.app.background_worker import LISTENING_POLL_S, POLL_S
from recollect.app.local_recollect import LocalRecollect
from recollect.app.space_worker import ROUND_S, open_spaces
from recollect.cli.options import limit_option, with_store
from recollect.cli.output import Output, counts, safe
from recollect.cli.progress import progress_line
from recollect.domain.capture_event import Event, EventState
from recollect.domain.job import Job, JobState

PROGRESS_EVERY = 25  # jobs


@click.command()
@click.option("--once", is_flag=True, help="Stop when no job is due.")
@with_store
def work(rec: LocalRecollect, *, once: bool) -> Output:
    """
    Run a worker: extract memories from what was captured, until Ctrl-C.

    A server does the same; a worker is for stores without a server. If the store has users, it also
    works on the stores of users and projects, once a minute.
    """
    stop, wake = threading.Event(), threading.Event()
    _set_on_signal(stop, wake)
    listener = None if once else rec.engine.listen_for_jobs(wake.set)
    kinds = Counter(run_due_jobs(rec, stop) + _run_jobs_of_spaces(rec, stop))
    next_round = time.monotonic() + ROUND_S
    if not once and not stop.is_set():
        since = time.strftime("%H:%M:%S")
        click.echo(f"Waiting for jobs since {since}; stop with Ctrl-C.", err=True)
    while not once and not stop.is_set():
        wake.wait(LISTENING_POLL_S if listener and listener.is_listening else POLL_S)
        wake.clear()
        if not stop.is_set():
            kinds.update(run_due_jobs(rec, stop))
        if not stop.is_set() and time.monotonic() >= next_round:
            kinds.update(_run_jobs_of_spaces(rec, stop))
            next_round = time.monotonic() + ROUND_S

    def lines() -> Iterator[str]:
        total = f"{sum(kinds.values())} jobs done"
        yield f"{total}: {counts(dict(sorted(kinds.items())))}." if kinds else f"{total}."
        if parked := len(_parked_jobs(rec)):
            yield f"[yellow]{parked} failed for good; see: recollect jobs list[/yellow]"

    return Output({"done": dict(kinds)}, lines())


@click.group()
def jobs() -> None:
    """List pending and failed jobs, and retry them."""


@jobs.command("list")
@click.option("--state", "states", multiple=True, help="Only todo, doing, done or parked jobs.")
@limit_option(50)
@with_store
def list_(rec: LocalRecollect, *, states: tuple[str, ...], limit: int) -> Output:
    """List jobs that are not done, in the order they are due. Parked jobs failed for good."""
    jobs = rec.jobs.list(states=states or None, limit=limit)

    def lines() -> Iterator[str]:
        for job in jobs:
            yield from _job_lines(job)
        yield f"[dim]{len(jobs)} jobs[/dim]"

    return Output(jobs, lines())


@jobs.command()
@click.argument("job_id", metavar="ID")
@with_store
def show(rec: LocalRecollect, *, job_id: str) -> Output:
    """Print a job and the capture it belongs to."""
    job = rec.jobs.get(job_id)
    event = rec.captures.get(job.event_id)

    def lines() -> Iterator[str]:
        yield from _job_lines(job)
        yield f"[dim]event {event.id}: {safe(event_text(event))}[/dim]"
        for name, value in job.payload.items():
            yield f"[dim]{safe(name)}: {safe(value)}[/dim]"

    return Output({"job": job, "event": event}, lines())


@jobs.command()
@click.argument("job_ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "all_parked", is_flag=True, help="Every parked job.")
@with_store
def retry(rec: LocalRecollect, *, job_ids: tuple[str, ...], all_parked: bool) -> Output:
    """Make parked jobs due now, with all their attempts."""
    if not job_ids and not all_parked:
        raise click.UsageError("name a job, or use --all for every parked job")
    parked = [job.id for job in _parked_jobs(rec)] if all_parked else []
    retried = [rec.jobs.retry(job_id) for job_id in (*job_ids, *parked)]
    return Output(retried, f"{len(retried)} jobs are due now; `recollect work --once` runs them.")


def _run_jobs_of_spaces(rec: LocalRecollect, stop: threading.Event) -> list[str]:
    """Run the jobs that are due in the stores of users and projects; return their kinds."""
    kinds: list[str] = []
    for space in open_spaces(rec):
        if stop.is_set():
            break
        kinds += run_due_jobs(space, stop)
    return kinds


def run_due_jobs(
    rec: LocalRecollect,
    stop: threading.Event | None = None,
    *,
    describe: Callable[[], str] = lambda: "",
) -> list[str]:
    """
    Run the jobs that are due until *stop*, with progress; return the kinds of those that ran.

    *describe* is called now and then for more to show beside the progress.
    """
    kinds: list[str] = []
    stop = stop or threading.Event()
    waiting = len(rec.jobs.list(limit=1_000))
    description = ""
    with progress_line("Reading …") as progress:
        for job in rec.engine.run_jobs_in_steps():
            kinds.append(job.kind.value)
            waiting = max(waiting, len(kinds))
            if progress.is_shown and len(kinds) % PROGRESS_EVERY == 0:
                description = describe()
            progress.update(len(kinds), waiting + 1, description)
            if stop.is_set():
                break
    for _ in rec.engine.finish_work_in_steps():
        if stop.is_set():
            break
    while not stop.is_set() and rec.engine.prune_retrievals():
        pass
    return kinds


def event_text(event: Event) -> str:
    """Return the state and outcome of a capture in words."""
    text = event.state.value
    if event.outcome or event.state is EventState.DONE:
        text += f": {event.outcome or 'nothing worth remembering'}"
    return f"{text} ({event.error})" if event.error else text


def _set_on_signal(*events: threading.Event) -> None:
    """Set *events* at SIGINT and SIGTERM; the current job is finished first."""

    def set_events(*_: object) -> None:
        for event in events:
            event.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, set_events)


def _parked_jobs(rec: LocalRecollect) -> list[Job]:
    return rec.jobs.list(states=[JobState.PARKED.value], limit=1_000)


def _job_lines(job: Job) -> Iterator[str]:
    line = f"[bold]{job.kind.value}[/bold]  {job.state.value}  {job.id}"
    if job.state is JobState.TODO:
        line += f"  [dim]due {job.run_at:%Y-%m-%d %H:%M:%S} UTC[/dim]"
    if job.attempts:
        line += f"  [dim]{job.attempts} attempts[/dim]"
    yield line
    if job.error:
        yield f"   [red]{safe(job.error)}[/red]"
