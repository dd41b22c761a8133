"""Many processes on one file: no lost write, no lock error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.store.sqlite.store import SqliteStore
from support import FakeClock, open_memory

pytestmark = pytest.mark.kill

PROCESSES = 8
OPERATIONS, ALL_OPERATIONS = 150, 1_000  # of each process

WORKER = """
import json, random, sys
from pathlib import Path
import recollect

path, number, operations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(number)
home = f"p{number % 3}"
kept, gone, searched = [], [], 0
with recollect.open(path, embedding_backend="none") as memory:
    for step in range(operations):
        roll = chance.random()
        if roll < 0.5 or not kept:
            kept.append(memory.ingest(f"fact {number}-{step} alpha beta", project=home).id)
        elif roll < 0.8:
            searched += len(memory.search(f"fact {number}-{step}", project=home, limit=3))
        elif roll < 0.85:
            memory.upsert_profile_fact(f"key{chance.randrange(5)}", f"{number}-{step}")
        elif roll < 0.9 and len(kept) > 1:
            memory.link(kept[-1], "related_to", kept[-2])
        elif roll < 0.95:
            memory.memories.get(chance.choice(kept))
        else:
            gone.append(kept.pop(chance.randrange(len(kept))))
            memory.forget(gone[-1])
print(json.dumps({"kept": kept, "gone": gone, "searched": searched}))
"""


@pytest.mark.timeout(900)  # for a busy machine
def test_eight_processes_with_mixed_operations_lose_nothing(path: Path, exhaustive: bool) -> None:
    operations = ALL_OPERATIONS if exhaustive else OPERATIONS
    env = os.environ | {"PYTHONWARNINGS": "error"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(number), str(operations)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for number in range(PROCESSES)
    ]
    results = []
    for worker in workers:
        out, err = worker.communicate()
        assert worker.returncode == 0, err
        results.append(json.loads(out))

    with open_memory(path, words_only=True) as rec:
        verified = rec.maintenance.verify()
        for result in results:
            for memory_id in result["kept"]:
                assert rec.memories.get(memory_id).id == memory_id
        alive = {stored.id for stored in rec.memories.list(everywhere=True, limit=1000)}
        status = rec.maintenance.status()

    gone = {memory_id for result in results for memory_id in result["gone"]}
    kept = sum(len(result["kept"]) for result in results)
    assert verified.ok, verified.problems
    assert not alive & gone
    facts = status.counts["memories"] - kept
    assert facts >= 5  # the profile facts, current and superseded
    assert status.memories_by_status["active"] == kept + 5
    assert sum(result["searched"] for result in results) > 0


WRITER = """
import sys
import apsw

db = apsw.Connection(sys.argv[1])
db.set_busy_timeout(60_000)
db.execute("PRAGMA synchronous = OFF; CREATE TABLE scratch (bytes)")
print("begun", flush=True)
while True:
    with db:
        for _ in range(40):
            db.execute("INSERT INTO scratch VALUES (randomblob(3000))")
    db.execute("DELETE FROM scratch WHERE rowid < (SELECT max(rowid) - 200 FROM scratch)")
"""


def test_a_store_that_is_opened_during_the_commits_of_another_process_is_not_called_damaged(
    path: Path, clock: FakeClock
) -> None:
    SqliteStore(path, clock).close()
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "begun\n"
            reports = []
            for _ in range(200):
                store = SqliteStore(path, clock)
                reports.append(store.rescue_report)
                store.close()
        finally:
            writer.kill()

    assert set(reports) == {None}


OPENERS = """
import os, sys, time
from pathlib import Path
from recollect.clock import SystemClock
from recollect.store.sqlite.store import SqliteStore

failed = 0
for round in range(20):
    starts_at, pids = time.time() + 0.05, []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            while time.time() < starts_at:
                pass
            try:
                SqliteStore(Path(sys.argv[1], f"{round}.db"), SystemClock()).close()
            except BaseException:
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    failed += sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
print(failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_eight_processes_that_make_one_store_at_the_same_moment_all_open_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENERS, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)

    assert run.stdout == "0\n", run.stderr
