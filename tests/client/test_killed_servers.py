"""Writes with keys against servers that end, politely or not: acknowledged is there once."""

import random
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import recollect
from recollect.client.connection import use_idempotency_key
from recollect.errors import AlreadyAccepted, ServerUnavailable
from server_process import run_server, without_embedder
from support import open_memory

pytestmark = pytest.mark.kill

WRITERS = 8
KILLS = 5


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def test_a_key_holds_across_a_restart(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with run_server(db, log=tmp_path / "log") as served, recollect.connect(served.url) as remote:
        with use_idempotency_key("first"):
            remote.agents.create("ada")
        with use_idempotency_key("second"):
            remote.conversations.add_message("ada", "user", "hello")
    with run_server(db, log=tmp_path / "log") as served, recollect.connect(served.url) as remote:
        with use_idempotency_key("second"), pytest.raises(AlreadyAccepted):
            remote.within(30).conversations.add_message("ada", "user", "hello")
        with use_idempotency_key("second"), pytest.raises(recollect.InvalidInput):
            remote.within(30).conversations.add_message("ada", "user", "something else")

        assert len(remote.conversations.agent_messages("ada", limit=10)) == 1


def test_what_was_acknowledged_is_there_exactly_once_however_often_the_server_dies(
    tmp_path: Path,
) -> None:
    db, port = tmp_path / "memory.db", free_port()
    options = ("--port", str(port))
    env = without_embedder(RECOLLECT_REQUESTS_PER_SECOND="0")
    stop = threading.Event()
    with open_memory(db, words_only=True) as rec:
        rec.agents.create("ada")

    def write(writer: int) -> list[str]:
        done: list[str] = []
        with recollect.connect(f"http://127.0.0.1:{port}") as remote:
            for number in range(100_000):
                if stop.is_set():
                    return done
                text = f"writer {writer} message {number}"
                with use_idempotency_key(text):
                    while True:
                        try:
                            remote.within(30).conversations.add_message("ada", "user", text)
                        except AlreadyAccepted:
                            pass
                        except ServerUnavailable:
                            time.sleep(0.02)
                            continue
                        break
                done.append(text)
        return done

    with ThreadPoolExecutor(WRITERS) as pool:
        written = [pool.submit(write, number) for number in range(WRITERS)]
        try:
            for _ in range(KILLS):
                with run_server(db, *options, env=env, log=tmp_path / "log") as served:
                    time.sleep(random.uniform(0.3, 1.5))  # the moment is the test
                    served.process.kill()
        finally:
            with run_server(db, *options, env=env, log=tmp_path / "log"):
                stop.set()
                acknowledged = [text for future in written for text in future.result(100)]

    with open_memory(db, words_only=True) as rec:
        stored_counts = Counter(
            message.content for message in rec.conversations.agent_messages("ada", limit=10_000)
        )
        assert rec.maintenance.verify().ok
    assert len(acknowledged) > WRITERS
    assert set(acknowledged) <= stored_counts.keys()
    assert {text: n for text, n in stored_counts.items() if n > 1} == {}
