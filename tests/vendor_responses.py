"""
Scripted responses of a vendor's model, and their body in the format of each vendor.

A response depends only on the request and the script, so that equal calls get equal objects: ids
are a fingerprint, the time is fixed, tokens are words. Without a script the model repeats the last
user message. Nothing else of the request appears in the response: not system messages,
`instructions` or `system`, which an interceptor may change.

This file does not know HTTP or streams: vendor_streams.py makes a stream of the body.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal

Dialect = Literal["chat", "responses", "messages"]
Body = Mapping[str, Any]

CREATED = 1_767_225_600  # 2026-01-01, in every response
OVERLOADED = 529  # the status of Anthropic; OpenAI sends 503


@dataclass(frozen=True)
class ScriptedCall:
    """A tool call."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    namespace: str = ""  # of the tool, in `responses`
    raw_arguments: str | None = None  # instead of the arguments: what a model may get wrong

    @property
    def arguments_json(self) -> str:
        """The arguments as JSON text."""
        if self.raw_arguments is not None:
            return self.raw_arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class ScriptedResponse:
    """
    One response: its content, and how it is delivered.

    Without text, calls, refusal or choices it has the default text. The `_after` fields are the
    number of stream events before a hold, a break or an error. A response without a stream waits
    before its headers, breaks in the middle of its body and has no error event.
    """

    text: str | None = None
    calls: Sequence[ScriptedCall] = ()
    refusal: str | None = None
    thinking: str | None = None  # not in chat.completions
    choices: Sequence[str] = ()  # the texts of several choices, only in chat.completions
    truncated: bool = False  # stopped by the token limit

    counts_tokens: bool = True  # without: zero, as some servers send
    status: int = 200  # from 400: an error without the content above
    retry_after: int | None = None  # seconds, as a header
    gzip: bool = False
    hold_after: int | None = None  # waits for `release()` or the end of the server
    break_after: int | None = None
    error_after: int | None = None
    byte_by_byte: bool = False  # each byte of a stream is a chunk of its own
    error_text: str = ""  # the message of an error


def default_text(user_text: str) -> str:
    """Return the default text for *user_text*. Its last character has three bytes in UTF-8."""
    return f"You said: {user_text} ✓"


def with_default_text(
    answer: ScriptedResponse, dialect: Dialect, request: Body
) -> ScriptedResponse:
    """Return *answer* with the default text if it has no content."""
    if answer.text is not None or answer.calls or answer.refusal is not None or answer.choices:
        return answer
    text = default_text(last_user_text(request))
    schema = _schema(dialect, request)
    if schema is not None:
        text = json.dumps(_example(schema, text, schema.get("$defs", {})), ensure_ascii=False)
    return replace(answer, text=text)


def last_user_text(request: Body) -> str:
    """Return the text of the last user message that has text; tool results do not count."""
    turns = request.get("messages", request.get("input", ""))
    if isinstance(turns, str):
        return turns
    for turn in reversed(turns):
        if turn.get("role") != "user":
            continue
        parts = turn["content"]
        texts = [parts] if isinstance(parts, str) else [part.get("text", "") for part in parts]
        if any(texts):
            return "\n".join(filter(None, texts))
    return ""


def fingerprint(answer: ScriptedResponse, dialect: Dialect, request: Body) -> str:
    """Return the part of the ids that depends only on the request and the response."""
    calls = [(call.name, call.arguments_json) for call in answer.calls]
    content = (answer.text, calls, answer.refusal, answer.thinking, list(answer.choices))
    whole = (dialect, request.get("model"), last_user_text(request), content, answer.truncated)
    return sha256(json.dumps(whole).encode()).hexdigest()[:16]


def response_body(
    answer: ScriptedResponse, dialect: Dialect, request: Body, *, beta: bool = False
) -> dict[str, Any]:
    """Return the complete body of a response."""
    if dialect == "chat":
        return _chat_completion(answer, request)
    if dialect == "responses":
        return _response(answer, request)
    return _message(answer, request, beta=beta)


def error_body(
    dialect: Dialect, status: int, message: str | None = None, *, code: str | None = None
) -> dict[str, Any]:
    """Return the body of an HTTP error; *code* is Anthropic's optional error code."""
    kind, usual_code, usual = _ERRORS.get(status, _ERRORS[500])
    message = message or usual
    if dialect == "messages":
        kind = _ANTHROPIC_KINDS.get(status, "api_error")
        details = {"details": {"error_code": code}} if code else {}
        return {"type": "error", "error": {"type": kind, "message": message} | details}
    return {"error": {"message": message, "type": kind, "param": None, "code": usual_code}}


_ERRORS = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "unsupported_country", "This is not allowed."),
    404: ("invalid_request_error", "not_found", "There is nothing here."),
    413: ("invalid_request_error", "too_large", "The request is too large."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached."),
    500: ("server_error", None, "The server had an error."),
    503: ("server_error", None, "The engine is currently overloaded."),
    OVERLOADED: ("server_error", None, "Overloaded"),
}
_ANTHROPIC_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    OVERLOADED: "overloaded_error",
}


# The three bodies


def _chat_completion(answer: ScriptedResponse, request: Body) -> dict[str, Any]:
    id_suffix = fingerprint(answer, "chat", request)
    texts: list[str | None] = list(answer.choices) or [answer.text] * (request.get("n") or 1)
    reason = "length" if answer.truncated else "tool_calls" if answer.calls else "stop"
    choices = [
        {
            "index": index,
            "message": _chat_message(answer, text, f"call_{id_suffix}_{index}"),
            "logprobs": None,
            "finish_reason": reason,
        }
        for index, text in enumerate(texts)
    ]
    prompt_tokens, reply_tokens = _tokens(request, answer)
    return {
        "id": f"chatcmpl-{id_suffix}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request["model"],
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": reply_tokens,
            "total_tokens": prompt_tokens + reply_tokens,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_recollect",
    }


def _chat_message(answer: ScriptedResponse, text: str | None, id_suffix: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": answer.refusal}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"{id_suffix}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_json},
            }
            for index, call in enumerate(answer.calls)
        ]
    return message


def _response(answer: ScriptedResponse, request: Body) -> dict[str, Any]:
    id_suffix = fingerprint(answer, "responses", request)
    prompt_tokens, reply_tokens = _tokens(request, answer)
    return {
        "id": f"resp_{id_suffix}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if answer.truncated else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if answer.truncated else None,
        "instructions": None,
        "max_output_tokens": request.get("max_output_tokens"),
        "max_tool_calls": None,
        "metadata": request.get("metadata") or {},
        "model": request["model"],
        "output": _output_items(answer, id_suffix),
        "parallel_tool_calls": request.get("parallel_tool_calls", True),
        "previous_response_id": request.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": request.get("store", True),
        "temperature": request.get("temperature", 1.0),
        "text": request.get("text") or {"format": {"type": "text"}},
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools") or [],
        "top_logprobs": 0,
        "top_p": request.get("top_p", 1.0),
        "truncation": "disabled",
        "usage": {
            "input_tokens": prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": reply_tokens,
            "output_tokens_details": {"reasoning_tokens": len((answer.thinking or "").split())},
            "total_tokens": prompt_tokens + reply_tokens,
        },
        "user": request.get("user"),
    }


def _output_items(answer: ScriptedResponse, id_suffix: str) -> list[dict[str, Any]]:
    status = "incomplete" if answer.truncated else "completed"
    items: list[dict[str, Any]] = []
    if answer.thinking is not None:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        items.append({"type": "reasoning", "id": f"rs_{id_suffix}", "summary": summary})
    content: list[dict[str, Any]] = []
    if answer.text is not None:
        text = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        content.append(text)
    if answer.refusal is not None:
        content.append({"type": "refusal", "refusal": answer.refusal})
    if content:
        message = {
            "type": "message",
            "id": f"msg_{id_suffix}",
            "status": status,
            "role": "assistant",
        }
        items.append(message | {"content": content})
    for index, call in enumerate(answer.calls):
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{id_suffix}_{index}",
                "call_id": f"call_{id_suffix}_{index}",
                "name": call.name,
                "arguments": call.arguments_json,
                "status": status,
            }
            | ({"namespace": call.namespace} if call.namespace else {})
        )
    return items


def _message(answer: ScriptedResponse, request: Body, *, beta: bool) -> dict[str, Any]:
    id_suffix = fingerprint(answer, "messages", request)
    content: list[dict[str, Any]] = []
    if answer.thinking is not None:
        content.append(
            {"type": "thinking", "thinking": answer.thinking, "signature": f"sig{id_suffix}"}
        )
    if answer.text is not None:
        content.append({"type": "text", "text": answer.text})
    for index, call in enumerate(answer.calls):
        block = {"type": "tool_use", "id": f"toolu_{id_suffix}_{index}", "name": call.name}
        raw = call.raw_arguments
        content.append(block | {"input": dict(call.arguments) if raw is None else raw})
    refused = answer.refusal is not None
    details = {"type": "refusal", "category": None, "explanation": answer.refusal}
    done = "refusal" if refused else "tool_use" if answer.calls else "end_turn"
    prompt_tokens, reply_tokens = _tokens(request, answer)
    message = {
        "id": f"msg_{id_suffix}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": content,
        "stop_reason": "max_tokens" if answer.truncated else done,
        "stop_sequence": None,
        "stop_details": details if refused else None,
        "usage": {
            "input_tokens": prompt_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": reply_tokens,
            "service_tier": "standard",
        },
    }
    return message | {"container": None, "context_management": None} if beta else message


def _tokens(request: Body, answer: ScriptedResponse) -> tuple[int, int]:
    """Return the number of words in the last user message and in the response."""
    if not answer.counts_tokens:
        return 0, 0
    calls = [call.arguments_json for call in answer.calls]
    texts = [answer.text, answer.refusal, answer.thinking, *answer.choices, *calls]
    return len(last_user_text(request).split()), len(" ".join(filter(None, texts)).split())


# Structured output


def _schema(dialect: Dialect, request: Body) -> Body | None:
    """Return the JSON schema of the request, in whichever field the vendor has it."""
    formats: list[Any] = [
        (request.get("response_format") or {}).get("json_schema"),
        (request.get("text") or {}).get("format"),
        (request.get("output_config") or {}).get("format"),
        request.get("output_format"),
    ]
    candidates = {"chat": formats[:1], "responses": formats[1:2], "messages": formats[2:]}[dialect]
    return next((entry["schema"] for entry in candidates if entry and "schema" in entry), None)


def _example(schema: Body, text: str, defs: Body) -> Any:
    """Return a value that matches *schema*; its strings are *text*."""
    if "$ref" in schema:
        return _example(defs[schema["$ref"].rsplit("/", 1)[-1]], text, defs)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _example(schema[key][0], text, defs)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        parts = schema.get("properties", {})
        return {name: _example(part, text, defs) for name, part in parts.items()}
    if kind == "array":
        return [_example(schema.get("items", {"type": "string"}), text, defs)]
    return {"string": text, "integer": 1, "number": 1.5, "boolean": True}.get(str(kind))
