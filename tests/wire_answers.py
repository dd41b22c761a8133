"""Whole answers of language models as the vendors' types have them, for tests to build on."""

from typing import Any

Json = dict[str, Any]

LOOK = {"name": "look", "arguments": '{"at": "Łódź", "n": [1, 2.5]}'}


def chat_call(named: str) -> Json:
    """Return a call of a tool as chat completions have it."""
    return {"id": named, "type": "function", "function": LOOK}


def chat_answer(*messages: Json) -> Json:
    """Return a chat completion with one choice for each message."""
    choices = [
        {
            "index": at,
            "message": {"role": "assistant", "content": None, "refusal": None, **message},
            "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
            "logprobs": None,
        }
        for at, message in enumerate(messages)
    ]
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": "gpt-6",
        "choices": choices,
        "usage": usage,
    }


def spoken(*texts: str, refusal: str = "") -> Json:
    """Return an output message of the Responses API."""
    parts: list[Json] = [{"type": "output_text", "text": one, "annotations": []} for one in texts]
    if refusal:
        parts.append({"type": "refusal", "refusal": refusal})
    return {
        "id": f"msg_{len(parts)}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": parts,
    }


def function_call(named: str) -> Json:
    """Return a call of a tool as the Responses API has it."""
    return {
        "id": f"fc_{named}",
        "type": "function_call",
        "call_id": named,
        "status": "completed",
        **LOOK,
    }


def responses_answer(*output: Json, status: str = "completed") -> Json:
    """Return a response with these items."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_780_000_000,
        "model": "gpt-6",
        "status": status,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def tool_use(named: str, **given: Any) -> Json:
    """Return a call of a tool as Anthropic's messages have it."""
    return {"type": "tool_use", "id": named, "name": "look", "input": given}


def messages_answer(*content: Json) -> Json:
    """Return a message with these blocks."""
    called = any(block["type"] == "tool_use" for block in content)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-5",
        "content": list(content),
        "stop_reason": "tool_use" if called else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 9},
    }
