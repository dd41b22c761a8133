"""With a narrow filter the indexes search only the items that can pass."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.domain.conversation import MessageCandidateRow, MessageFilters, Role
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.retrieval.search_candidates import QueryVector, find_candidates
from recollect.store.protocol import Tables
from recollect.store.values import Partition
from support import START, FakeClock, open_memory

DAYS = 40
PER_DAY = 12  # messages
EVERYTHING = MessageFilters(roles=frozenset(Role))
ON_THE_THIRD = MessageFilters(
    roles=frozenset(Role),
    since=START + timedelta(days=3),
    until=START + timedelta(days=4) - timedelta(microseconds=1),
)


@pytest.fixture
def rec(path: Path) -> Iterator[LocalRecollect]:
    """One conversation per day, each about the same lamp in the same words but for a number."""
    with open_memory(path, clock=FakeClock(START + timedelta(days=DAYS))) as opened:
        for day in range(DAYS):
            began = START + timedelta(days=day)
            conversation = opened.conversations.start(agent="ada", started_at=began)
            messages = [
                {
                    "role": "user" if number % 2 else "tool",
                    "content": f"The lamp has number {day * PER_DAY + number}.",
                    "created_at": began + timedelta(minutes=number),
                }
                for number in range(PER_DAY)
            ]
            opened.conversations.append_many(conversation, messages)
        opened.drain()
        yield opened


def partitions_of(tables: Tables) -> tuple[str, list[Partition]]:
    agent = tables.agents.by_name("ada")
    assert agent is not None
    owner = Owner(Scope.AGENT, agent.id)
    return agent.id, tables.word_index.partitions(ItemKind.MESSAGE, [owner])


def test_item_ids_are_returned_for_a_narrow_filter_and_none_for_a_wide_one(
    rec: LocalRecollect,
) -> None:
    talk = rec.conversations.list(agent="ada")[-4]
    inside = MessageFilters(roles=frozenset(Role), conversation_id=talk.id)
    with rec._services.store.read() as tables:
        agent_id, _ = partitions_of(tables)
        then = tables.messages.item_ids_if_few(agent_id, ON_THE_THIRD, limit=PER_DAY)
        there = tables.messages.item_ids_if_few(agent_id, inside, limit=PER_DAY)

        assert then is not None
        assert len(then) == PER_DAY
        assert sorted(then) == sorted(there or [])
        assert len(tables.messages.candidate_rows(then, ON_THE_THIRD)) == PER_DAY
        assert tables.messages.item_ids_if_few(agent_id, ON_THE_THIRD, limit=PER_DAY - 1) is None
        assert tables.messages.item_ids_if_few(agent_id, EVERYTHING, limit=10**6) is None


@pytest.mark.parametrize("every", [1, 3], ids=["a stretch", "with gaps"])
def test_each_index_finds_among_some_items_what_it_finds_of_them_in_all(
    rec: LocalRecollect, every: int
) -> None:
    with rec._services.store.read() as tables:
        agent_id, partitions = partitions_of(tables)
        few = (tables.messages.item_ids_if_few(agent_id, ON_THE_THIRD, limit=PER_DAY) or [])[
            ::every
        ]
        query = "which number has the lamp"
        matches = tables.word_index.match(query, partitions, limit=DAYS * PER_DAY)
        among = tables.word_index.match(query, partitions, limit=PER_DAY, among=few)

        assert among.matches == tuple(match for match in matches.matches if match.item_id in few)
        assert among.match_count == len(few)
        assert among.query_weight == matches.query_weight

        vector = query_vector_of(rec, query)
        near = tables.embeddings.nearest(
            vector.model_id, vector.values, partitions, limit=DAYS * PER_DAY
        )
        some = tables.embeddings.nearest(
            vector.model_id, vector.values, partitions, limit=PER_DAY, among=few
        )

        assert dict(some) == {item_id: match for item_id, match in near.items() if item_id in few}
        assert tables.word_index.match(query, partitions, limit=10, among=[]).matches == ()
        assert (
            tables.embeddings.nearest(
                vector.model_id, vector.values, partitions, limit=10, among=[]
            )
            == {}
        )


def test_codes_are_scanned_if_the_given_items_are_too_many_to_compare_exactly(
    rec: LocalRecollect,
) -> None:
    with rec._services.store.read() as tables:
        _, partitions = partitions_of(tables)
        query = query_vector_of(rec, "the lamp")
        model_id, vector = query.model_id, query.values
        everything = list(tables.embeddings.nearest(model_id, vector, partitions, limit=10**4))
        most = everything[: 9 * len(everything) // 10]  # more than are compared exactly
        assert len(most) > 400

        found = tables.embeddings.nearest(model_id, vector, partitions, limit=10**4, among=most)

        assert set(found) <= set(most)
        assert len(found) == len(most)


def test_a_filter_that_half_passes_fetches_a_little_more_and_checks_each_item_once(
    rec: LocalRecollect,
) -> None:
    checked: list[int] = []
    spoken = MessageFilters(roles=frozenset({Role.USER}))
    with rec._services.store.read() as tables:
        _, partitions = partitions_of(tables)

        def admit(item_ids: Iterable[int]) -> list[MessageCandidateRow]:
            ids = list(item_ids)
            checked.extend(ids)
            return tables.messages.candidate_rows(ids, spoken)

        found = find_candidates(tables, "the lamp has a number", partitions, admit, None, limit=10)

        assert len(found.candidates) >= 100
        assert len(checked) == len(set(checked))
        assert len(checked) < DAYS * PER_DAY


def test_a_query_for_a_day_and_one_for_a_conversation_find_the_same_messages(
    rec: LocalRecollect,
) -> None:
    asked_at = START + timedelta(days=DAYS)
    talk = rec.conversations.list(agent="ada")[-4]
    since, until = ON_THE_THIRD.since, ON_THE_THIRD.until

    at_the_time = rec.conversations.search(
        "which number has the lamp", agent="ada", since=since, until=until, asked_at=asked_at
    )
    there = rec.conversations.search("which number has the lamp", conversation=talk)

    assert len(at_the_time) == len(there) == 10
    assert {hit.message.conversation_id for hit in [*at_the_time, *there]} == {talk.id}


def query_vector_of(rec: LocalRecollect, query: str) -> QueryVector:
    indexer = rec._services.indexer()
    assert indexer is not None
    vector, problem = indexer.embed_query(query)
    assert vector is not None, problem
    return vector
