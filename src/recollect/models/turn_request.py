"""Write the request for one turn: as OpenAI's chat completions or Anthropic's messages."""

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.models.chat_response import Dialect
from recollect.models.chat_turn import ANY_TOOL, ToolSpec, TurnMessage, TurnRequest, json_object

NOTHING_SAID = "(The conversation continues.)"  # Anthropic refuses histories that begin otherwise


def turn_body(dialect: Dialect, model: str, request: TurnRequest) -> dict[str, Any]:
    """Return the body of the request, which asks for a stream."""
    write = _openai_body if dialect == "openai" else _anthropic_body
    return {"model": model, "max_tokens": request.max_tokens, "stream": True, **write(request)}


def _openai_body(request: TurnRequest) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [_openai_message(message) for message in request.messages]
    if request.system:
        messages.insert(0, {"role": "system", "content": request.system})
    body: dict[str, Any] = {"messages": messages, "stream_options": {"include_usage": True}}
    if request.tools:
        body["tools"] = [
            {"type": "function", "function": _openai_function(tool)} for tool in request.tools
        ]
        if request.tool_choice == ANY_TOOL:
            body["tool_choice"] = "required"
        elif request.tool_choice:
            body["tool_choice"] = {"type": "function", "function": {"name": request.tool_choice}}
    return body


def _openai_function(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def _openai_message(message: TurnMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if not message.calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _anthropic_body(request: TurnRequest) -> dict[str, Any]:
    body: dict[str, Any] = {"messages": list(_anthropic_messages(request.messages))}
    if request.system:
        # The system text changes only with the agent's memory, so it is worth a place in the cache.
        mark = {"cache_control": {"type": "ephemeral"}}
        body["system"] = [{"type": "text", "text": request.system, **mark}]
    if request.tools:
        body["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": dict(tool.parameters),
            }
            for tool in request.tools
        ]
        if request.tool_choice == ANY_TOOL:
            body["tool_choice"] = {"type": "any"}
        elif request.tool_choice:
            body["tool_choice"] = {"type": "tool", "name": request.tool_choice}
    return body


def _anthropic_messages(messages: Sequence[TurnMessage]) -> Iterator[dict[str, Any]]:
    """Yield the messages with alternating roles; the results of tools are parts of a user's."""
    role, parts = "user", list[dict[str, Any]]()
    for message in messages:
        next_role = "assistant" if message.role == "assistant" else "user"
        if next_role != role:
            yield {"role": role, "content": parts or [{"type": "text", "text": NOTHING_SAID}]}
            role, parts = next_role, []
        parts += _anthropic_parts(message)
    if parts:
        yield {"role": role, "content": parts}


def _anthropic_parts(message: TurnMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [result]
    parts: list[dict[str, Any]] = []
    if message.text.strip():
        parts.append({"type": "text", "text": message.text})
    for call in message.calls:
        arguments = json_object(call.arguments)
        parts.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return parts
