"""What an embedder may return, and what happens to a search if it returns something else."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.models.embedder import Vectors
from recollect.models.scripted_models import ScriptedEmbedder
from support import file_store, open_memory


class ConvertingEmbedder(ScriptedEmbedder):
    """Returns the vectors of the scripted embedder, converted."""

    def __init__(self, convert: Callable[[Vectors], Any]) -> None:
        super().__init__(synonyms={"car": "vehicle"})
        self._convert = convert

    def embed(self, texts: Sequence[str]) -> Any:
        return self._convert(super().embed(texts))

    def embed_query(self, text: str) -> Any:
        return self._convert(super().embed([text])[0])


def test_an_embedder_that_returns_a_list_works(path: Path) -> None:
    embedder = ConvertingEmbedder(lambda vectors: (3 * vectors).tolist())  # not of length 1 either
    with open_memory(path, embedder=embedder) as rec:
        rec.ingest("the car is blue")
        rec.ingest("bread needs flour")

        [hit] = rec.search("vehicle")

        assert hit.memory.content == "the car is blue"
        assert 0 < hit.parts.semantic <= 1
        assert rec.maintenance.verify().ok


@pytest.mark.parametrize(
    "convert",
    [
        lambda vectors: None,
        lambda vectors: [],
        lambda vectors: [[1.0], [1.0, 2.0]],
        lambda vectors: (float("nan") * vectors).tolist(),
        lambda vectors: vectors[:0],
        lambda vectors: vectors[..., :1],
    ],
    ids=["None", "empty", "ragged", "not finite", "too few", "wrong dimension"],
)
def test_an_embedder_that_returns_nonsense_leaves_the_search_by_words(
    path: Path, convert: Callable[[Vectors], Any]
) -> None:
    with open_memory(path, embedder=ConvertingEmbedder(convert)) as rec:
        rec.ingest("the car is blue")

        [hit] = rec.search("car")

        assert hit.memory.content == "the car is blue"


def test_the_vector_of_a_text_that_is_forgotten_while_it_is_embedded_is_not_stored(
    path: Path,
) -> None:
    plans: list[Callable[[], object]] = []

    def forget_first(vectors: Vectors) -> Vectors:
        while plans:
            plans.pop()()
        return vectors

    embedder = ConvertingEmbedder(forget_first)
    with open_memory(path, embedder=embedder) as rec:
        fact = rec.ingest("the car is blue", project="p")
        rec.agents.create("driver")
        conversation = rec.conversations.start(agent="driver", project="p")
        rec.conversations.append(
            conversation.id, "assistant", "Noted. the car is blue. Bread needs flour."
        )
        plans.append(lambda: rec.forget(fact.id))
        rec.drain()
        rec.drain()

        [message] = rec.conversations.messages(conversation.id)
        assert "car" not in message.content
        with file_store(rec).read() as tables:
            [(vector,)] = tables.connection.db.execute(
                "SELECT e.vector FROM embeddings e JOIN items i USING (seq) WHERE i.id = ?",
                (message.id,),
            )
        expected = ScriptedEmbedder().embed([message.content])[0].astype("<f2").tobytes()
        assert vector == expected
