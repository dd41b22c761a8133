"""
Threads that store facts on any of several servers, each until a server has acknowledged it.

A write that was not acknowledged is sent again under its idempotency key, to the next server. So in
the end each acknowledged fact must be stored exactly once, whatever happened in between.
"""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

TIMEOUT_S = 60.0
GIVE_UP_S = 180.0  # for one fact: no fault of a run lasts as long
PAUSE_S = 0.05
TEMPORARY = frozenset({429, 503, 507})
ALREADY_STORED = 409


class RepeatingWriters:
    """Writers, from `start` to `stop`. The addresses may be changed meanwhile."""

    def __init__(self, addresses: Sequence[str], count: int, *, name: str = "run") -> None:
        self.addresses = list(addresses)
        self.acknowledged: list[str] = []
        self.answers: Counter[str] = Counter()  # how often servers gave which answer
        self.problems: list[str] = []
        self.longest_gap_s = 0.0  # between two acknowledgements of any writer
        self._name = name
        self._last_at = time.monotonic()
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._write, args=(number,)) for number in range(count)
        ]

    def start(self) -> None:
        """Begin to write."""
        self._last_at = time.monotonic()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Wait until each writer has its last fact acknowledged."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, count: int) -> None:
        """Wait until so many more facts are acknowledged."""
        target = len(self.acknowledged) + count
        give_up_at = time.monotonic() + GIVE_UP_S
        while len(self.acknowledged) < target and not self.problems:
            if time.monotonic() > give_up_at:
                self.problems.append(f"nothing was stored for {GIVE_UP_S:g} s")
            time.sleep(0.02)

    def _write(self, writer: int) -> None:
        number = 0
        while not self._is_over.is_set() and not self.problems:
            text = f"In {self._name}, writer {writer} wrote fact number {number}."
            if self._store(text, first=writer + number):
                self._note(text)
            number += 1

    def _note(self, text: str) -> None:
        now = time.monotonic()
        with self._lock:
            self.acknowledged.append(text)
            self.longest_gap_s = max(self.longest_gap_s, now - self._last_at)
            self._last_at = now

    def _store(self, text: str, *, first: int) -> bool:
        give_up_at = time.monotonic() + GIVE_UP_S
        attempt = first
        while time.monotonic() < give_up_at:
            status, answer = _post(self.addresses[attempt % len(self.addresses)], text)
            with self._lock:
                self.answers[answer] += 1
            if status in (200, ALREADY_STORED):
                return True
            if status and status not in TEMPORARY:
                self.problems.append(answer)
                return False
            time.sleep(PAUSE_S)
            attempt += 1
        self.problems.append(f"no server took {text!r} in time")
        return False


def _post(address: str, text: str) -> tuple[int, str]:
    """Return the status, 0 if there was no response, and what was answered in a few words."""
    body = json.dumps({"content": text, "type": "project", "project": "faults"})
    headers = {"content-type": "application/json", "idempotency-key": text}
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=TIMEOUT_S)
    try:
        connection.request("POST", "/api/memories", body, headers)
        response = connection.getresponse()
        content = response.read()
    except (OSError, http.client.HTTPException):
        return 0, "no response"
    finally:
        connection.close()
    if response.status == 200:
        return 200, "200"
    try:
        error = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        error = content[:100].decode(errors="replace")
    return response.status, f"{response.status} {error}"
