"""The rules of an agent hold in its runs: order, arguments, limits, heartbeats, cancels."""

import threading
from pathlib import Path
from typing import Any

import pytest

from agent_runs import agent_store, log_of, unanswered_calls
from recollect import LocalRecollect
from recollect.domain import agent_run as events
from recollect.models.chat_turn import ANY_TOOL, Turn
from recollect.models.scripted_turns import call_turn


def look(place: str = "here") -> str:
    """Look somewhere."""
    return f"saw {place}"


def finish() -> str:
    """Finish."""
    return "finished"


def rule(kind: str, tool: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "tool_name": tool, **fields}


def run_with(
    path: Path, rules: list[dict[str, Any]], *turns: Turn | str, **runtime: Any
) -> tuple[events.RunResult, list[tuple[str, str]], list[Any]]:
    settings = {"tools": ["look", "finish"], "tool_rules": rules, **runtime}
    with agent_store(path, *turns, tools=[look, finish], runtime=settings) as (rec, model):
        result = rec.agents.run("ada", "Go.")
        messages = rec.conversations.messages(result.conversation_id)
        assert unanswered_calls(messages) == []
        return result, log_of(rec, result.conversation_id), model.requests


LOOK, FINISH = call_turn(("look", {})), call_turn(("finish", {}))


def test_an_exit_rule_ends_the_run_after_its_tool(path: Path) -> None:
    result, log, _ = run_with(path, [rule("exit_loop", "finish")], LOOK, FINISH)

    assert result.stop_reason == "tool_rule"
    assert log[-1] == ("tool", "finished")


def test_a_tool_that_must_run_first_is_the_only_choice_and_gets_its_arguments(path: Path) -> None:
    first = rule("run_first", "look", args={"place": "there"})
    look_elsewhere = call_turn(("look", {"place": "elsewhere"}))
    result, log, requests = run_with(path, [first], look_elsewhere, "Done.")

    assert ("tool", "saw there") in log
    assert [spec.name for spec in requests[0].tools] == ["look"]
    assert requests[0].tool_choice == "look"
    assert "look must be the first tool" in requests[0].system
    assert result.stop_reason == "end_turn"


@pytest.mark.parametrize("arguments", [{"place": 5}, {"nowhere": 1}], ids=["type", "name"])
def test_arguments_of_a_rule_that_do_not_fit_stop_the_run_and_nothing_is_run(
    path: Path, arguments: dict[str, Any]
) -> None:
    result, log, _ = run_with(path, [rule("run_first", "look", args=arguments)], LOOK)

    assert result.stop_reason == "invalid_tool_call"
    assert "a tool rule fills in" in result.error
    assert not [text for role, text in log if role == "tool"]


def test_a_missing_call_that_a_rule_requires_is_a_stop_reason(path: Path) -> None:
    result, _, requests = run_with(path, [rule("run_first", "look")], "I would rather not.")

    assert (result.stop_reason, result.text) == ("no_tool_call", "I would rather not.")
    assert requests[0].tool_choice == "look"


def test_a_tool_that_is_required_before_the_end_is_asked_for_without_a_trace(path: Path) -> None:
    required = rule("required_before_exit", "finish")
    result, log, requests = run_with(path, [required], "Done.", FINISH, "Really done.")

    assert (result.stop_reason, result.text) == ("end_turn", "Really done.")
    assert "call: finish" in requests[1].messages[-1].text
    assert not [text for _, text in log if "call: finish" in text]


def test_a_call_that_is_not_allowed_is_answered_and_the_model_may_correct_itself(
    path: Path,
) -> None:
    children = rule("constrain_child_tools", "look", children=["finish"])
    result, log, requests = run_with(path, [children], LOOK, LOOK, FINISH, "Done.")

    assert result.stop_reason == "end_turn"
    assert log[4] == ("tool", "Error: look may not be called now; allowed: finish")
    assert [spec.name for spec in requests[1].tools] == ["finish"]


def test_a_count_takes_the_tool_away(path: Path) -> None:
    once = rule("max_count_per_step", "look", max_count_limit=1)
    _, _, requests = run_with(path, [once], LOOK, "Done.")

    assert [spec.name for spec in requests[1].tools] == ["finish"]


def test_a_conditional_rule_follows_the_output(path: Path) -> None:
    mapping = {"saw gold": "finish", "saw sand": "look"}
    branch = rule("conditional", "look", child_output_mapping=mapping, default_child="finish")
    turns = [call_turn(("look", {"place": "sand"})), call_turn(("look", {"place": "gold"}))]
    _, _, requests = run_with(path, [branch], *turns, FINISH, "Done.")

    names = [[spec.name for spec in request.tools] for request in requests]
    assert names == [["look", "finish"], ["look"], ["finish"], ["look", "finish"]]


def test_without_a_heartbeat_the_turn_ends_with_the_tool_if_heartbeats_are_on(path: Path) -> None:
    stays = call_turn(("look", {"request_heartbeat": True}))
    leaves = call_turn(("look", {"request_heartbeat": False}))
    result, log, requests = run_with(path, [], stays, leaves, heartbeats=True)

    assert (result.stop_reason, len(requests)) == ("end_turn", 2)
    assert log[-1] == ("tool", "saw here")
    assert "request_heartbeat" in requests[0].tools[0].parameters["required"]


def test_with_several_tools_required_any_of_them_may_be_chosen(path: Path) -> None:
    both = [rule("run_first", "look"), rule("run_first", "finish")]
    _, _, requests = run_with(path, both, LOOK, "Done.")

    assert requests[0].tool_choice == ANY_TOOL


def test_one_invalid_call_keeps_the_others_from_running(path: Path) -> None:
    both = call_turn(("look", {}), ("look", {"nowhere": 1}))
    _, log, _ = run_with(path, [], both, "Sorry.")

    assert [text for role, text in log if role == "tool"] == [
        "Not run: another call is invalid.",
        "Error: invalid arguments of look: Additional properties are not allowed ('nowhere' was "
        "unexpected)",
    ]


def test_a_result_is_cut_and_an_error_of_a_tool_is_told_the_model(path: Path) -> None:
    def shout() -> str:
        """Shout."""
        return "a" * 100

    def fail() -> str:
        """Fail."""
        raise KeyError("gone")

    with agent_store(path, call_turn(("shout", {}), ("fail", {})), "Done.") as (rec, _):
        rec.agents.add_tool(shout, return_char_limit=10)
        rec.agents.add_tool(fail)
        result = rec.agents.run("ada", "Go.")

        assert [text for role, text in log_of(rec, result.conversation_id) if role == "tool"] == [
            "aaaaaaaaaa… [cut: 10 of 100 characters]",
            "Error: KeyError: 'gone'",
        ]


def test_tools_that_allow_it_run_at_the_same_time_and_others_in_order(path: Path) -> None:
    both_inside = threading.Barrier(2, timeout=30)
    order: list[str] = []

    def meet(name: str) -> str:
        """Wait for the other."""
        both_inside.wait()
        return name

    def step(name: str) -> str:
        """Take a step."""
        order.append(name)
        return name

    calls = [("step", {"name": "first"}), ("meet", {"name": "a"}), ("meet", {"name": "b"})]
    turn = call_turn(*calls, ("step", {"name": "last"}))
    with agent_store(path, turn, "Done.", tools=[step]) as (rec, _):
        rec.agents.add_tool(meet, enable_parallel_execution=True)
        result = rec.agents.run("ada", "Go.")

        assert [text for role, text in log_of(rec, result.conversation_id) if role == "tool"] == [
            "first",
            "a",
            "b",
            "last",
        ]
        assert order == ["first", "last"]


def test_the_system_message_changes_only_when_memory_changes(path: Path) -> None:
    edit = call_turn(("memory_insert", {"label": "persona", "new_str": "I like tea."}))
    with agent_store(path, LOOK, edit, "Done.", "Again.", tools=[look]) as (rec, model):
        rec.agents.run("ada", "Go.")
        rec.agents.run("ada", "And again.")

        systems = [request.system for request in model.requests]
        assert systems[0] == systems[1]
        assert "I like tea." not in systems[1]
        assert "I like tea." in systems[2]
        assert systems[2] == systems[3]


def test_what_is_recalled_is_injected_and_never_logged(path: Path) -> None:
    with agent_store(path, "Walnut.") as (rec, model):
        rec.archive.insert("ada", "The staging server is called walnut.")
        result = rec.agents.run("ada", "What is the staging server called?")

        asked = model.requests[0].messages[-1].text
        assert "walnut" in asked
        assert "<memory_metadata>" in asked
        assert log_of(rec, result.conversation_id)[0][1] == "What is the staging server called?"
        assert result.retrieval_id is not None
        assert rec.explain(result.retrieval_id)


def test_closing_the_events_cancels_the_run_and_keeps_what_was_written(path: Path) -> None:
    with agent_store(path, "One two three four.", "Go on.") as (rec, _):
        stream = rec.agents.stream("ada", "Count.")
        deltas = 0
        for event in stream:
            deltas += event.type == "text_delta"
            if deltas == 2:
                break
        stream.close()  # type: ignore[attr-defined]  # an iterator that is a generator

        [talk] = rec.conversations.list(agent="ada")
        [run] = rec.agents.runs(talk)
        assert (run.state, run.stop_reason) == ("ended", "cancelled")
        assert log_of(rec, talk.id) == [("user", "Count."), ("assistant", "Onetwo")]
        assert rec.agents.run("ada", "Go on.").text == "Go on."


def test_a_cancel_while_a_tool_runs_ends_the_run_and_the_result_is_dropped(path: Path) -> None:
    opened: list[LocalRecollect] = []

    def slow() -> str:
        """Take long; somebody cancels meanwhile."""
        [talk] = opened[0].conversations.list(agent="ada")
        opened[0].agents.cancel(talk)
        return "too late"

    with agent_store(path, call_turn(("slow", {})), "Go on.", tools=[slow]) as (rec, _):
        opened.append(rec)
        result = rec.agents.run("ada", "Go.")

        assert result.stop_reason == "cancelled"
        [answer] = [text for role, text in log_of(rec, result.conversation_id) if role == "tool"]
        assert answer.startswith("Interrupted: the user cancelled it.")
        assert rec.agents.run("ada", "Go on.").stop_reason == "end_turn"


def test_after_an_exception_the_model_reads_that_the_program_stopped(path: Path) -> None:
    def look() -> str:
        """Look, while somebody stops the program."""
        raise KeyboardInterrupt

    with agent_store(path, call_turn(("look", {})), "Go on.", tools=[look]) as (rec, _):
        with pytest.raises(KeyboardInterrupt):
            rec.agents.run("ada", "Go.")

        [talk] = rec.conversations.list(agent="ada")
        [run] = rec.agents.runs(talk)
        [answer] = [text for role, text in log_of(rec, talk.id) if role == "tool"]
        assert run.stop_reason == "error"
        assert answer.startswith("Interrupted: the program stopped during the run.")
        assert rec.agents.run("ada", "Go on.").stop_reason == "end_turn"


def test_a_full_window_is_compacted_inside_the_loop(path: Path) -> None:
    long = "We looked at the garden and the river and the hill for a long time. " * 20
    with agent_store(path, *["Fine."] * 12) as (rec, _):
        rec.agents.update("ada", metadata={"context_window": 3_000})
        happened = []
        for number in range(10):
            happened += list(rec.agents.stream("ada", f"{number}: {long}"))

        ends = [event.result.stop_reason for event in happened if event.type == "run_ended"]
        assert ends == ["end_turn"] * 10
        assert any(event.type == "context_compacted" for event in happened)
