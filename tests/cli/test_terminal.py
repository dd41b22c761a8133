"""The command in a real terminal, with the real embedder: what a person sees and types."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="a terminal needs POSIX")

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_terminal(path: Path, *args: str, typed: str = "") -> tuple[int, str, str]:
    """Run the installed command on a pseudo-terminal; return exit code, plain and raw output."""
    master, slave = pty.openpty()
    env = {**os.environ, "RECOLLECT_DB": str(path), "TERM": "xterm-256color", "COLUMNS": "120"}
    command = Path(sys.executable).parent / "recollect"
    process = subprocess.Popen(
        [str(command), *args], stdin=slave, stdout=slave, stderr=slave, env=env, close_fds=True
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
    return process.wait(), _ESCAPES.sub("", raw).replace("\r\n", "\n"), raw


def test_a_person_adds_finds_by_meaning_and_forgets(path: Path) -> None:
    code, added, _ = in_terminal(path, "add", "We ship the software every Tuesday.")
    memory_id = added.split()[-1]
    _, found, coloured = in_terminal(path, "search", "what day is the release?")
    _, forgotten, _ = in_terminal(path, "forget", memory_id, typed="y\n")
    _, nothing, _ = in_terminal(path, "search", "what day is the release?")

    assert code == 0
    assert "1. We ship the software every Tuesday." in found
    assert "meaning" in found
    assert "\x1b[" in coloured
    assert "Forget this for good? [y/N]:" in forgotten
    assert "Forgotten: " in forgotten
    assert nothing.startswith("Nothing relevant was found.")


def test_letta_mem_is_the_same_command(path: Path) -> None:
    command = Path(sys.executable).parent / "letta-mem"
    done = subprocess.run(
        [str(command), "status", "--json"],
        env={**os.environ, "RECOLLECT_DB": str(path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert '"memories": 0' in done.stdout
