"""Complete responses of language models in the formats of the vendors."""

from typing import Any

Json = dict[str, Any]

LOOK_CALL = {"name": "look", "arguments": '{"at": "Łódź", "n": [1, 2.5]}'}


def chat_call(call_id: str) -> Json:
    """Return a tool call of chat completions."""
    return {"id": call_id, "type": "function", "function": LOOK_CALL}


def chat_response(*messages: Json) -> Json:
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


def output_message(*texts: str, refusal: str = "") -> Json:
    """Return an output message of the Responses API."""
    parts: list[Json] = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    if refusal:
        parts.append({"type": "refusal", "refusal": refusal})
    return {
        "id": f"msg_{len(parts)}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": parts,
    }


def function_call(call_id: str) -> Json:
    """Return a tool call of the Responses API."""
    return {
        "id": f"fc_{call_id}",
        "type": "function_call",
        "call_id": call_id,
        "status": "completed",
        **LOOK_CALL,
    }


def responses_response(*output: Json, status: str = "completed") -> Json:
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


def tool_use(call_id: str, **arguments: Any) -> Json:
    """Return a tool call of Anthropic's Messages API."""
    return {"type": "tool_use", "id": call_id, "name": "look", "input": arguments}


def messages_response(*content: Json) -> Json:
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


def ollama_response(message: Json) -> Json:
    """Return a response of Ollama's own chat API."""
    told = {"role": "assistant", "content": "", **message}
    return {"model": "llama3", "message": told, "done": True, "done_reason": "stop"}


def gemini_call(call_id: str) -> Json:
    """Return the part of a function call of Gemini."""
    return {"functionCall": {"id": call_id, "name": "look", "args": {"at": "Łódź"}}}


def gemini_response(*parts: Json) -> Json:
    """Return a response of Gemini's `generateContent`."""
    content = {"role": "model", "parts": list(parts)}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "modelVersion": "gemini-3-pro"}
