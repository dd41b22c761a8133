"""
Measure a store of many projects on PostgreSQL: search, bundles, writes, memory; and pgvector.

`python -m benchmarks.postgres_scale --sizes 10000,100000 --write`. The memories are spread over
1,000 projects, of which one has a tenth; their vectors are made up, those of the questions are
real. It starts the PostgreSQL server of the tests (RECOLLECT_TEST_POSTGRES_BIN names another one's
programs). HNSW is measured if that server has the extension `vector`; `--only-hnsw` measures
nothing else and prints the rows, because the graph of a million vectors takes long. Processor times
are given for the process that asks and for the processes of PostgreSQL; walls on a busy machine are
rough.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import psutil
import psycopg

from benchmarks.bulk_fill import BulkTarget, FileTarget, ServerTarget, fill_stores
from benchmarks.generated_sentences import GeneratedSentence, questions, sentences
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.postgres import SERVER, Times, server_ms, timed
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.repeating_writers import RepeatingWriters
from benchmarks.server_group import ServerGroup
from benchmarks.tasks import ROOT
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.models.embedder import Vectors
from recollect.models.model_factory import create_embedder

if TYPE_CHECKING:
    from postgres_server import PostgresServer

OUT = RESULTS / "postgres_scale.md"
PROJECTS = 1_000
LARGE = "project-0"  # has a tenth
LARGE_SHARE = 0.1
BATCH = 1_000
SAMPLE = 64  # real vectors, for the mean of the made-up ones
WARM_UP = 10
QUESTIONS = 60  # in the large project, and as many in the others
WRITE_S = 8.0
WRITERS, SERVERS = (1, 4, 16), (1, 3)
NEAREST = 10
SERVER_SETTINGS = ("fsync=on", "shared_buffers=1GB", "maintenance_work_mem=4GB")
DISK = """SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
           WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind = 'r'"""
SCANS = ("off", "strict_order")  # of pgvector: whether it looks on until enough rows pass a filter


@dataclass
class StoreMeasurement:
    """What was measured at one size."""

    size: int
    fill_s: float = 0.0
    disk_bytes: int = 0  # of the schema
    file_bytes: int = 0  # of the SQLite file
    cache_bytes: int = 0  # bit codes of what was asked about
    times: dict[tuple[str, str, str], Times] = field(default_factory=dict)
    hnsw: list[list[str]] = field(default_factory=list)  # cells of rows


def spread(count: int) -> list[GeneratedSentence]:
    """Return memories of PROJECTS projects, of which one has a tenth."""
    random = Random(5)
    return [
        replace(
            sentence,
            project=LARGE
            if random.random() < LARGE_SHARE
            else f"project-{random.randrange(1, PROJECTS)}",
        )
        for sentence in sentences(count)
    ]


def measure_size(
    database: "PostgresServer", folder: Path, size: int, *, hnsw_up_to: int
) -> StoreMeasurement:
    """Fill a file and a schema with the same rows, and ask both."""
    generated = spread(size)
    real = create_embedder(Settings())
    embedder = RandomVectors(real, [sentence.text for sentence in generated[:SAMPLE]])
    settings = Settings(db=str(folder / f"{size}.db"))
    address, url = database.address(f"scale_{size}"), database.url(f"scale_{size}")
    _say(f"{size}: fill")
    targets: list[BulkTarget] = [
        FileTarget(settings.db_path, embedder),
        ServerTarget(address, url, embedder),
    ]
    begun = time.monotonic()
    fill_stores(targets, generated, embedder)
    result = StoreMeasurement(size, fill_s=time.monotonic() - begun)
    conninfo = address.conninfo
    _say(f"{size}: ask")
    with (
        LocalRecollect(settings) as in_file,
        LocalRecollect(replace(settings, db=url)) as on_server,
    ):
        for group, pairs in _questions(generated).items():
            for number, (text, project) in enumerate(pairs):
                for verb in ("search", "context_for"):
                    for name, rec in (("SQLite", in_file), (SERVER, on_server)):
                        some = result.times.setdefault((verb, group, name), Times())
                        before = server_ms(conninfo) if name == SERVER else 0.0
                        call = partial(getattr(rec, verb), text, project=project)
                        timed(some if number >= WARM_UP else Times(), call)
                        if name == SERVER and number >= WARM_UP:
                            some.server += server_ms(conninfo) - before
        result.cache_bytes = on_server._services.store.load().code_bytes
    if size <= hnsw_up_to:
        _say(f"{size}: HNSW")
        result.hnsw = measure_hnsw(database, conninfo, generated, embedder)
    with psycopg.connect(conninfo) as db:
        row = db.execute(DISK, (f"scale_{size}",)).fetchone()
        result.disk_bytes = int(row[0]) if row else 0
    result.file_bytes = settings.db_path.stat().st_size
    return result


def _questions(generated: Sequence[GeneratedSentence]) -> dict[str, list[tuple[str, str]]]:
    groups = {"a tenth of all": [], f"1 of {PROJECTS}": []}  # type: dict[str, list[tuple[str, str]]]
    large = [sentence for sentence in generated if sentence.project == LARGE]
    small = [sentence for sentence in generated if sentence.project != LARGE]
    for name, about in zip(groups, (large, small), strict=True):
        pairs = questions(about, QUESTIONS + WARM_UP, seed=7)
        groups[name] = [(question.text, question.project) for question in pairs]
    return groups


def measure_hnsw(
    database: "PostgresServer",
    conninfo: str,
    generated: Sequence[GeneratedSentence],
    embedder: RandomVectors,
) -> list[list[str]]:
    """Return the cells of rows about pgvector, none if the server does not have it."""
    with psycopg.connect(conninfo, autocommit=True) as db:
        try:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.Error:
            return []
        db.execute("DROP TABLE IF EXISTS vectors")
        db.execute(
            f"CREATE TABLE vectors (id int, project text, embedding vector({embedder.dimension}))"
        )
        matrix: list[Vectors] = []
        with db.cursor().copy("COPY vectors FROM STDIN") as copy:
            for start in range(0, len(generated), BATCH):
                some = generated[start : start + BATCH]
                vectors = embedder.embed([sentence.text for sentence in some])
                matrix.append(vectors)
                for number, (sentence, vector) in enumerate(zip(some, vectors, strict=True)):
                    copy.write_row((start + number, sentence.project, _as_text(vector)))
        _say(f"{len(generated)}: build the graph")
        begun, processor_s = time.monotonic(), _processor_s(database)
        db.execute("CREATE INDEX ON vectors USING hnsw (embedding vector_cosine_ops)")
        db.execute("CREATE INDEX ON vectors (project)")
        build_s = time.monotonic() - begun
        processor_s = _processor_s(database) - processor_s
        _say(f"built in {build_s:.0f} s, {processor_s:.0f} s of processor time")
        db.execute("ANALYZE vectors")
        all_vectors = np.concatenate(matrix)
        projects = np.array([sentence.project for sentence in generated])
        rows = []
        for scan in SCANS:
            db.execute(f"SET hnsw.iterative_scan = {scan}")
            cells = [f"{build_s:.0f}", f"{processor_s:.0f}", scan]
            for pairs in _questions(generated).values():
                cells += _ask_hnsw(db, pairs, embedder, all_vectors, projects)
            rows.append(cells)
        db.execute("DROP TABLE vectors")
        return rows


def _ask_hnsw(
    db: "psycopg.Connection[tuple[object, ...]]",
    pairs: Sequence[tuple[str, str]],
    embedder: RandomVectors,
    vectors: Vectors,
    projects: "np.ndarray[tuple[int], np.dtype[np.str_]]",
) -> Iterator[str]:
    recalls = []
    times = []
    db.execute("SET enable_seqscan = off")
    db.execute("SET enable_bitmapscan = off")
    db.execute("SET enable_sort = off")  # or it reads the project by its own index, and sorts
    sql = "SELECT id FROM vectors WHERE project = %s ORDER BY embedding <=> %s::vector LIMIT %s"
    for text, project in pairs:
        query = embedder.embed_query(text)
        before = _backend_ms(db.info.backend_pid)
        rows = db.execute(sql, (project, _as_text(query), NEAREST)).fetchall()
        times.append(_backend_ms(db.info.backend_pid) - before)
        here = np.flatnonzero(projects == project)
        exact = here[np.argsort(-(vectors[here] @ query))[:NEAREST]]
        recalls.append(len({row[0] for row in rows} & set(exact.tolist())) / max(1, len(exact)))
    yield f"{sum(times) / len(times):.1f}"
    yield f"{sum(recalls) / len(recalls):.2f}"


def _as_text(vector: Vectors) -> str:
    return "[" + ",".join(f"{number:.6f}" for number in vector.tolist()) + "]"


def _processor_s(database: "PostgresServer") -> float:
    """Return the processor time of the server, of its processes and of those that have ended."""
    server = psutil.Process(database.pid)
    ended = server.cpu_times()
    running = [child.cpu_times() for child in server.children()]
    seconds = ended.children_user + ended.children_system
    return float(seconds + sum(times.user + times.system for times in running))


def _backend_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1_000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_writes(database: "PostgresServer", folder: Path) -> list[list[str]]:
    """Return a row for each number of servers: writes a second by number of writers, memory."""
    rows = []
    for servers in SERVERS:
        url = database.url(f"writes_{servers}")
        cells = [str(servers)]
        with ServerGroup(url, servers, folder, RECOLLECT_EMBEDDING_BACKEND="none") as group:
            for writers in WRITERS:
                running = RepeatingWriters(group.addresses, writers, name=f"{servers}-{writers}")
                running.start()
                running.wait_for(writers)
                count, begun = len(running.acknowledged), time.monotonic()
                time.sleep(WRITE_S)
                rate = (len(running.acknowledged) - count) / (time.monotonic() - begun)
                running.stop()
                assert not running.problems, running.problems
                cells.append(f"{rate:.0f}")
            resident = [psutil.Process(pid).memory_info().rss / 1e6 for pid in group.pids]
        rows.append([*cells, f"{max(resident):.0f}"])
    return rows


def main(arguments: list[str] | None = None) -> int:
    sys.path[:0] = [str(ROOT / "tests")]  # the server of the tests
    from postgres_server import PostgresServer

    options = _parser().parse_args(arguments)
    results: list[StoreMeasurement] = []
    database = PostgresServer(*SERVER_SETTINGS)
    try:
        if options.only_hnsw:
            print("\n".join(_hnsw_table(_only_hnsw(database, size) for size in options.sizes)))
            return 0
        with tempfile.TemporaryDirectory(prefix="postgres-scale-") as folder:
            _say("writes")
            writes = measure_writes(database, Path(folder))
            with psycopg.connect(database.address("x").conninfo) as db:
                version = (db.info.parameter_status("server_version") or "").split()[0]
            for size in options.sizes:
                results.append(measure_size(database, Path(folder), size, hnsw_up_to=options.hnsw))
                lines = _lines(options, version, writes, results)
                print("\n".join(lines), flush=True)
                if options.write:
                    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    finally:
        database.remove()
    return 0


def _lines(
    options: argparse.Namespace,
    version: str,
    writes: list[list[str]],
    results: list[StoreMeasurement],
) -> list[str]:
    rows = [
        [
            f"{result.size:,}",
            f"`{verb}`, {group}",
            name,
            f"{percentile(some.wall, 50):.1f}",
            f"{percentile(some.wall, 95):.1f}",
            f"{percentile(some.cpu, 50):.1f}",
            f"{some.server / len(some.wall):.1f}" if name == SERVER else "",
        ]
        for result in results
        for (verb, group, name), some in result.times.items()
    ]
    sizes = ",".join(str(size) for size in options.sizes)
    heads = ["memories", "verb, size of the project", "store", "wall p50", "wall p95"]
    writer_heads = [f"{writers} writers" for writers in WRITERS]
    lines = [
        "# A store of many projects on PostgreSQL",
        "",
        f"`python -m benchmarks.postgres_scale --sizes {sizes} --hnsw {options.hnsw}`, "
        f"PostgreSQL {version} on the same machine through a socket, fsync on, "
        f"{os.cpu_count()} cores, {platform.machine()}, Python "
        f"{platform.python_version()}. {PROJECTS:,} projects, one has a tenth. Vectors are made "
        f"up; {QUESTIONS} questions for each row, embedded by the default model. "
        f"Load of the machine at the end: {os.getloadavg()[0]:.0f}.",
        "",
        *table([*heads, "CPU p50", "CPU of PostgreSQL, mean"], rows),
        "",
        "Milliseconds. What the memories take, and the codes of those that were asked about:",
        "",
        *table(
            ["memories", "PostgreSQL MB", "SQLite MB", "codes MB", "filled in s"],
            [
                [
                    f"{result.size:,}",
                    *(
                        f"{size / 1e6:.0f}" if size > 1e7 else f"{size / 1e6:.1f}"
                        for size in (result.disk_bytes, result.file_bytes, result.cache_bytes)
                    ),
                    f"{result.fill_s:.0f}",
                ]
                for result in results
            ],
        ),
        "",
        "Writes a second that servers acknowledged, and memory of a server:",
        "",
        *table(["servers", *writer_heads, "MB a server"], writes),
    ]
    if any(result.hnsw for result in results):
        lines += [
            "",
            f"pgvector's HNSW (default settings) on the same vectors: the {NEAREST} nearest of a "
            "project, processor ms of PostgreSQL for the vectors alone, and the share of the exact "
            "ones found. Made-up vectors are harder for a graph than real ones.",
            "",
            *_hnsw_table(results),
        ]
    return lines


def _hnsw_table(results: Iterable[StoreMeasurement]) -> list[str]:
    heads = ["memories", "build s", "of processor", "iterative scan"]
    return table(
        [*heads, "a tenth: ms", "recall", "a small one: ms", "recall"],
        [[f"{result.size:,}", *row] for result in results for row in result.hnsw],
    )


def _only_hnsw(database: "PostgresServer", size: int) -> StoreMeasurement:
    generated = spread(size)
    embedder = RandomVectors(
        create_embedder(Settings()), [sentence.text for sentence in generated[:SAMPLE]]
    )
    conninfo = database.address("x").conninfo
    return StoreMeasurement(size, hnsw=measure_hnsw(database, conninfo, generated, embedder))


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[10_000, 100_000],
        help="memories, separated by commas",
    )
    parser.add_argument(
        "--hnsw", type=int, default=100_000, help="the largest size at which HNSW is built"
    )
    parser.add_argument("--only-hnsw", action="store_true", help="measure pgvector alone")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
