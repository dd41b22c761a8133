"""
Runs killed with SIGKILL in the middle of a step: the next process continues, no tool runs twice.

Each process sends a message to the same conversation; its model calls tools that append a line to a
file. It dies at a chosen write, before or after it is on disk, inside a tool, before or after its
effect, or at a random moment from outside.

Run as a program, this file is the driver that forks the processes: with one thread only, so that
forking is cheap and safe.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_runs import agent_store, unanswered_calls
from recollect import LocalRecollect
from recollect.domain.conversation import Role
from recollect.models.chat_turn import Turn
from recollect.models.scripted_turns import call_turn
from recollect.store.sqlite.store import SqliteStore

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to be quick about it"),
]

KILLS = 200
RUNTIME = {"tools": ["act"]}
NO_LIMIT: dict[str, Any] = {"chat_calls_per_day": 10**6, "chat_tokens_per_day": 10**9}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def act_on(world: Path, kill: tuple[str, int]) -> Callable[[str], str]:
    done = 0

    def act(effect: str) -> str:
        """Append a line to the world."""
        nonlocal done
        done += 1
        if kill == ("before effect", done):
            die()
        with world.open("a") as file:
            file.write(f"{effect}\n")
            file.flush()
            os.fsync(file.fileno())
        if kill == ("after effect", done):
            die()
        return f"done {effect}"

    return act


def run_process(folder: Path, number: int, kill: tuple[str, int]) -> None:
    """Send one message, and die as planned."""
    write = SqliteStore.write
    writes = 0

    def mortal_write(store: SqliteStore, work: Callable[..., Any]) -> Any:
        nonlocal writes
        writes += 1
        if kill == ("before write", writes):
            die()
        result = write(store, work)
        if kill == ("after write", writes):
            die()
        return result

    SqliteStore.write = mortal_write  # type: ignore[method-assign, assignment]
    folder.mkdir(exist_ok=True)
    effects = [("act", {"effect": f"{number}.{call}"}) for call in range(3)]
    turns: list[Turn | str] = [call_turn(effects[0]), call_turn(*effects[1:]), "Done."]
    tool = act_on(folder / "world", kill)
    path = folder / "memory.db"
    with agent_store(path, *turns, tools=[tool], runtime=RUNTIME, **NO_LIMIT) as (rec, _):
        rec.agents.run("ada", f"Message {number}.")
    SqliteStore.write = write  # type: ignore[method-assign]


def drive(folder: Path) -> None:
    """Fork processes until enough of them were killed."""
    run_process(folder / "first", 0, ("never", 0))  # loads every module once, for all processes
    assert threading.active_count() == 1
    chance, killed, number = random.Random(7), 0, 0
    kinds = ("before write", "after write", "before effect", "after effect", "from outside")
    while killed < KILLS:
        number += 1
        kind = kinds[number % len(kinds)]
        kill = (kind, chance.randint(1, 3 if "effect" in kind else 7))
        pid = os.fork()
        if pid == 0:
            run_process(folder, number, kill)
            os._exit(0)
        if kind == "from outside":
            time.sleep(chance.uniform(0.0, 0.08))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            killed += 1
        elif status:
            raise SystemExit(f"process {number} failed by itself: {status}")


def test_two_hundred_kills_in_the_middle_of_a_step(tmp_path: Path) -> None:
    with agent_store(tmp_path / "memory.db", runtime=RUNTIME):
        pass
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, __file__, str(tmp_path)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]

    with agent_store(tmp_path / "memory.db", "Yes?", **NO_LIMIT) as (rec, _):
        result = rec.agents.run("ada", "Are you there?")
        assert (result.stop_reason, result.text) == ("end_turn", "Yes?")
        assert_sound(rec, tmp_path / "world", result.conversation_id)
        assert rec.maintenance.verify().ok


def assert_sound(rec: LocalRecollect, world: Path, conversation: str) -> None:
    effects = Counter(world.read_text().split())
    messages = rec.conversations.messages(conversation, limit=10_000)
    answers = {message.tool_call_id: message for message in messages if message.role is Role.TOOL}

    assert unanswered_calls(messages) == []
    assert set(effects.values()) == {1}
    outcomes: Counter[str] = Counter()
    for message in messages:
        for call in message.tool_calls:
            effect = json.loads(call["function"]["arguments"])["effect"]
            answer = answers[call["id"]]
            outcomes[answer.content.partition(" ")[0]] += 1
            if answer.content.startswith("done"):
                assert effects[effect] == 1
            elif answer.metadata.get("not_run"):
                assert effects[effect] == 0
    # Each way to end was met, so the kills were in the middle of steps.
    assert {"done", "Interrupted:", "Not"} <= outcomes.keys()


if __name__ == "__main__":
    drive(Path(sys.argv[1]))
