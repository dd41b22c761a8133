"""The command in a real terminal, with the real embedder: what a person sees and types."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import Shown, environment, in_terminal, installed

pytestmark = pytest.mark.door

pty = pytest.importorskip("pty", reason="a terminal needs POSIX")


def recollect(path: Path, *args: str, typed: str = "") -> Shown:
    return in_terminal("recollect", *args, env=environment(path), typed=typed)


def test_a_person_adds_finds_by_meaning_and_forgets(path: Path) -> None:
    code, added, _ = recollect(path, "add", "We ship the software every Tuesday.")
    memory_id = added.split()[-1]
    _, found, coloured = recollect(path, "search", "what day is the release?")
    _, forgotten, _ = recollect(path, "forget", memory_id, typed="y\n")
    _, nothing, _ = recollect(path, "search", "what day is the release?")

    assert code == 0
    assert "1. We ship the software every Tuesday." in found
    assert "meaning" in found
    assert "\x1b[" in coloured
    assert "Delete this memory for good? [y/N]:" in forgotten
    assert "Deleted: " in forgotten
    assert nothing.startswith("Nothing is stored yet.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_output_that_cannot_be_written_is_one_line(path: Path, more: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [installed("recollect"), "add", "We ship every Tuesday.", *more],
            env=environment(path, RECOLLECT_EMBEDDING_BACKEND="none"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert done.returncode == 1
    assert done.stderr == (
        "Error: the command is done, but its output was not written: No space left on device\n"
    )


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
