"""Render the results of `benchmarks.capture` as Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.capture.capture_timing import CaptureTime, ProcessingTime, WriteWaits
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile

SHAPES = {
    "agent": "one message in five is the user's, two are an agent's, two a tool's",
    "chat": "every other message is the user's",
}
EMBEDDINGS = {"none": "embeddings off", "local": "local embedder"}


@dataclass(frozen=True, kw_only=True)
class CaptureFigures:
    """Everything the run measured."""

    messages: int
    chars: Mapping[str, float]  # of a message in the mean, by shape
    rounds: int
    captured: Mapping[str, CaptureTime]  # by form
    bare_s: float
    worked: Mapping[tuple[str, str], Sequence[ProcessingTime]]  # by shape and embedding
    at_length: Mapping[tuple[int, str], ProcessingTime]  # by number of messages and embedding
    waits: Sequence[WriteWaits]


def render(measured: CaptureFigures, notes: Sequence[str]) -> str:
    """Return the whole report."""
    shapes = [
        f"- *{shape}*: {description}, {measured.chars[shape]:.0f} characters a message in the mean."
        for shape, description in SHAPES.items()
    ]
    parts = [
        "# Capture",
        "",
        *notes,
        *shapes,
        f"- Medians of {measured.rounds} rounds; other lengths were run once.",
        "",
        f"## Capturing {measured.messages:,} messages",
        "",
        *_captured(measured),
        "",
        f"## Processing {measured.messages:,} messages, no language model",
        "",
        *_worked(measured),
        "",
        "## Processing other lengths",
        "",
        "Memory: the peak of the process minus its memory at the start; includes the model.",
        "",
        *_at_length(measured),
        "",
        "## A second process that writes",
        "",
        "It ingests one memory every 50 ms into the same store. All rounds.",
        "",
        *_waited(measured.waits),
    ]
    return "\n".join(parts) + "\n"


def _captured(measured: CaptureFigures) -> list[str]:
    rows = [
        [
            f"`capture_session` of {form}",
            f"{1000 * capture.took_s:,.0f}",
            f"{capture.took_s / measured.bare_s:.0f}×",
            f"{capture.recognised:,}",
        ]
        for form, capture in measured.captured.items()
    ]
    bare = ["plain SQLite, a row a message, one transaction", f"{1000 * measured.bare_s:,.0f}"]
    header = ["", "ms until it returns", "of plain SQLite", "messages recognised"]
    return table(header, [*rows, [*bare, "", ""]])


def _worked(measured: CaptureFigures) -> list[str]:
    rows = []
    for (shape, embedding), rounds in measured.worked.items():
        took = median(round.drain_s for round in rounds)
        memories = rounds[0].memories
        candidates = sum(memories.values()) - 1  # without the record of the session
        rows.append(
            [
                f"{shape}, {EMBEDDINGS[embedding]}",
                f"{took:.1f}",
                f"{measured.messages / took:,.0f}",
                f"{candidates:,}",
                ", ".join(f"{count:,} {status}" for status, count in memories.items() if count),
            ]
        )
    return table(["", "s", "messages/s", "found", "and became"], rows)


def _at_length(measured: CaptureFigures) -> list[str]:
    lengths = dict.fromkeys(length for length, _ in measured.at_length)
    rows = []
    for embedding, title in EMBEDDINGS.items():
        each = {length: measured.at_length[length, embedding] for length in lengths}
        speed = (f"{length / figures.drain_s:,.0f}" for length, figures in each.items())
        rows.append([f"messages/s, {title}", *speed])
        rows.append(
            [f"memory in MB, {title}", *(_mb(figures.grown_mb) for figures in each.values())]
        )
    return table(["agent", *(f"{length:,} messages" for length in lengths)], rows)


def _mb(grown: float | None) -> str:
    return "" if grown is None else f"{grown:.0f}"


def _waited(rounds: Sequence[WriteWaits]) -> list[str]:
    phases: Mapping[str, Callable[[WriteWaits], Sequence[float]]] = {
        "idle": lambda waits: waits.alone,
        "the transcript is captured": lambda waits: waits.capturing,
        "it is processed": lambda waits: waits.working,
    }
    rows = []
    for name, phase in phases.items():
        times = [took for round in rounds for took in phase(round)]
        spread = [percentile(times, share) for share in (50, 95, 100)]
        rows.append([name, str(len(times)), *(f"{took:.1f}" for took in spread)])
    return table(["while", "writes", "p50 ms", "p95 ms", "longest ms"], rows)
