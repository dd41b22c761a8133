"""Which tools may be called after which calls, and when a run may end: pure, one case a line."""

from typing import Any

import pytest

from recollect.errors import InvalidInput
from recollect.runtime.tool_rules import (
    PastCall,
    allowed_tools,
    continues_run,
    ends_run,
    missing_before_exit,
    needs_approval,
    parse_rules,
    usage_text,
)
from tables import each_row

TOOLS = ("a", "b", "c", "d")


def rule(kind: str, tool: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "tool_name": tool, **fields}


FIRST = rule("run_first", "a", args={"x": 1})
CHILD_ARGUMENTS = [{"name": "b", "args": {"y": 2}}]
CHILDREN = rule("constrain_child_tools", "a", children=["b", "c"], child_arg_nodes=CHILD_ARGUMENTS)
PARENT = rule("parent_last_tool", "a", children=["b"])
MAPPING = {"True": "b", "no": "c"}
CONDITION = rule("conditional", "a", child_output_mapping=MAPPING, default_child="d")
STRICT = rule(
    "conditional",
    "a",
    child_output_mapping=MAPPING,
    default_child=None,
    require_output_mapping=True,
)
OPEN = rule("conditional", "a", child_output_mapping=MAPPING, default_child=None)
TWICE = rule("max_count_per_step", "a", max_count_limit=2)

# the rules, the calls so far, the tools that may be called, whether one must be called
CASES: list[tuple[list[dict[str, Any]], list[tuple[str, str]], str, bool]] = [
    ([], [], "abcd", False),
    ([FIRST], [], "a", True),
    ([FIRST], [("a", "")], "abcd", False),
    ([CHILDREN], [], "abcd", False),
    ([CHILDREN], [("a", "")], "bc", True),
    ([CHILDREN], [("a", ""), ("b", "")], "abcd", False),
    ([PARENT], [], "acd", False),
    ([PARENT], [("a", "")], "b", True),
    ([PARENT], [("a", ""), ("b", "")], "acd", False),
    ([CONDITION], [("a", "true")], "b", True),
    ([CONDITION], [("a", '"No"')], "c", True),
    ([CONDITION], [("a", "perhaps")], "d", True),
    ([STRICT], [("a", "perhaps")], "", False),
    ([OPEN], [("a", "perhaps")], "abcd", False),
    ([TWICE], [("a", "")], "abcd", False),
    ([TWICE], [("a", ""), ("b", ""), ("a", "")], "bcd", False),
    (
        [CHILDREN, rule("max_count_per_step", "b", max_count_limit=1)],
        [("b", ""), ("a", "")],
        "c",
        True,
    ),
    ([FIRST, CHILDREN], [], "a", True),
    ([rule("run_first", "unknown")], [], "abcd", False),
]


def test_what_was_called_decides_what_may_be_called(subtests: pytest.Subtests) -> None:
    for rules, past, names, is_required in CASES:
        with subtests.test(rules=str(rules), past=past):
            calls = [PastCall(*call) for call in past]
            allowed = allowed_tools(parse_rules(rules), TOOLS, calls)

            assert "".join(sorted(allowed.names)) == names
            assert allowed.is_call_required is is_required


def test_arguments_are_filled_in_for_the_first_tool_and_for_children() -> None:
    rules = parse_rules([FIRST, CHILDREN])

    assert allowed_tools(rules, TOOLS, []).arguments == {"a": {"x": 1}}
    assert allowed_tools(rules, TOOLS, [PastCall("a", "")]).arguments == {"b": {"y": 2}}


def test_a_run_ends_continues_and_asks_as_its_rules_say() -> None:
    kinds = ("exit_loop", "continue_loop", "required_before_exit", "requires_approval")
    rules = parse_rules([rule(kind, tool) for kind, tool in zip(kinds, TOOLS, strict=True)])

    assert [ends_run(rules, tool) for tool in TOOLS] == [True, False, False, False]
    assert [continues_run(rules, tool) for tool in TOOLS] == [False, True, False, False]
    assert [needs_approval(rules, tool) for tool in TOOLS] == [False, False, False, True]
    assert missing_before_exit(rules, TOOLS, []) == ("c",)
    assert missing_before_exit(rules, TOOLS, [PastCall("c", "")]) == ()
    assert missing_before_exit(rules, ("a",), []) == ()


def test_the_rules_are_told_the_model() -> None:
    kinds = [rule(kind, "d") for kind in ("exit_loop", "continue_loop", "required_before_exit")]
    rules = parse_rules([FIRST, CHILDREN, PARENT, CONDITION, TWICE, *kinds])

    assert usage_text(()) == ""
    assert usage_text([*rules, *parse_rules([rule("requires_approval", "a")])]) == (
        "<tool_usage_rules>\n"
        "- a must be the first tool you call.\n"
        "- After a, call one of: b, c.\n"
        "- Call b only directly after a.\n"
        "- After a, call b if it returns 'true', c if it returns 'no', otherwise d.\n"
        "- Call a at most 2 times in a turn.\n"
        "- d ends your turn.\n"
        "- Your turn continues after d.\n"
        "- Call d before you end your turn.\n"
        "- The user decides on each call of a.\n"
        "</tool_usage_rules>"
    )


@each_row(
    "value",
    [
        {},
        ["x"],
        [{"type": "run_first"}],
        [rule("no_such_rule", "a")],
        [rule("max_count_per_step", "a")],
        [rule("constrain_child_tools", "a", children="b")],
        [rule("run_first", "a", args=[1])],
    ],
    ids=range(7),
)
def test_a_rule_that_makes_no_sense_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        parse_rules(value)
