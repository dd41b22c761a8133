"""A packed retrieval is small, and unpacks to what was packed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.retrieval import LoggedHit, LoggedItem, Parts, Retrieval
from recollect.errors import StoreDamaged
from recollect.store.repositories.retrieval_packing import pack, pack_ids, unpack, unpack_ids

texts = st.text(max_size=40)
ids = st.uuids().map(str) | st.text(
    st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=20
)
scores = st.integers(-20_000, 20_000).map(lambda number: number / 10_000)
outcomes = st.sampled_from(["returned", "dropped: below 35% of the best", "in the context"])
hits = st.builds(
    LoggedHit,
    rank=st.integers(1, 99),
    memory_id=ids,
    score=scores,
    parts=st.dictionaries(st.sampled_from([*vars(Parts()), "other"]), scores),
    explanation=texts,
    outcome=outcomes,
)
items = st.builds(
    LoggedItem, kind=texts, item_id=ids, tokens=st.integers(0, 9999), outcome=outcomes
)
retrievals = st.builds(
    Retrieval,
    id=ids,
    verb=texts,
    query=texts,
    asking=st.dictionaries(texts, texts | st.integers()),
    notes=st.lists(texts).map(tuple),
    asked_at=st.datetimes(timezones=st.just(UTC), min_value=datetime(1970, 1, 1)),
    hits=st.lists(hits, max_size=5).map(tuple),
    context=st.lists(items, max_size=5).map(tuple),
)


@pytest.mark.fuzz
@given(retrievals)
def test_what_is_unpacked_is_what_was_packed(retrieval: Retrieval) -> None:
    assert unpack(pack(retrieval)) == retrieval


@given(st.lists(ids))
def test_ids_of_any_kind_are_packed(some_ids: list[str]) -> None:
    assert unpack_ids(pack_ids(some_ids)) == some_ids


def test_a_search_with_ten_results_takes_less_than_a_kilobyte() -> None:
    def hit(rank: int) -> LoggedHit:
        return LoggedHit(
            rank=rank,
            memory_id=f"01a1e5a6-980c-7ced-bc81-acd929c6d8{rank:02x}",
            score=0.3 - rank / 137,
            parts=vars(Parts(keyword=1 / rank, semantic=0.5 + rank / 73, relevance=0.2, scope=1.0)),
            explanation="Matches “deploy”, “friday” and its meaning is close (similarity 0.5"
            f"{rank}); project memory; observed {rank} days ago.",
        )

    retrieval = Retrieval(
        id="01a1e5a6-98e7-7595-8c20-1581ac9f5802",
        verb="search",
        query="when may we deploy, is Friday fine?",
        asking={"project": "site", "limit": 10},
        notes=("109 candidates above the threshold",),
        asked_at=datetime(2026, 5, 8, tzinfo=UTC),
        hits=tuple(hit(rank) for rank in range(1, 11)),
    )

    assert pack(retrieval).size < 800


def test_a_damaged_row_is_named() -> None:
    retrieval = Retrieval(
        id="q1", verb="search", query="", asking={}, notes=(), asked_at=datetime.now(UTC)
    )
    row = pack(retrieval)

    for content in (b"", b"\x02", row.content[:-3], row.content[:1] + b"zz" + row.content[3:]):
        with pytest.raises(StoreDamaged, match="the logged retrieval q1 cannot be read"):
            unpack(replace(row, content=content))
