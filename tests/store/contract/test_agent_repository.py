"""Agents."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import AlreadyExists, InvalidInput, Status
from recollect.domain.agent import AgentPinning
from recollect.domain.conversation import Pin
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.protocol import Store, Tables
from store_records import ANNA, BEN, Keep, block, event, message, project, say, source
from support import START, FakeClock

pytestmark = pytest.mark.usefixtures("stored_agents")


def test_an_agent_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    whole = replace(
        ANNA,
        name="ann",
        description="d",
        model="m",
        system_prompt="s",
        pinned=AgentPinning.GLOBAL,
        metadata={"k": ["é", 1, None]},
        updated_at=START + timedelta(days=1),
    )
    store.write(lambda tables: tables.agents.set(whole))

    with store.read() as tables:
        assert tables.agents.get("a1") == tables.agents.by_name("ann") == whole
        assert tables.agents.by_name("anna") is None
        assert tables.agents.all() == [whole, BEN]


def test_an_agent_works_in_projects_once_it_was_told_something_in_one(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    site = project(store, clock, "site")
    keep("in no project", scope=Scope.AGENT, agent_id="a2")
    keep("in a project", scope=Scope.AGENT, agent_id="a1", project_id=site.id)

    with store.read() as tables:
        assert [tables.agents.works_in_projects(id_) for id_ in ("a1", "a2", "unknown")] == [
            True,
            False,
            False,
        ]


def test_two_agents_of_one_name_are_refused(store: Store) -> None:
    with pytest.raises((InvalidInput, AlreadyExists)):
        store.write(lambda tables: tables.agents.add(replace(BEN, id="a3")))
    with pytest.raises((InvalidInput, AlreadyExists)):
        store.write(lambda tables: tables.agents.set(replace(BEN, name="anna")))

    with store.read() as tables:
        assert tables.agents.all() == [ANNA, BEN]


def test_deleting_an_agent_deletes_and_counts_its_rows(store: Store) -> None:
    own = block("b1", "persona")
    say(store, message(0, "zebra"), message(1, "zebra"))

    def write(tables: Tables) -> None:
        tables.blocks.add(own)
        tables.blocks.attach("a1", own)
        tables.conversations.add_pin(
            Pin(id="pin", conversation_id="c1", kind="note", content="x", pinned_at=START)
        )
        tables.search_index.drop(ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"))

    store.write(write)
    removed = store.write(lambda tables: tables.agents.delete("a1"))

    assert (removed["agents"], removed["messages"], removed["conversations"]) == (1, 2, 1)
    assert (removed["pins"], removed["agent_blocks"]) == (1, 1)
    with store.read() as tables:
        assert tables.agents.all() == [BEN]
        assert tables.conversations.get("c1") is None
        assert tables.messages.get("c1 m0") is None
    store.write(lambda tables: tables.blocks.delete(own))
    assert store.check()[1] == []


def test_what_belongs_to_an_agent_is_listed(store: Store, keep: Keep) -> None:
    say(store, message(0, "zebra"))
    own = keep("own", scope=Scope.AGENT, agent_id="a1", tags=("b", "a"))
    waiting = keep("waiting", scope=Scope.AGENT, agent_id="a1", status=Status.INBOX, tags=("c",))
    in_talk = keep("in talk", scope=Scope.SESSION, session_id="c1")
    keep("of everybody", agent_id="a1")

    def write(tables: Tables) -> None:
        tables.sources.add(source("s1", "raw"))
        tables.sources.add_event(event("e1", source_id="s1", owner=Owner(Scope.AGENT, "a1")))
        tables.sources.add_event(event("e2", owner=Owner(Scope.SESSION, "c1")))
        tables.sources.add_event(event("e3", owner=Owner(Scope.AGENT, "a2")))

    store.write(write)
    with store.read() as tables:
        assert tables.agents.archive_summary("a1", tag_limit=9) == (1, 1, ("a", "b"))
        assert tables.agents.archive_summary("a1", tag_limit=1) == (1, 1, ("a",))
        assert set(tables.agents.own_memory_ids("a1")) == {own.id, waiting.id, in_talk.id}
        assert sorted(tables.agents.own_events("a1")) == [("e1", "s1"), ("e2", None)]
        assert tables.conversations.own_memory_ids("c1") == [in_talk.id]
        assert tables.conversations.own_events("c1") == [("e2", None)]
    store.write(lambda tables: tables.agents.delete_event("e1"))
    with store.read() as tables:
        assert tables.sources.event("e1") is None
        assert tables.sources.get("s1") is not None
