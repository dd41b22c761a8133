"""
Tool rules: which tools an agent may call now, and when its run may end.

Theory of operation. A rule is about one tool. What a run has called so far is a sequence of past
calls; from it and the rules follow

- the tools that may be called now: before the first call those that must run first, if any; after
  a call what its children and conditional rules allow; never a child of a rule "parent last" unless
  its parent was the last call; never a tool that reached its count;
- the arguments that are filled in before a call, which override those of the model;
- whether the model must call a tool, and whether the run may end.

The names and fields of the rules are Letta's. Pure: this file runs no tool and reads no store.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass


class ToolRuleKind(StrEnum):
    """What a rule says about its tool."""

    RUN_FIRST = "run_first"
    CHILDREN = "constrain_child_tools"  # one of the children is called next
    PARENT_LAST = "parent_last_tool"  # the children are called only directly after the tool
    CONDITIONAL = "conditional"  # the tool's output decides which child is called next
    CONTINUE = "continue_loop"  # the run continues after the tool, also without a heartbeat
    EXIT = "exit_loop"  # the run ends after the tool
    REQUIRED = "required_before_exit"
    MAX_COUNT = "max_count_per_step"  # of calls in one run
    APPROVAL = "requires_approval"


Arguments = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolRule:
    """One rule. Which fields count depends on its kind."""

    kind: ToolRuleKind
    tool: str
    children: tuple[str, ...] = ()
    arguments: Arguments = field(default_factory=dict)  # filled in, if the tool runs first
    child_arguments: Mapping[str, Arguments] = field(default_factory=dict)
    child_by_output: Mapping[str, str] = field(default_factory=dict)
    default_child: str | None = None
    require_output_mapping: bool = False
    max_count: int = 0


@dataclass(frozen=True)
class PastCall:
    """A tool that was called in this run, and its output."""

    tool: str
    output: str


@dataclass(frozen=True)
class AllowedTools:
    """The tools that may be called now, the arguments filled in, and whether one must be called."""

    names: frozenset[str]
    arguments: Mapping[str, Arguments]
    is_call_required: bool


def parse_rules(values: Any) -> tuple[ToolRule, ...]:
    """Return the rules in *values*, a list of objects as in Letta's agent files."""
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise InvalidInput(f"tool_rules must be a list, not {type(values).__name__}")
    return tuple(_parse_rule(value) for value in values)


def _parse_rule(value: Any) -> ToolRule:
    if not isinstance(value, Mapping) or not isinstance(value.get("tool_name"), str):
        raise InvalidInput('a tool rule is an object with "type" and "tool_name"')
    try:
        kind = ToolRuleKind(str(value.get("type")))
    except ValueError:
        kinds = ", ".join(ToolRuleKind)
        problem = f"unknown type {value.get('type')!r} of a tool rule; use one of {kinds}"
        raise InvalidInput(problem) from None
    count = value.get("max_count_limit")
    if kind is ToolRuleKind.MAX_COUNT and (type(count) is not int or count < 1):
        raise InvalidInput(
            f"the rule {kind} of {value['tool_name']} needs max_count_limit, 1 or more"
        )
    default_child = value.get("default_child")
    if not isinstance(default_child, str | None):
        raise InvalidInput(f"default_child of a rule of {value['tool_name']} must be a name")
    nodes = [node for node in _list(value, "child_arg_nodes") if isinstance(node, Mapping)]
    return ToolRule(
        kind=kind,
        tool=value["tool_name"],
        children=tuple(map(str, _list(value, "children"))),
        arguments=_object(value, "args"),
        child_arguments={str(node.get("name")): _object(node, "args") for node in nodes},
        child_by_output={
            _output_key(key): str(child)
            for key, child in _object(value, "child_output_mapping").items()
        },
        default_child=default_child,
        require_output_mapping=bool(value.get("require_output_mapping")),
        max_count=count if isinstance(count, int) else 0,
    )


def _list(value: Mapping[str, Any], name: str) -> Sequence[Any]:
    items = value.get(name) or []
    if not isinstance(items, list | tuple):
        raise InvalidInput(f"{name} of a tool rule must be a list, not {type(items).__name__}")
    return items


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    item = value.get(name) or {}
    if not isinstance(item, Mapping):
        raise InvalidInput(f"{name} of a tool rule must be an object, not {type(item).__name__}")
    return item


def allowed_tools(
    rules: Sequence[ToolRule], tools: Collection[str], past: Sequence[PastCall]
) -> AllowedTools:
    """Return which of *tools* may be called after the calls in *past*."""
    names = frozenset(tools)
    first = [rule for rule in rules if rule.kind is ToolRuleKind.RUN_FIRST and rule.tool in names]
    if first and not past:
        filled = {rule.tool: rule.arguments for rule in first if rule.arguments}
        return AllowedTools(frozenset(rule.tool for rule in first), filled, True)
    last = past[-1] if past else None
    is_constrained = False
    filled = {}
    for rule in rules:
        follows = last is not None and last.tool == rule.tool
        match rule.kind:
            case ToolRuleKind.CHILDREN if follows:
                names &= frozenset(rule.children)
                filled.update(rule.child_arguments)
                is_constrained = True
            case ToolRuleKind.CONDITIONAL if follows and last is not None:
                child = _conditional_children(rule, last.output)
                if child is not None:
                    names &= child
                    is_constrained = True
            case ToolRuleKind.PARENT_LAST:
                children = frozenset(rule.children)
                names = names & children if follows else names - children
                is_constrained = is_constrained or follows
            case ToolRuleKind.MAX_COUNT:
                if sum(call.tool == rule.tool for call in past) >= rule.max_count:
                    names -= {rule.tool}
    return AllowedTools(names, filled, is_constrained and bool(names))


def _conditional_children(rule: ToolRule, output: str) -> frozenset[str] | None:
    """Return what may follow a tool with that output; None if anything may."""
    child = rule.child_by_output.get(_output_key(output))
    if child is not None:
        return frozenset({child})
    if rule.require_output_mapping:
        return frozenset()
    return frozenset({rule.default_child}) if rule.default_child else None


def _output_key(output: Any) -> str:
    """Return an output in the form in which it is compared: True, true and "true" are equal."""
    text = str(output).strip()
    try:
        value = json.loads(text)
    except ValueError:
        return text.lower()
    return str(value).strip().lower()


def ends_run(rules: Sequence[ToolRule], tool: str) -> bool:
    """Return whether the run ends after *tool*."""
    return _has(rules, ToolRuleKind.EXIT, tool)


def continues_run(rules: Sequence[ToolRule], tool: str) -> bool:
    """Return whether the run continues after *tool* without a heartbeat."""
    names = (ToolRuleKind.CONTINUE, ToolRuleKind.CHILDREN, ToolRuleKind.CONDITIONAL)
    return any(_has(rules, kind, tool) for kind in names)


def needs_approval(rules: Sequence[ToolRule], tool: str) -> bool:
    """Return whether a person decides on each call of *tool*."""
    return _has(rules, ToolRuleKind.APPROVAL, tool)


def missing_before_exit(
    rules: Sequence[ToolRule], tools: Collection[str], past: Sequence[PastCall]
) -> tuple[str, ...]:
    """Return the tools that must still be called before the run may end."""
    called = {call.tool for call in past}
    required = [rule.tool for rule in rules if rule.kind is ToolRuleKind.REQUIRED]
    return tuple(tool for tool in required if tool not in called and tool in tools)


def _has(rules: Sequence[ToolRule], kind: ToolRuleKind, tool: str) -> bool:
    return any(rule.kind is kind and rule.tool == tool for rule in rules)


def usage_text(rules: Sequence[ToolRule]) -> str:
    """Return the rules as a part of the system message, '' if there are none."""
    lines = [_sentence(rule) for rule in rules]
    if not lines:
        return ""
    return "\n".join(
        ["<tool_usage_rules>", *(f"- {line}" for line in lines), "</tool_usage_rules>"]
    )


def _sentence(rule: ToolRule) -> str:
    tool, children = rule.tool, ", ".join(rule.children)
    match rule.kind:
        case ToolRuleKind.RUN_FIRST:
            return f"{tool} must be the first tool you call."
        case ToolRuleKind.CHILDREN:
            return f"After {tool}, call one of: {children}."
        case ToolRuleKind.PARENT_LAST:
            return f"Call {children} only directly after {tool}."
        case ToolRuleKind.CONDITIONAL:
            cases = [
                f"{child} if it returns {key!r}" for key, child in rule.child_by_output.items()
            ]
            if rule.default_child:
                cases.append(f"otherwise {rule.default_child}")
            return f"After {tool}, call {', '.join(cases)}."
        case ToolRuleKind.CONTINUE:
            return f"Your turn continues after {tool}."
        case ToolRuleKind.EXIT:
            return f"{tool} ends your turn."
        case ToolRuleKind.REQUIRED:
            return f"Call {tool} before you end your turn."
        case ToolRuleKind.MAX_COUNT:
            times = "once" if rule.max_count == 1 else f"{rule.max_count} times"
            return f"Call {tool} at most {times} in a turn."
        case ToolRuleKind.APPROVAL:
            return f"The user decides on each call of {tool}."
