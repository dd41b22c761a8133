"""A narrow filter costs little and hides nothing: the legs look at what passes, not at the rest."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.domain.conversation import MessageFilters, MessageStanding, Role
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.retrieval.candidates import Meaning, gather
from recollect.store.protocol import Tables
from recollect.store.values import Shelf
from support import START, FakeClock, open_memory

DAYS = 40
A_DAY = 12  # messages
EVERYTHING = MessageFilters(roles=frozenset(Role))
ON_THE_THIRD = MessageFilters(
    roles=frozenset(Role),
    since=START + timedelta(days=3),
    until=START + timedelta(days=4) - timedelta(microseconds=1),
)


@pytest.fixture
def memory(path: Path) -> Iterator[Recollect]:
    """A conversation a day; each tells of the same lamp in the same words, but for a number."""
    with open_memory(path, clock=FakeClock(START + timedelta(days=DAYS))) as opened:
        for day in range(DAYS):
            began = START + timedelta(days=day)
            conversation = opened.start_conversation(agent="ada", started_at=began)
            said = [
                {
                    "role": "user" if number % 2 else "tool",
                    "content": f"The lamp has number {day * A_DAY + number}.",
                    "created_at": began + timedelta(minutes=number),
                }
                for number in range(A_DAY)
            ]
            opened.append_messages(conversation, said)
        opened.drain()
        yield opened


def shelves_of(tables: Tables) -> tuple[str, list[Shelf]]:
    agent = tables.agents.named("ada")
    assert agent is not None
    owner = Owner(Scope.AGENT, agent.id)
    return agent.id, tables.words.shelves(ItemKind.MESSAGE, [owner])


def test_few_are_those_of_the_time_or_the_conversation_and_none_if_they_are_many(
    memory: Recollect,
) -> None:
    talk = memory.conversations(agent="ada")[-4]
    inside = MessageFilters(roles=frozenset(Role), conversation_id=talk.id)
    with memory._deps.store.read() as tables:
        agent_id, _ = shelves_of(tables)
        then = tables.messages.few(agent_id, ON_THE_THIRD, most=A_DAY)
        there = tables.messages.few(agent_id, inside, most=A_DAY)

        assert then is not None
        assert len(then) == A_DAY
        assert sorted(then) == sorted(there or [])
        assert len(tables.messages.standings(then, ON_THE_THIRD)) == A_DAY
        assert tables.messages.few(agent_id, ON_THE_THIRD, most=A_DAY - 1) is None
        assert tables.messages.few(agent_id, EVERYTHING, most=10**6) is None


@pytest.mark.parametrize("every", [1, 3], ids=["a stretch", "with gaps"])
def test_each_leg_finds_among_some_items_what_it_finds_of_them_in_all(
    memory: Recollect, every: int
) -> None:
    with memory._deps.store.read() as tables:
        agent_id, shelves = shelves_of(tables)
        few = (tables.messages.few(agent_id, ON_THE_THIRD, most=A_DAY) or [])[::every]
        query = "which number has the lamp"
        matches = tables.words.match(query, shelves, limit=DAYS * A_DAY)
        among = tables.words.match(query, shelves, limit=A_DAY, among=few)

        assert among.matches == tuple(one for one in matches.matches if one.seq in few)
        assert among.matching == len(few)
        assert among.question_weight == matches.question_weight

        meant = meaning_of(memory, query)
        near = tables.vectors.near(meant.model_id, meant.vector, shelves, limit=DAYS * A_DAY)
        some = tables.vectors.near(meant.model_id, meant.vector, shelves, limit=A_DAY, among=few)

        assert dict(some) == {seq: one for seq, one in near.items() if seq in few}
        assert tables.words.match(query, shelves, limit=10, among=[]).matches == ()
        assert tables.vectors.near(meant.model_id, meant.vector, shelves, limit=10, among=[]) == {}


def test_the_codes_are_scanned_among_the_given_where_they_are_too_many_to_compare(
    memory: Recollect,
) -> None:
    with memory._deps.store.read() as tables:
        _, shelves = shelves_of(tables)
        meant = meaning_of(memory, "the lamp")
        model_id, vector = meant.model_id, meant.vector
        everything = list(tables.vectors.near(model_id, vector, shelves, limit=10**4))
        most = everything[: 9 * len(everything) // 10]  # more than are compared exactly
        assert len(most) > 400

        found = tables.vectors.near(model_id, vector, shelves, limit=10**4, among=most)

        assert set(found) <= set(most)
        assert len(found) == len(most)


def test_a_filter_that_half_passes_is_asked_for_a_little_more_and_each_item_once(
    memory: Recollect,
) -> None:
    looked: list[int] = []
    spoken = MessageFilters(roles=frozenset({Role.USER}))
    with memory._deps.store.read() as tables:
        _, shelves = shelves_of(tables)

        def admit(seqs: Iterable[int]) -> list[MessageStanding]:
            asked = list(seqs)
            looked.extend(asked)
            return tables.messages.standings(asked, spoken)

        found = gather(tables, "the lamp has a number", shelves, admit, None, limit=10)

        assert len(found.candidates) >= 100
        assert len(looked) == len(set(looked))
        assert len(looked) < DAYS * A_DAY


def test_a_question_about_a_day_and_one_in_a_conversation_find_what_was_said_there(
    memory: Recollect,
) -> None:
    asked_at = START + timedelta(days=DAYS)
    talk = memory.conversations(agent="ada")[-4]
    since, until = ON_THE_THIRD.since, ON_THE_THIRD.until

    at_the_time = memory.search_messages(
        "which number has the lamp", agent="ada", since=since, until=until, asked_at=asked_at
    )
    there = memory.search_messages("which number has the lamp", conversation=talk)

    assert len(at_the_time) == len(there) == 10
    assert {hit.message.conversation_id for hit in [*at_the_time, *there]} == {talk.id}


def meaning_of(memory: Recollect, query: str) -> Meaning:
    indexer = memory._deps.indexer()
    assert indexer is not None
    meaning, trouble = indexer.meaning(query)
    assert meaning is not None, trouble
    return meaning
