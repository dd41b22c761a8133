"""With a narrow filter the indexes search only the items that can pass."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from filled_stores import copy_filled
from recollect import LocalRecollect
from recollect.domain.conversation import MessageFilters, Role
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.indexes.hybrid_search_index import MIN_CANDIDATES
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery, QueryVector, SearchCandidate
from support import START, FakeClock, open_memory

DAYS = 40
PER_DAY = 12  # messages
EVERYTHING = MessageFilters(roles=frozenset(Role))
ON_THE_THIRD = MessageFilters(
    roles=frozenset(Role),
    since=START + timedelta(days=3),
    until=START + timedelta(days=4) - timedelta(microseconds=1),
)


def fill_days(rec: LocalRecollect, _: FakeClock) -> None:
    """Add a conversation per day, each about the same lamp in the same words but for a number."""
    for day in range(DAYS):
        began = START + timedelta(days=day)
        conversation = rec.conversations.start(agent="ada", started_at=began)
        messages = [
            {
                "role": "user" if number % 2 else "tool",
                "content": f"The lamp has number {day * PER_DAY + number}.",
                "created_at": began + timedelta(minutes=number),
            }
            for number in range(PER_DAY)
        ]
        rec.conversations.append_many(conversation, messages)
    rec.drain()


@pytest.fixture
def rec(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    """A store with a conversation per day."""
    copy_filled(path, fill_days, clock, start=START + timedelta(days=DAYS))
    with open_memory(path, clock=clock) as opened:
        yield opened


def index_query(tables: Tables, filters: MessageFilters, **options: Any) -> IndexQuery:
    agent = tables.agents.by_name("ada")
    assert agent is not None
    return IndexQuery(
        **{
            "kind": ItemKind.MESSAGE,
            "text": "which number has the lamp",
            "vector": None,
            "owners": [Owner(Scope.AGENT, agent.id)],
            "filters": filters,
            "limit": PER_DAY,
            **options,
        }
    )


def candidates_by_id(tables: Tables, query: IndexQuery) -> dict[str, SearchCandidate]:
    found = tables.search_index.search(query).candidates
    return {candidate.record.id: candidate for candidate in found}


@pytest.mark.parametrize("text", ["which number has the lamp", ""], ids=["both", "vectors"])
def test_each_index_finds_within_a_time_range_what_it_finds_of_it_in_all(
    rec: LocalRecollect, text: str
) -> None:
    vector = query_vector_of(rec, "which number has the lamp")
    with rec._services.store.read() as tables:
        options: dict[str, Any] = {"text": text, "vector": vector, "limit": DAYS * PER_DAY}
        everything = candidates_by_id(tables, index_query(tables, EVERYTHING, **options))
        narrow = index_query(tables, ON_THE_THIRD, within_time_range=True, **options)
        among = candidates_by_id(tables, narrow)

    assert len(everything) == DAYS * PER_DAY
    assert len(among) == PER_DAY
    assert among == {message_id: everything[message_id] for message_id in among}


def test_an_empty_time_range_finds_nothing(rec: LocalRecollect) -> None:
    never = MessageFilters(since=START - timedelta(days=9), until=START - timedelta(days=8))
    vector = query_vector_of(rec, "the lamp")
    with rec._services.store.read() as tables:
        query = index_query(tables, never, vector=vector, within_time_range=True)

        assert candidates_by_id(tables, query) == {}


def test_codes_are_scanned_if_the_items_of_a_time_are_too_many_to_compare_exactly(
    rec: LocalRecollect,
) -> None:
    last = START + timedelta(days=9 * DAYS // 10)
    most = MessageFilters(until=last)
    vector = query_vector_of(rec, "the lamp")
    with rec._services.store.read() as tables:
        query = index_query(
            tables, most, text="", vector=vector, within_time_range=True, limit=10**4
        )
        found = candidates_by_id(tables, query)

    assert 400 < len(found) < DAYS * PER_DAY
    assert max(c.record.at for c in found.values() if c.record.at) <= last


def test_a_filter_that_half_passes_finds_enough_without_reading_everything(
    rec: LocalRecollect,
) -> None:
    spoken = MessageFilters(roles=frozenset({Role.USER}))
    with rec._services.store.read() as tables:
        query = index_query(tables, spoken, text="the lamp has a number", limit=10)
        found = candidates_by_id(tables, query)

    assert MIN_CANDIDATES <= len(found) < DAYS * PER_DAY // 2


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
