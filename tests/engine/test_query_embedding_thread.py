"""A query is embedded by a model in this process while the store is read."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from recollect import EmbedderUnavailable, LocalRecollect, Retrieval
from recollect.models.embedder import Vectors
from recollect.models.scripted_models import ScriptedEmbedder
from support import open_memory

pytestmark = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs a second core")

DEADLINE_S = 20.0
MANY = 130  # more than a search considers of each index
QUESTIONS = (
    "which lamp is in the hall",
    "what colour is the car",
    "who waters the plants on Mondays",
    "lamp",
    "the vehicle 17",
)


class InProcessEmbedder(ScriptedEmbedder):
    """The scripted embedder, with a step before each query."""

    is_in_process = True

    def __init__(self) -> None:
        super().__init__(synonyms={"vehicle": "car"})
        self.before_query: Callable[[str], object] = lambda query: None

    def embed_query(self, text: str) -> Vectors:
        self.before_query(text)
        return super().embed_query(text)


@pytest.fixture
def embedder() -> InProcessEmbedder:
    return InProcessEmbedder()


@pytest.fixture
def rec(path: Path, embedder: InProcessEmbedder) -> Iterator[LocalRecollect]:
    """A memory that has answered a query, so that the model that serves is known."""
    with open_memory(path, embedder=embedder) as opened:
        opened.ingest("the car is blue")
        opened.drain()
        opened.search("warm up")
        yield opened


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + DEADLINE_S
    while not condition() and time.monotonic() < deadline:
        threading.Event().wait(0.001)
    return condition()


def test_the_store_is_read_while_the_query_is_embedded(
    rec: LocalRecollect, embedder: InProcessEmbedder
) -> None:
    store = rec._services.store
    is_reading: list[bool] = []
    embedder.before_query = lambda query: is_reading.append(
        wait_until(lambda: store.load().busy_readers > 0)
    )

    [hit] = rec.search("vehicle")
    bundle = rec.context_for("what colour has the vehicle?")

    assert is_reading == [True, True]
    assert hit.memory.content == "the car is blue"
    assert hit.parts.semantic > 0
    assert "the car is blue" in bundle.text


def test_results_are_those_of_a_query_that_was_embedded_before(
    path: Path, rec: LocalRecollect
) -> None:
    agent = rec.agents.create("helper").id
    conversation = rec.conversations.start(agent=agent)
    for n in range(MANY):
        rec.ingest(f"the lamp {n} of the hall is {n % 7} years old, and the car {n % 11}")
    rec.conversations.append_many(
        conversation,
        [{"role": "user", "content": f"I saw lamp {n}, and a vehicle"} for n in range(MANY)],
    )
    rec.drain()

    def answers(memory: LocalRecollect) -> Sequence[object]:
        return [
            (
                [(hit.memory.id, hit.score, hit.parts, hit.explanation) for hit in hits],
                [(found.message.id, found.score, found.parts) for found in messages],
                bundle.prefix,
                bundle.text,
            )
            for question in QUESTIONS
            for hits in [memory.search(question)]
            for messages in [memory.conversations.search(question, agent=agent)]
            for bundle in [memory.context_for(question, agent=agent)]
        ]

    meanwhile = answers(rec)
    rec.close()
    with open_memory(path, embedder=ScriptedEmbedder(synonyms={"vehicle": "car"})) as before:
        assert answers(before) == meanwhile


def test_a_query_whose_embedding_fails_is_answered_by_words(
    rec: LocalRecollect, embedder: InProcessEmbedder
) -> None:
    def fail(query: str) -> None:
        raise EmbedderUnavailable("the model is broken")

    embedder.before_query = fail

    [hit] = rec.search("the blue car")
    retrieval = rec.explain(hit.retrieval_id or "")

    assert hit.parts.semantic == 0
    assert isinstance(retrieval, Retrieval)
    assert any("the model is broken" in note for note in retrieval.notes)


def test_what_was_written_just_before_is_found_by_meaning(rec: LocalRecollect) -> None:
    rec.ingest("a new vehicle has four doors")

    assert rec.search("car with doors")[0].memory.content == "a new vehicle has four doors"


def test_a_query_does_not_wait_for_the_embedding_of_another(
    rec: LocalRecollect, embedder: InProcessEmbedder
) -> None:
    is_answered = threading.Event()
    embedder.before_query = lambda query: query == "slow car" and is_answered.wait(DEADLINE_S)
    hits: list[str] = []
    slow = threading.Thread(
        target=lambda: hits.extend(hit.memory.content for hit in rec.search("slow car"))
    )
    slow.start()
    assert wait_until(lambda: rec._services.store.load().busy_readers > 0)

    assert rec.search("blue vehicle")[0].memory.content == "the car is blue"
    is_answered.set()
    slow.join(DEADLINE_S)

    assert hits == ["the car is blue"]
