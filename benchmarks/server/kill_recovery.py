"""
Kill the server while clients write, restart it, and count what happened to every write.

An acknowledged write must be stored once. A write that was not acknowledged is sent again under its
idempotency key until it is, so in the end everything sent must be stored exactly once.
"""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import apsw

import recollect
from benchmarks.server.processes import ClientProcesses, free_port, start_server, stop_server

BEFORE_S = (1.0, 4.0)  # the kill comes at a random moment in between
AFTER_S = 2.0  # so long is written to the server that was started again
TEXT = "The water level was read at the gauge and is normal; nothing else was seen."
SEED = 91


@dataclass(frozen=True, kw_only=True)
class KillResult:
    """What became of the writes of one kill."""

    after_s: float
    acknowledged: int
    sent_again: int
    there_already: int
    unacknowledged: int  # even at the end
    lost: int
    doubled: int
    back_s: float  # from the kill to the first answer of the new process
    problems: int  # that `verify` finds


def measure_kills(folder: Path, *, clients: int, times: int, embedding: str) -> list[KillResult]:
    """Kill a server *times* times, each with a store of its own."""
    random = Random(SEED)
    return [
        _kill_once(folder / f"killed-{number}.db", clients, random.uniform(*BEFORE_S), embedding)
        for number in range(times)
    ]


def _kill_once(db: Path, clients: int, after_s: float, embedding: str) -> KillResult:
    port = free_port()
    server = start_server(db, port=port, RECOLLECT_EMBEDDING_BACKEND=embedding)
    try:
        writers = ClientProcesses("benchmarks.server.retrying_writer", _plans(server.url, clients))
        writers.start()
        time.sleep(after_s)
        server.process.kill()
        killed_at = time.perf_counter()
        server.process.communicate()
        server = start_server(db, port=port, RECOLLECT_EMBEDDING_BACKEND=embedding)
        with recollect.connect(server.url) as rec:
            rec.health()
        back_s = time.perf_counter() - killed_at
        time.sleep(AFTER_S)
        results = writers.results()
    finally:
        stop_server(server)
    return _count_writes(db, results, after_s, back_s)


def _plans(url: str, clients: int) -> list[dict[str, Any]]:
    return [
        {"url": url, "number": number, "agent": "helper", "own": f"writer-{number}", "text": TEXT}
        for number in range(clients)
    ]


def _count_writes(db: Path, results: Sequence[Any], after_s: float, back_s: float) -> KillResult:
    there = Counter(_marks(db))
    acknowledged = [mark for result in results for mark in result["acknowledged"]]
    sent = [mark for result in results for mark in result["sent"]]
    with recollect.open(db, embedding_backend="none") as rec:
        problems = len(rec.maintenance.verify().problems)
    return KillResult(
        after_s=after_s,
        acknowledged=len(acknowledged),
        sent_again=sum(result["again"] for result in results),
        there_already=sum(result["there already"] for result in results),
        unacknowledged=len(sent) - len(acknowledged),
        lost=sum(there[mark] == 0 for mark in acknowledged),
        doubled=sum(there[mark] > 1 for mark in sent),
        back_s=back_s,
        problems=problems,
    )


def _marks(db: Path) -> list[str]:
    """Return every mark in the file, read past Recollect."""
    with closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        query = "SELECT content FROM messages UNION ALL SELECT content FROM memories"
        texts = [str(content) for (content,) in connection.execute(query)]
    return [text.rsplit(" ", 1)[-1] for text in texts if "mark-" in text]
