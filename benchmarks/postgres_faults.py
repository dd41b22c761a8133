"""
Break what a store on PostgreSQL depends on while clients write, and count what became of that.

`python -m benchmarks.postgres_faults --write`: 16 writers on 3 servers. Servers are killed 200
times and PostgreSQL is stopped without a checkpoint 20 times; connections are cut in the middle of
bytes; the connections of PostgreSQL run out; its disk is full (a small tmpfs, which needs root). It
starts the PostgreSQL server that the tests use. Each write that was acknowledged must be stored
once, and every server must be ready again by itself. Exit code 1 if not.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from benchmarks.markdown_table import table
from benchmarks.quality import RESULTS
from benchmarks.repeating_writers import RepeatingWriters
from benchmarks.server_group import ServerGroup
from benchmarks.socket_proxy import SocketProxy
from benchmarks.tasks import ROOT
from recollect import LocalRecollect
from recollect.config import Settings

if TYPE_CHECKING:
    from postgres_server import PostgresServer

OUT = RESULTS / "postgres_faults.md"
SCHEMA = "faults"
DURABLE = ("fsync=on",)  # later settings win: those of the tests do not wait for the disk
FEW_CONNECTIONS = 45  # three servers need at most 13 each
SMALL_DISK_MB = 220
SMALL_LOG = ("max_wal_size=32MB", "min_wal_size=32MB")
FREE_KB = 300  # left on the full disk
CUT_SERVERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE application_name LIKE 'recollect%'"""
Database = psycopg.Connection[tuple[object, ...]]
WORDS_ONLY = {"RECOLLECT_EMBEDDING_BACKEND": "none"}


@dataclass(frozen=True, kw_only=True)
class FaultResult:
    """What became of the writes of one kind of fault."""

    fault: str
    count: int
    acknowledged: int
    lost: int
    doubled: int
    answers: Counter[str]
    problems: tuple[str, ...]
    longest_gap_s: float
    ready_s: float  # from the last fault until every server was ready
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, doubled or refused for good."""
        return not (self.lost or self.doubled or self.problems)


def kill_servers(
    database: "PostgresServer", folder: Path, *, kills: int, restarts: int, writers: int
) -> FaultResult:
    """Kill servers, and stop the database without a checkpoint now and then."""
    restart_at = {kills * number // (restarts + 1) for number in range(1, restarts + 1)}

    def inject(servers: ServerGroup, running: RepeatingWriters) -> int:
        for kill in range(kills):
            running.wait_for(writers)
            time.sleep(random.uniform(0.0, 0.2))  # the moment is the test
            if kill in restart_at:
                database.stop(kill=True)
                database.start()
            servers.wait_until_ready(kill % 3)
            servers.restart_killed(kill % 3)
        running.wait_for(writers)
        return kills

    name = f"{kills} servers killed, PostgreSQL stopped {len(restart_at)} times"
    return _run(name, database, database.url(SCHEMA), folder, inject, writers)


def cut_connections(
    database: "PostgresServer", folder: Path, *, cuts: int, writers: int
) -> FaultResult:
    """Cut connections between servers and database at random moments."""
    with tempfile.TemporaryDirectory(prefix="proxy-") as sockets:
        proxy = SocketProxy(Path(sockets), database.folder)
        url = database.url(SCHEMA).replace(f"host={database.folder}", f"host={sockets}")

        def inject(servers: ServerGroup, running: RepeatingWriters) -> int:
            cut = 0
            while cut < cuts and not running.problems:
                time.sleep(random.uniform(0.0, 0.1))
                cut += proxy.cut()
            running.wait_for(writers)
            return cut

        try:
            return _run("connections cut", database, url, folder, inject, writers)
        finally:
            proxy.close()


def exhaust_connections(
    database: "PostgresServer", folder: Path, *, seconds: float, writers: int
) -> FaultResult:
    """Use every connection of the database, which was started with few, again and again."""

    def inject(servers: ServerGroup, running: RepeatingWriters) -> int:
        rounds = 0
        end = time.monotonic() + seconds
        while time.monotonic() < end and not running.problems:
            with _every_connection(database, control):
                time.sleep(1.0)
            running.wait_for(writers)
            rounds += 1
        return rounds

    # Opened first: later there may be none left.
    with psycopg.connect(database.address(SCHEMA).conninfo, autocommit=True) as control:
        return _run(
            "times every connection in use", database, database.url(SCHEMA), folder, inject, writers
        )


def fill_disk(database: "PostgresServer", folder: Path, *, times: int, writers: int) -> FaultResult:
    """Fill the disk of the database, which has a small one of its own, and free it again."""
    ballast = database.folder / "ballast"

    def inject(servers: ServerGroup, running: RepeatingWriters) -> int:
        for _ in range(times):
            running.wait_for(writers)
            _fill(ballast)
            time.sleep(3.0)
            ballast.unlink()
            if not database.is_running:  # as a supervisor would
                database.start()
            running.wait_for(writers)
        return times

    return _run("times the disk was full", database, database.url(SCHEMA), folder, inject, writers)


def _run(
    fault: str,
    database: "PostgresServer",
    url: str,
    folder: Path,
    inject: Callable[[ServerGroup, RepeatingWriters], int],
    writers: int,
) -> FaultResult:
    LocalRecollect(Settings(db=database.url(SCHEMA), embedding_backend="none")).close()
    begun = time.monotonic()
    with ServerGroup(url, 3, folder, **WORDS_ONLY) as servers:
        running = RepeatingWriters(servers.addresses, writers, name=fault)
        running.start()
        try:
            count = inject(servers, running)
            ready_s = servers.wait_until_ready()
        finally:
            running.stop()
    stored = _stored(database)
    problems = list(running.problems)
    with LocalRecollect(Settings(db=database.url(SCHEMA), embedding_backend="none")) as rec:
        problems += [problem.detail for problem in rec.maintenance.verify().problems]
    return FaultResult(
        fault=fault,
        count=count,
        acknowledged=len(running.acknowledged),
        lost=len(set(running.acknowledged) - stored.keys()),
        doubled=sum(times > 1 for times in stored.values()),
        answers=running.answers,
        problems=tuple(problems),
        longest_gap_s=running.longest_gap_s,
        ready_s=ready_s,
        seconds=time.monotonic() - begun,
    )


def _stored(database: "PostgresServer") -> Counter[str]:
    with psycopg.connect(database.address(SCHEMA).conninfo) as db:
        rows = db.execute(f"SELECT content FROM {SCHEMA}.memories").fetchall()
    return Counter(content for (content,) in rows)


@contextmanager
def _every_connection(database: "PostgresServer", control: Database) -> Iterator[None]:
    """Cut the connections of the servers, and hold all that the database has."""
    connections: list[Database] = []
    try:
        control.execute(CUT_SERVERS)
        threads = [threading.Thread(target=_take, args=(database, connections)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        yield
    finally:
        for connection in connections:
            connection.close()


def _take(database: "PostgresServer", connections: list[Database]) -> None:
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        try:
            connections.append(psycopg.connect(database.address(SCHEMA).conninfo))
        except psycopg.OperationalError:
            time.sleep(0.01)


def _fill(path: Path) -> None:
    """Write a file until so little space is left that the next segment of the log does not fit."""
    with path.open("wb") as file:
        block = bytes(64 * 1024)
        try:
            while True:
                file.write(block)
                file.flush()
        except OSError:
            pass
        file.truncate(max(0, file.tell() - FREE_KB * 1024))


def main(arguments: list[str] | None = None) -> int:
    sys.path[:0] = [str(ROOT / "tests")]  # the server of the tests
    from postgres_server import PostgresServer

    options = _parser().parse_args(arguments)
    writers = options.writers
    results: list[FaultResult] = []
    Scenario = tuple[float, tuple[str, ...], int, Callable[[PostgresServer, Path], FaultResult]]
    scenarios: list[Scenario] = [
        (
            options.kills,
            DURABLE,
            0,
            lambda database, folder: kill_servers(
                database, folder, kills=options.kills, restarts=options.restarts, writers=writers
            ),
        ),
        (
            options.cuts,
            DURABLE,
            0,
            lambda database, folder: cut_connections(
                database, folder, cuts=options.cuts, writers=writers
            ),
        ),
        (
            options.seconds,
            (*DURABLE, f"max_connections={FEW_CONNECTIONS}"),
            0,
            lambda database, folder: exhaust_connections(
                database, folder, seconds=options.seconds, writers=writers
            ),
        ),
        (
            options.fills,
            SMALL_LOG,
            SMALL_DISK_MB,
            lambda database, folder: fill_disk(
                database, folder, times=options.fills, writers=writers
            ),
        ),
    ]
    for count, settings, size_mb, scenario in scenarios:
        if not count:
            continue
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            database = PostgresServer(*settings, size_mb=size_mb)
            try:
                results.append(scenario(database, Path(folder)))
            finally:
                database.remove()
        print("\n".join(_lines(options, results)), flush=True)
    if options.write:
        OUT.write_text("\n".join(_lines(options, results)) + "\n", encoding="utf-8")
    return 0 if all(result.is_good for result in results) else 1


def _lines(options: argparse.Namespace, results: list[FaultResult]) -> list[str]:
    rows = [
        [
            result.fault if result.fault[0].isdigit() else f"{result.count} {result.fault}",
            str(result.acknowledged),
            str(result.lost),
            str(result.doubled),
            f"{result.longest_gap_s:.1f}",
            f"{result.ready_s:.1f}",
            f"{result.seconds:.0f}",
        ]
        for result in results
    ]
    answers = [
        f"- {result.fault}: "
        + ", ".join(f"{count} × {answer}" for answer, count in result.answers.most_common())
        for result in results
    ]
    problems = [f"- {result.fault}: {text}" for result in results for text in result.problems]
    heads = ["fault", "acknowledged", "lost", "doubled", "longest gap s", "ready s", "run s"]
    return [
        "# A store on PostgreSQL under faults",
        "",
        f"`python -m benchmarks.postgres_faults --kills {options.kills} --restarts "
        f"{options.restarts} --cuts {options.cuts} --seconds {options.seconds:g} --fills "
        f"{options.fills}`: {options.writers} writers on 3 servers, one machine. Each fact is sent "
        "again under its idempotency key until a server acknowledges it.",
        "",
        *table(heads, rows),
        "",
        "The longest time without an acknowledgement, and the time from the last fault until every "
        "server was ready. What the servers answered:",
        "",
        *answers,
        *(["", "Problems:", *problems] if problems else []),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=30.0, help="with few connections")
    parser.add_argument("--fills", type=int, default=5)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
