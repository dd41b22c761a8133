"""
Check what the model wrote against the tools and rules of its agent: which event it is.

Pure. A message is checked as a whole: if one of its calls is not valid, none of them is run. The
model is told what is wrong and may correct itself a few times; arguments that a rule fills in and
that do not fit the tool stop the run at once, because the model cannot correct them.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from recollect.lazy_dataclass import dataclass
from recollect.models.chat_turn import Finish, Turn, TurnCall
from recollect.models.turn_response import to_json_text
from recollect.runtime.agent_tool import AgentTool
from recollect.runtime.step_table import StepEvent
from recollect.runtime.tool_rules import (
    AllowedTools,
    PastCall,
    ToolRule,
    missing_before_exit,
    needs_approval,
)

HEARTBEAT = "request_heartbeat"  # an argument that Letta's older agents add to each call
MAX_ERROR_CHARS = 300


@dataclass(frozen=True)
class CheckedCall:
    """A call with its final arguments, or what is wrong with it."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    arguments_text: str
    needs_approval: bool = False
    wants_heartbeat: bool = False
    problem: str = ""


@dataclass(frozen=True)
class CheckedTurn:
    """What the model wrote, and which event it is."""

    event: StepEvent
    text: str
    calls: tuple[CheckedCall, ...] = ()
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class TurnRules:
    """What a turn is checked against."""

    tools: Mapping[str, AgentTool]
    allowed: AllowedTools
    rules: Sequence[ToolRule]
    past: Sequence[PastCall]
    approved: Collection[str]
    used_ids: Collection[str]  # of earlier calls in the conversation
    is_last_chance: bool  # the model sent invalid calls several times
    is_stored_unchanged: Callable[[str], bool]  # whether arguments are stored as they are


def check_turn(turn: Turn, against: TurnRules) -> CheckedTurn:
    """Return what the model wrote with the event it is."""
    if turn.finish is Finish.LENGTH:
        error = "the answer was cut off at the limit of tokens; raise max_tokens of the agent"
        return CheckedTurn(StepEvent.ANSWER_CUT_OFF, turn.text, error=error)
    if turn.finish is Finish.REFUSED and not turn.text.strip():
        error = "the model refused to answer; rephrase the message or use another model"
        return CheckedTurn(StepEvent.ANSWER_UNUSABLE, "", error=error)
    if turn.calls:
        return _check_calls(turn, against)
    if against.allowed.is_call_required:
        error = (
            "the model answered without a tool call, but a tool rule requires one of: "
            f"{_names(against.allowed.names)}. Change tool_rules or use another model"
        )
        return CheckedTurn(StepEvent.REQUIRED_CALL_MISSING, turn.text, error=error)
    if missing_before_exit(against.rules, against.tools, against.past):
        return CheckedTurn(StepEvent.ANSWERED_TOO_EARLY, turn.text)
    return CheckedTurn(StepEvent.ANSWERED, turn.text)


def _check_calls(turn: Turn, against: TurnRules) -> CheckedTurn:
    used_ids = set(against.used_ids)
    calls: list[CheckedCall] = []
    for number, call in enumerate(turn.calls):
        call_id = call.id
        while call_id in used_ids:  # some servers count from zero in each message
            call_id = f"{call.id}_{len(used_ids)}_{number}"
        used_ids.add(call_id)
        checked, is_rule_at_fault = _check_call(call_id, call, against)
        calls.append(checked)
        if is_rule_at_fault:
            event = StepEvent.CALLS_INVALID_FOR_GOOD
            return CheckedTurn(event, turn.text, (), error=checked.problem)
    problems = [call.problem for call in calls if call.problem]
    if problems:
        event = StepEvent.CALLS_INVALID
        if against.is_last_chance:
            event = StepEvent.CALLS_INVALID_FOR_GOOD
        return CheckedTurn(event, turn.text, tuple(calls), error=problems[0])
    waits = any(call.needs_approval for call in calls)
    event = StepEvent.CALLS_NEED_APPROVAL if waits else StepEvent.CALLS_MADE
    return CheckedTurn(event, turn.text, tuple(calls))


def _check_call(call_id: str, call: TurnCall, against: TurnRules) -> tuple[CheckedCall, bool]:
    """Return the call with its final arguments, and whether a rule made them invalid."""

    def invalid(problem: str) -> CheckedCall:
        text = call.arguments if _is_object(call.arguments) else "{}"
        return CheckedCall(call_id, call.name, {}, text, problem=problem[:MAX_ERROR_CHARS])

    tool = against.tools.get(call.name)
    if tool is None:
        return invalid(f"there is no tool {call.name}; use {_names(against.allowed.names)}"), False
    if call.name not in against.allowed.names:
        allowed = _names(against.allowed.names)
        return invalid(f"{call.name} may not be called now; allowed: {allowed}"), False
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        return invalid(f"the arguments of {call.name} are not JSON: {error}"), False
    if not isinstance(arguments, dict):
        return invalid(f"the arguments of {call.name} are not an object"), False
    wants_heartbeat = bool(arguments.pop(HEARTBEAT, False))
    filled = against.allowed.arguments.get(call.name, {})
    if error_text := _filled_in_error(tool, filled):
        return invalid(error_text), True
    arguments |= filled
    for location, message in tool.argument_errors(arguments):
        where = f"{location}: " if location else ""
        return invalid(f"invalid arguments of {call.name}: {where}{message}"), False
    asks = tool.requires_approval or needs_approval(against.rules, call.name)
    asks = asks and call.name not in against.approved
    text = to_json_text(arguments)
    if asks and not against.is_stored_unchanged(text):
        # What a person approves is what is stored, and secrets are not.
        return invalid(f"a call of {call.name} waits for the user, so pass no secret to it"), False
    return CheckedCall(
        call_id,
        call.name,
        arguments,
        text,
        needs_approval=asks,
        wants_heartbeat=wants_heartbeat,
    ), False


def _filled_in_error(tool: AgentTool, filled: Mapping[str, Any]) -> str:
    """Return why arguments that a rule fills in do not fit the tool, '' if they do."""
    properties = tool.parameters.get("properties", {})
    for name, value in filled.items():
        if name not in properties:
            return f"a tool rule fills in {name}, which {tool.name} does not take"
        schema = {"type": "object", "properties": {name: properties[name]}}
        only = AgentTool(name=tool.name, description="", parameters=schema, run=tool.run)
        for error in only.argument_errors({name: value}):
            return f"a tool rule fills in {name} of {tool.name}: {error.message}"
    return ""


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _names(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "none"
