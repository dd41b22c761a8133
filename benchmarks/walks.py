"""
Count what a few calls cost in code and in SQL: files, functions, statements, transactions.

The store is small and warm: everything is embedded, and each call ran before it is counted.
SQL is counted by a hook on every connection, code by Python's profile function; both only on the
thread that calls. What begins and ends transactions is counted as transactions, not as statements.
The log of retrievals is written by another thread and is not counted.

`--write COLUMN` writes the counts into results/walks.md, as the column *before* or *after*.
`--statements WALK` prints the statements of one walk in order.
"""

import argparse
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import apsw

import recollect
from benchmarks.generated_sentences import sentences
from benchmarks.markdown_table import table
from recollect import Recollect

RESULTS = Path(__file__).parent / "results" / "walks.md"
PACKAGE = str(Path(recollect.__file__).parent)
TRANSACTION_CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
AGENT, PROJECT = "helper", "shop"
BOUNDS = {
    "search": "15 in 1",
    "search with related": "15 in 1",
    "context_for": "30 in 1",
    "learning() context": "30 in 1",
    "drain": "60",
}
HEADER = ("", "files", "functions", "calls", "statements", "transactions", "wanted at most")
COLUMNS = ("before", "after")
_EXPLANATION = (
    "each call on a small store in which everything is embedded, after two calls of its kind. "
    "Functions are those of the package, calls count each of them every time. What begins and ends "
    "a transaction is not counted as a statement. The log of retrievals is written by another "
    "thread and is not counted."
)
QUESTION = "which package manager do we use for the shop, and why?"

Figures = Mapping[str, tuple[str, ...]]


@dataclass
class WalkCount:
    """What one call entered and ran."""

    files: set[str] = field(default_factory=set)
    functions: Counter[tuple[str, int]] = field(default_factory=Counter)
    statements: list[str] = field(default_factory=list)
    transactions: int = 0

    def add_statement(self, sql: str) -> None:
        """Count a statement, or the transaction that it begins."""
        self.transactions += sql.startswith("BEGIN")
        if not sql.startswith(TRANSACTION_CONTROL):
            self.statements.append(sql)

    def figures(self) -> tuple[str, ...]:
        """Return the counts as cells: files, functions, calls, statements, transactions."""
        calls = self.functions.total()
        sizes = (len(self.files), len(self.functions), calls, len(self.statements))
        return tuple(f"{size:,}" for size in (*sizes, self.transactions))


class WalkCounter:
    """Counts what this thread does while `counting` is entered."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._current: WalkCount | None = None

    def watch(self, connection: apsw.Connection) -> None:
        """Count the statements of a connection; called for each one that is opened."""
        connection.exec_trace = self._on_statement

    @contextmanager
    def counting(self) -> Iterator[WalkCount]:
        """Count until the end of the block."""
        self._current = WalkCount()
        sys.setprofile(self._on_call)
        try:
            yield self._current
        finally:
            sys.setprofile(None)
            self._current = None

    def _on_statement(self, _cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        if self._current is not None and threading.get_ident() == self._thread:
            self._current.add_statement(" ".join(sql.split()))
        return True

    def _on_call(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event != "call" or self._current is None or not code.co_filename.startswith(PACKAGE):
            return
        if code.co_name.startswith("<"):
            return  # a comprehension or a generator expression
        self._current.files.add(code.co_filename)
        self._current.functions[code.co_filename, code.co_firstlineno] += 1


@dataclass(frozen=True)
class Walk:
    """A call that is counted, and what must happen before it."""

    call: Callable[[], object]
    prepare: Callable[[], object] = lambda: None


def main() -> None:
    """Count each walk, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", choices=COLUMNS, metavar="COLUMN")
    parser.add_argument("--statements", metavar="WALK")
    options = parser.parse_args()
    counts = count_walks()
    if options.statements:
        print("\n".join(counts[options.statements].statements))
        return
    figures = {name: walk.figures() for name, walk in counts.items()}
    if options.write:
        figures_by_column = _read_results() | {options.write: figures}
        RESULTS.write_text(_report(figures_by_column), encoding="utf-8")
    print(_report({options.write or "now": figures}))


def count_walks(**options: Any) -> dict[str, WalkCount]:
    """Return the counts of each walk on a small store, opened with *options*."""
    counter = WalkCounter()
    apsw.connection_hooks.append(counter.watch)
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            recollect.open(Path(folder) / "walks.db", **options) as rec,
        ):
            _fill(rec)
            return {name: _count(counter, rec, walk) for name, walk in _walks(rec).items()}
    finally:
        apsw.connection_hooks.remove(counter.watch)


def _count(counter: WalkCounter, rec: Recollect, walk: Walk) -> WalkCount:
    for _ in range(2):  # the first call loads modules and models
        walk.prepare()
        walk.call()
    walk.prepare()
    rec.maintenance.status()  # writes the log that is queued
    with counter.counting() as counts:
        walk.call()
    return counts


def _walks(rec: Recollect) -> dict[str, Walk]:
    numbers = count(1)

    def capture() -> None:
        number = next(numbers)
        messages = [
            {"role": "user", "content": f"We decided to keep release {number} on Fridays."},
            {"role": "assistant", "content": "Understood, I will plan for that."},
            {"role": "user", "content": f"I prefer short reports for team {number}."},
        ]
        rec.capture_session(messages, project=PROJECT, agent=AGENT)

    def context_as_learning_asks() -> None:
        rec.context_for(
            QUESTION,
            agent=AGENT,
            visible_texts=[QUESTION],
            budget_tokens=2_000,
            form="markdown",
            metadata=False,
        )

    def ingest() -> None:
        rec.ingest(f"The shop has {next(numbers)} pages.", project=PROJECT)

    return {
        "search": Walk(lambda: rec.search(QUESTION, project=PROJECT, agent=AGENT)),
        "search with related": Walk(
            lambda: rec.search(QUESTION, project=PROJECT, agent=AGENT, related=True)
        ),
        "context_for": Walk(lambda: rec.context_for(QUESTION, project=PROJECT, agent=AGENT)),
        "learning() context": Walk(context_as_learning_asks),
        "ingest": Walk(ingest),
        "capture_session": Walk(capture),
        "drain": Walk(rec.drain, prepare=capture),
    }


def _fill(rec: Recollect) -> None:
    """Add memories of three projects, an agent with blocks, and its conversations."""
    texts = [sentence.text for sentence in sentences(200, seed=17)]
    rec.agents.create(AGENT, system_prompt="You are a careful assistant.")
    rec.blocks.set(AGENT, "persona", texts[0])
    rec.blocks.set(AGENT, "human", texts[1])
    for number, text in enumerate(texts[2:100]):
        rec.ingest(text, project=f"project-{number % 2}" if number % 3 else PROJECT)
    rec.ingest("We use pnpm as the package manager of the shop.", type="decision", project=PROJECT)
    rec.ingest("We use npm as the package manager of the shop.", type="decision", project=PROJECT)
    rec.ingest("Prefers short answers.", type="profile")
    for start in range(100, 200, 20):
        conversation = rec.conversations.start(agent=AGENT, project=PROJECT)
        for number, text in enumerate(texts[start : start + 20]):
            role = "assistant" if number % 2 else "user"
            rec.conversations.append(conversation, role, text)
    rec.drain()


def _report(figures_by_column: Mapping[str, Figures]) -> str:
    """Return the counts as Markdown, one table for each column (a state of the code)."""
    lines = ["# What a call enters and runs", "", "- `python -m benchmarks.walks`; " + _EXPLANATION]
    for column, figures in figures_by_column.items():
        rows = [(name, *cells, BOUNDS.get(name, "")) for name, cells in figures.items()]
        lines += ["", f"## {column.capitalize()}", "", *table(HEADER, rows)]
    return "\n".join(lines) + "\n"


def _read_results() -> dict[str, Figures]:
    """Return the figures of results/walks.md by column."""
    figures: dict[str, dict[str, tuple[str, ...]]] = {}
    column = ""
    for line in RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else ():
        if line.startswith("## "):
            column = line.removeprefix("## ").lower()
            figures[column] = {}
        elif line.startswith("| ") and not line.startswith(("|  |", "| ---")):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            figures[column][name] = tuple(cells[:-1])
    return dict(figures)


if __name__ == "__main__":
    main()
