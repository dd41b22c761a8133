"""
An import that is killed at any write, and run again, ends as if nobody had disturbed it.

This file is its own second program: it forks a child for each write there is, which dies just
before or just after it, so that the modules are loaded once.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

import client_session_files
from client_session_files import SQLITE, TABS
from recollect import LocalRecollect
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from support import open_memory

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked"),
]
T = TypeVar("T")
MOST_WRITES = 40


def brought(rec: LocalRecollect, home: Path) -> None:
    for source, paths in (("claude-code", ()), ("chatgpt", (home / "export.zip",))):
        for _ in rec.engine.import_history_in_steps(source, paths):
            pass


def die_at(number: int, *, committed: bool) -> None:
    """Let this process die at a write of its store: before its commit, or after."""
    real, writes = SqliteStore.write, 0

    def die(*_: object) -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("still alive")

    def write(store: SqliteStore, work: Callable[[SqliteTables], T]) -> T:
        nonlocal writes
        writes += 1
        if writes != number:
            return real(store, work)
        real(store, work if committed else lambda tables: (work(tables), die()))
        die()

    SqliteStore.write = write  # type: ignore[method-assign, assignment]


def killed_at_every_write(folder: Path, home: Path) -> int:
    """Import into a new store for each write there is, and die there; return how many there are."""
    for number in range(1, MOST_WRITES):
        ended = []
        for committed in (False, True):
            pid = os.fork()
            if pid == 0:
                die_at(number, committed=committed)
                path = folder / f"{number}-{committed}.db"
                with open_memory(path, words_only=True) as rec:
                    brought(rec, home)
                os._exit(0)
            ended.append(os.waitpid(pid, 0)[1])
        if not any(os.WIFSIGNALED(one) for one in ended):
            return number - 1
    raise AssertionError("there are more writes than expected")


if __name__ == "__main__":
    print(killed_at_every_write(Path(sys.argv[1]), Path(os.environ["HOME"])))  # noqa: T201


def rows(path: Path, home: Path) -> list[Any]:
    """Import again and work off; return what the store holds, without what the clock made."""
    with open_memory(path, words_only=True) as rec:
        brought(rec, home)
        rec.drain()
        assert rec.maintenance.verify().ok
        exported = path.with_suffix(".jsonl")
        rec.export(exported)
        found = rec.memories.list(
            everywhere=True, statuses=["inbox", "active", "superseded", "archived"], limit=1_000
        )
        events = rec.captures.list()
        jobs = rec.jobs.list(states=["todo", "doing", "done", "parked"], limit=1_000)
    told = [json.loads(line) for line in exported.read_text().splitlines()[1:-1]]
    sources = sorted(row["sha256"] for row in told if row["table"] == "sources")
    return [
        sources,
        sorted((one.uri, one.state.value, one.title, one.source_id is None) for one in events),
        sorted(
            (one.content, one.status.value, len(one.evidence), one.evidence[0].quote)
            for one in found
        ),
        sorted((one.kind.value, one.state.value) for one in jobs),
    ]


def test_an_import_killed_at_any_write_and_run_again_doubles_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    client_session_files.write_claude_code_session(home, "s1", TABS, SQLITE)
    client_session_files.write_claude_code_session(
        home, "s2", TABS, cwd="/srv/tool", folder="-srv-tool"
    )
    talks = [
        client_session_files.chatgpt_conversation(f"c{n}", f"My cat {n} is called Mo.")
        for n in range(20)
    ]
    client_session_files.write_export_zip(home / "export.zip", talks)
    folder = tmp_path / "killed"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, __file__, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    undisturbed = rows(tmp_path / "undisturbed.db", home)
    stores = sorted(folder.glob("*.db"))

    # Two sessions and their marks, two batches of the export and its mark.
    assert int(done.stdout) >= 7
    assert len(stores) >= 2 * int(done.stdout)
    for path in stores:
        assert rows(path, home) == undisturbed, path.name
