"""Runs of sleeptime and their edits of blocks."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import InvalidInput
from recollect.domain.sleeptime import (
    SleeptimeEdit,
    SleeptimeRun,
    SleeptimeState,
    SleeptimeTrigger,
)
from recollect.store.protocol import Store
from store_records import ALONE, block, message, say
from support import START

RUN = SleeptimeRun(
    id="s1",
    agent_id="a1",
    conversation_id="c1",
    trigger=SleeptimeTrigger.TURNS,
    requested_at=START,
)


@pytest.fixture(autouse=True)
def _conversations(store: Store, stored_agents: None) -> None:
    for position, role in enumerate(("user", "assistant", "user")):
        say(store, message(position, f"zebra {position}", role=role))
    say(store, message(0, "zebra", ALONE), talk=ALONE)


def test_a_run_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    store.write(lambda tables: tables.sleeptime_runs.add(RUN))
    with store.read() as tables:
        runs = tables.sleeptime_runs
        assert runs.get("s1") == runs.open_run("c1") == RUN
        assert runs.get("unknown") is None
        assert runs.claimable(now=START, limit=9) == [RUN]
        assert runs.read_to("c1") == -1
    done = replace(
        RUN,
        state=SleeptimeState.DONE,
        event_id="e1",
        first_position=0,
        last_position=1,
        made_by="rules",
        note="é",
        ended_at=START + timedelta(hours=1),
    )
    store.write(lambda tables: tables.sleeptime_runs.set(done))
    later = replace(RUN, id="s2", requested_at=START + timedelta(minutes=1))
    store.write(lambda tables: tables.sleeptime_runs.add(later))

    with store.read() as tables:
        runs = tables.sleeptime_runs
        assert runs.get("s1") == done
        assert runs.open_run("c1") == later
        assert runs.claimable(now=START, limit=9) == [later]
        assert runs.of_agent("a1", limit=9) == [later, done]
        assert runs.of_agent("a1", limit=1) == [later]
        assert runs.of_agent("a2", limit=9) == []
        assert runs.read_to("c1") == 1
        assert runs.unread_turns("c1", after=-1) == 2
        assert runs.unread_turns("c1", after=1) == 1
        assert runs.unread_turns("c1", after=2) == 0


def test_a_conversation_has_at_most_one_open_run(store: Store) -> None:
    store.write(lambda tables: tables.sleeptime_runs.add(RUN))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.sleeptime_runs.add(replace(RUN, id="s2")))


def test_the_edits_of_a_run_come_in_order(store: Store) -> None:
    human = block("b9", "human")
    applied = SleeptimeEdit(
        run_id="s1", place=0, block_id=human.id, label="human", version_before=1, version_after=2
    )
    proposed = replace(
        applied, place=1, version_after=None, proposal_id="q2", replaced_proposal_id="q1"
    )
    store.write(lambda tables: tables.blocks.add(human))
    store.write(lambda tables: tables.sleeptime_runs.add(RUN))
    for edit in (proposed, applied):
        store.write(lambda tables, edit=edit: tables.sleeptime_runs.add_edit(edit))  # type: ignore[misc]

    with store.read() as tables:
        assert tables.sleeptime_runs.edits("s1") == [applied, proposed]
        assert tables.sleeptime_runs.edits("unknown") == []


def test_a_run_under_a_lease_is_not_claimable_until_the_lease_ends(store: Store) -> None:
    store.write(lambda tables: tables.sleeptime_runs.add(RUN))
    leased = replace(RUN, attempts=1, lease_until=START + timedelta(minutes=10))
    store.write(lambda tables: tables.sleeptime_runs.set(leased))

    with store.read() as tables:
        runs = tables.sleeptime_runs
        assert runs.get("s1") == leased
        assert runs.claimable(now=START, limit=9) == []
        assert runs.claimable(now=START + timedelta(minutes=10), limit=9) == [leased]
        before = START - timedelta(days=2)  # the clock was ahead when the lease was written
        assert runs.claimable(now=before, limit=9) == [leased]
