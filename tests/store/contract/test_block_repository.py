"""Blocks, their attachments and their history."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import InvalidInput
from recollect.domain.block import Block, BlockProposal, ProposalState
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.protocol import Store, Tables
from store_records import EVERYBODY, block, block_version, count_matches
from support import START

pytestmark = pytest.mark.usefixtures("stored_agents")


def test_a_block_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    kept = block(
        "b1", "notes", "one", description="d", limit=None, read_only=True, metadata={"k": 1}
    )
    after = replace(
        kept, value="two", version=2, label="log", limit=9, hidden=True, read_only=False
    )
    store.write(lambda tables: tables.blocks.add(kept))
    with store.read() as tables:
        assert tables.blocks.get("b1") == kept
    store.write(lambda tables: tables.blocks.set(after))

    with store.read() as tables:
        assert tables.blocks.get("b1") == after
        assert tables.blocks.get("unknown") is None
        assert tables.blocks.all() == [after]
    owner = Owner(Scope.AGENT, "a1")
    assert count_matches(store, ItemKind.BLOCK, owner, "two log") == 1
    assert count_matches(store, ItemKind.BLOCK, owner, "one notes") == 0


@pytest.mark.parametrize(
    "invalid",
    [
        block("b1", "x", "too long", limit=3),
        block("b1", "x", limit=0),
        block("b1", "x", scope=Scope.GLOBAL),
        block("b1", "x", owner_id=""),
        block("b1", "x", scope=Scope.REPO),
    ],
    ids=["over its limit", "no limit at all", "global of one", "own of nobody", "of a repo"],
)
def test_the_store_itself_refuses_an_invalid_block(store: Store, invalid: Block) -> None:
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.add(invalid))

    assert count_matches(store, ItemKind.BLOCK, Owner(Scope.AGENT, "a1"), "x") == 0


def test_blocks_are_attached_in_order_under_one_label_each(store: Store) -> None:
    shared = block("b1", "human", scope=Scope.GLOBAL, owner_id="")
    same_label = block("b2", "human", scope=Scope.GLOBAL, owner_id="")
    own = block("b3", "persona")

    def write(tables: Tables) -> None:
        for new in (shared, same_label, own):
            tables.blocks.add(new)
        tables.blocks.attach("a1", own)
        tables.blocks.attach("a1", shared)
        tables.blocks.attach("a2", shared)

    store.write(write)
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.attach("a1", same_label))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.attach("nobody", same_label))
    with store.read() as tables:
        assert tables.blocks.attached_to("a1") == [own, shared]
        assert tables.blocks.agent_ids_of("b1") == ["a1", "a2"]
        assert tables.blocks.of_owner(EVERYBODY) == [shared, same_label]
        assert tables.blocks.of_owner(Owner(Scope.AGENT, "a1")) == [own]
    store.write(lambda tables: tables.blocks.detach("a1", "b1"))
    with store.read() as tables:
        assert tables.blocks.attached_to("a1") == [own]
        assert tables.blocks.get("b1") == shared
    store.write(lambda tables: tables.blocks.delete(shared))
    with store.read() as tables:
        assert tables.blocks.attached_to("a2") == []


def test_a_renamed_block_is_attached_under_its_new_label(store: Store) -> None:
    own, other = block("b1", "persona"), block("b2", "persona")

    def write(tables: Tables) -> None:
        tables.blocks.add(own)
        tables.blocks.attach("a1", own)
        tables.blocks.set(replace(own, label="self"))
        tables.blocks.add(other)
        tables.blocks.attach("a1", other)

    store.write(write)
    with store.read() as tables:
        assert [attached.label for attached in tables.blocks.attached_to("a1")] == [
            "self",
            "persona",
        ]


def test_every_version_of_a_block_is_kept_once(store: Store) -> None:
    first = block("b1", "notes", "one")
    second = replace(first, value="two", version=2)
    later = START + timedelta(hours=1)

    def write(tables: Tables) -> None:
        tables.blocks.add(first)
        tables.blocks.add_version(block_version(first))
        tables.blocks.set(second)
        tables.blocks.add_version(block_version(second, later))

    store.write(write)
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.add_version(block_version(second)))
    with store.read() as tables:
        assert tables.blocks.versions("b1") == [block_version(first), block_version(second, later)]
        assert tables.blocks.version("b1", 2) == block_version(second, later)
        assert tables.blocks.version("b1", 3) is None
        [change] = tables.blocks.changes_since(["b1", "unknown"], START)
        assert (change.block_id, change.label, change.version) == ("b1", "notes", 2)
        assert tables.blocks.changes_since(["b1"], later) == []
        assert tables.blocks.changes_since([], START - timedelta(days=1)) == []
    assert store.check()[1] == []


def test_a_proposal_shows_the_text_its_author_saw_and_is_decided_once(store: Store) -> None:
    shared = block("b1", "notes", "one", scope=Scope.GLOBAL, owner_id="")
    after = replace(shared, value="two", version=2)
    pending = BlockProposal(
        id="p1",
        block_id="b1",
        label="notes",
        scope=Scope.GLOBAL,
        owner_id="",
        author="anna",
        base_version=1,
        base_value="one",
        current_value="two",
        value="three",
        reason="r",
        proposed_at=START,
    )
    later = replace(pending, id="p2", value="four", proposed_at=START + timedelta(minutes=1))

    def write(tables: Tables) -> None:
        tables.blocks.add(shared)
        tables.blocks.add_version(block_version(shared))
        for proposal in (later, pending):
            tables.blocks.add_proposal(proposal)
        tables.blocks.set(after)

    store.write(write)
    with store.read() as tables:
        assert tables.blocks.proposal("p1") == pending
        assert tables.blocks.proposal("unknown") is None
        assert tables.blocks.proposals(ProposalState.PENDING) == [pending, later]
        assert tables.blocks.count_proposals(ProposalState.PENDING) == 2
        assert tables.blocks.count_proposals(ProposalState.ACCEPTED) == 0
        assert tables.blocks.pending_proposals_of("b1") == [pending, later]
        assert tables.blocks.pending_proposals_of("unknown") == []

    rejected = replace(
        pending, state=ProposalState.REJECTED, decision="no", decided_at=START + timedelta(hours=1)
    )
    store.write(lambda tables: tables.blocks.set_proposal(rejected))

    with store.read() as tables:
        assert tables.blocks.proposals(ProposalState.REJECTED) == [rejected]
        assert tables.blocks.pending_proposals_of("b1") == [later]


def test_a_block_that_changes_its_owner_is_found_under_the_new_one(store: Store) -> None:
    own = block("b1", "notes", "zebra")
    shared = replace(own, scope=Scope.GLOBAL, owner_id="", version=2)
    store.write(lambda tables: tables.blocks.add(own))

    store.write(lambda tables: tables.blocks.set(shared))

    with store.read() as tables:
        assert tables.blocks.get("b1") == shared
    assert count_matches(store, ItemKind.BLOCK, EVERYBODY, "zebra") == 1
    assert count_matches(store, ItemKind.BLOCK, Owner(Scope.AGENT, "a1"), "zebra") == 0
