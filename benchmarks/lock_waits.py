"""
How long other writers wait while one process does long work on the same store.

Two processes write small memories without pause and note how long each write took. Meanwhile this
process runs one long verb: `forget` beside a reader that never ends, an import of a large export,
the deletion and the compaction of a conversation of a million messages.

    python -m benchmarks.lock_waits --write
    python -m benchmarks.lock_waits --messages 50000 --rows 20000
"""

import argparse
import multiprocessing
import os
import platform
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from random import Random

import apsw

import recollect
from benchmarks.markdown_table import table
from recollect import LocalRecollect, StoreBusy
from recollect.domain.conversation import Conversation

OUT = Path(__file__).parent / "results" / "lock_waits.md"
WRITERS = 2
VOCABULARY = 5_003  # a prime, so that the words of a message differ
FIRST_TERM = 10_000
WORDS = 5  # in each message
READY_S = 60.0

Spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Waits:
    """What the other writers saw during one piece of long work."""

    name: str
    work_s: float
    writes: list[float]
    refused: int

    def row(self) -> list[str]:
        """Return a line of the table."""
        ordered = sorted(self.writes) or [0.0]
        middle = statistics.median(ordered) * 1_000
        high = ordered[int(len(ordered) * 0.99)] * 1_000
        longest = ordered[-1] * 1_000
        numbers = [f"{number:,.0f}" for number in (middle, high, longest)]
        return [self.name, f"{self.work_s:,.1f}", f"{len(ordered):,}", *numbers, str(self.refused)]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000_000, help="of the conversation")
    parser.add_argument("--rows", type=int, default=200_000, help="of the export")
    parser.add_argument("--only", default="forget,import,delete,compact")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    options = parser.parse_args()
    os.environ["RECOLLECT_EMBEDDER"] = "none"  # for this process and those it starts
    chosen = options.only.split(",")
    results = []
    with tempfile.TemporaryDirectory(prefix="recollect-waits-") as folder:
        if "forget" in chosen:
            results.append(forget_beside_a_reader(Path(folder)))
        if "import" in chosen:
            results.append(import_export(Path(folder), options.rows))
        if "delete" in chosen:
            results.append(delete_conversation(Path(folder), options.messages))
        if "compact" in chosen:
            results.append(compact_conversation(Path(folder), options.messages))
    report = render(results)
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")


def render(results: list[Waits]) -> str:
    """Return the report."""
    version = f"Recollect {recollect.__version__}, SQLite {apsw.sqlite_lib_version()}"
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    header = ["long work", "took s", "writes", "median ms", "p99 ms", "longest ms", "StoreBusy"]
    lines = [
        "# How long other writers wait",
        "",
        f"- `python -m benchmarks.lock_waits --write`, {version}, {machine}; load of the machine "
        f"at the end: {os.getloadavg()[0]:.1f}.",
        f"- {WRITERS} other processes write memories without pause; every write is on disk when it "
        "returns.",
        "",
        *table(header, [result.row() for result in results]),
    ]
    return "\n".join(lines) + "\n"


def forget_beside_a_reader(folder: Path) -> Waits:
    """Forget memories while another process holds a read transaction."""
    path = folder / "forget.db"
    with recollect.open(path) as rec:
        ids = [rec.ingest(f"a fact to be forgotten {number}").id for number in range(5)]
    with long_reader(path), recollect.open(path) as rec:
        return measure("`forget` beside a long reader", path, lambda: [*map(rec.forget, ids)])


def import_export(folder: Path, rows: int) -> Waits:
    """Import an export of so many messages into another store."""
    exported = folder / "export.jsonl"
    fill(folder / "source.db", rows)
    with recollect.open(folder / "source.db") as rec:
        rec.export(exported)
    path = folder / "target.db"
    with recollect.open(path) as rec:
        name = f"import of {rows:,} rows"
        return measure(name, path, lambda: rec.import_(exported, trust=True))


def delete_conversation(folder: Path, messages: int) -> Waits:
    """Delete a large conversation, and finish what the verb leaves to a worker."""
    path = folder / "delete.db"
    conversation = fill(path, messages)
    with recollect.open(path) as rec:

        def delete() -> None:
            rec.conversations.delete(conversation)
            rec.drain()

        return measure(f"`delete` of {messages:,} messages", path, delete)


def compact_conversation(folder: Path, messages: int) -> Waits:
    """Compact a large conversation."""
    path = folder / "compact.db"
    conversation = fill(path, messages)
    with recollect.open(path) as rec:
        name = f"`compact` of {messages:,} messages"
        return measure(name, path, lambda: rec.conversations.compact(conversation))


def measure(name: str, path: Path, work: Callable[[], object]) -> Waits:
    """Run *work* while others write; return how long their writes took."""
    stop, ready = Spawn.Event(), Spawn.Barrier(WRITERS + 1)
    results = Spawn.Queue()
    writers = [
        Spawn.Process(target=_write, args=(str(path), number, ready, stop, results))
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    ready.wait(READY_S)
    began = time.perf_counter()
    work()
    work_s = time.perf_counter() - began
    stop.set()
    seen = [results.get(timeout=READY_S) for _ in writers]
    for writer in writers:
        writer.join()
    writes = [seconds for waits, _ in seen for seconds in waits]
    return Waits(name, work_s, writes, sum(refused for _, refused in seen))


def _write(path: str, number: int, ready: object, stop: Event, results: object) -> None:
    waits: list[float] = []
    refused = 0
    with recollect.open(path) as rec:
        rec.ingest(f"writer {number} is ready")
        ready.wait(READY_S)  # type: ignore[attr-defined]
        while not stop.is_set():
            began = time.perf_counter()
            try:
                rec.ingest(f"writer {number} says {len(waits)}")
            except StoreBusy:
                refused += 1
            waits.append(time.perf_counter() - began)
            time.sleep(0.005)
    results.put((waits, refused))  # type: ignore[attr-defined]


@contextmanager
def long_reader(path: Path) -> Iterator[None]:
    """Hold a read transaction in another process."""
    stop, ready = Spawn.Event(), Spawn.Event()
    reader = Spawn.Process(target=_read, args=(str(path), ready, stop))
    reader.start()
    ready.wait(READY_S)
    try:
        yield
    finally:
        stop.set()
        reader.join()


def _read(path: str, ready: Event, stop: Event) -> None:
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM memories").fetchall()
    ready.set()
    stop.wait()
    db.close()


def fill(path: Path, messages: int) -> Conversation:
    """Create a store with one conversation of so many messages, by direct SQL: it is quick."""
    with recollect.open(path) as rec:
        conversation = rec.conversations.start(agent="bench")
        rec.conversations.append(conversation, "user", "word0 is the first")
        _fill_rows(rec, conversation, messages)
    return conversation


def _fill_rows(rec: LocalRecollect, conversation: Conversation, messages: int) -> None:
    db = apsw.Connection(str(rec.maintenance.status().path))
    db.execute("PRAGMA synchronous = OFF")
    [(partition,)] = db.execute("SELECT id FROM shelves WHERE kind = 'message'")
    [(first,)] = db.execute("SELECT max(seq) + 1 FROM items")
    items_of = [array("L") for _ in range(VOCABULARY)]
    random = Random(7)

    def message(number: int) -> tuple[str | int | None, ...]:
        start, stride = random.randrange(VOCABULARY), random.randrange(1, VOCABULARY)
        words = [(start + stride * n) % VOCABULARY for n in range(WORDS)]  # all different
        for word in words:
            items_of[word].append(first + number)
        role = ("user", "assistant")[number % 2]
        content = " ".join(f"term{word}" for word in words)
        owner = (conversation.id, conversation.agent_id)
        return (f"m{number:09}", *owner, number + 1, role, content, WORDS, number)

    with db:
        db.executemany(
            "INSERT INTO messages (id, conversation_id, agent_id, position, role, content, tokens,"
            " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            map(message, range(messages)),
        )
        db.executemany(
            "INSERT INTO items (seq, shelf_id, id, words) VALUES (?, ?, ?, ?)",
            ((first + number, partition, f"m{number:09}", WORDS) for number in range(messages)),
        )
        db.executemany(
            "INSERT INTO terms (id, shelf_id, term, items) VALUES (?, ?, ?, ?)",
            (
                (FIRST_TERM + word, partition, f"term{word}", len(items))
                for word, items in enumerate(items_of)
                if items
            ),
        )
        db.executemany(
            "INSERT INTO postings (term_id, seq, times, words) VALUES (?, ?, 1, ?)",
            (
                (FIRST_TERM + word, item, WORDS)
                for word, items in enumerate(items_of)
                for item in items
            ),
        )
        db.execute(
            "UPDATE shelves SET items = items + ?, words = words + ? WHERE id = ?",
            (messages, messages * WORDS, partition),
        )
    db.close()


if __name__ == "__main__":
    main()
