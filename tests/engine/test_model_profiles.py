"""
A constant of the ranking means the same with every embedding model.

The embedder of these tests is the default model with other cosines: half as far apart, and half
higher. So every text pair is ranked as before, and no cosine is what the constants expect.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from model_folders import second_folder
from recollect.app.local_recollect import LocalRecollect
from recollect.domain.model_profile import REFERENCE_PROFILE, ModelProfile
from recollect.domain.retrieval import Hit
from recollect.models.embedder import Embedder, Vectors
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.measure_profile import measure_profile
from recollect.models.model_manifest import read_manifest
from recollect.models.packaged_models import default_manifest
from recollect.models.scripted_models import ScriptedEmbedder
from support import open_memory

pytestmark = pytest.mark.kill

FACTS = (
    "Nora is allergic to peanuts.",
    "The import job runs on Tuesday nights at 23:00.",
    "The import job runs on Friday nights at 21:00 now.",
    "We use PostgreSQL for the billing data because it has row locks.",
    "My bicycle is in the cellar of the neighbours.",
    "The standup of the platform team is at half past nine.",
    "Ana works at Acme as a data engineer.",
    "Ana works at Initech as a data engineer.",
    "Invoices are sent as PDF files, never as links.",
    "The dog answers to Bruno.",
)
QUERIES = (
    "what must Nora not eat?",
    "when does the import run?",
    "which database holds the bills?",
    "where did I leave my bike?",
    "where does Ana work?",
    "how do customers get their bills?",
    "what is the pet called?",
    "when does the shop close in Lisbon?",
    "morning meeting",
    "photosynthesis of deep sea algae",
)
CHANGES = (
    "The standup of the platform team is at ten now instead of half past nine. "
    "I switched from the bicycle to the bus. Our dog Bruno is seven years old."
)


class CompressedEmbedder:
    """The default model, with cosines of 0.5 + 0.5 * cosine."""

    name = "compressed"
    dimension = 448

    profile: ModelProfile | None = None

    def __init__(self) -> None:
        self._embedder = LocalEmbedder(default_manifest())
        self.count = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.count += len(texts)
        vectors = self._embedder.embed(texts)
        same = np.full((len(texts), 64), 1 / 8, dtype=np.float32)
        compressed: Vectors = (np.hstack([vectors, same]) * np.sqrt(0.5)).astype(np.float32)
        return compressed

    def embed_query(self, text: str) -> Vectors:
        first: Vectors = self.embed([text])[0]
        return first


@contextmanager
def filled(path: Path, embedder: Embedder) -> Iterator[LocalRecollect]:
    with open_memory(path, embedder=embedder) as memory:
        for fact in FACTS:
            memory.ingest(fact)
        memory.drain()
        yield memory


def shown(hits: Sequence[Hit]) -> list[tuple[str, bool]]:
    return [(hit.memory.content, hit.is_weak) for hit in hits]


def proposals(memory: LocalRecollect) -> list[tuple[str, list[str]]]:
    entries = memory.inbox.list(limit=50)
    return [(e.memory.content, [m.content for m in e.conflicts]) for e in entries]


def test_a_model_whose_similarities_are_higher_and_closer_gives_the_same_hits(
    tmp_path: Path,
) -> None:
    with filled(tmp_path / "a.db", LocalEmbedder(default_manifest())) as memory:
        expected = [shown(memory.search(query)) for query in QUERIES]
    with filled(tmp_path / "b.db", CompressedEmbedder()) as memory:
        found = [shown(memory.search(query)) for query in QUERIES]

    assert found == expected
    assert [] in expected
    assert max(map(len, expected)) > 1
    unscaled = CompressedEmbedder()
    unscaled.profile = REFERENCE_PROFILE
    with filled(tmp_path / "c.db", unscaled) as memory:
        assert [shown(memory.search(query)) for query in QUERIES] != expected


def test_a_model_whose_similarities_are_higher_and_closer_proposes_the_same(tmp_path: Path) -> None:
    embedders: tuple[Embedder, ...] = (
        LocalEmbedder(default_manifest()),
        CompressedEmbedder(),
    )
    results = []
    for number, embedder in enumerate(embedders):
        with filled(tmp_path / f"{number}.db", embedder) as memory:
            memory.capture_session(f"User: {CHANGES}\n\nAssistant: Noted.", session="s")
            memory.drain()
            results.append(proposals(memory))

    assert results[0] == results[1]
    assert any(conflicts for _, conflicts in results[0])


def test_a_skill_that_shares_no_word_needs_the_same_similarity_with_every_model(
    tmp_path: Path,
) -> None:
    results = []
    embedders: tuple[Embedder, ...] = (LocalEmbedder(default_manifest()), CompressedEmbedder())
    for number, embedder in enumerate(embedders):
        with open_memory(tmp_path / f"{number}.db", embedder=embedder) as memory:
            queries = ("keep facts for later", "candidates that wait", "boil eggs")
            hits = [memory.skills.search(query) for query in queries]
            results.append([[hit.skill.name for hit in some] for some in hits])

    assert results[0] == results[1]
    assert any(results[0])
    assert [] in results[0]


def test_a_model_is_measured_once_for_each_store(tmp_path: Path) -> None:
    with filled(tmp_path / "a.db", CompressedEmbedder()):
        pass
    embedder = CompressedEmbedder()

    with open_memory(tmp_path / "a.db", embedder=embedder) as memory:
        memory.search("what must Nora not eat?")

    assert embedder.count == 1  # the query


def test_a_search_with_the_default_model_measures_nothing(path: Path) -> None:
    embedder = ScriptedEmbedder()

    with open_memory(path, embedder=embedder) as memory:
        memory.ingest("The dog answers to Bruno.")
        memory.search("what is the dog called?")

    assert LocalEmbedder(default_manifest()).profile == REFERENCE_PROFILE
    assert sorted(embedder.texts) == ["The dog answers to Bruno.", "what is the dog called?"]


def test_the_scale_of_the_default_model_is_that_of_the_constants() -> None:
    embedder = LocalEmbedder(default_manifest())

    profile = measure_profile(
        embedder.embed, lambda texts: np.array([embedder.embed_query(text) for text in texts])
    )

    for scale in (profile.queries, profile.texts):
        assert scale.slope == pytest.approx(1, abs=0.002)
        assert scale.offset == pytest.approx(0, abs=0.002)
    assert not profile.needs_gloss  # the default model glosses by itself


def test_queries_with_a_prefix_have_a_scale_of_their_own() -> None:
    embedder = LocalEmbedder(default_manifest())

    profile = measure_profile(
        embedder.embed,
        lambda texts: embedder.embed([f"Represent this for searching: {text}" for text in texts]),
    )

    assert profile.texts.offset == pytest.approx(0, abs=0.002)
    assert abs(profile.queries.offset) > 0.01


def test_a_model_that_tells_nothing_apart_is_not_stretched() -> None:
    profile = measure_profile(same_vectors, same_vectors)

    assert profile == REFERENCE_PROFILE


def same_vectors(texts: Sequence[str]) -> Vectors:
    return np.full((len(texts), 4), 0.5, dtype=np.float32)


class RecordingEmbedder(LocalEmbedder):
    """A model from a folder that records what it embeds."""

    def __init__(self, folder: Path) -> None:
        super().__init__(read_manifest(folder))
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return super().embed(texts)


def test_a_model_that_cannot_tell_other_languages_apart_gets_glosses(tmp_path: Path) -> None:
    embedder = RecordingEmbedder(second_folder(tmp_path / "other"))

    with open_memory(tmp_path / "a.db", embedder=embedder) as memory:
        memory.ingest("Los martes por la noche corre la importación.")
        memory.ingest("El perro se llama Bruno.")
        memory.ingest("No puedo comer cacahuetes.")
        [first, *_] = memory.search("¿cómo se llama mi mascota?")

    assert first.memory.content == "El perro se llama Bruno."
    assert "El perro se llama Bruno." not in embedder.texts
    assert any("dog" in text and "Bruno" in text for text in embedder.texts)


def test_a_model_that_has_embedded_without_glosses_goes_on_without_them(tmp_path: Path) -> None:
    before = RecordingEmbedder(second_folder(tmp_path / "other"))
    before.profile = REFERENCE_PROFILE  # as if models were not measured then
    with open_memory(tmp_path / "a.db", embedder=before) as memory:
        memory.ingest("El perro se llama Bruno.")
        memory.drain()
    embedder = RecordingEmbedder(tmp_path / "other")

    with open_memory(tmp_path / "a.db", embedder=embedder) as memory:
        memory.ingest("No puedo comer cacahuetes.")
        memory.drain()

    assert before.name == embedder.name
    assert "No puedo comer cacahuetes." in embedder.texts
