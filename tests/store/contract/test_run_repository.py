"""Runs of agents and their tool calls."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import AlreadyExists, InvalidInput
from recollect.domain.agent_run import CallState, Run, RunCall, RunState, StopReason
from recollect.store.protocol import Store, Tables
from store_records import ALONE, message, say
from support import START

RUN = Run(
    id="r1",
    conversation_id="c1",
    max_steps=9,
    first_position=0,
    started_at=START,
    updated_at=START,
)
CALL = RunCall(
    id="t1",
    run_id="r1",
    conversation_id="c1",
    step=1,
    place=0,
    message_id="c1 m0",
    call_id="call_1",
    tool="look",
    updated_at=START,
)


@pytest.fixture(autouse=True)
def _conversations(store: Store, stored_agents: None) -> None:
    say(store, message(0, "zebra"))
    say(store, message(0, "zebra", ALONE), talk=ALONE)


def add_run(store: Store, run: Run, *calls: RunCall) -> None:
    def write(tables: Tables) -> None:
        tables.runs.add(run)
        for call in calls:
            tables.runs.add_call(call)

    store.write(write)


def test_a_run_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    add_run(store, RUN)
    later = replace(RUN, id="r2", conversation_id="c2", started_at=START + timedelta(minutes=1))
    add_run(store, later)
    with store.read() as tables:
        assert tables.runs.get("r1") == tables.runs.open_run("c1") == RUN
        assert tables.runs.get("unknown") is None
    ended = replace(
        RUN,
        state=RunState.ENDED,
        stop_reason=StopReason.MAX_STEPS,
        model="m",
        steps=3,
        input_tokens=5,
        output_tokens=7,
        error="é",
        updated_at=START + timedelta(hours=1),
    )
    store.write(lambda tables: tables.runs.set(ended))

    with store.read() as tables:
        assert tables.runs.get("r1") == ended
        assert tables.runs.open_run("c1") is None
        assert tables.runs.of_conversation("c1", limit=9) == [ended]
    again = replace(RUN, id="r3", started_at=START + timedelta(minutes=2))
    add_run(store, again)
    with store.read() as tables:
        assert tables.runs.of_conversation("c1", limit=9) == [again, ended]
        assert tables.runs.of_conversation("c1", limit=1) == [again]


def test_a_conversation_has_one_open_run_and_an_ended_one_has_a_reason(store: Store) -> None:
    add_run(store, RUN)

    with pytest.raises((InvalidInput, AlreadyExists)):
        add_run(store, replace(RUN, id="r2", state=RunState.WAITING))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.runs.set(replace(RUN, state=RunState.ENDED)))


def test_the_calls_of_a_run_come_back_in_order_and_change(store: Store) -> None:
    soon, late = START + timedelta(hours=1), START + timedelta(hours=2)
    first = replace(CALL, id="t3", place=0, state=CallState.AWAITING, expires_at=late)
    second = replace(CALL, id="t2", place=1, state=CallState.AWAITING, expires_at=soon)
    third = replace(CALL, id="t1", step=2)
    add_run(store, RUN, third, second, first)

    with store.read() as tables:
        assert tables.runs.calls("r1") == [first, second, third]
        assert tables.runs.calls("unknown") == []
        assert tables.runs.call("t2") == second
        assert tables.runs.call("unknown") is None
        assert tables.runs.awaiting(limit=9) == [second, first]
        assert tables.runs.awaiting(limit=1) == [second]
        assert tables.runs.awaiting(after=soon, limit=9) == [first]
        assert tables.runs.awaiting(until=soon, limit=9) == [second]
    approved = replace(second, state=CallState.APPROVED, updated_at=soon)
    store.write(lambda tables: tables.runs.set_call(approved))
    with store.read() as tables:
        assert tables.runs.call("t2") == approved
        assert tables.runs.awaiting(limit=9) == [first]


def test_a_call_that_awaits_a_decision_has_an_expiry(store: Store) -> None:
    with pytest.raises(InvalidInput):
        add_run(store, RUN, replace(CALL, state=CallState.AWAITING))


def test_runs_go_with_their_conversation_and_their_agent(store: Store) -> None:
    add_run(store, RUN, CALL)

    removed = store.write(lambda tables: tables.agents.delete("a1"))

    assert removed["runs"] == 1
    with store.read() as tables:
        assert tables.runs.get("r1") is None
        assert tables.runs.call("t1") is None
