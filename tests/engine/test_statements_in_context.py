"""A statement of a conversation is searched with what surrounds it, and compared without it."""

from pathlib import Path

from recollect import LocalRecollect
from recollect.models.scripted_models import ScriptedEmbedder
from support import open_memory

PROJECT = "quarry"
TALK = [
    {"role": "user", "content": "Compaction needs a schedule. From now on run it hourly, at :20."},
    {"role": "assistant", "content": "Compaction runs hourly now."},
]


def captured(embedder: ScriptedEmbedder) -> LocalRecollect:
    rec = open_memory(Path(":memory:"), embedder=embedder)
    rec.capture_session(TALK, project=PROJECT)
    rec.drain()
    return rec


def test_a_statement_is_found_by_what_its_message_is_about() -> None:
    with captured(ScriptedEmbedder(synonyms={"merging": "compaction"})) as rec:
        hits = rec.search("merging?", project=PROJECT)

        assert hits[0].memory.content == "From now on run it hourly, at :20."
        assert hits[0].parts.semantic > 0


def test_a_statement_that_a_person_added_is_embedded_as_it_is() -> None:
    embedder = ScriptedEmbedder()
    with open_memory(Path(":memory:"), embedder=embedder) as rec:
        rec.ingest("Run it hourly.", project=PROJECT)
        rec.drain()

    assert "Run it hourly." in embedder.texts
    assert not any(text.startswith("Run it hourly. ") for text in embedder.texts)


def test_after_a_neighbour_is_forgotten_no_vector_is_of_its_words() -> None:
    embedder = ScriptedEmbedder()
    talk = [{"role": "user", "content": "My dog is called Quetzal. We use pnpm for builds."}]
    with open_memory(Path(":memory:"), embedder=embedder) as rec:
        rec.capture_session(talk, project=PROJECT)
        rec.drain()
        [dog] = [
            m for m in rec.memories.list(statuses="inbox", project=PROJECT) if "dog" in m.content
        ]
        rec.forget(dog.id)
        embedder.texts.clear()
        rec.drain()

        assert any("pnpm" in text for text in embedder.texts)
        assert not any("Quetzal" in text for text in embedder.texts)
