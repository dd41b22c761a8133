"""Agents never see each other's messages: a property over random talks, deletions and questions."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import LocalRecollect
from support import FakeClock, open_memory

pytestmark = pytest.mark.fuzz

WORDS = ["red", "green", "blue", "fox", "dog", "tree", "run", "jump"]
CONTENT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
AGENT = st.sampled_from(["x", "y", None])
ROLE = st.sampled_from(["system", "user", "assistant", "tool"])
MESSAGE = st.tuples(AGENT, st.integers(0, 2), ROLE, CONTENT)
QUERY = st.one_of(
    CONTENT,
    st.sampled_from(["what did we say last session?", "red two sessions ago", "yesterday", ""]),
)


def play(
    rec: LocalRecollect, clock: FakeClock, messages: list[tuple[str | None, int, str, str]]
) -> dict[tuple[str | None, int], str]:
    """Let everybody speak; each message names its agent and talk in its metadata."""
    talks: dict[tuple[str | None, int], str] = {}
    for agent, number, role, content in messages:
        clock.advance(hours=5)
        key = (agent, number)
        if key not in talks:
            talks[key] = rec.conversations.start(agent=agent).id
        rec.conversations.append(talks[key], role, content, metadata={"by": [agent, number]})
    rec.drain()
    return talks


@settings(max_examples=30)
@given(
    messages=st.lists(MESSAGE, max_size=16),
    query=QUERY,
    mode=st.sampled_from(["hybrid", "fts", "vector"]),
    since=st.sampled_from([None, "2026-05-09"]),
)
def test_no_search_ever_shows_the_messages_of_another_agent_or_of_a_talk_without_one(
    messages: list[tuple[str | None, int, str, str]], query: str, mode: str, since: str | None
) -> None:
    clock = FakeClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_memory(Path(folder, "m.db"), clock=clock) as rec,
    ):
        talks = play(rec, clock, messages)
        options: dict[str, Any] = {"mode": mode, "since": since, "limit": 50}
        for agent in {key[0] for key in talks} - {None}:
            hits = rec.conversations.search(query, agent=agent, **options)
            assert all(hit.message.metadata["by"][0] == agent for hit in hits)
            listed = rec.conversations.agent_messages(agent or "", limit=50)
            assert all(message.metadata["by"][0] == agent for message in listed)
        for key, talk in talks.items():
            hits = rec.conversations.search(query, conversation=talk, **options)
            assert all(hit.message.metadata["by"] == list(key) for hit in hits)


@settings(max_examples=25)
@given(messages=st.lists(MESSAGE, min_size=1, max_size=16), word=st.sampled_from(WORDS))
def test_by_words_an_agent_finds_all_of_its_own_and_nothing_more(
    messages: list[tuple[str | None, int, str, str]], word: str
) -> None:
    clock = FakeClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_memory(Path(folder, "m.db"), clock=clock) as rec,
    ):
        talks = play(rec, clock, messages)
        for agent in {key[0] for key in talks} - {None}:
            hits = rec.conversations.search(word, agent=agent, mode="fts", limit=50)
            expected = sorted(
                content
                for who, _, _, content in messages
                if who == agent and word in content.split()
            )
            assert sorted(hit.message.content for hit in hits) == expected


@settings(max_examples=30)
@given(messages=st.lists(MESSAGE, min_size=2, max_size=16), gone=st.integers(0, 15))
def test_after_a_talk_is_deleted_the_indexes_hold_what_is_left_and_only_that(
    messages: list[tuple[str | None, int, str, str]], gone: int
) -> None:
    clock = FakeClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_memory(Path(folder, "m.db"), clock=clock) as rec,
    ):
        talks = play(rec, clock, messages)
        key = sorted(talks, key=repr)[gone % len(talks)]
        rec.conversations.delete(talks.pop(key))
        verified = rec.maintenance.verify()
        left = sum(len(rec.conversations.messages(talk)) for talk in talks.values())

        assert verified.ok, verified.problems
        assert left == sum((agent, number) != key for agent, number, _, _ in messages)
        assert rec.maintenance.status().embedded.get("scripted", 0) == left


def test_an_agent_on_a_shelf_that_was_anothers_finds_its_own_only(path: Path) -> None:
    with open_memory(path) as rec, open_memory(path) as elsewhere:
        for number in range(4):
            for name in ("x", "y"):
                talk = rec.conversations.start(agent=f"{name}{number}")
                rec.conversations.append(talk, "user", f"red fox {name}{number}")
            rec.drain()
            for reader in (rec, elsewhere):
                for agent in reader.agents.list():
                    hits = reader.conversations.search(
                        "red fox", agent=agent, mode="vector", limit=50
                    )
                    assert [hit.message.content for hit in hits] == [f"red fox {agent.name}"]
            (rec, elsewhere)[number % 2].agents.delete(f"{'xy'[number // 2]}{number}")

        assert rec.maintenance.verify().ok
