"""Many writers, one block: every acknowledged edit is in the history once, no refused one is."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from recollect import BlockConflict, BlockVersion, LocalRecollect
from support import open_memory

pytestmark = pytest.mark.kill

WORKER = """
import json, sys
import recollect

path, number, edits, careful = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "careful"
acknowledged, refused = [], []
with recollect.open(path, embedding_backend="none") as rec:
    print("ready", flush=True)
    sys.stdin.readline()
    for step in range(edits):
        line = f"{number}-{step}"
        version = rec.blocks.get("anna", "notes").version if careful else None
        try:
            after = rec.blocks.append("anna", "notes", line, expected_version=version, by="agent")
            acknowledged.append([line, after.version])
        except recollect.BlockConflict as error:
            assert error.yours.endswith(line)
            refused.append(line)
print(json.dumps({"acknowledged": acknowledged, "refused": refused}))
"""


def prepared(path: Path) -> None:
    with open_memory(path, words_only=True) as rec:
        rec.agents.create("anna")
        rec.blocks.create("notes", agent="anna", limit=None)


def run_processes(path: Path, count: int, edits: int, manner: str) -> list[dict[str, Any]]:
    """Let *count* processes edit at once; each starts when all are ready."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(number), str(edits), manner],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "error"},
        )
        for number in range(count)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    results = []
    for worker in workers:
        out, err = worker.communicate()
        assert worker.returncode == 0, err
        results.append(json.loads(out))
    return results


def check_history(
    history: list[BlockVersion], acknowledged: list[tuple[str, int]], refused: set[str]
) -> None:
    """Each version is the one before it and one acknowledged line; nothing else is there."""
    assert [version.version for version in history] == list(range(1, len(history) + 1))
    lines = {version: line for line, version in acknowledged}
    assert len(lines) == len(acknowledged), "two writers got the same version"
    assert sorted(lines) == list(range(2, len(history) + 1))
    value = ""
    for version in history[1:]:
        line = lines[version.version]
        value = f"{value}\n{line}" if value else line
        assert version.value == value
    assert not refused & set(value.split("\n"))


def test_threads_that_check_the_version_lose_and_repeat_nothing(words_only: LocalRecollect) -> None:
    words_only.agents.create("anna")
    words_only.blocks.create("notes", agent="anna")
    acknowledged: list[tuple[str, int]] = []
    refused: set[str] = set()
    start = threading.Barrier(6)

    def write(number: int) -> None:
        start.wait()
        for step in range(10):
            line = f"{number}-{step}"
            version = words_only.blocks.get("anna", "notes").version
            try:
                after = words_only.blocks.append("anna", "notes", line, expected_version=version)
                acknowledged.append((line, after.version))
            except BlockConflict:
                refused.add(line)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(acknowledged) + len(refused) == 60
    check_history(words_only.blocks.history("anna", "notes"), acknowledged, refused)
    assert words_only.maintenance.verify().ok


def test_threads_that_do_not_check_the_version_all_survive(words_only: LocalRecollect) -> None:
    words_only.agents.create("anna")
    acknowledged: list[tuple[str, int]] = []

    def write(number: int) -> None:
        for step in range(10):
            line = f"{number}-{step}"
            acknowledged.append((line, words_only.blocks.append("anna", "human", line).version))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(words_only.blocks.get("anna", "human").value.split("\n")) == 60
    check_history(words_only.blocks.history("anna", "human"), acknowledged, set())


def test_of_threads_that_make_one_default_block_each_finds_the_same(
    words_only: LocalRecollect,
) -> None:
    words_only.agents.create("anna")
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        words_only.blocks.append("anna", "project", f"line {number}", project="site")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    [block] = words_only.blocks.list(project="site")
    assert sorted(block.value.split("\n")) == [f"line {number}" for number in range(8)]
    assert [project.name for project in words_only.projects.list()] == ["site"]


def test_processes_that_check_the_version_lose_and_repeat_nothing(path: Path) -> None:
    prepared(path)
    results = run_processes(path, 4, 40, "careful")

    acknowledged = [
        (line, version) for result in results for line, version in result["acknowledged"]
    ]
    refused = {line for result in results for line in result["refused"]}
    with open_memory(path, words_only=True) as rec:
        history = rec.blocks.history("anna", "notes")
        verified = rec.maintenance.verify()
    assert len(acknowledged) + len(refused) == 160
    check_history(history, acknowledged, refused)
    assert verified.ok, verified.problems


def test_appends_from_four_processes_all_survive(path: Path) -> None:
    prepared(path)
    results = run_processes(path, 4, 40, "blind")

    acknowledged = [
        (line, version) for result in results for line, version in result["acknowledged"]
    ]
    with open_memory(path, words_only=True) as rec:
        history = rec.blocks.history("anna", "notes")
        value = rec.blocks.get("anna", "notes").value
        verified = rec.maintenance.verify()
    assert sorted(value.split("\n")) == sorted(
        f"{n}-{step}" for n in range(4) for step in range(40)
    )
    check_history(history, acknowledged, set())
    assert verified.ok, verified.problems
