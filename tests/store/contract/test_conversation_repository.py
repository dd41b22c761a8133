"""Conversations, their summaries and pins."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import InvalidInput
from recollect.domain.conversation import MessageFilters, Pin
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.protocol import Store, Tables
from store_records import ALONE, TALK, count_matches, message, say, summary
from support import START

pytestmark = pytest.mark.usefixtures("stored_agents")


def test_a_conversation_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    whole = replace(TALK, project_id="p1", title="t", metadata={"k": 1})
    after = replace(whole, title="u", metadata={}, ended_at=START + timedelta(hours=1))
    store.write(lambda tables: tables.conversations.add(whole))
    store.write(lambda tables: tables.conversations.add(ALONE))
    store.write(lambda tables: tables.conversations.set(after))

    with store.read() as tables:
        conversations = tables.conversations
        assert conversations.get("c1") == after
        assert conversations.get("unknown") is None
        assert conversations.latest(None, limit=10) == [ALONE, after]
        assert conversations.latest(None, limit=1, offset=1) == [after]
        assert conversations.latest("a1", limit=10) == [after]
        assert conversations.latest("a2", limit=10) == []
        assert conversations.latest(None, project_id="p1", limit=10) == [after]
        assert conversations.latest(None, before=ALONE.started_at, limit=10) == [after]


def test_a_conversation_is_found_by_its_key_until_it_gives_it_up(store: Store) -> None:
    mine, other = replace(TALK, key="thread/1"), replace(ALONE, key="thread/1", revision=3)

    def write(tables: Tables) -> None:
        tables.conversations.add(mine)
        tables.conversations.add(other)
        tables.conversations.add(replace(TALK, id="c3"))
        tables.conversations.advance_revision("c1")

    store.write(write)
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.conversations.add(replace(mine, id="c4")))
    with store.read() as tables:
        assert tables.conversations.with_key("thread/1", "a1") == replace(mine, revision=1)
        assert tables.conversations.with_key("thread/1", None) == other
        assert tables.conversations.with_key("thread/1", "a2") is None
        assert tables.conversations.with_key("", "a1") is None
        found = tables.conversations.latest("a1", key_prefix="thread/", limit=9)
        assert [talk.id for talk in found] == ["c1"]
        assert tables.conversations.latest(None, key_prefix="threads", limit=9) == []
    store.write(lambda tables: tables.conversations.release_key("c1"))
    store.write(lambda tables: tables.conversations.add(replace(mine, id="c4")))
    with store.read() as tables:
        assert tables.conversations.with_key("thread/1", "a1") == replace(mine, id="c4")


def test_the_latest_open_conversation_is_found_by_how_it_was_begun(store: Store) -> None:
    def write(tables: Tables) -> None:
        for number, metadata in enumerate(
            [{}, {"by": "x"}, {"begun_by": "me"}, {"begun_by": "me"}]
        ):
            begun = START + timedelta(minutes=number)
            talk = replace(TALK, id=f"r{number}", metadata=metadata, started_at=begun)
            tables.conversations.add(talk)
        last = replace(TALK, id="r3", metadata={"begun_by": "me"})
        tables.messages.add(last, message(0, "later", last))
        tables.messages.add(last, message(1, "last", last))

    store.write(write)
    with store.read() as tables:
        latest = tables.conversations.latest_open("a1", begun_by="me")
        assert latest is not None
        assert (latest[0].id, latest[1]) == ("r3", START + timedelta(minutes=1))
        assert tables.conversations.latest_open("a1", begun_by="you") is None
        assert tables.conversations.latest_open("a2", begun_by="me") is None
        ended = replace(latest[0], ended_at=START + timedelta(hours=1))
    store.write(lambda tables: tables.conversations.set(ended))
    with store.read() as tables:
        former = tables.conversations.latest_open("a1", begun_by="me")
        assert former is not None
        assert (former[0].id, former[1]) == ("r2", former[0].started_at)  # it has no messages


def test_summaries_and_pins_are_kept_in_order(store: Store) -> None:
    summaries = [summary(f"s{number}", f"summary {number}", position=number) for number in (0, 1)]
    pin = Pin(id="p", conversation_id="c1", kind="ticket", content="ABC-1", pinned_at=START)
    say(store, message(0, "zero"), message(1, "one"), message(2, "two"))

    def write(tables: Tables) -> None:
        for number in range(2):
            tables.conversations.add_summary(summaries[number])
            tables.messages.mark_summarized([f"c1 m{number}", "unknown"], f"s{number}")
        tables.messages.mark_summarized(["c1 m0"], "s1")  # a message is summarized once
        tables.conversations.add_pin(pin)
        tables.conversations.set_pin(replace(pin, active=False))

    store.write(write)
    with store.read() as tables:
        assert tables.conversations.summaries("c1") == summaries
        assert tables.conversations.last_summaries(["c1", "c2"]) == {"c1": summaries[1]}
        assert tables.conversations.pin("p") == replace(pin, active=False)
        assert tables.conversations.pins("c1") == [replace(pin, active=False)]
        assert tables.conversations.pin("unknown") is None
        assert [stored.summary_id for stored in tables.messages.page("c1", start=0, limit=9)] == [
            "s0",
            "s1",
            None,
        ]
        assert [stored.content for stored in tables.messages.in_context("c1")] == ["two"]
        assert tables.messages.count("c1") == (3, 1)
        assert tables.agents.archive_summary("a1", tag_limit=1) == (3, 0, ())


def test_a_conversation_that_is_being_deleted_is_hidden_at_once(store: Store) -> None:
    say(store, message(0, "zebra"))
    work = UnfinishedWork(kind=WorkKind.DELETE_CONVERSATION, subject="c1", started_at=START)
    store.write(lambda tables: tables.unfinished_work.add(work))

    with store.read() as tables:
        assert tables.unfinished_work.all() == [work]
        assert tables.conversations.get("c1") is None
        assert tables.conversations.latest("a1", limit=9) == []
        assert tables.messages.latest("a1", MessageFilters(), limit=9) == []
        assert tables.messages.speakers("a1", MessageFilters()) == []
    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"), "zebra") == 0
    assert not any(row.get("content") == "zebra" for row in store.export_rows())


def test_conversations_with_messages_are_listed_the_latest_first(store: Store) -> None:
    talks = [
        replace(TALK, id=f"t{hours}", started_at=START + timedelta(hours=hours))
        for hours in range(4)
    ]
    for talk in talks[:3]:
        say(store, message(0, "zebra", talk), talk=talk)
    store.write(lambda tables: tables.conversations.add(talks[3]))

    with store.read() as tables:
        before = START + timedelta(hours=9)
        with_messages = tables.conversations.with_messages
        assert with_messages("a1", before=before, limit=9) == [talks[2], talks[1], talks[0]]
        assert with_messages("a1", before=before, limit=1) == [talks[2]]
        assert with_messages("a1", before=talks[1].started_at, limit=9) == [talks[0]]
        assert with_messages("a2", before=before, limit=9) == []
