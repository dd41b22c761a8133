"""What was said is found again: by words, by meaning, by who and when; and nobody else's is."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from filled_stores import copy_filled
from recollect import InvalidInput, LocalRecollect, MessageHit, NotFound, Retrieval
from recollect.domain.conversation import CompactionMode, Summary
from recollect.store.protocol import Tables
from support import START, FakeClock, open_memory
from tables import each_row


def contents(hits: list[MessageHit]) -> list[str]:
    return [hit.message.content for hit in hits]


def call(name: str, **arguments: object) -> dict[str, Any]:
    return {
        "id": "c1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def fill_talks(rec: LocalRecollect, clock: FakeClock) -> None:
    """Add two talks of anna about zebras, a day apart, and one of ben."""
    for day, agent in ((0, "anna"), (1, "anna"), (1, "ben")):
        clock.moment = START + timedelta(days=day)
        talk = rec.conversations.start(agent=agent, title=f"{agent} {day}")
        rec.conversations.append_many(
            talk,
            [
                {"role": "system", "content": f"system zebra {agent} {day}"},
                {"role": "user", "content": f"user zebra {agent} {day}"},
                {"role": "assistant", "content": f"assistant zebra {agent} {day}"},
                {"role": "tool", "content": f"tool zebra {agent} {day}", "tool_call_id": "c"},
            ],
        )
        rec.conversations.end(talk)
    rec.drain()


@pytest.fixture
def spoken(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    """Two talks of anna about zebras, a day apart, and one of ben."""
    copy_filled(path, fill_talks, clock)
    with open_memory(path, clock=clock) as rec:
        yield rec


# By words, meaning, roles, times, conversation


def test_messages_are_found_by_their_words_as_soon_as_they_are_said(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    message = rec.conversations.append(talk, "user", "The launch moved to Tuesday.")
    rec.conversations.append(talk, "user", "Lunch was fine.")
    [hit] = rec.conversations.search("launches", agent="anna", mode="fts")

    assert hit.message == message
    assert hit.matched_words == ("launches",)
    assert hit.explanation.startswith("Matches “launches”")
    assert hit.explanation.endswith("user, said on 2026-05-08 12:00 UTC.")
    assert 0 < hit.score <= 1
    assert (hit.parts.fts_rank, hit.parts.vector_rank, hit.parts.search_mode) == (1, None, "fts")


def test_messages_are_found_by_their_meaning(path: Path, clock: FakeClock) -> None:
    with open_memory(path, clock=clock, synonyms={"automobile": "car"}) as rec:
        talk = rec.conversations.start(agent="anna")
        rec.conversations.append(talk, "user", "my car")
        rec.conversations.append(talk, "user", "my dinner")
        rec.drain()

        hybrid = rec.conversations.search("automobile", agent="anna")
        vector = rec.conversations.search("automobile", agent="anna", mode="vector")
        words = rec.conversations.search("automobile", agent="anna", mode="fts")

    assert contents(hybrid) == ["my car"]
    assert contents(vector) == ["my car"]
    assert words == []
    assert (hybrid[0].parts.vector_rank, hybrid[0].parts.fts_rank) == (1, None)
    assert vector[0].parts.search_mode == "vector"


def test_without_an_embedder_words_still_find(words_only: LocalRecollect) -> None:
    talk = words_only.conversations.start(agent="anna")
    words_only.conversations.append(talk, "user", "zebra")

    assert [
        hit.parts.search_mode for hit in words_only.conversations.search("zebra", agent="anna")
    ] == ["fts"]
    assert words_only.conversations.search("zebra", agent="anna", mode="vector") == []


def test_roles_times_and_a_conversation_narrow_what_is_found(spoken: LocalRecollect) -> None:
    latest, first = spoken.conversations.list(agent="anna")

    def found(**how: Any) -> set[str]:
        return set(contents(spoken.conversations.search("zebra", agent="anna", limit=50, **how)))

    assert len(found()) == 8
    assert found(roles="user") == {"user zebra anna 0", "user zebra anna 1"}
    assert found(roles=["tool", "system"], conversation=first) == {
        "tool zebra anna 0",
        "system zebra anna 0",
    }
    assert found(roles=[]) == set()
    assert len(found(since="2026-05-09")) == 4
    assert len(found(until="2026-05-08")) == 4
    assert found(since="2026-05-08T12:00", until="2026-05-08T12:00", roles="user") == {
        "user zebra anna 0"
    }
    assert found(since="2026-05-10") == set()
    assert found(conversation=latest.id, roles="user") == {"user zebra anna 1"}


@each_row(
    "bad",
    [
        {},
        {"agent": "anna", "mode": "magic"},
        {"agent": "anna", "roles": "robot"},
        {"agent": "anna", "limit": 0},
        {"agent": "anna", "limit": 1_001},
        {"agent": "anna", "since": "soon"},
        {"agent": "anna", "asked_at": 5},
    ],
    ids=str,
)
def test_a_question_that_cannot_be_asked_is_refused(spoken: LocalRecollect, bad: Any) -> None:
    with pytest.raises(InvalidInput):
        spoken.conversations.search("zebra", **bad)


def test_whoever_is_unknown_has_said_nothing_that_can_be_searched(spoken: LocalRecollect) -> None:
    with pytest.raises(NotFound):
        spoken.conversations.search("zebra", agent="nobody")
    with pytest.raises(NotFound):
        spoken.conversations.search("zebra", conversation="nothing")
    with pytest.raises(NotFound):
        spoken.conversations.search("the last session", agent="anna", asked_in="nothing")


def test_a_conversation_of_another_agent_is_behind_a_wall(spoken: LocalRecollect) -> None:
    [of_ben] = spoken.conversations.list(agent="ben")

    with pytest.raises(InvalidInput, match="is not one of agent"):
        spoken.conversations.search("zebra", agent="anna", conversation=of_ben)
    assert len(spoken.conversations.search("zebra", conversation=of_ben)) == 4


def test_evicted_messages_are_found_like_any_others(spoken: LocalRecollect) -> None:
    talk = spoken.conversations.list(agent="anna")[0]
    messages = spoken.conversations.messages(talk)
    summary = Summary(
        id="s",
        conversation_id=talk.id,
        mode=CompactionMode.ALL,
        content="they spoke of animals",
        first_position=0,
        last_position=2,
        tokens=4,
        made_by="extract",
        created_at=START,
    )

    def write(tables: Tables) -> None:
        tables.conversations.add_summary(summary)
        tables.messages.mark_summarized([message.id for message in messages[:3]], summary.id)

    before = spoken.conversations.search("zebra", agent="anna")
    spoken._store.write(write)

    assert [message.content for message in spoken.conversations.messages_in_context(talk)] == [
        "tool zebra anna 1"
    ]
    assert contents(spoken.conversations.search("zebra", agent="anna")) == contents(before)
    assert spoken.conversations.summaries(talk) == [summary]
    assert len(spoken.conversations.messages(talk)) == 4


def test_the_same_question_gets_the_same_answer(spoken: LocalRecollect) -> None:
    def answer() -> list[MessageHit]:
        hits = spoken.conversations.search("zebra user", agent="anna", limit=20)
        return [replace(hit, retrieval_id=None) for hit in hits]

    first = answer()

    for _ in range(3):
        assert answer() == first
    spoken.maintenance.rebuild()
    assert answer() == first


def test_of_messages_that_match_alike_the_latest_comes_first(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    for number in range(5):
        clock.advance(minutes=1)
        talk = words_only.conversations.start(agent="anna")
        words_only.conversations.append(talk, "user", "zebra", metadata={"n": number})
    hits = words_only.conversations.search("zebra", agent="anna", limit=3)

    assert [hit.message.metadata["n"] for hit in hits] == [4, 3, 2]
    assert len({hit.score for hit in hits}) == 1


def test_the_ranks_of_the_legs_follow_the_answer_where_all_are_alike(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    for _ in range(3):
        clock.advance(minutes=1)
        talk = words_only.conversations.start(agent="anna")
        words_only.conversations.append(talk, "user", "zebra")
    hits = words_only.conversations.search("zebra", agent="anna")

    assert [hit.parts.fts_rank for hit in hits] == [1, 2, 3]


HOSTILE = [
    "",
    " ",
    "\x00",
    "\ud800",
    '"',
    "NEAR(a b)",
    "a OR b* ^c -d",
    "'; DROP TABLE messages; --",
    "%_",
    "(((((",
    "🦓" * 100,
    "zebra " * 5_000,
    "the of and",
    "last last last session sessions ago",
    "ago",
    "in May of 99999",
    "99999999999999 sessions ago",
    "last Friday the 31st of February",
]


@each_row("query", HOSTILE, ids=[str(number) for number in range(len(HOSTILE))])
def test_any_text_is_a_question_that_gets_an_answer(spoken: LocalRecollect, query: str) -> None:
    for mode in ("hybrid", "fts", "vector"):
        hits = spoken.conversations.search(query, agent="anna", mode=mode)
        assert all("anna" in content for content in contents(hits))
    shaped = spoken.conversations.letta_search("anna", query)

    assert set(shaped) == {"message", "results"}
    assert spoken.maintenance.verify().ok


# The shape agents of Letta know


def test_conversation_search_has_the_shape_that_agents_know(
    spoken: LocalRecollect, clock: FakeClock
) -> None:
    clock.advance(days=2, hours=5)
    answer = spoken.conversations.letta_search("anna", "user zebra", limit=1)

    assert answer["message"] == "Showing 1 results:"
    [result] = answer["results"]
    assert set(result) == {"timestamp", "time_ago", "role", "relevance", "content"}
    assert result["timestamp"] == "2026-05-09T12:00:00+00:00"
    assert result["time_ago"] == "2d ago"
    assert (result["role"], result["content"]) == ("user", "user zebra anna 1")
    relevance = result["relevance"]
    assert relevance.keys() >= {"rrf_score", "vector_rank", "fts_rank", "search_mode"}
    assert relevance["search_mode"] == "hybrid"
    assert relevance["rrf_score"] == pytest.approx(
        1 / (60 + relevance["vector_rank"]) + 1 / (60 + relevance["fts_rank"]), abs=1e-6
    )
    json.dumps(answer)  # a tool's answer is JSON


def test_conversation_search_that_finds_nothing_says_so(spoken: LocalRecollect) -> None:
    assert spoken.conversations.letta_search("anna", "walrus") == {
        "message": "No results found.",
        "results": [],
    }


@pytest.mark.parametrize(
    ("age", "told"),
    [
        ({"seconds": 0}, "0s ago"),
        ({"seconds": 59}, "59s ago"),
        ({"seconds": 60}, "1m ago"),
        ({"minutes": 59, "seconds": 59}, "59m ago"),
        ({"hours": 1}, "1h ago"),
        ({"hours": 23, "minutes": 59}, "23h ago"),
        ({"days": 1}, "1d ago"),
        ({"days": 400}, "400d ago"),
        ({"days": -1}, "in the future"),
    ],
    ids=str,
)
def test_how_long_ago_is_told_in_the_largest_unit(
    rec: LocalRecollect, clock: FakeClock, age: dict[str, int], told: str
) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "user", "zebra")
    clock.advance(**age)

    assert rec.conversations.letta_search("anna", "zebra")["results"][0]["time_ago"] == told


def test_tools_words_and_a_searchs_own_calls_are_left_out(spoken: LocalRecollect) -> None:
    talk = spoken.conversations.start(agent="anna")
    spoken.conversations.append(
        talk, "assistant", "looking for zebra", tool_calls=[call("conversation_search", query="z")]
    )
    spoken.conversations.append(
        talk, "assistant", "reading of zebra", tool_calls=[call("read_file", path="z")]
    )
    spoken.conversations.append(
        talk,
        "assistant",
        "telling of zebra",
        tool_calls=[call("note", text='use "conversation_search" often')],
    )
    results = spoken.conversations.letta_search("anna", "zebra", limit=50)["results"]
    texts = [result["content"] for result in results]

    assert {result["role"] for result in results} == {"user", "assistant"}
    assert "looking for zebra" not in texts
    assert {"reading of zebra", "telling of zebra"} <= set(texts)
    assert spoken.conversations.letta_search("anna", "zebra", roles="tool")["results"] == []
    of_user = spoken.conversations.letta_search("anna", "zebra", roles=["user"], limit=50)[
        "results"
    ]
    assert {result["role"] for result in of_user} == {"user"}
    assert "looking for zebra" in contents(
        spoken.conversations.search("looking zebra", agent="anna")
    )


def test_a_searchs_own_call_in_parts_is_left_out_too(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(
        talk,
        "assistant",
        [
            {"type": "text", "text": "looking for zebra"},
            {"type": "tool_use", "id": "t", "name": "conversation_search", "input": {"query": "z"}},
        ],
    )

    assert rec.conversations.letta_search("anna", "zebra")["results"] == []


def test_what_an_agent_sent_is_the_content_and_the_rest_its_thinking(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(
        talk,
        "assistant",
        "the user asks about zebra",
        tool_calls=[call("send_message", message="Zebras have stripes.")],
    )
    [result] = rec.conversations.letta_search("anna", "zebra")["results"]

    assert result["thinking"] == "the user asks about zebra"
    assert result["content"] == "Zebras have stripes."


@pytest.mark.parametrize("arguments", ["", "{", "[]", '{"message": 5}', "null"])
def test_a_send_message_call_that_cannot_be_read_leaves_the_content(
    rec: LocalRecollect, arguments: str
) -> None:
    talk = rec.conversations.start(agent="anna")
    broken = {"id": "c", "function": {"name": "send_message", "arguments": arguments}}
    rec.conversations.append(talk, "assistant", "zebra", tool_calls=[broken, "odd", 5])

    [result] = rec.conversations.letta_search("anna", "zebra")["results"]
    assert result["content"] == "zebra"
    assert "thinking" not in result


@pytest.mark.parametrize("thought", ["", "time to answer"])
def test_what_an_agent_sent_is_found_by_its_words(rec: LocalRecollect, thought: str) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(
        talk,
        "assistant",
        thought,
        tool_calls=[call("send_message", message="The launch is on Tuesday.")],
    )

    [result] = rec.conversations.letta_search("anna", "launch Tuesday")["results"]
    assert result["content"] == "The launch is on Tuesday."


# What was asked is logged


def test_a_search_is_logged_with_what_it_showed(spoken: LocalRecollect) -> None:
    hits = spoken.conversations.search("user zebra", agent="anna", limit=2)

    logged = spoken.explain(hits[0].retrieval_id or "")

    assert isinstance(logged, Retrieval)
    assert (logged.verb, logged.query) == ("search_messages", "user zebra")
    assert [item.item_id for item in logged.context] == [hit.message.id for hit in hits]


def test_what_an_agent_said_is_listed_over_all_its_talks(spoken: LocalRecollect) -> None:
    listed = spoken.conversations.agent_messages("anna", roles=["user", "assistant"])

    assert [message.content for message in listed] == [
        "assistant zebra anna 1",
        "user zebra anna 1",
        "assistant zebra anna 0",
        "user zebra anna 0",
    ]
    assert [
        message.content
        for message in spoken.conversations.agent_messages("anna", limit=1, offset=7)
    ] == ["system zebra anna 0"]
    assert spoken.conversations.agent_messages("anna", offset=8) == []


# Pages and metadata


@pytest.mark.parametrize("query", ["zebra", "yesterday", "what zebra was there yesterday?"])
@pytest.mark.parametrize("size", [1, 4])
def test_pages_of_a_search_are_disjoint_and_together_all(
    rec: LocalRecollect, clock: FakeClock, query: str, size: int
) -> None:
    talk = rec.conversations.start(agent="anna", started_at="2026-05-07T09:00")
    for number in range(9):
        at = f"2026-05-07T09:0{number}"
        rec.conversations.append(talk, "user", f"zebra {number}", created_at=at)
    rec.conversations.end(talk)
    rec.drain()

    def page(offset: int, limit: int = size) -> list[str]:
        hits = rec.conversations.search(
            query, agent="anna", limit=limit, offset=offset, below_threshold=True
        )
        return contents(hits)

    pages = [page(offset) for offset in range(0, 12, size)]
    assert sorted(chain(*pages)) == [f"zebra {number}" for number in range(9)]
    assert page(0, 4) != page(4, 4)
    assert page(9) == []
    with pytest.raises(InvalidInput, match="offset"):
        page(-1)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"topic": "boat"}, ["zebra 0", "zebra 3"]),
        ({"topic": "boat", "n": {"$gt": 0}}, ["zebra 3"]),
        ({"n": {"$gte": 1, "$lt": 4}}, ["zebra 1", "zebra 3"]),
        ({"from.name": "\x00é"}, ["zebra 1"]),
        ({"topic": "car"}, []),
        ({}, ["zebra 0", "zebra 1", "zebra 2", "zebra 3"]),
        (None, ["zebra 0", "zebra 1", "zebra 2", "zebra 3"]),
    ],
)
def test_a_search_is_narrowed_by_what_metadata_says(
    rec: LocalRecollect, conditions: Any, expected: list[str]
) -> None:
    talk = rec.conversations.start(agent="anna")
    some = (
        {"topic": "boat", "n": 0},
        {"n": 1, "from": {"name": "\x00é"}},
        None,
        {"topic": "boat", "n": 3},
    )
    for number, metadata in enumerate(some):
        rec.conversations.append(talk, "user", f"zebra {number}", metadata=metadata)
    rec.drain()

    for query, conversation in (("zebra", None), ("what was said today?", None), ("zebra", talk)):
        hits = rec.conversations.search(
            query, agent="anna", conversation=conversation, filter=conditions
        )
        assert sorted(contents(hits)) == expected


def test_few_messages_with_some_metadata_are_found_among_many(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append_many(
        talk,
        [
            {"role": "user", "content": f"zebra {number}", "metadata": {"rare": number % 400 == 7}}
            for number in range(1_200)
        ],
    )
    rec.drain()

    for mode in ("hybrid", "fts", "vector"):
        hits = rec.conversations.search("zebra", agent="anna", mode=mode, filter={"rare": True})
        assert sorted(contents(hits)) == ["zebra 407", "zebra 7", "zebra 807"]


def test_a_filter_with_an_unknown_operator_is_refused(spoken: LocalRecollect) -> None:
    for bad in ({"n": {"$near": 3}}, ["n"], {"$gt": 3}):
        with pytest.raises(InvalidInput, match="filter"):
            spoken.conversations.search("zebra", agent="anna", filter=bad)  # type: ignore[arg-type]
