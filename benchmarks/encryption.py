"""
Measure what encryption costs: `python -m benchmarks.encryption --write`.

Two stores with the same memories, one encrypted, are used in turn: opened, searched, written to,
asked by a hook with a server and without (a whole process), backed up and exported. Both times are
measured, of the clock and of the processor, because other programs may use the machine.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

from benchmarks.generated_sentences import questions, sentences
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from benchmarks.server.processes import environment, keep_bytecode, start_server, stop_server
from benchmarks.tasks import ROOT
from recollect import LocalRecollect
from recollect.app.store_encryption import encrypt_store
from recollect.config import Settings
from recollect.models.scripted_models import ScriptedEmbedder

OUT = RESULTS / "encryption.md"
BATCH = 500
WARM_UP = 3  # hooks, after the start of a server
KINDS = ("plain", "encrypted")


class Took(NamedTuple):
    """What one call took, in ms: on the clock, and of the processor."""

    wall: float
    cpu: float


Times = dict[str, dict[str, list[Took]]]  # what: kind of store


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    times: Times = {}
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with TemporaryDirectory(prefix="recollect-encryption-") as temporary:
        folder = Path(temporary)
        keep_bytecode(folder / "compiled")
        stores = {kind: _settings(folder / kind) for kind in KINDS}
        for kind, settings in stores.items():
            _fill(settings, options.memories)
            if kind == "encrypted":
                encrypt_store(settings)
        _measure(times, stores, options)
        sizes = _measure_copies(times, stores)
    notes = [
        "# Encryption",
        "",
        f"`python -m benchmarks.encryption --memories {options.memories} --times {options.times}`, "
        f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{load:.1f} at the start. Both stores in turn; ms, median and 95th percentile. The "
        "embedder is a fake one, and hooks have none, so that the store is measured and not a "
        "model. The processor time of a hook is that of its own process, not of the server. The "
        "machine is shared: times of the clock count beside each other only.",
        "",
    ]
    text = "\n".join([*notes, *_rows(times), "", *_size_rows(sizes), ""])
    print(text)
    if options.write:
        OUT.write_text(text, encoding="utf-8")
    return 0


def _settings(folder: Path) -> Settings:
    folder.mkdir()
    return Settings(db=str(folder / "memory.db"), key_file=str(folder / "store.key"), keyring=False)


def _open(settings: Settings) -> LocalRecollect:
    return LocalRecollect(settings, embedder=ScriptedEmbedder(dimension=384))


def _fill(settings: Settings, count: int) -> None:
    generated = sentences(count)
    with _open(settings) as rec:
        for start in range(0, count, BATCH):
            batch = generated[start : start + BATCH]
            rec.memories.ingest_many(
                [
                    {"content": item.text, "project": item.project, "type": "project"}
                    for item in batch
                ]
            )
        rec.drain()


def _measure(times: Times, stores: dict[str, Settings], options: argparse.Namespace) -> None:
    project_questions = questions(sentences(options.memories), options.times, seed=5)
    for _ in range(options.times):
        for kind, settings in stores.items():
            _time(times, "open and close", kind, lambda opened: _open(opened).close(), settings)
    opened = {kind: _open(settings) for kind, settings in stores.items()}
    for rec in opened.values():
        rec.search("warm up", project="project-1")
    for number, question in enumerate(project_questions):
        for kind, rec in opened.items():
            _time(times, "search", kind, rec.search, question.text, project=question.project)
            _time(times, "ingest", kind, rec.ingest, f"Note {number}.", project="project-1")
    for rec in opened.values():
        rec.close()
    _measure_hooks(times, "hook prompt, no server", stores, options.hooks)
    servers = [
        start_server(settings.db_path, port=0, **_own(settings)) for settings in stores.values()
    ]
    try:
        _measure_hooks({}, "", stores, WARM_UP)
        _measure_hooks(times, "hook prompt, server", stores, options.hooks)
    finally:
        for server in servers:
            stop_server(server)


def _measure_hooks(times: Times, what: str, stores: dict[str, Settings], count: int) -> None:
    for _ in range(count):
        for kind, settings in stores.items():
            times.setdefault(what, {}).setdefault(kind, []).append(_hook_took(settings))


def _measure_copies(times: Times, stores: dict[str, Settings]) -> dict[str, dict[str, float]]:
    sizes: dict[str, dict[str, float]] = {}
    for kind, settings in stores.items():
        folder = settings.db_path.parent
        with _open(replace(settings, backup_folder=str(folder / "backups"))) as rec:
            for _ in range(3):
                _time(times, "backup, verified", kind, rec.maintenance.backup)
            _time(times, "export, compressed", kind, rec.export, folder / "all.jsonl.gz")
            sizes.setdefault("store", {})[kind] = settings.db_path.stat().st_size / 1e6
            backup = rec.maintenance.backups()[0]
            sizes.setdefault("backup", {})[kind] = backup.bytes / 1e6
        export = (folder / "all.jsonl.gz").stat().st_size
        sizes.setdefault("export, compressed", {})[kind] = export / 1e6
    return sizes


def _time(
    times: Times, what: str, kind: str, call: Callable[..., object], *args: Any, **options: Any
) -> None:
    begun, computed = perf_counter(), process_time()
    call(*args, **options)
    took = Took(1000 * (perf_counter() - begun), 1000 * (process_time() - computed))
    times.setdefault(what, {}).setdefault(kind, []).append(took)


def _own(settings: Settings) -> dict[str, str]:
    """Return the settings of a process that uses a store."""
    own = {"PYTHONPATH": str(ROOT / "src"), "RECOLLECT_DB": settings.db}
    own |= {"RECOLLECT_EMBEDDING_BACKEND": "none", "RECOLLECT_KEYRING": "false"}
    return own | {"RECOLLECT_KEY_FILE": settings.key_file}


def _hook_took(settings: Settings) -> Took:
    """Return what the process of a hook that answers a prompt took."""
    env = environment(settings.db_path.parent, **_own(settings))
    sent = json.dumps({"cwd": "/", "prompt": "which port?", "session_id": os.urandom(4).hex()})
    script = "import sys; from recollect.entry import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "hook", "prompt"]
    begun, computed = perf_counter(), _child_ms()
    subprocess.run(command, input=sent.encode(), env=env, stdout=subprocess.DEVNULL, check=True)
    return Took(1000 * (perf_counter() - begun), _child_ms() - computed)


def _child_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def _rows(times: Times) -> list[str]:
    header = ["", *(f"{kind}, {name}" for kind in KINDS for name in ("processor", "clock"))]
    rows = []
    for what, by_kind in times.items():
        columns = [
            values
            for kind in KINDS
            for values in (
                [took.cpu for took in by_kind[kind]],
                [took.wall for took in by_kind[kind]],
            )
        ]
        cells = [f"{percentile(x, 50):.1f} / {percentile(x, 95):.1f}" for x in columns]
        rows.append([what, *cells])
    return table(header, rows)


def _size_rows(sizes: dict[str, dict[str, float]]) -> list[str]:
    header = ["size, MB", *KINDS]
    return table(
        header, [[what, *(f"{by[kind]:.1f}" for kind in KINDS)] for what, by in sizes.items()]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--hooks", type=int, default=15)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
