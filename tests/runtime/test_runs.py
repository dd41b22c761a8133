"""A message to an agent: steps, tools, stop reasons, and what is stored."""

from pathlib import Path
from typing import Any

import pytest

from agent_runs import agent_store, log_of, unanswered_calls
from recollect.domain import agent_run as events
from recollect.errors import ContextOverflow, InvalidModelResponse, ModelUnavailable
from recollect.models.chat_turn import Finish, Turn
from recollect.models.scripted_turns import call_turn


def add(a: int, b: int) -> int:
    """
    Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


def test_an_answer_without_tools_ends_the_turn_and_is_stored(path: Path) -> None:
    with agent_store(path, "Hello, you.") as (rec, model):
        result = rec.agents.run("ada", "Hi!")

        assert (result.stop_reason, result.text) == ("end_turn", "Hello, you.")
        assert log_of(rec, result.conversation_id) == [
            ("user", "Hi!"),
            ("assistant", "Hello, you."),
        ]
        assert result.usage.steps == 1
        assert model.requests[0].system.startswith("You are Ada.")
        assert rec.agents.run("ada", "Again")  # the model has no more turns
        assert rec.models.calls()[-1].purpose == "agent"


def test_a_tool_is_run_and_its_result_is_told_the_model(path: Path) -> None:
    with agent_store(path, call_turn(("add", {"a": 2, "b": 3})), "Five.", tools=[add]) as (
        rec,
        model,
    ):
        happened = list(rec.agents.stream("ada", "2 + 3?"))

        last = happened[-1]
        assert isinstance(last, events.RunEnded)
        assert last.result.stop_reason == "end_turn"
        assert log_of(rec, last.result.conversation_id) == [
            ("user", "2 + 3?"),
            ("assistant", "add"),
            ("tool", "5"),
            ("assistant", "Five."),
        ]
        assert [event.type for event in happened] == [
            "run_started",
            "message_stored",
            "tool_started",
            "tool_ended",
            "message_stored",
            "text_delta",
            "message_stored",
            "run_ended",
        ]
        assert model.requests[1].messages[-1].text == "5"
        [spec] = [tool for tool in model.requests[0].tools if tool.name == "add"]
        assert spec.parameters["required"] == ["a", "b"]


STOPS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("end_turn", ["Hello."], {}),
    ("max_steps", [call_turn(("add", {"a": 1, "b": 1}))] * 9, {"max_steps": 2}),
    ("max_tokens_exceeded", [Turn(text="Half", finish=Finish.LENGTH)], {}),
    ("invalid_llm_response", [Turn(text="", finish=Finish.REFUSED)], {}),
    ("invalid_llm_response", [InvalidModelResponse("no JSON")], {}),
    ("llm_api_error", [ModelUnavailable("401")], {}),
    ("invalid_tool_call", [call_turn(("add", "{"))] * 3, {}),
    ("invalid_tool_call", [call_turn(("no_such_tool", {}))] * 3, {}),
    ("context_window_overflow_in_system_prompt", [ContextOverflow("too long")] * 9, {}),
]


@pytest.mark.parametrize(("reason", "turns", "options"), STOPS, ids=range(len(STOPS)))
def test_a_run_says_why_it_stopped(
    path: Path, reason: str, turns: list[Any], options: dict[str, Any]
) -> None:
    with agent_store(path, *turns, "Go on.", tools=[add]) as (rec, model):
        result = rec.agents.run("ada", "Hi!", **options)

        assert result.stop_reason == reason
        messages = rec.conversations.messages(result.conversation_id)
        assert unanswered_calls(messages) == []
        model.turns, model.requests = ["Go on."], []
        assert rec.agents.run("ada", "And now?").stop_reason == "end_turn"


def test_a_transient_failure_is_tried_again_and_each_call_is_in_the_ledger(path: Path) -> None:
    busy = ModelUnavailable("429", retry_after_s=0.0, is_transient=True)
    with agent_store(path, busy, busy, "Hello.") as (rec, _):
        happened = list(rec.agents.stream("ada", "Hi!"))

        assert [event.type for event in happened].count("model_retried") == 2
        assert [call.error for call in rec.models.calls()] == ["", "429", "429"]


def test_the_daily_budget_holds(path: Path) -> None:
    turns = [call_turn(("add", {"a": 1, "b": 1}))] * 5
    with agent_store(path, *turns, tools=[add], chat_calls_per_day=2) as (rec, model):
        result = rec.agents.run("ada", "Count.")

        assert result.stop_reason == "insufficient_credits"
        assert "2 of 2 model calls" in result.error
        assert len(model.requests) == 2


def test_the_search_tools_of_a_run_find_nothing_of_another_project(path: Path) -> None:
    secret = "The Globex acquisition closes on Tuesday."
    searches = call_turn(
        ("conversation_search", {"query": "Globex acquisition"}),
        ("conversation_search", {"query": "", "start_date": "2020-01-01"}),
        ("conversation_search", {"query": "what did we say in the last two sessions?"}),
        ("archival_memory_search", {"query": "Globex acquisition"}),
        ("archival_memory_search", {"query": ""}),
    )
    with agent_store(path, "Noted.", searches, "Done.", searches, "Done.") as (rec, _):
        rec.agents.run("ada", secret, project="globex")
        rec.ingest(secret, agent="ada", project="globex", scope="agent")
        for project, is_told in (("acme", False), ("globex", True)):
            result = rec.agents.run("ada", "What is new?", project=project)
            messages = rec.conversations.messages(result.conversation_id)
            answers = [message.content for message in messages if message.role == "tool"]
            assert len(answers) == 5
            assert any("Globex acq" in answer for answer in answers) is is_told, answers
