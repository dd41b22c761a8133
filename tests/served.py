"""A real server in a process of its own, on a port the system chooses."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from terminal import installed


@dataclass(frozen=True)
class Served:
    """A server that answers: where it is, and its process."""

    url: str
    port: int
    pid: int
    db: Path
    process: subprocess.Popen[str]


def without_embedder(**more: str) -> dict[str, str]:
    """Return this environment with the embedder switched off: most tests need none."""
    return {**os.environ, "RECOLLECT_EMBEDDING_BACKEND": "none", **more}


@contextmanager
def serving(
    db: Path, *options: str, env: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[Served]:
    """Run `recollect serve` on *db* inside the block; *log* takes what it says of its errors."""
    command = [installed("recollect"), "serve", "--db", str(db), "--port", "0", "--json", *options]
    with (
        open(log or os.devnull, "a") as written,
        subprocess.Popen(
            command,
            env=dict(without_embedder() if env is None else env),
            stdout=subprocess.PIPE,
            # A pipe that nobody reads would be full one day, and the server would stand still.
            stderr=written if log else subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            text = "".join(_up_to_the_end_of_an_object(lines))
            told = json.loads(text)
            yield Served(told["url"], told["port"], told["pid"], db, process)
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=60)


def _up_to_the_end_of_an_object(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line.rstrip() == "}":
            return
