"""
Filters are rules, not hints: exactly what passes comes, however it was found, in every state.

A memory of every status, type and set of tags, here and in another project, all about the same
thing. Then what a memory is also known as: the words it is kept under besides its content.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Memory, MemoryType, Recollect, Status
from support import START, FakeClock, open_memory

TAGS = ((), ("red",), ("green",), ("green", "red"))
ALL_STATUSES = [*Status]
SYNONYMS = {"pomme": "apple"}
ASKED_AT = START + timedelta(days=1)
LONG_AGO = START - timedelta(days=700)

# How the store got where it is before it is asked.
STATES: Mapping[str, Callable[[Recollect], object]] = {
    "just written": lambda memory: None,
    "embedded": lambda memory: memory.drain(),
    "rebuilt": lambda memory: (memory.drain(), memory.rebuild_indexes()),
}
# By words, by a time beside a topic, by nothing but a time, by meaning alone.
QUESTIONS = ("apple", "apple yesterday", "what did we talk about yesterday?", "pomme")

RULES: tuple[dict[str, Any], ...] = (
    {},
    *({"statuses": [status]} for status in Status),
    *({"types": [kind], "statuses": ALL_STATUSES} for kind in MemoryType),
    {"tags": ["red"], "statuses": ALL_STATUSES},
    {"tags": ["red", "green"]},
    {"types": ["decision", "artifact"], "statuses": ["archived", "inbox"], "tags": ["green"]},
    {"tags": ["blue"], "statuses": ALL_STATUSES},
)


def passes(memory: Memory, rule: Mapping[str, Any]) -> bool:
    """Say, from the memory alone, whether a rule admits it."""
    return (
        memory.status in rule.get("statuses", (Status.ACTIVE, Status.CONTRADICTED))
        and memory.type in rule.get("types", MemoryType)
        and set(rule.get("tags", ())) <= set(memory.tags)
    )


def every_kind(memory: Recollect, project: str) -> list[Memory]:
    """Write an apple of every status, type and set of tags."""
    kinds = list(product(Status, MemoryType, TAGS))
    written = memory.ingest_many(
        [
            {
                "content": f"apple apple apple {project}",
                "project": project,
                "type": kind,
                "tags": tags,
                "status": status if status is Status.INBOX else "active",
            }
            for status, kind, tags in kinds
        ]
    )
    return [
        one if one.status is status else memory.set_status(one.id, status)
        for one, (status, _, _) in zip(written, kinds, strict=True)
    ]


@pytest.fixture(params=STATES)
def kept(
    request: pytest.FixtureRequest, path: Path, clock: FakeClock
) -> Iterator[tuple[Recollect, list[Memory]]]:
    """A memory with every kind of apple here, in another project, and of one agent."""
    with open_memory(path, clock=clock, synonyms=SYNONYMS) as memory:
        # Something else to be remembered: where all is apples, no apple is near.
        memory.ingest_many(
            [
                {"content": f"lamp {n}", "project": "here", "observed_at": LONG_AGO}
                for n in range(64)
            ]
        )
        here = every_kind(memory, "here")
        every_kind(memory, "there")
        memory.ingest("an apple of anna", agent="anna", scope="agent")
        STATES[request.param](memory)
        yield memory, here


def test_exactly_what_passes_scope_status_type_and_tags_comes(
    kept: tuple[Recollect, list[Memory]],
) -> None:
    memory, here = kept
    for query, rule in product(QUESTIONS, RULES):
        if query == "pomme":
            memory.drain()  # what is not embedded cannot be found by meaning
        hits = memory.search(
            query, project="here", scopes=["project"], asked_at=ASKED_AT, limit=1_000, **rule
        )
        found = [hit.memory for hit in hits if not hit.memory.content.startswith("lamp")]

        ours = {one.id for one in found if one.project_id == here[0].project_id}
        assert ours == {one.id for one in here if passes(one, rule)}, (query, rule)
        # Of the other project only what clearly answers may come, and by the same rules.
        others = [one for one in found if one.id not in ours]
        assert all(passes(one, rule) for one in others), (query, rule)
        assert {one.type for one in others} <= {MemoryType.DECISION, MemoryType.ARTIFACT}
        assert len(found) == len({one.id for one in found})


def test_what_is_linked_passes_the_same_rules(kept: tuple[Recollect, list[Memory]]) -> None:
    memory, here = kept
    for one in here:
        memory.link(one.id, "applies_to", "project:there")
    for rule in RULES:
        found = memory.search("an apple of here", project="there", limit=1_000, **rule)

        linked = {hit.memory.id for hit in found if hit.reached == "linked"}
        assert linked == {one.id for one in here if passes(one, rule)}, rule


def test_a_bundle_shows_neither_candidates_nor_what_is_over(
    kept: tuple[Recollect, list[Memory]],
) -> None:
    memory, _ = kept

    bundle = memory.context_for("apple", project="here", budget_tokens=20_000)

    shown = {hit.memory.status for section in bundle.sections for hit in section.hits}
    assert shown == {Status.ACTIVE, Status.CONTRADICTED}


ALIASES: Mapping[str, dict[str, Any]] = {
    "tags": {"tags": ["Bobby", "head of ops"]},
    "title": {"title": "Bobby"},
    "summary": {"summary": "About Bobby."},
    "rationale": {"rationale": "Bobby asked for it."},
    "alternatives": {"alternatives": ["Bobby instead"]},
}


@pytest.mark.parametrize("words_only", [False, True], ids=["by both legs", "by words"])
@pytest.mark.parametrize(
    ("where", "query"),
    [
        *product(ALIASES, ["bobby", "Bobby's platform"]),
        *product(["tags", "title"], ["What team does Bobby lead?", "BOBBY's team"]),
    ],
)
def test_a_question_with_an_alias_finds_the_memory_that_is_kept_under_it(
    path: Path, where: str, query: str, words_only: bool
) -> None:
    # The real embedder: what is near enough is calibrated for it.
    backend = "none" if words_only else "local"
    with recollect.open(path, embedding_backend=backend) as memory:
        known = memory.ingest("Robert Jones is in charge of platform.", **ALIASES[where])
        memory.ingest_many(
            [
                {"content": f"Person {n} is in charge of lamp {n}.", "tags": [f"p{n}"]}
                for n in range(30)
            ]
        )
        before = [hit.memory.id for hit in memory.search(query)]
        memory.rebuild_indexes()
        memory.drain()

        after = memory.search(query)

        assert before[0] == after[0].memory.id == known.id
        assert "bobby" in [word.lower() for word in after[0].matched_words]


def test_the_key_of_a_profile_fact_is_an_alias_too(memory: Recollect) -> None:
    known = memory.upsert_profile_fact("favourite_drink", "Earl Grey")

    assert [hit.memory.id for hit in memory.search("what is my favourite drink?")] == [known.id]


def test_an_alias_is_of_the_memory_that_has_it_and_goes_with_it(words_only: Recollect) -> None:
    known = words_only.ingest("Kubernetes runs on nine machines.", tags=["k8s"])
    words_only.ingest("Kubernetes is patched on Mondays.")

    found = words_only.search("k8s")
    words_only.forget(known.id)

    assert [hit.memory.id for hit in found] == [known.id]
    assert words_only.search("k8s") == []
