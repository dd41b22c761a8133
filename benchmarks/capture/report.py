"""
Show the capture run as Markdown. Knows how numbers look, not how they were taken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.capture.stopwatch import Captured, Waits, Worked
from benchmarks.markdown import table
from benchmarks.metrics import percentile

SHAPES = {
    "agent": "one message in five is the user's, two are an agent's, two a tool's",
    "chat": "every other message is the user's",
}
EMBEDDINGS = {"none": "embeddings off", "local": "local embedder"}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Everything the run measured."""

    messages: int
    chars: Mapping[str, float]  # of a message in the mean, by shape
    rounds: int
    captured: Mapping[str, Captured]  # by form
    bare_s: float
    worked: Mapping[tuple[str, str], Sequence[Worked]]  # by shape and embedding
    at_length: Mapping[tuple[int, str], Worked]  # by number of messages and embedding
    waits: Sequence[Waits]


def render(measured: Measured, notes: Sequence[str]) -> str:
    """Return the whole report."""
    shapes = [
        f"- *{shape}*: {told}, {measured.chars[shape]:.0f} characters a message in the mean."
        for shape, told in SHAPES.items()
    ]
    parts = [
        "# Capture",
        "",
        *notes,
        *shapes,
        f"- Medians of {measured.rounds} rounds; other lengths were run once.",
        "",
        f"## Handing over {measured.messages:,} messages",
        "",
        *_captured(measured),
        "",
        f"## Working off {measured.messages:,} messages, no language model",
        "",
        *_worked(measured),
        "",
        "## Working off more or fewer",
        "",
        "Memory: the peak of the process, less what it held before it began, the model included.",
        "",
        *_at_length(measured),
        "",
        "## Another process that writes meanwhile",
        "",
        "It ingests one memory every 50 ms into the same store; all rounds together.",
        "",
        *_waited(measured.waits),
    ]
    return "\n".join(parts) + "\n"


def _captured(measured: Measured) -> list[str]:
    rows = [
        [
            f"`capture_session` of {form}",
            f"{1000 * one.took_s:,.0f}",
            f"{one.took_s / measured.bare_s:.0f}×",
            f"{one.recognised:,}",
        ]
        for form, one in measured.captured.items()
    ]
    bare = ["plain SQLite, a row a message, one transaction", f"{1000 * measured.bare_s:,.0f}"]
    header = ["", "ms until it returns", "of plain SQLite", "messages recognised"]
    return table(header, [*rows, [*bare, "", ""]])


def _worked(measured: Measured) -> list[str]:
    rows = []
    for (shape, embedding), rounds in measured.worked.items():
        took = median(one.drain_s for one in rounds)
        memories = rounds[0].memories
        found = sum(memories.values()) - 1  # the record of the session is no find
        rows.append(
            [
                f"{shape}, {EMBEDDINGS[embedding]}",
                f"{took:.1f}",
                f"{measured.messages / took:,.0f}",
                f"{found:,}",
                ", ".join(f"{count:,} {status}" for status, count in memories.items() if count),
            ]
        )
    return table(["", "s", "messages/s", "found", "and became"], rows)


def _at_length(measured: Measured) -> list[str]:
    lengths = dict.fromkeys(length for length, _ in measured.at_length)
    rows = []
    for embedding, title in EMBEDDINGS.items():
        each = {length: measured.at_length[length, embedding] for length in lengths}
        speed = (f"{length / one.drain_s:,.0f}" for length, one in each.items())
        rows.append([f"messages/s, {title}", *speed])
        rows.append([f"memory in MB, {title}", *(_mb(one.grown_mb) for one in each.values())])
    return table(["agent", *(f"{length:,} messages" for length in lengths)], rows)


def _mb(grown: float | None) -> str:
    return "" if grown is None else f"{grown:.0f}"


def _waited(rounds: Sequence[Waits]) -> list[str]:
    phases: Mapping[str, Callable[[Waits], Sequence[float]]] = {
        "nothing else goes on": lambda one: one.alone,
        "the transcript is captured": lambda one: one.capturing,
        "it is worked off": lambda one: one.working,
    }
    rows = []
    for name, phase in phases.items():
        times = [took for one in rounds for took in phase(one)]
        spread = [percentile(times, share) for share in (50, 95, 100)]
        rows.append([name, str(len(times)), *(f"{took:.1f}" for took in spread)])
    return table(["while", "writes", "p50 ms", "p95 ms", "longest ms"], rows)
