"""A call that needs a person waits across restarts, expires, and never blocks a conversation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_runs import agent_store, log_of, unanswered_calls
from recollect import IllegalTransition, LocalRecollect, NotFound
from recollect.models.scripted_turns import call_turn
from support import FakeClock

RULES = {"tool_rules": [{"type": "requires_approval", "tool_name": "pay"}]}


@pytest.fixture
def paid() -> list[int]:
    return []


@pytest.fixture
def pay(paid: list[int]) -> Callable[[int], str]:
    def pay(amount: int) -> str:
        """Pay an amount."""
        paid.append(amount)
        return "paid"

    return pay


ASK = call_turn(("pay", {"amount": 5}), text="I will pay.")


def test_an_approved_call_runs_after_a_restart(
    path: Path, paid: list[int], pay: Any, clock: FakeClock
) -> None:
    with agent_store(path, ASK, clock=clock, tools=[pay], runtime=RULES) as (rec, _):
        result = rec.agents.run("ada", "Pay five.")
        assert (result.stop_reason, paid) == ("requires_approval", [])
    with agent_store(path, "Done.", clock=clock, tools=[pay]) as (rec, model):
        [approval] = rec.agents.approvals(agent="ada")
        assert (approval.tool, approval.arguments) == ("pay", {"amount": 5})
        result = rec.agents.decide(approval, True)

        assert (result.stop_reason, result.text, paid) == ("end_turn", "Done.", [5])
        assert rec.agents.approvals() == []
        assert model.requests[0].messages[-1].text == "paid"
        with pytest.raises(IllegalTransition):
            rec.agents.decide(approval, True)
        assert paid == [5]


def test_a_denied_call_does_not_run_and_the_model_is_told_why(
    path: Path, paid: list[int], pay: Any
) -> None:
    with agent_store(path, ASK, "Fine.", tools=[pay], runtime=RULES) as (rec, model):
        [approval] = rec.agents.run("ada", "Pay five.").approvals
        result = rec.agents.decide(approval, False, reason="too much")

        assert (result.stop_reason, paid) == ("end_turn", [])
        assert model.requests[1].messages[-1].text == "The user denied this call: too much"


def test_always_approves_later_calls_of_the_tool(path: Path, paid: list[int], pay: Any) -> None:
    with agent_store(path, ASK, ASK, "Done.", tools=[pay], runtime=RULES) as (rec, _):
        [approval] = rec.agents.run("ada", "Pay twice.").approvals
        first = rec.agents.decide(approval, True, always=True)

        assert (first.stop_reason, paid) == ("end_turn", [5, 5])


def test_several_calls_wait_together_and_run_in_order(
    path: Path, paid: list[int], pay: Any
) -> None:
    calls = call_turn(("pay", {"amount": 1}), ("note", {"text": "x"}), ("pay", {"amount": 2}))

    def note(text: str) -> str:
        """Note a text."""
        paid.append(0)
        return "noted"

    with agent_store(path, calls, "Done.", tools=[pay, note], runtime=RULES) as (rec, _):
        first, second = rec.agents.run("ada", "Pay.").approvals
        waiting = rec.agents.decide(second, True)
        assert (waiting.stop_reason, paid) == ("requires_approval", [])
        done = rec.agents.decide(first, False)

        assert (done.stop_reason, paid) == ("end_turn", [0, 2])
        messages = rec.conversations.messages(done.conversation_id)
        assert unanswered_calls(messages) == []


def new_message(rec: LocalRecollect, clock: FakeClock, conversation: str) -> None:
    assert rec.agents.run("ada", "Never mind.", conversation=conversation).text == "Fine."


def cancel(rec: LocalRecollect, clock: FakeClock, conversation: str) -> None:
    run = rec.agents.cancel(conversation)
    assert run is not None
    assert run.stop_reason == "cancelled"
    assert rec.agents.cancel(conversation) is None


def expire(rec: LocalRecollect, clock: FakeClock, conversation: str) -> None:
    clock.advance(hours=25)
    assert rec.agents.approvals() == []


@pytest.mark.parametrize("end", [new_message, cancel, expire])
def test_what_ends_the_wait_denies_the_call(
    path: Path, paid: list[int], pay: Any, clock: FakeClock, end: Callable[..., None]
) -> None:
    with agent_store(path, ASK, "Fine.", clock=clock, tools=[pay], runtime=RULES) as (rec, _):
        result = rec.agents.run("ada", "Pay five.")
        [approval] = result.approvals
        end(rec, clock, result.conversation_id)

        assert rec.agents.approvals() == []
        with pytest.raises(IllegalTransition):
            rec.agents.decide(approval, True)
        assert paid == []
        messages = rec.conversations.messages(result.conversation_id)
        assert unanswered_calls(messages) == []
        assert log_of(rec, result.conversation_id)[2][1].startswith("Denied: ")


def test_a_decision_that_comes_too_late_denies_and_says_so(
    path: Path, paid: list[int], pay: Any, clock: FakeClock
) -> None:
    with agent_store(path, ASK, "Fine.", clock=clock, tools=[pay], runtime=RULES) as (rec, _):
        [approval] = rec.agents.run("ada", "Pay five.").approvals
        clock.advance(hours=25)
        with pytest.raises(IllegalTransition, match="expired on 2026-05-09 12:00"):
            rec.agents.decide(approval, True)
        with pytest.raises(NotFound):
            rec.agents.decide("no such approval", True)

        assert rec.agents.run("ada", "Go on.").text == "Fine."
        assert paid == []


def test_a_call_with_a_secret_does_not_wait_because_secrets_are_not_stored(path: Path) -> None:
    def deploy(key: str) -> str:
        """Deploy with a key."""
        raise AssertionError("it is not run")

    rule = {"type": "requires_approval", "tool_name": "deploy"}
    asks = call_turn(("deploy", {"key": "sk-proj-" + "a1B2c3D4" * 6}))
    with agent_store(path, asks, "I cannot.", tools=[deploy], runtime={"tool_rules": [rule]}) as (
        rec,
        _,
    ):
        result = rec.agents.run("ada", "Deploy.")

        assert (result.stop_reason, result.approvals) == ("end_turn", ())
        assert "pass no secret" in log_of(rec, result.conversation_id)[2][1]


def test_the_conversation_may_be_deleted_while_a_call_waits(
    path: Path, paid: list[int], pay: Any
) -> None:
    with agent_store(path, ASK, "Hello.", tools=[pay], runtime=RULES) as (rec, _):
        result = rec.agents.run("ada", "Pay five.")
        receipt = rec.conversations.delete(result.conversation_id)

        assert receipt.removed["runs"] == 1
        assert rec.agents.approvals() == []
        with pytest.raises(NotFound):
            rec.agents.decide(result.approvals[0], True)
        assert rec.agents.run("ada", "Hi.").text == "Hello."
        assert rec.maintenance.verify().ok


def test_an_approved_call_does_not_run_with_what_forgetting_left_of_its_arguments(
    path: Path,
) -> None:
    sent: list[str] = []

    def send(text: str) -> str:
        """Send a text."""
        sent.append(text)
        return "sent"

    runtime = {"tool_rules": [{"type": "requires_approval", "tool_name": "send"}]}
    ask = call_turn(("send", {"text": "Ask Quaxilon about lunch. Then call Bo."}))
    with agent_store(path, ask, "Fine.", tools=[send], runtime=runtime) as (rec, _):
        memory = rec.ingest("The zebra codename is Quaxilon.")
        [approval] = rec.agents.run("ada", "Send it.").approvals
        rec.forget(memory.id)
        result = rec.agents.decide(approval, True)

        assert (result.stop_reason, sent) == ("end_turn", [])
        answer = rec.conversations.messages(result.conversation_id)[-2]
        assert answer.content.startswith("Not run: words of its arguments were forgotten")
        assert unanswered_calls(rec.conversations.messages(result.conversation_id)) == []
