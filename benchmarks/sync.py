"""
Measure sync and backup of a large store: `python -m benchmarks.sync --memories 100000 --write`.

Two devices share a folder. The first publishes its whole store, the second reads it; then the first
changes some memories, and both sync again. Both the time of the clock and that of the processor are
measured, because other programs may use the machine. Embeddings are not synced and are left out.
"""

import argparse
import os
import platform
import resource
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.generated_sentences import sentences
from benchmarks.markdown_table import table
from benchmarks.quality import RESULTS
from recollect import LocalRecollect
from recollect.config import Settings

OUT = RESULTS / "sync.md"
BATCH = 500
Rows = list[list[str]]


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with TemporaryDirectory(prefix="recollect-sync-") as temporary:
        rows, sizes = _measure(Path(temporary), options.memories, options.changes)
    text = "\n".join(
        [
            "# Sync",
            "",
            f"`python -m benchmarks.sync --memories {options.memories} --changes "
            f"{options.changes}`, {platform.machine()}, Python {platform.python_version()}. "
            f"{os.cpu_count()} cores, load {load:.1f} at the start. Seconds, one run. The highest "
            "memory use of the process was "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB.",
            "",
            *table(["", "processor", "clock"], rows),
            "",
            *table(["", "MB"], sizes),
            "",
        ]
    )
    print(text)
    if options.write:
        OUT.write_text(text, encoding="utf-8")
    return 0


def _measure(folder: Path, memories: int, changes: int) -> tuple[Rows, Rows]:
    rows: Rows = []
    shared = folder / "shared"
    with _open(folder, "first") as first, _open(folder, "second") as second:
        ids = _fill(first, memories)
        first.sync.init(str(shared))
        second.sync.init(str(shared))
        rows.append(["first sync: publish everything", *_seconds(first.sync.run)])
        rows.append(["first sync: read everything", *_seconds(second.sync.run)])
        first_size = _size(shared)
        for memory_id in ids[:: max(1, memories // changes)][:changes]:
            first.memories.edit(memory_id, content=f"Changed: {memory_id}.")
        rows.append([f"publish {changes} changes", *_seconds(first.sync.run)])
        rows.append([f"read {changes} changes", *_seconds(second.sync.run)])
        rows.append(["nothing new", *_seconds(second.sync.run)])
        first.forget(ids[1])
        rows.append(["publish one `forget`", *_seconds(first.sync.run)])
        rows.append(["carry out one `forget`", *_seconds(second.sync.run)])
        backup = folder / "backups"
        rows.append(["backup, verified", *_seconds(lambda: second.maintenance.backup(backup))])
        counts = [rec.maintenance.status().memories_by_status for rec in (first, second)]
        assert counts[0] == counts[1]
        sizes = [
            ["store", f"{first.path.stat().st_size / 1e6:.1f}"],
            ["shared folder after the first sync", f"{first_size:.1f}"],
            ["shared folder at the end", f"{_size(shared):.1f}"],
            ["backup", f"{_size(backup):.1f}"],
        ]
    return rows, sizes


def _open(folder: Path, name: str) -> LocalRecollect:
    settings = Settings(
        db=str(folder / name / "memory.db"),
        key_file=str(folder / "store.key"),
        keyring=False,
        embedding_backend="none",
    )
    return LocalRecollect(settings)


def _fill(rec: LocalRecollect, count: int) -> list[str]:
    generated = sentences(count)
    ids: list[str] = []
    for start in range(0, count, BATCH):
        batch = generated[start : start + BATCH]
        memories = rec.memories.ingest_many(
            [{"content": item.text, "project": item.project, "type": "project"} for item in batch]
        )
        ids += [memory.id for memory in memories]
    return ids


def _seconds(work: Callable[[], object]) -> tuple[str, str]:
    """Return how long *work* takes: of the processor, and on the clock."""
    begun, computed = perf_counter(), process_time()
    work()
    return f"{process_time() - computed:.2f}", f"{perf_counter() - begun:.2f}"


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
