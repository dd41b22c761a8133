"""
The same data and questions give the same bytes in a file and on a PostgreSQL server.

benchmarks/postgres.py asks a thousand questions of two thousand memories.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from benchmarks.generated_sentences import questions, sentences
from postgres_server import SCHEMAS, shared_server
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.models.scripted_models import ScriptedEmbedder
from support import FakeClock

pytestmark = pytest.mark.postgres

MEMORIES = 250
QUESTIONS = 60
TALK = ("We ship on Friday.", "Zürich is cold.", "naïve café", "日本語のメモ", "the ports are open")


@pytest.fixture
def stores(path: Path, tmp_path: Path) -> Iterator[list[LocalRecollect]]:
    """A store in a file and one on a server, to which the same things happen."""
    places = [str(path), shared_server().url(SCHEMAS.schema_of(tmp_path))]
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                LocalRecollect(Settings(db=db), clock=FakeClock(), embedder=ScriptedEmbedder())
            )
            for db in places
        ]
    SCHEMAS.release()


def fill(rec: LocalRecollect) -> None:
    """Store memories of many projects, a conversation, blocks, links and candidates."""
    chance = Random(3)
    kept = []
    for sentence in sentences(MEMORIES):
        project = None if sentence.project is None else f"p{chance.randrange(4)}"
        kept.append(rec.ingest(sentence.text, type="decision", project=project).id)
        rec._services.clock.advance(hours=7)  # type: ignore[attr-defined]
    for _ in range(20):
        rec.link(chance.choice(kept), "contradicts", chance.choice(kept))
    rec.agents.create("anna")
    talk = rec.conversations.start(agent="anna", project="p1")
    for number in range(40):
        role = "user" if number % 2 else "assistant"
        rec.conversations.append(talk, role, f"{chance.choice(TALK)} number {number}")
    rec.capture_session("User: I prefer tabs.\nAssistant: Noted.\nUser: The port is 80.\n")
    rec.drain()
    rec.forget(kept[7])


def test_search_and_bundles_are_the_same_bytes_in_both_databases(
    stores: list[LocalRecollect],
) -> None:
    for rec in stores:
        fill(rec)
    asked = [question.text for question in questions(sentences(MEMORIES), QUESTIONS, seed=5)]
    asked += ["what did I say last week?", "Zürich", "naive cafe", "日本語", "", "tabs or spaces?"]

    for number, text in enumerate(asked):
        project = f"p{number % 4}"
        in_file, on_server = (repr(rec.search(text, project=project)) for rec in stores)
        assert in_file == on_server, text
        in_file, on_server = (repr(rec.context_for(text, project=project)) for rec in stores)
        assert in_file == on_server, text
        in_file, on_server = (repr(rec.conversations.search(text, agent="anna")) for rec in stores)
        assert in_file == on_server, text


def test_both_databases_export_the_same_rows(stores: list[LocalRecollect]) -> None:
    for rec in stores:
        fill(rec)

    in_file, on_server = (list(rec._store.export_rows()) for rec in stores)

    assert on_server == in_file
    assert [list(row) for row in on_server] == [list(row) for row in in_file]
