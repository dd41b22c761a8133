"""The command `capture`: extract memories from transcripts and notes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.jobs import event_text, run_due_jobs
from recollect.cli.options import request_options, with_new_store
from recollect.cli.output import Output, safe, text_argument
from recollect.domain.capture_event import EventState
from recollect.wire.requests.captures import CaptureManyRequest


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--mode",
    type=click.Choice(["transcript", "note", "summary", "import"]),
    default="transcript",
    show_default=True,
    help="What the file is: a transcript, your note, an agent's summary, an import.",
)
@request_options(CaptureManyRequest)
@click.option("--work", "work_now", is_flag=True, help="Extract now, not in a worker.")
@with_new_store
def capture(
    rec: LocalRecollect, *, files: tuple[str, ...], mode: str, work_now: bool, **fields: Any
) -> Output:
    """
    Extract memories from transcripts and notes. FILE '-' reads standard input.

    Reads transcripts of Claude Code, Codex, Cursor, Gemini CLI and ChatGPT, JSON messages and plain
    text. What is not certain waits in the inbox.
    """
    materials = [text_argument(name) if name == "-" else Path(name) for name in files]
    events = rec.captures.add_many(materials, mode, **fields)
    if work_now:
        run_due_jobs(rec)
        events = [rec.captures.get(event.id) for event in events]

    def lines() -> Iterator[str]:
        for event in events:
            yield f"{event.id}  {safe(event_text(event))}"
        pending = sum(event.state in (EventState.CAPTURED, EventState.WORKING) for event in events)
        if pending:
            yield f"[dim]{pending} pending; `recollect work --once` extracts them now.[/dim]"
        if any("held" in event.outcome for event in events):
            yield "[dim]Review the candidates with: recollect inbox[/dim]"

    return Output(events, lines())
