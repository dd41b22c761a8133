"""Memory before many calls at once: shared queries, and a briefing for those that wait."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recollect import LocalRecollect
from recollect.client.circuit_breaker import CircuitBreaker
from recollect.client.recall import MAX_PARALLEL, MemoryRecall
from support import open_memory

FACT = "The boat is called Alba."
QUERY = "What is the boat called?"


class HeldMemory:
    """A memory whose answers to some queries are held back until the test lets them go."""

    def __init__(self, rec: LocalRecollect) -> None:
        self._rec = rec
        self.queries: list[str] = []
        self.quick_queries: list[str] = []
        self.held = threading.Semaphore(0)
        self.asked = threading.Semaphore(0)

    def context_for(self, query: str, **arguments: Any) -> Any:
        self.queries.append(query)
        if arguments.get("quick"):
            self.quick_queries.append(query)
        self.asked.release()
        if query.startswith("held"):
            self.held.acquire()
        return self._rec.context_for(query, **arguments)

    def briefing(self, **arguments: Any) -> Any:
        return self._rec.briefing(**arguments)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HeldMemory]:
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        rec.agents.create("anna")
        rec.ingest(FACT, agent="anna", scope="agent")
        memory = HeldMemory(rec)
        yield memory
        for _ in range(100):
            memory.held.release()


@pytest.fixture
def warnings() -> list[str]:
    return []


def recall_of(memory: HeldMemory, warnings: list[str], *, timeout_s: float) -> MemoryRecall:
    arguments = {"agent": "anna", "form": "markdown", "metadata": False, "budget_tokens": 500}
    breaker = CircuitBreaker()
    return MemoryRecall(
        memory, arguments, timeout_s=timeout_s, breaker=breaker, warn=warnings.append
    )


def ask(recall: MemoryRecall, query: str) -> str:
    return recall.memory_text(query, [], asked_at=time.monotonic())


def test_a_query_that_is_being_answered_is_not_sent_again(
    memory: HeldMemory, warnings: list[str]
) -> None:
    recall = recall_of(memory, warnings, timeout_s=30)
    key = (f"held {QUERY}", ())
    first = recall._start(key, time.monotonic())

    assert recall._start(key, time.monotonic()) is first
    memory.held.release()
    assert FACT in first.result().text
    assert len(memory.queries) == 1
    recall.close()


def test_a_call_whose_turn_does_not_come_in_time_gets_the_briefing(
    memory: HeldMemory, warnings: list[str]
) -> None:
    recall = recall_of(memory, warnings, timeout_s=1.0)
    with ThreadPoolExecutor(MAX_PARALLEL) as pool:
        held = [
            pool.submit(ask, recall, f"held {number} {QUERY}") for number in range(MAX_PARALLEL - 1)
        ]
        for _ in held:
            memory.asked.acquire()
        late = pool.submit(ask, recall, f"held more {QUERY}")
        memory.asked.acquire()
        memory.held.release()  # one of them is answered: the memory works, and is busy
        texts = [future.result() for future in [*held, late]]
        fast = ask(recall, QUERY)
    recall.close()

    assert all(FACT in text for text in texts)
    assert FACT in fast  # the memory is asked again at once
    assert warnings == []


def test_a_query_that_waited_among_others_is_answered_quickly(
    memory: HeldMemory, warnings: list[str]
) -> None:
    recall = recall_of(memory, warnings, timeout_s=60)
    long_ago = time.monotonic() - 30

    assert FACT in recall.memory_text(QUERY, [], asked_at=long_ago)  # it was alone
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(ask, recall, f"held {QUERY}")
        memory.asked.acquire()
        memory.asked.acquire()
        assert FACT in recall.memory_text(f"Late: {QUERY}", [], asked_at=long_ago)
        assert FACT in ask(recall, f"New: {QUERY}")
        memory.held.release()
        assert FACT in running.result()
    recall.close()

    assert memory.quick_queries == [f"Late: {QUERY}"]


def test_a_memory_that_answers_nobody_is_not_called_busy(
    memory: HeldMemory, warnings: list[str]
) -> None:
    recall = recall_of(memory, warnings, timeout_s=0.2)

    assert ask(recall, "held forever") == ""
    assert ask(recall, QUERY) == ""  # it is not asked again for a while
    recall.close()

    [warning] = warnings
    assert "memory took longer than 0.2 s" in warning


def test_the_timeout_counts_from_when_the_call_was_made(
    memory: HeldMemory, warnings: list[str]
) -> None:
    recall = recall_of(memory, warnings, timeout_s=10)

    assert recall.memory_text("held back", [], asked_at=time.monotonic() - 11) == ""
    recall.close()

    assert "longer than 10 s" in warnings[0]
