"""
Compare a store on PostgreSQL with one in a file: `python -m benchmarks.postgres postgresql://…`.

The memories of a file are moved to a schema of its own on the server, which is dropped at the end.
Then the same questions are pairs in both, in turn: every answer of `search` and `context_for` must
have the same bytes, and the time of each is measured.
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import psycopg

from benchmarks.generated_sentences import GeneratedSentence, questions, sentences
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from recollect import LocalRecollect
from recollect.app.move_store import move_store
from recollect.clock import uuid7_text
from recollect.config import Settings, load_settings
from recollect.store.postgres.server_address import parse_address

OUT = RESULTS / "postgres.md"
SCHEMA = "recollect_benchmark"
SERVER = "PostgreSQL"
BATCH = 500
NOW = datetime(2026, 6, 1, tzinfo=UTC)


class CountingClock:
    """A clock that stands still; its ids count up, so that two stores get the same ones."""

    def __init__(self) -> None:
        self._issued = 0

    def now(self) -> datetime:
        return NOW

    def new_id(self) -> str:
        self._issued += 1
        return uuid7_text(1_780_000_000_000 * 4096 + self._issued, self._issued)


@dataclass
class Times:
    """How long one verb took in one store, in ms: as a person waits, and processor time."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # of this process
    server: float = 0.0  # of the processes of the database server, in all


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    address = parse_address(f"{options.url}{'&' if '?' in options.url else '?'}schema={SCHEMA}")
    url = f"{address.conninfo}{'&' if '?' in address.conninfo else '?'}schema={SCHEMA}"
    _drop(address.conninfo)
    try:
        with TemporaryDirectory(prefix="recollect-postgres-") as temporary:
            settings = load_settings(db=str(Path(temporary) / "memory.db"))
            generated = sentences(options.memories)
            _fill(settings, generated)
            started = perf_counter()
            report = move_store(settings, url, plain=True, report=print)
            moved_s = perf_counter() - started
            with psycopg.connect(address.conninfo, autocommit=True) as db:
                db.execute("ANALYZE")  # the server does it by itself after a minute
            pairs = [
                (question.text, question.project)
                for question in questions(generated, options.questions, seed=7)
            ]
            differing, times = _ask(settings, replace(settings, db=url), pairs, address.conninfo)
    finally:
        _drop(address.conninfo)
    with psycopg.connect(address.conninfo) as db:
        version = db.info.parameter_status("server_version") or ""
    lines = _lines(options, version.split()[0], differing, times)
    lines += ["", f"Moved in {moved_s:.1f} s: {sum(report.rows.values())} rows and vectors."]
    print("\n".join(lines))
    if options.write:
        OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if differing else 0


def _fill(settings: Settings, generated: list[GeneratedSentence]) -> None:
    with LocalRecollect(settings) as rec:
        for start in range(0, len(generated), BATCH):
            rec.memories.ingest_many(
                [
                    {"content": sentence.text, "type": "decision", "project": sentence.project}
                    for sentence in generated[start : start + BATCH]
                ]
            )
        rec.drain()


def _ask(
    file: Settings, server: Settings, pairs: list[tuple[str, str]], conninfo: str
) -> tuple[list[str], dict[tuple[str, str], Times]]:
    differing: list[str] = []
    times: dict[tuple[str, str], Times] = {}
    with (
        LocalRecollect(file, clock=CountingClock()) as in_file,
        LocalRecollect(server, clock=CountingClock()) as on_server,
    ):
        stores = {"SQLite": in_file, SERVER: on_server}
        for rec in stores.values():  # the first queries load the model and the vectors
            for text, project in pairs[:20]:
                rec.search(text, project=project)
                rec.context_for(text, project=project)
        for text, project in pairs:
            for verb in ("search", "context_for"):
                answers = set()
                for name, rec in stores.items():
                    call = partial(getattr(rec, verb), text, project=project)
                    some = times.setdefault((verb, name), Times())
                    before = server_ms(conninfo) if name == SERVER else 0.0
                    answers.add(timed(some, call))
                    if name == SERVER:
                        some.server += server_ms(conninfo) - before
                if len(answers) > 1:
                    differing.append(f"{verb}: {text}")
    return differing, times


def timed(times: Times, call: Callable[[], object]) -> str:
    """Call *call*, note how long it took, and return its answer as text."""
    wall, cpu = perf_counter(), process_time()
    answer = call()
    times.cpu.append(1_000 * (process_time() - cpu))
    times.wall.append(1_000 * (perf_counter() - wall))
    return repr(answer)


@cache
def _watcher(conninfo: str) -> "psycopg.Connection[tuple[int]]":
    return psycopg.connect(conninfo, autocommit=True)


def server_ms(conninfo: str) -> float:
    """Return the processor time of the server's processes that work for us; they are local."""
    sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'recollect'"
    ticks = 0
    for (pid,) in _watcher(conninfo).execute(sql).fetchall():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return 1_000 * ticks / os.sysconf("SC_CLK_TCK")


def _lines(
    options: argparse.Namespace,
    version: str,
    differing: list[str],
    times: dict[tuple[str, str], Times],
) -> list[str]:
    rows = [
        [
            f"`{verb}`, {name}",
            *(f"{percentile(some.wall, share):.1f}" for share in (50, 95)),
            f"{percentile(some.cpu, 50):.1f}",
            f"{some.server / len(some.wall):.1f}" if name == SERVER else "",
        ]
        for (verb, name), some in times.items()
    ]
    equal = 2 * options.questions - len(differing)
    return [
        "# PostgreSQL beside SQLite",
        "",
        f"`python -m benchmarks.postgres URL --memories {options.memories} --questions "
        f"{options.questions}`, PostgreSQL {version} on the same machine through a socket, "
        f"{platform.machine()}, Python {platform.python_version()}, default model. The same "
        "questions in turn in both stores.",
        "",
        f"Answers with the same bytes: {equal} of {2 * options.questions}.",
        *[f"- differs: {line}" for line in differing[:10]],
        "",
        *table(["ms", "wall p50", "wall p95", "CPU p50", "CPU of the server, mean"], rows),
    ]


def _drop(conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="a database of the server, postgresql://…")
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
