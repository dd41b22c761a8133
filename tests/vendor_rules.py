"""
The rules of the vendors that an interceptor is likely to break.

`check_request` raises for the first broken rule, with the status and about the message of the
vendor. It covers only part of what vendors check: keys, the format of turns, tool calls followed by
their results, empty blocks, cache marks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vendor_responses import Dialect


class RuleViolation(NamedTuple):
    """A broken rule, as status and message."""

    status: int
    message: str
    code: str | None = None  # of Anthropic


class VendorRefusal(Exception):
    """The vendor refuses a request."""

    def __init__(self, violation: RuleViolation) -> None:
        super().__init__(violation.message)
        self.violation = violation


def check_request(dialect: Dialect, headers: Mapping[str, str], body: Any) -> None:
    """Raise `Refused` if the vendor refuses a request. Header names are in lower case."""
    violation = _first_violation(dialect, headers, body)
    if violation is not None:
        raise VendorRefusal(violation)


def _first_violation(
    dialect: Dialect, headers: Mapping[str, str], body: Any
) -> RuleViolation | None:
    if not {"authorization", "api-key", "x-api-key"} & headers.keys():
        return RuleViolation(401, "You didn't provide an API key.")
    if dialect == "messages" and "anthropic-version" not in headers:
        return RuleViolation(400, "anthropic-version: header is required")
    if not isinstance(body, dict):
        return RuleViolation(400, "We could not parse the JSON body of your request.")
    if not isinstance(body.get("model"), str):
        return RuleViolation(400, "you must provide a model parameter")
    rules = {
        "chat": _chat_violations,
        "responses": _responses_violations,
        "messages": _messages_violations,
    }
    return next((RuleViolation(400, message) for message in rules[dialect](body)), None)


def _chat_violations(body: Mapping[str, Any]) -> Iterator[str]:
    turns = body.get("messages")
    if not isinstance(turns, list) or not turns:
        yield "Invalid 'messages': expected an array with at least one message."
        return
    roles = {"developer", "system", "user", "assistant", "tool", "function"}
    open_calls: set[str] = set()
    for index, turn in enumerate(turns):
        if turn.get("role") not in roles:
            yield f"Invalid value: 'messages[{index}].role'."
        if turn.get("role") == "tool":
            if turn.get("tool_call_id") not in open_calls:
                yield "messages with role 'tool' must be a response to a preceding 'tool_calls'."
            open_calls.discard(turn.get("tool_call_id", ""))
            continue
        if open_calls:
            break
        if turn.get("content") is None and turn.get("role") != "assistant":
            yield f"Invalid value for 'messages[{index}].content': expected a string, got null."
        open_calls = {call["id"] for call in turn.get("tool_calls") or []}
    if open_calls:
        yield "An assistant message with 'tool_calls' must be followed by tool messages."


def _responses_violations(body: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("instructions"), str | None):
        yield "Invalid type for 'instructions': expected a string."
    given = body.get("input")
    chained = any(body.get(key) for key in ("previous_response_id", "conversation", "prompt"))
    if given is None and not chained:
        yield "Missing required parameter: 'input'."
    if not isinstance(given, list):
        return
    calls = {item["call_id"] for item in given if item.get("type") == "function_call"}
    results = {item["call_id"] for item in given if item.get("type") == "function_call_output"}
    for index, item in enumerate(given):
        if "role" not in item and "type" not in item:
            yield f"Invalid value: 'input[{index}]'."
        if item.get("role", "user") not in {"user", "assistant", "system", "developer"}:
            yield f"Invalid value: 'input[{index}].role'."
    if results - calls and not chained:
        yield "No tool call found for function call output."
    if calls - results:
        yield "No tool output found for function call."


def _messages_violations(body: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int):
        yield "max_tokens: Field required"
    turns = body.get("messages")
    if not isinstance(turns, list) or not turns:
        yield "messages: at least one message is required"
        return
    system = body.get("system", "")
    if not isinstance(system, str | list):
        yield "system: Input should be a valid string or list"
        return
    if turns[0].get("role") != "user":
        yield "messages: first message must use the user role"
    if any(turn.get("role") not in {"user", "assistant", "system"} for turn in turns):
        yield "messages: Unexpected role"
    contents = [_blocks(system), *(_blocks(turn.get("content")) for turn in turns)]
    blocks = [block for part in contents for block in part]
    if any(block.get("type") == "text" and not block.get("text") for block in blocks):
        yield "text content blocks must be non-empty"
    if sum("cache_control" in block for block in [*blocks, *body.get("tools", [])]) > 4:
        yield "A maximum of 4 blocks with cache_control may be provided."
    yield from _unpaired(contents[1:])


def _unpaired(turns: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    before: set[str] = set()
    for blocks in turns:
        results = {block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"}
        if before - results:
            yield "`tool_use` ids were found without `tool_result` blocks immediately after."
        if results - before:
            yield "unexpected `tool_use_id` found in `tool_result` blocks."
        before = {block["id"] for block in blocks if block.get("type") == "tool_use"}
    if before:
        yield "`tool_use` ids were found without `tool_result` blocks immediately after."


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    """Return the blocks of a content; none for plain text, which may be empty."""
    return content if isinstance(content, list) else []
