"""Agents."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import AlreadyExists, InvalidInput
from recollect.domain.agent import AgentPinning
from recollect.domain.conversation import Pin
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.protocol import Store, Tables
from store_records import ANNA, BEN, block, message, say
from support import START

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
        tables.word_index.drop_partition(ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"))

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
