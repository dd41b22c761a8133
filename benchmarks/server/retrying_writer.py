"""
A client that retries: `python -m benchmarks.server.retrying_writer`, its plan as JSON on stdin.

Prints `ready`, waits for a line, and writes one marked text after another until its input is
closed. A write that is not acknowledged is sent again under its idempotency key until it is. Prints
the marks it sent, and the number of retries.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import recollect
from recollect.client.connection import use_idempotency_key
from recollect.clock import SystemClock

PAUSE_S = 0.1
GIVE_UP_S = 60.0  # after the input was closed


def main() -> int:
    plan = json.loads(sys.stdin.readline())
    rec = recollect.connect(plan["url"])
    rec.agents.create(plan["own"])
    conversation = rec.conversations.start(agent=plan["agent"]).id
    writes: list[Callable[[str], Any]] = [
        lambda text: rec.conversations.append(conversation, "user", text),
        lambda text: rec.conversations.add_message(plan["own"], "user", text),
        lambda text: rec.ingest(text, project="killed"),
    ]
    stop = threading.Event()
    print("ready", flush=True)
    sys.stdin.readline()
    threading.Thread(target=_until_closed, args=[stop], daemon=True).start()
    acknowledged: list[str] = []
    sent: list[str] = []
    counts = {"again": 0, "there already": 0}
    while not stop.is_set():
        mark = f"mark-{plan['number']}-{len(sent)}"
        sent.append(mark)
        write = partial(writes[len(sent) % len(writes)], f"{plan['text']} {mark}")
        if _retry_until_acknowledged(write, stop, counts):
            acknowledged.append(mark)
    print(json.dumps({"acknowledged": acknowledged, "sent": sent, **counts}))
    return 0


def _retry_until_acknowledged(
    write: Callable[[], Any], stop: threading.Event, counts: dict[str, int]
) -> bool:
    """Send a write until it is acknowledged; say whether it was."""
    key = SystemClock().new_id()
    until = None
    while until is None or time.monotonic() < until:
        try:
            with use_idempotency_key(key):
                write()
            return True
        except recollect.AlreadyAccepted:
            counts["there already"] += 1  # on disk before the kill, the answer was lost
            return True
        except recollect.ServerUnavailable:
            counts["again"] += 1
            time.sleep(PAUSE_S)
        if until is None and stop.is_set():
            until = time.monotonic() + GIVE_UP_S
    return False


def _until_closed(stop: threading.Event) -> None:
    sys.stdin.read()
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
