"""Helpers for tests of `learning()`: read stored messages and warnings, serve a memory."""

import gc
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from fault_proxy import FaultProxy, fault_proxy, forward, wait_until
from in_process_server import serve_in_thread
from recollect import LocalRecollect, Message
from vendor_server import VendorServer

OPENING = "The following is context from your memory:"


def stored_messages(rec: LocalRecollect, agent: str) -> list[Message]:
    """Return all messages of an agent, oldest first."""
    conversations = reversed(rec.conversations.list(agent=agent))
    return [
        message for one in conversations for message in rec.conversations.messages(one, limit=1_000)
    ]


def user_texts(rec: LocalRecollect, agent: str) -> list[str]:
    """Return the user messages of an agent, in order."""
    return [message.content for message in stored_messages(rec, agent) if message.role == "user"]


def texts_of_all_agents(rec: LocalRecollect) -> list[str]:
    """Return the texts of all messages in a store, sorted; those without text are left out."""
    messages = [
        message for agent in rec.agents.list() for message in stored_messages(rec, agent.name)
    ]
    return sorted(message.content for message in messages if message.content)


def memory_was_injected(vendor: VendorServer) -> list[bool]:
    """Return for each request whether memory was injected into it."""
    return [OPENING in str(asked.body) for asked in vendor.requests]


def logged_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings logged by Recollect."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.WARNING and record.name.startswith("recollect")
    ]


@contextmanager
def serve_behind_proxy(rec: LocalRecollect) -> Iterator[FaultProxy]:
    """Serve *memory* behind a fault proxy; at the end every outbox is empty."""
    already = set(threading.enumerate())
    with serve_in_thread(rec) as url, fault_proxy(url) as standing:
        yield standing
        # Let pending outbox entries through, so that no outbox thread is left.
        standing.set_behavior(forward)
        standing.release()
        wait_until(lambda: not _outbox_threads(already), within_s=30)
    # An unclosed socket would fail a later test instead of this one. A client whose arguments were
    # refused is an object without a transport.
    for client in gc.get_objects():
        if type(client) is httpx2.Client and hasattr(client, "_transport"):
            client.close()


def _outbox_threads(already: set[threading.Thread]) -> list[threading.Thread]:
    new = set(threading.enumerate()) - already
    return [thread for thread in new if thread.name == "recollect-outbox"]
