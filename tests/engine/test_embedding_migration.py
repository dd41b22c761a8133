"""
A store changes its embedder: meaning is found before, half-way and after, by one model at a time.

Two real models stand on the machine: one that knows what texts mean, and one of two dimensions,
with whose vectors a question of the other can only be compared by mistake, and loudly.
"""

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from model_folders import second_folder, tiny_folder
from recollect import Hit, InvalidInput, LocalRecollect, NotFound, Retrieval
from recollect.config import Settings
from recollect.engine import embedding_indexer
from recollect.engine.embed_pending import BATCH_ITEMS
from recollect.models.packaged_models import DEFAULT_MODEL, default_manifest
from recollect.models.scripted_models import ScriptedEmbedder

pytestmark = pytest.mark.kill
ALLERGY = "Ana is allergic to peanuts."
SHELLFISH = "Bob cannot eat shellfish."
ABOUT_ALLERGY = "which nuts must nobody serve her?"
ABOUT_SHELLFISH = "seafood someone is unable to digest"
FILLER = BATCH_ITEMS + 6  # more than one batch
Open = Callable[..., LocalRecollect]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two model folders, made once."""
    below = tmp_path_factory.mktemp("folders")
    return {"second": second_folder(below / "second"), "tiny": tiny_folder(below / "tiny")}


@pytest.fixture
def _in_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the thread that a question starts wait, so that half-way lasts."""
    monkeypatch.setattr(embedding_indexer, "MIGRATION_DELAY_S", 3600.0)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where models are kept."""
    return tmp_path / "kept"


@pytest.fixture
def opened(path: Path, kept: Path) -> Iterator[Open]:
    """Open the store of the test as a program does that names no embedder."""
    memories: list[LocalRecollect] = []

    def open_it(
        *, embedder: ScriptedEmbedder | None = None, folder: Path | None = None
    ) -> LocalRecollect:
        settings = Settings(db=str(path), models_folder=str(kept))
        if folder is not None:
            settings = replace(settings, embedding_backend="folder", embedding_model=str(folder))
        memories.append(LocalRecollect(settings, embedder=embedder))
        return memories[-1]

    yield open_it
    for memory in memories:
        memory.close()


def filled(rec: LocalRecollect) -> LocalRecollect:
    """Put an allergy below more items than one batch, all embedded."""
    rec.ingest(ALLERGY)
    rec.memories.ingest_many([{"content": f"Room {n} is painted {n + 3}."} for n in range(FILLER)])
    rec.drain()
    return rec


def by_meaning(rec: LocalRecollect, query: str) -> list[str]:
    """Return what is found although it shares no word with the question."""
    hits = rec.search(query, limit=3)
    return [hit.memory.content for hit in hits if not hit.matched_words]


def notes_of(rec: LocalRecollect, hits: list[Hit]) -> str:
    found = rec.explain(hits[0].retrieval_id or "")
    assert isinstance(found, Retrieval)
    return "; ".join(found.notes)


def standing(rec: LocalRecollect) -> dict[str, tuple[bool, bool, int, int]]:
    return {
        one.name or one.identity: (one.wanted, one.serving, one.embedded, one.waiting)
        for one in rec.models.list()
    }


@pytest.mark.usefixtures("_in_no_hurry")
def test_meaning_is_found_before_half_way_and_after(opened: Open, folders: dict[str, Path]) -> None:
    memory = filled(opened())
    total = FILLER + 1
    memory.models.add(folders["second"])
    assert by_meaning(memory, ABOUT_ALLERGY)[0] == ALLERGY

    chosen = memory.models.use("second")
    assert (chosen.model.waiting, chosen.note) == (total, "")
    assert standing(memory) == {
        "default": (False, True, total, 0),
        "second": (True, False, 0, total),
    }
    assert by_meaning(memory, ABOUT_ALLERGY)[0] == ALLERGY

    steps = memory.models.reembed_in_steps()
    assert [next(steps).done, next(steps).done] == [0, BATCH_ITEMS]
    memory.ingest(SHELLFISH)
    assert by_meaning(memory, ABOUT_SHELLFISH)[0] == SHELLFISH
    assert by_meaning(memory, ABOUT_ALLERGY)[0] == ALLERGY
    assert standing(memory)["default"] == (False, True, total + 1, 0)

    *_, last = steps
    assert (last.waiting, last.serving) == (0, True)
    assert standing(memory) == {
        "default": (False, False, 0, total + 1),
        "second": (True, True, total + 1, 0),
    }
    assert by_meaning(memory, ABOUT_SHELLFISH)[0] == SHELLFISH
    assert by_meaning(memory, ABOUT_ALLERGY)[0] == ALLERGY
    assert memory.search("Room 12")[0].memory.content == "Room 12 is painted 15."
    assert memory.maintenance.verify().ok


@pytest.mark.usefixtures("_in_no_hurry")
def test_a_program_that_was_there_before_follows_at_its_next_question(
    opened: Open, folders: dict[str, Path]
) -> None:
    early = filled(opened())
    assert by_meaning(early, ABOUT_ALLERGY)[0] == ALLERGY
    late = opened()
    late.models.add(folders["second"])
    late.models.use("second")
    assert early.engine.embedder_status().name.startswith("second/")
    early.ingest(SHELLFISH)
    assert by_meaning(early, ABOUT_SHELLFISH)[0] == SHELLFISH

    assert late.models.reembed().serving

    assert by_meaning(early, ABOUT_SHELLFISH)[0] == SHELLFISH
    early.ingest("Carla keeps bees.")
    assert by_meaning(late, "beekeeping")[0] == "Carla keeps bees."
    assert {name: told[2] for name, told in standing(early).items()} == {
        "default": 0,
        "second": FILLER + 3,
    }


def test_a_question_embedded_before_the_change_is_embedded_anew_in_the_store_after_it(
    opened: Open, folders: dict[str, Path]
) -> None:
    early = filled(opened())
    asked = early._services.indexer()
    assert asked is not None
    meaning, _ = asked.embed_query(ABOUT_ALLERGY)
    late = opened()
    late.models.add(folders["tiny"])
    late.models.use("tiny")
    assert late.models.reembed().serving

    with early._services.store.read() as tables:
        again = asked.refresh_query_vector(tables, ABOUT_ALLERGY, meaning)

    assert meaning is not None
    assert again is not None
    assert (len(meaning.values), len(again.values)) == (384, 2)
    assert meaning.model_id != again.model_id


def test_going_back_half_way_embeds_nothing(opened: Open, folders: dict[str, Path]) -> None:
    memory = filled(opened())
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    steps = memory.models.reembed_in_steps()
    next(steps), next(steps)

    assert memory.models.use("default").model.waiting == 0

    assert standing(memory)["default"] == (True, True, FILLER + 1, 0)
    assert memory.models.reembed().waiting == 0
    assert standing(memory)["tiny"] == (False, False, 0, FILLER + 1)
    assert by_meaning(memory, ABOUT_ALLERGY)[0] == ALLERGY


def test_what_was_embedded_is_not_embedded_again(opened: Open, path: Path) -> None:
    filled(opened()).close()
    first, second = ScriptedEmbedder(name="new"), ScriptedEmbedder(name="new")
    memory = opened(embedder=first)
    steps = memory.models.reembed_in_steps()
    next(steps), next(steps)
    memory.close()  # half-way

    assert opened(embedder=second).models.reembed().serving

    assert len(first.texts) == BATCH_ITEMS
    assert len(second.texts) == FILLER + 1 - BATCH_ITEMS
    assert not set(first.texts) & set(second.texts)


def test_without_the_former_model_the_new_one_answers_as_far_as_it_goes(
    opened: Open, folders: dict[str, Path], kept: Path
) -> None:
    memory = opened()
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    filled(memory)
    memory.models.use("default")
    memory.close()
    shutil.rmtree(kept / "tiny")
    memory = opened()
    memory.ingest(SHELLFISH)

    hits = memory.search(ABOUT_SHELLFISH)
    assert hits[0].memory.content == SHELLFISH
    assert "has embedded so far; tiny/2/" in notes_of(memory, hits)
    assert memory.search("peanuts")[0].memory.content == ALLERGY

    assert memory.models.reembed().serving
    hits = memory.search(ABOUT_ALLERGY)
    assert hits[0].memory.content == ALLERGY
    assert "so far" not in notes_of(memory, hits)


def test_a_former_model_that_is_damaged_is_as_good_as_gone(
    opened: Open, folders: dict[str, Path], kept: Path
) -> None:
    memory = opened()
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    filled(memory)
    memory.models.use("default")
    memory.close()
    (kept / "tiny" / "model.onnx").write_bytes(b"damaged")
    memory = opened()
    memory.ingest(SHELLFISH)

    hits = memory.search(ABOUT_SHELLFISH)

    assert hits[0].memory.content == SHELLFISH
    assert "not the expected one" in notes_of(memory, hits)


def test_a_store_whose_model_is_on_another_machine_is_searched_by_words_and_left_alone(
    opened: Open, folders: dict[str, Path], kept: Path
) -> None:
    memory = opened()
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    filled(memory)
    memory.close()
    shutil.rmtree(kept)
    memory = opened()

    hits = memory.search("peanuts")

    assert hits[0].memory.content == ALLERGY
    assert "not on this machine" in notes_of(memory, hits)
    assert {one.identity.split("/")[0]: one.embedded for one in memory.models.list()} == {
        DEFAULT_MODEL.name: 0,
        "tiny": FILLER + 1,
    }
    assert memory.maintenance.status().embedder == "none that works"


def test_what_is_forgotten_half_way_does_not_hold_the_change_up(
    opened: Open, folders: dict[str, Path]
) -> None:
    memory = filled(opened())
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    steps = memory.models.reembed_in_steps()
    next(steps), next(steps)
    for one in memory.memories.list(limit=1000)[BATCH_ITEMS:]:
        memory.forget(one.id)

    memory.engine.embed_batch()  # as a server does in the background

    assert standing(memory)["tiny"] == (True, True, BATCH_ITEMS, 0)


def test_a_long_running_program_changes_by_itself_after_a_question(
    opened: Open, folders: dict[str, Path]
) -> None:
    memory = filled(opened())
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    assert by_meaning(memory, ABOUT_ALLERGY)[0] == ALLERGY

    for thread in threading.enumerate():  # it may have ended by now
        if thread.name == "recollect-indexer":
            thread.join(timeout=60)

    assert standing(memory)["tiny"] == (True, True, FILLER + 1, 0)


def test_what_the_caller_names_comes_before_the_choice_of_the_store(
    opened: Open, folders: dict[str, Path]
) -> None:
    memory = opened()
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    filled(memory)

    named = opened(folder=folders["second"])
    chosen = named.models.use("tiny")

    assert named.maintenance.status().embedder.startswith("second/")
    assert "told to use second/" in chosen.note
    assert memory.maintenance.status().embedder.startswith("tiny/")


def test_an_empty_store_changes_at_once(opened: Open, folders: dict[str, Path]) -> None:
    memory = opened()
    memory.models.add(folders["second"])
    memory.models.use("second")
    memory.ingest(SHELLFISH)

    assert by_meaning(memory, ABOUT_SHELLFISH) == [SHELLFISH]
    assert standing(memory) == {"default": (False, False, 0, 1), "second": (True, True, 1, 0)}


@pytest.mark.usefixtures("_in_no_hurry")
def test_a_model_is_removed_when_the_store_needs_it_no_longer(
    opened: Open, folders: dict[str, Path], kept: Path
) -> None:
    memory = opened()
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    filled(memory)

    with pytest.raises(InvalidInput, match=r"this store uses.*models use default"):
        memory.models.remove("tiny")
    with pytest.raises(InvalidInput, match="this store uses"):
        opened(folder=folders["second"]).models.remove("tiny")
    memory.models.use("default")
    with pytest.raises(InvalidInput, match=r"answers this store.*models reembed"):
        memory.models.remove("tiny")
    memory.models.reembed()
    removed = memory.models.remove("tiny")

    assert (removed.name, removed.folder) == ("tiny", str(kept / "tiny"))
    assert list(kept.iterdir()) == []
    assert by_meaning(memory, ABOUT_ALLERGY)[0] == ALLERGY


def test_of_a_model_that_is_kept_twice_one_may_go(opened: Open, folders: dict[str, Path]) -> None:
    memory = opened()
    memory.models.add(folders["tiny"])
    memory.models.add(folders["tiny"], name="again")
    memory.models.use("tiny")
    filled(memory)
    memory.models.remove("tiny")

    assert standing(memory)["again"][:2] == (True, True)
    with pytest.raises(InvalidInput, match="this store uses the model 'again'"):
        memory.models.remove("again")


def test_models_that_are_not_there_to_be_removed_are_said(
    opened: Open, folders: dict[str, Path], kept: Path
) -> None:
    memory = opened()
    memory.models.add(folders["tiny"])
    named = opened(folder=kept / "tiny")

    with pytest.raises(InvalidInput, match="default model is installed with Recollect"):
        memory.models.remove("default")
    for hostile in ("../kept/tiny", str(folders["tiny"]), "unknown", ""):
        with pytest.raises(NotFound, match="only default, tiny"):
            memory.models.remove(hostile)
    with pytest.raises(InvalidInput, match="by its name, not by NoneType"):
        memory.models.remove(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="this program is told to use the model 'tiny'"):
        named.models.remove("tiny")
    (kept / "tiny" / "manifest.json").write_text("{", encoding="utf-8")
    memory.models.remove("tiny")

    assert list(kept.iterdir()) == []


@pytest.mark.usefixtures("_in_no_hurry")
def test_candidates_are_compared_by_the_model_that_answers(
    opened: Open, folders: dict[str, Path]
) -> None:
    memory = filled(opened())
    memory.models.add(folders["tiny"])
    memory.models.use("tiny")
    steps = memory.models.reembed_in_steps()
    next(steps), next(steps)

    memory.capture_session(f"User: {ALLERGY}\n\nAssistant: Noted.", session="s")
    memory.capture_conversation("I am allergic to peanuts and cats.", "note")
    list(memory.engine.run_jobs_in_steps())
    maintained = memory.maintenance.run()

    assert memory.maintenance.verify().ok
    assert maintained.embedded >= 6
    assert standing(memory)["tiny"][1] is True


def test_the_default_model_is_known_by_its_identity(opened: Open) -> None:
    memory = opened()

    [only] = memory.models.list()

    assert (only.name, only.identity) == ("default", default_manifest().identity)
    assert memory.models.reembed().waiting == 0
