"""What is written directly is compared in the background and linked to what it contradicts."""

from pathlib import Path
from typing import Any

import pytest

from recollect import LocalRecollect, Memory, Status
from support import open_memory
from tables import each_row


def write_pair(rec: LocalRecollect, first: str, other: str, **place: Any) -> tuple[Memory, Memory]:
    """Write two memories, do the work in the background, and return them."""
    pair = rec.ingest(first, **place), rec.ingest(other, **place)
    rec.drain()
    return pair


def conflicting_ids(rec: LocalRecollect) -> list[set[str]]:
    return [{pair.memory.id, pair.other.id} for pair in rec.memories.conflicts()]


@each_row(
    ("first", "other", "linked"),
    [
        ("The API port is 8080.", "The API port is 9090.", True),
        ("I work at Acme.", "I work at Globex.", True),
        ("I'm allergic to nuts.", "I'm not allergic to nuts.", True),
        ("We use tabs for indentation.", "We use spaces for indentation.", True),
        ("The API port is 8080.", "The mail port is 25.", False),
        ("The API port is 8080.", "The API port is 8080.", False),
        ("The limit of service 3 is 40.", "The limit of service 7 is 50.", False),
        ("We use pnpm for builds.", "We use Sentry for errors.", False),
    ],
)
def test_two_written_facts_that_contradict_each_other_are_linked(
    first: str, other: str, linked: bool
) -> None:
    with open_memory(Path(":memory:")) as rec:
        pair = write_pair(rec, first, other, project="shop")

        assert conflicting_ids(rec) == ([{memory.id for memory in pair}] if linked else [])


def test_search_and_a_prompt_show_both_sides_and_neither_is_changed(rec: LocalRecollect) -> None:
    first, other = write_pair(rec, "The API port is 8080.", "The API port is 9090.", project="shop")

    hits = rec.search("Which port does the API use?", project="shop")

    assert {hit.memory.id: hit.conflicts for hit in hits} == {
        first.id: (other.id,),
        other.id: (first.id,),
    }
    prompt = rec.context_for("Which port does the API use?", project="shop").text
    assert "8080" in prompt
    assert "9090" in prompt
    for memory in (first, other):
        assert rec.memories.get(memory.id).status is Status.ACTIVE
    assert rec.maintenance.verify().ok


def test_each_is_compared_once_and_a_second_drain_has_nothing_to_do(rec: LocalRecollect) -> None:
    write_pair(rec, "The API port is 8080.", "The API port is 9090.", project="shop")
    linked = conflicting_ids(rec)

    rec.drain()

    assert conflicting_ids(rec) == linked
    with rec._store.read() as tables:
        assert not tables.jobs.unconsolidated_writings(limit=1)


def test_many_that_are_written_together_are_compared_too(rec: LocalRecollect) -> None:
    facts = [{"content": f"The port of {name} is {port}.", "project": "shop"}
             for name in ("mail", "search", "login") for port in (80, 81)]  # fmt: skip
    rec.memories.ingest_many(facts)

    rec.drain()

    assert len(conflicting_ids(rec)) == 3


def test_what_is_written_for_two_projects_or_agents_is_not_compared(rec: LocalRecollect) -> None:
    for name in ("one", "two"):
        rec.agents.create(name, default_blocks=False)
        rec.ingest(f"The API port is {len(name)}{name == 'one':d}.", project=name)
        rec.ingest(f"I live in {name}.", type="profile", agent=name, scope="agent")
        rec.ingest(f"I work at {name}.", type="profile", agent=name, scope="global")

    rec.drain()

    assert conflicting_ids(rec) == []


def test_a_written_fact_is_linked_to_the_candidate_it_contradicts_and_to_no_other_users(
    rec: LocalRecollect,
) -> None:
    rec.capture_session([{"role": "user", "content": "I work at Acme."}], agent="user-1")
    rec.capture_session([{"role": "user", "content": "I live in Berlin."}])
    rec.drain()

    home = rec.ingest("I live in Paris.", type="profile")
    rec.ingest("I work at Globex.", type="profile")
    rec.drain()

    [item] = [item for item in rec.inbox.list() if item.conflicts]
    assert item.memory.content == "I live in Berlin."
    assert [other.id for other in item.conflicts] == [home.id]


def test_a_correction_still_replaces_what_was_written_just_before(rec: LocalRecollect) -> None:
    written = rec.ingest("I live in Lisbon.", type="profile")
    text = "Correction: I live in Porto, not in Lisbon."
    rec.capture_session([{"role": "user", "content": text}])

    rec.drain()

    assert rec.memories.get(written.id).status is Status.SUPERSEDED


def test_a_note_and_a_passage_of_an_archive_are_not_compared(rec: LocalRecollect) -> None:
    rec.agents.create("clerk", default_blocks=False)
    for port in (8080, 9090):
        rec.ingest(f"The API port is {port}.", type="artifact", project="shop")
        rec.archive.insert("clerk", f"The API port is {port}.")

    rec.drain()

    assert conflicting_ids(rec) == []


def test_without_an_embedder_words_find_the_contradiction(path: Path) -> None:
    with open_memory(path, words_only=True) as rec:
        write_pair(rec, "The API port is 8080.", "The API port is 9090.", project="shop")

        assert len(conflicting_ids(rec)) == 1


@pytest.mark.parametrize("verb", ["archive", "forget"])
def test_what_is_archived_or_forgotten_before_the_comparison_is_left_out(
    rec: LocalRecollect, verb: str
) -> None:
    first = rec.ingest("The API port is 8080.", project="shop")
    rec.ingest("The API port is 9090.", project="shop")
    if verb == "archive":
        rec.memories.set_status(first.id, "archived")
    else:
        rec.forget(first.id)

    rec.drain()

    assert conflicting_ids(rec) == []
    with rec._store.read() as tables:
        assert not tables.jobs.unconsolidated_writings(limit=1)
