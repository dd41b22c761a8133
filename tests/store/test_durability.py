"""An acknowledged write survives kill -9, at any moment; the file stays intact."""

import os
import random
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from support import open_memory

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to be quick about it"),
]

KILLS = 200
ROUNDS = 4  # stores: each is killed KILLS / ROUNDS times, so that old WALs are met again


def write_until_killed(path: Path, pipe: int, number: int) -> None:
    """Write memories and acknowledge each one through the pipe, for ever."""
    with open_memory(path, words_only=True) as rec:
        count = 0
        while True:
            count += 1
            kept = rec.ingest(f"fact {number}-{count} " + "word " * (count % 40), project="p")
            os.write(pipe, f"{kept.id}\n".encode())
            if count % 7 == 0:
                gone = rec.ingest(f"to forget {number}-{count}")
                rec.forget(gone.id)


def killed_writer(path: Path, number: int, delay_s: float) -> list[str]:
    """Start a writer, kill it after *delay_s*, return the ids it had acknowledged."""
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(readable)
        try:
            write_until_killed(path, writable, number)
        except BaseException as error:  # a child must never return into the test runner
            sys.stderr.write(f"writer failed: {error!r}\n")
        os._exit(3)
    os.close(writable)
    with os.fdopen(readable) as acknowledged:
        if number % 2:  # not while it still opens the file, however long that takes
            select.select([acknowledged], [], [], 60)
        time.sleep(delay_s)  # the moment of the kill, not a wait for anything
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        lines = acknowledged.read().split("\n")
    assert os.WIFSIGNALED(status), "the writer ended by itself"
    return [line for line in lines if len(line) == 36]


@pytest.mark.timeout(900)  # for a busy machine
@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_a_writer_killed_at_random_moments_loses_no_acknowledged_write(
    path: Path, round_number: int
) -> None:
    chance = random.Random(round_number)
    acknowledged: set[str] = set()
    for number in range(KILLS // ROUNDS):
        acknowledged.update(killed_writer(path, number, chance.uniform(0.002, 0.06)))
        with open_memory(path, words_only=True) as rec:
            result = rec.maintenance.verify()
            kept = {stored.id for stored in rec.memories.list(project="p", limit=1000)}
            kept |= {i for i in acknowledged - kept if rec.memories.get(i).id == i}

        assert result.ok, result.problems
        assert acknowledged <= kept

    assert len(acknowledged) > KILLS // ROUNDS
