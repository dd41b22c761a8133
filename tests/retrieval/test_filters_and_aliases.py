"""
Filters are strict: exactly the memories that pass are returned, in every state of the store.

A memory of every status, type and set of tags, in this and in another project, all about the same
thing. Then aliases: the words under which a memory is found besides its content.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import recollect
from filled_stores import copy_filled
from recollect import LocalRecollect, Memory, MemoryType, Status
from support import START, FakeClock, open_memory

TAGS = ((), ("red",), ("green",), ("green", "red"))
# A statement is made by a capture alone.
ALL_STATUSES = [status for status in Status if status is not Status.STATED]
SYNONYMS = {"pomme": "apple"}
ASKED_AT = START + timedelta(days=1)
LONG_AGO = START - timedelta(days=700)

# What happened to the store before it is searched.
STATES: Mapping[str, Callable[[LocalRecollect], object]] = {
    "just written": lambda memory: None,
    "embedded": lambda memory: memory.drain(),
    "rebuilt": lambda memory: (memory.drain(), memory.maintenance.rebuild()),
}
# By words, by a time with a topic, by a time alone, by vectors alone.
QUESTIONS = ("apple", "apple yesterday", "what did we talk about yesterday?", "pomme")

RULES: tuple[dict[str, Any], ...] = (
    {},
    *({"statuses": [status]} for status in ALL_STATUSES),
    *({"types": [kind], "statuses": ALL_STATUSES} for kind in MemoryType),
    {"tags": ["red"], "statuses": ALL_STATUSES},
    {"tags": ["red", "green"]},
    {"types": ["decision", "artifact"], "statuses": ["archived", "inbox"], "tags": ["green"]},
    {"tags": ["blue"], "statuses": ALL_STATUSES},
)


def passes(memory: Memory, rule: Mapping[str, Any]) -> bool:
    """Return whether a rule admits the memory, from its fields alone."""
    return (
        memory.status in rule.get("statuses", (Status.ACTIVE, Status.CONTRADICTED))
        and memory.type in rule.get("types", MemoryType)
        and set(rule.get("tags", ())) <= set(memory.tags)
    )


def ingest_every_kind(rec: LocalRecollect, project: str) -> list[Memory]:
    """Write an apple of every status, type and set of tags."""
    kinds = list(product(ALL_STATUSES, MemoryType, TAGS))
    written = rec.memories.ingest_many(
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
        apple if apple.status is status else rec.memories.set_status(apple.id, status)
        for apple, (status, _, _) in zip(written, kinds, strict=True)
    ]


def fill_with_apples(rec: LocalRecollect, _: FakeClock, *, state: str) -> list[Memory]:
    # Other memories: if all were apples, the mean similarity would be that of apples.
    rec.memories.ingest_many(
        [{"content": f"lamp {n}", "project": "here", "observed_at": LONG_AGO} for n in range(64)]
    )
    here = ingest_every_kind(rec, "here")
    ingest_every_kind(rec, "there")
    rec.ingest("an apple of anna", agent="anna", scope="agent")
    STATES[state](rec)
    return here


FILL = {state: partial(fill_with_apples, state=state) for state in STATES}


@pytest.fixture(params=STATES)
def store(
    request: pytest.FixtureRequest, path: Path, clock: FakeClock
) -> Iterator[tuple[LocalRecollect, list[Memory]]]:
    """A store with every kind of apple here, in another project, and of one agent."""
    here = copy_filled(path, FILL[request.param], clock, synonyms=SYNONYMS)
    with open_memory(path, clock=clock, synonyms=SYNONYMS) as rec:
        yield rec, here


@pytest.mark.fuzz
def test_exactly_the_memories_that_pass_all_filters_are_returned(
    store: tuple[LocalRecollect, list[Memory]],
) -> None:
    memory, here = store
    for query, rule in product(QUESTIONS, RULES):
        if query == "pomme":
            memory.drain()  # what is not embedded cannot be found by vectors
        hits = memory.search(
            query, project="here", scopes=["project"], asked_at=ASKED_AT, limit=1_000, **rule
        )
        apples = [hit.memory for hit in hits if not hit.memory.content.startswith("lamp")]

        ours = {apple.id for apple in apples if apple.project_id == here[0].project_id}
        assert ours == {apple.id for apple in here if passes(apple, rule)}, (query, rule)
        # Of the other project only clearly relevant memories may be returned, by the same rules.
        others = [apple for apple in apples if apple.id not in ours]
        assert all(passes(apple, rule) for apple in others), (query, rule)
        assert {apple.type for apple in others} <= {MemoryType.DECISION, MemoryType.ARTIFACT}
        assert len(apples) == len({apple.id for apple in apples})


@pytest.mark.fuzz
def test_linked_memories_pass_the_same_filters(store: tuple[LocalRecollect, list[Memory]]) -> None:
    memory, here = store
    for apple in here:
        memory.link(apple.id, "applies_to", "project:there")
    for rule in RULES:
        hits = memory.search("an apple of here", project="there", limit=1_000, **rule)

        linked = {hit.memory.id for hit in hits if hit.reached == "linked"}
        assert linked == {apple.id for apple in here if passes(apple, rule)}, rule


def test_a_bundle_shows_only_active_and_contradicted_memories(
    store: tuple[LocalRecollect, list[Memory]],
) -> None:
    memory, _ = store

    bundle = memory.context_for("apple", project="here", budget_tokens=20_000)

    told = [hit.memory.id for section in bundle.sections for hit in section.hits]
    left_out = [item.item_id for item in bundle.dropped]
    shown = {memory.memories.get(memory_id).status for memory_id in (*told, *left_out)}
    assert told
    assert shown == {Status.ACTIVE, Status.CONTRADICTED}


ALIASES: Mapping[str, dict[str, Any]] = {
    "tags": {"tags": ["Bobby", "head of ops"]},
    "title": {"title": "Bobby"},
    "summary": {"summary": "About Bobby."},
    "rationale": {"rationale": "Bobby asked for it."},
    "alternatives": {"alternatives": ["Bobby instead"]},
}


@pytest.mark.parametrize("words_only", [False, True], ids=["by both indexes", "by words"])
@pytest.mark.parametrize("where", ALIASES)
def test_a_query_with_an_alias_finds_its_memory(
    path: Path, where: str, words_only: bool, subtests: pytest.Subtests
) -> None:
    queries = ["bobby", "Bobby's platform"]
    if where in ("tags", "title"):
        queries += ["What team does Bobby lead?", "BOBBY's team"]
    # The real embedder: the threshold is calibrated for it.
    backend = "none" if words_only else "local"
    with recollect.open(path, embedding_backend=backend) as rec:
        target = rec.ingest("Robert Jones is in charge of platform.", **ALIASES[where])
        rec.memories.ingest_many(
            [
                {"content": f"Person {n} is in charge of lamp {n}.", "tags": [f"p{n}"]}
                for n in range(30)
            ]
        )
        before = {query: rec.search(query)[0] for query in queries}
        rec.maintenance.rebuild()
        rec.drain()

        for query in queries:
            with subtests.test(query):
                after = rec.search(query)[0]

                assert before[query].memory.id == after.memory.id == target.id
                assert "bobby" in [word.lower() for word in after.matched_words]


def test_the_key_of_a_profile_fact_is_an_alias_too(rec: LocalRecollect) -> None:
    fact = rec.upsert_profile_fact("favourite_drink", "Earl Grey")

    assert [hit.memory.id for hit in rec.search("what is my favourite drink?")] == [fact.id]


def test_an_alias_finds_only_its_memory_and_is_forgotten_with_it(
    words_only: LocalRecollect,
) -> None:
    target = words_only.ingest("Kubernetes runs on nine machines.", tags=["helmsman"])
    words_only.ingest("Kubernetes is patched on Mondays.")

    hits = words_only.search("helmsman")
    words_only.forget(target.id)

    assert [hit.memory.id for hit in hits] == [target.id]
    assert words_only.search("helmsman") == []


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("k8s", "The shop runs on Kubernetes."),
        ("which repository?", "The repo is on a shelf."),
        ("favorite color", "Her favourite colour is teal."),
        ("when does mum come?", "My mother comes on Sunday."),
    ],
)
def test_a_word_is_found_by_its_other_spelling(
    words_only: LocalRecollect, query: str, content: str
) -> None:
    target = words_only.ingest(content)
    words_only.ingest("Ten lamps hang in the hall.")

    assert [hit.memory.id for hit in words_only.search(query)] == [target.id]


def test_spellings_of_one_word_count_as_one_word_of_the_query(words_only: LocalRecollect) -> None:
    words_only.ingest("The k8s port is 6443.")
    spelled_out = words_only.search("Kubernetes port")[0]
    both = words_only.search("k8s or Kubernetes port")[0]

    assert set(spelled_out.matched_words) == {"Kubernetes", "port"}
    assert set(both.matched_words) == {"k8s", "port"}


@pytest.mark.parametrize("query", ["kubernets", "Kuberntes cluster", "kubern", "kuebrnetes"])
def test_a_misspelled_word_finds_the_one_that_is_meant(
    words_only: LocalRecollect, query: str
) -> None:
    meant = words_only.ingest("The cluster runs Kubernetes in Frankfurt.", project="site")
    words_only.ingest("We keep the secrets in Vault.", project="site")

    assert [hit.memory.id for hit in words_only.search(query, project="site")] == [meant.id]


def test_a_word_that_occurs_is_not_taken_for_a_misspelling(words_only: LocalRecollect) -> None:
    contract = words_only.ingest("The contract ends in May.", project="site")
    contact = words_only.ingest("Our contact at the bank is Ana.", project="site")

    (hit,) = words_only.search("contact", project="site")

    assert hit.memory.id == contact.id
    assert contract.id not in {hit.memory.id for hit in words_only.search("bank", project="site")}


def test_a_misspelled_word_finds_nothing_of_another_project(words_only: LocalRecollect) -> None:
    words_only.ingest("The cluster runs Kubernetes.", project="there")

    assert words_only.search("kubernets", project="here") == []


@pytest.mark.parametrize(
    "query", ["Jorje", "jorje", "When does Jorje play?", "jorje chess", "Jorg plays"]
)
def test_a_misspelled_name_of_four_letters_or_more_finds_the_person(
    words_only: LocalRecollect, query: str
) -> None:
    meant = words_only.ingest("Jorge plays chess on Mondays.", project="club")
    words_only.ingest("We met Maria at the station.", project="club")
    words_only.ingest("The jointed table is in the hall.", project="club")

    assert words_only.search(query, project="club")[0].memory.id == meant.id


def test_the_first_three_letters_find_a_name_if_nothing_else_matches(
    words_only: LocalRecollect,
) -> None:
    siobhan = words_only.ingest("Siobhan has a key.", project="club")
    words_only.ingest("Bread needs flour.", project="club")

    assert [hit.memory.id for hit in words_only.search("Sio", project="club")] == [siobhan.id]
    [hit] = words_only.search("Sio flour", project="club")
    assert hit.memory.id != siobhan.id


@pytest.mark.parametrize("query", ["Marta", "Mara", "Where is Marta?", "Sta", "stat"])
def test_a_name_finds_neither_another_name_nor_a_plain_word(
    words_only: LocalRecollect, query: str
) -> None:
    words_only.ingest("We met Maria at the station.", project="club")

    assert words_only.search(query, project="club") == []
