"""Run `recollect serve` in a process of its own, on a free port."""

import json
import os
import resource
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from terminal import installed


@dataclass(frozen=True)
class ServerProcess:
    """A running server: its address and its process."""

    url: str
    port: int
    pid: int
    db: Path
    process: subprocess.Popen[str]


def without_embedder(**more: str) -> dict[str, str]:
    """Return the environment with the embedder disabled: most tests need none."""
    return {**os.environ, "RECOLLECT_EMBEDDING_BACKEND": "none", **more}


@contextmanager
def run_server(
    db: Path | str,
    *options: str,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    max_files: int = 0,
) -> Iterator[ServerProcess]:
    """
    Run `recollect serve` on *db* inside the block; *log* receives its error output.

    *max_files* limits how many files it may have open.
    """

    def limit_files() -> None:
        if max_files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max_files, max_files))

    command = [installed("recollect"), "serve", "--db", str(db), "--port", "0", "--json", *options]
    with (
        open(log or os.devnull, "a") as log_file,
        subprocess.Popen(
            command,
            env=dict(without_embedder() if env is None else env),
            stdout=subprocess.PIPE,
            # A pipe that nobody reads would fill up and block the server.
            stderr=log_file if log else subprocess.PIPE,
            text=True,
            preexec_fn=limit_files if max_files else None,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            text = "".join(_first_json_object(lines))
            startup = json.loads(text)
            yield ServerProcess(startup["url"], startup["port"], startup["pid"], Path(db), process)
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=60)


def _first_json_object(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line.rstrip() == "}":
            return
