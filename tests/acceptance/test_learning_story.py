"""
The story that `learning()` is for, with real processes: what is told to one program, another knows.

The memory server runs as its user starts it, with the embedder of this machine. The only thing that
is not real is the model.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fault_proxy import wait_until
from recollect import connect
from server_process import run_server
from vendor_server import VendorServer

pytestmark = pytest.mark.vendor

PROGRAM = """
import sys
from openai import OpenAI
from recollect import learning

client = OpenAI()

with learning(agent=sys.argv[1], timeout_s=60, flush_s=60):  # the machine may be busy
    response = client.chat.completions.create(
        model="gpt-4", messages=[{"role": "user", "content": sys.argv[2]}]
    )
    print(response.choices[0].message.content)
"""


def worked_off(url: str) -> bool:
    """Say whether a server has read, and embedded, all that it was told."""
    with connect(url) as rec:
        health = rec.health()
    waiting = health["embedder"]["waiting"] + health["queue"]["todo"] + health["queue"]["doing"]
    return bool(waiting == 0 and health["worker"]["state"] == "idle")


def test_a_second_program_is_told_the_name_and_the_language_that_the_first_one_heard(
    vendor: VendorServer, tmp_path: Path
) -> None:
    env = {name: value for name, value in os.environ.items() if name != "RECOLLECT_DB"}

    def program(agent: str, text: str) -> str:
        told = {
            "OPENAI_API_KEY": "test",
            "OPENAI_BASE_URL": vendor.openai_url,
            "MEMORY_SERVER_URL": served.url,
            "NO_PROXY": "*",
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, agent, text],
            env=env | told,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert wait_until(lambda: worked_off(served.url)), (
            "what one program said is learnt by the next"
        )
        return done.stdout

    with run_server(tmp_path / "story.db", env=env) as served:
        first = program("my_agent", "My name is Alice and I prefer Python.")
        program("my_agent", "What programming language should I use?")
        program("another_agent", "What programming language should I use?")

    assert first == "You said: My name is Alice and I prefer Python. ✓\n"
    second, stranger = (str(asked.body["messages"]) for asked in vendor.requests[1:])
    assert "Alice" in second
    assert "Python" in second
    assert "What programming language should I use?" in second
    assert "Alice" not in stranger
    assert "Python" not in stranger
