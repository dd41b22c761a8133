"""What the tests of `learning()` share: a short way to ask, and to see what was kept and warned."""

import gc
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from gate import Gate, forward, gate, until
from hosted import hosted
from recollect import Message, Recollect
from vendor_calls import question
from vendor_server import VendorServer

BLOCK = "Name: Alice"
OPENING = "The following is context from your memory:"


def chat(client: Any, text: str, **more: Any) -> Any:
    """Ask a model, through a client of OpenAI's."""
    return client.chat.completions.create(**question("chat", text, **more))


def kept(memory: Recollect, agent: str) -> list[Message]:
    """Return all messages of an agent, oldest first."""
    conversations = reversed(memory.conversations(agent=agent))
    return [message for one in conversations for message in memory.messages(one, limit=1_000)]


def users(memory: Recollect, agent: str) -> list[str]:
    """Return what users said to an agent, in order."""
    return [one.content for one in kept(memory, agent) if one.role == "user"]


def told(vendor: VendorServer) -> list[bool]:
    """Return of each request whether the model was told something from memory."""
    return [OPENING in str(asked.body) for asked in vendor.asked]


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings of this program's own code."""
    return [
        one.getMessage()
        for one in caplog.records
        if one.levelno >= logging.WARNING and one.name.startswith("recollect")
    ]


@contextmanager
def gated(memory: Recollect) -> Iterator[Gate]:
    """Serve *memory* behind a gate; at the end nothing of an outbox is left."""
    already = set(threading.enumerate())
    with hosted(memory) as url, gate(url) as standing:
        yield standing
        # What still waits in an outbox is let through, so that no thread of it stays.
        standing.does(forward)
        standing.let_go()
        until(lambda: not _waiting(already), within_s=30)
    # Sockets that nobody closed would fail some later test, not the one to blame.
    for one in gc.get_objects():
        if type(one) is httpx2.Client and not one.is_closed:
            one.close()


def _waiting(already: set[threading.Thread]) -> list[threading.Thread]:
    new = set(threading.enumerate()) - already
    return [one for one in new if one.name == "recollect-outbox"]
