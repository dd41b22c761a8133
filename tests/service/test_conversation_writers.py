"""Many writers, one conversation: positions without gaps, no acknowledged message lost."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from recollect import IllegalTransition, LocalRecollect
from support import open_memory

pytestmark = pytest.mark.kill

WORKER = """
import json, sys
import recollect

path, talk, number, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
acknowledged = []
with recollect.open(path, embedding_backend="none") as rec:
    print("ready", flush=True)
    sys.stdin.readline()
    for step in range(0, count, 2):
        pair = [{"role": "user", "content": f"{number}-{step + more}"} for more in (0, 1)]
        messages = rec.conversations.append_many(talk, pair)
        acknowledged += [[message.position, message.content] for message in messages]
print(json.dumps(acknowledged))
"""


def check_positions(rec: LocalRecollect, talk: str, acknowledged: list[tuple[int, str]]) -> None:
    """The conversation is what was acknowledged to its writers, in gapless order."""
    messages = rec.conversations.messages(talk, limit=10_000)
    assert [message.position for message in messages] == list(range(len(messages)))
    assert [(message.position, message.content) for message in messages] == sorted(acknowledged)
    assert len({message.id for message in messages}) == len(messages)
    assert rec.maintenance.verify().ok


def test_threads_append_to_one_conversation_without_gaps(words_only: LocalRecollect) -> None:
    talk = words_only.conversations.start(agent="anna").id
    acknowledged: list[tuple[int, str]] = []
    start = threading.Barrier(6)

    def write(number: int) -> None:
        start.wait()
        for step in range(15):
            pair = [{"role": "user", "content": f"{number}-{step}-{more}"} for more in (0, 1)]
            added = words_only.conversations.append_many(talk, pair)
            assert added[1].position == added[0].position + 1
            acknowledged.extend((message.position, message.content) for message in added)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(acknowledged) == 180
    check_positions(words_only, talk, acknowledged)


def test_a_conversation_that_ends_among_writers_takes_nothing_more(
    words_only: LocalRecollect,
) -> None:
    talk = words_only.conversations.start(agent="anna").id
    acknowledged: list[tuple[int, str]] = []
    refused: list[str] = []
    start = threading.Barrier(5)

    def write(number: int) -> None:
        start.wait()
        for step in range(20):
            try:
                added = words_only.conversations.append(talk, "user", f"{number}-{step}")
                acknowledged.append((added.position, added.content))
            except IllegalTransition:
                refused.append(f"{number}-{step}")

    def end() -> None:
        start.wait()
        words_only.conversations.end(talk)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    threads.append(threading.Thread(target=end))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(acknowledged) + len(refused) == 80
    check_positions(words_only, talk, acknowledged)


def test_processes_append_to_one_conversation_without_gaps(path: Path) -> None:
    with open_memory(path, words_only=True) as rec:
        talk = rec.conversations.start(agent="anna").id
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), talk, str(number), "60"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "error"},
        )
        for number in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    acknowledged: list[tuple[int, str]] = []
    for worker in workers:
        out, err = worker.communicate()
        assert worker.returncode == 0, err
        acknowledged += [(position, content) for position, content in json.loads(out)]

    assert len(acknowledged) == 240
    with open_memory(path, words_only=True) as rec:
        check_positions(rec, talk, acknowledged)


def append_until_killed(path: Path, talk: str, pipe: int, number: int) -> None:
    """Append messages and edit a block, acknowledging each through the pipe, for ever."""
    with open_memory(path, words_only=True) as rec:
        count = 0
        while True:
            count += 1
            pair = [
                {"role": "user", "content": f"{number}-{count}-{more} " + "word " * (count % 30)}
                for more in (0, 1)
            ]
            messages = rec.conversations.append_many(talk, pair)
            os.write(pipe, "".join(f"m {message.id}\n" for message in messages).encode())
            block = rec.blocks.set("anna", "persona", f"{number}-{count}")
            os.write(pipe, f"b {block.version:036d}\n".encode())


def killed_writer(path: Path, talk: str, number: int, delay_s: float) -> list[str]:
    """Start a writer, kill it after *delay_s*, return what it had acknowledged."""
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(readable)
        try:
            append_until_killed(path, talk, writable, number)
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
    return [line for line in lines if len(line) == 38]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to be quick about it")
def test_a_writer_killed_at_random_moments_loses_no_acknowledged_message_or_edit(
    path: Path,
) -> None:
    with open_memory(path, words_only=True) as rec:
        rec.agents.create("anna")
        talk = rec.conversations.start(agent="anna").id
    chance = random.Random(7)
    ids: set[str] = set()
    version = 1
    for number in range(30):
        acknowledged = killed_writer(path, talk, number, chance.uniform(0.02, 0.12))
        ids |= {line[2:] for line in acknowledged if line.startswith("m")}
        version = max([version, *(int(line[2:]) for line in acknowledged if line.startswith("b"))])
        with open_memory(path, words_only=True) as rec:
            messages = rec.conversations.messages(talk, limit=10_000)
            history = rec.blocks.history("anna", "persona")
            verified = rec.maintenance.verify()

        assert verified.ok, verified.problems
        assert ids <= {message.id for message in messages}
        assert [message.position for message in messages] == list(range(len(messages)))
        assert len(messages) % 2 == 0  # both of a pair, or none
        assert version <= history[-1].version == len(history)

    assert len(ids) > 30
