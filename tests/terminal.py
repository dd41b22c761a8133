"""Run an installed command on a pseudo-terminal, as a person does."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Shown(NamedTuple):
    """What a command left on the terminal: its exit code, plain and with its colours."""

    code: int
    text: str
    raw: str


def installed(name: str) -> str:
    """Return the path of an installed command."""
    return str(Path(sys.executable).parent / name)


def environment(path: Path, **more: str) -> dict[str, str]:
    """Return the environment of a person whose store lies at *path*."""
    own = {"RECOLLECT_DB": str(path), "TERM": "xterm-256color", "COLUMNS": "120"}
    return {**os.environ, **own, **more}


def in_terminal(command: str, *args: str, env: Mapping[str, str], typed: str = "") -> Shown:
    """Run *command* with *args* on a pseudo-terminal, with *typed* on its keyboard."""
    pty = pytest.importorskip("pty", reason="a terminal needs POSIX")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [installed(command), *args],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=dict(env),
        close_fds=True,
    )
    os.close(slave)
    if typed:
        os.write(master, typed.encode())
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # Linux says end of file on a terminal like this
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    raw = b"".join(chunks).decode()
    return Shown(process.wait(), _ESCAPES.sub("", raw).replace("\r\n", "\n"), raw)
