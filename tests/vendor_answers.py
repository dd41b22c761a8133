"""
What a vendor's model answers, and the body of that answer as each vendor writes it.

An answer is a function of the request and the script, so that two equal calls get equal objects:
ids are a fingerprint, the time stands still, tokens are words. Without a script the model repeats
the caller's last user message, and nothing else of the request shows in the answer: not system
messages, `instructions` or `system`, which an interceptor may add to.

This file knows nothing of HTTP or of streams: a stream is made of the body, in vendor_streams.py.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal

Dialect = Literal["chat", "responses", "messages"]
Body = Mapping[str, Any]

CREATED = 1_767_225_600  # 2026-01-01, in every answer
OVERLOADED = 529  # as Anthropic says it; OpenAI says 503


@dataclass(frozen=True)
class Call:
    """One call of a tool."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    namespace: str = ""  # of the tool, in `responses`

    @property
    def written(self) -> str:
        """The arguments as the model writes them."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """
    One answer: what it says, and how it gets there.

    Without text, calls, refusal or choices it says the default. The `_after` fields count the
    events of a stream that are sent before it happens. A plain answer waits before its head, breaks
    off in the middle of its body, and knows no error event.
    """

    text: str | None = None
    calls: Sequence[Call] = ()
    refusal: str | None = None
    thinking: str | None = None  # chat.completions shows none
    choices: Sequence[str] = ()  # the texts of several choices; only chat.completions has them
    truncated: bool = False  # ends because it got too long

    status: int = 200  # from 400 on, an error instead of all the above
    retry_after: int | None = None  # seconds, as a header
    gzip: bool = False
    hold_after: int | None = None  # waits for `release()` or the end of the server
    break_after: int | None = None
    error_after: int | None = None


def default_text(user_text: str) -> str:
    """Return what the model says to *user_text*. The last sign takes three bytes of UTF-8."""
    return f"You said: {user_text} ✓"


def completed(answer: Answer, dialect: Dialect, asked: Body) -> Answer:
    """Return *answer* with the default text where it says nothing itself."""
    if answer.text is not None or answer.calls or answer.refusal is not None or answer.choices:
        return answer
    text = default_text(last_user_text(asked))
    schema = _schema(dialect, asked)
    if schema is not None:
        text = json.dumps(_example(schema, text, schema.get("$defs", {})), ensure_ascii=False)
    return replace(answer, text=text)


def last_user_text(asked: Body) -> str:
    """Return the text of the last user message that has any; results of tools are none."""
    turns = asked.get("messages", asked.get("input", ""))
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


def fingerprint(answer: Answer, dialect: Dialect, asked: Body) -> str:
    """Return what the ids of an answer are made of: equal questions and answers, equal ids."""
    calls = [(call.name, call.written) for call in answer.calls]
    said = (answer.text, calls, answer.refusal, answer.thinking, list(answer.choices))
    whole = (dialect, asked.get("model"), last_user_text(asked), said, answer.truncated)
    return sha256(json.dumps(whole).encode()).hexdigest()[:16]


def plain_body(
    answer: Answer, dialect: Dialect, asked: Body, *, beta: bool = False
) -> dict[str, Any]:
    """Return the whole body of a completed answer."""
    if dialect == "chat":
        return _chat_completion(answer, asked)
    if dialect == "responses":
        return _response(answer, asked)
    return _message(answer, asked, beta=beta)


def error_body(
    dialect: Dialect, status: int, message: str | None = None, *, code: str | None = None
) -> dict[str, Any]:
    """Return the body of an HTTP error; *code* is the detail that Anthropic may give."""
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


def _chat_completion(answer: Answer, asked: Body) -> dict[str, Any]:
    mark = fingerprint(answer, "chat", asked)
    texts: list[str | None] = list(answer.choices) or [answer.text] * (asked.get("n") or 1)
    reason = "length" if answer.truncated else "tool_calls" if answer.calls else "stop"
    choices = [
        {
            "index": index,
            "message": _chat_message(answer, text, f"call_{mark}_{index}"),
            "logprobs": None,
            "finish_reason": reason,
        }
        for index, text in enumerate(texts)
    ]
    spent, said = _tokens(asked, answer)
    return {
        "id": f"chatcmpl-{mark}",
        "object": "chat.completion",
        "created": CREATED,
        "model": asked["model"],
        "choices": choices,
        "usage": {
            "prompt_tokens": spent,
            "completion_tokens": said,
            "total_tokens": spent + said,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_recollect",
    }


def _chat_message(answer: Answer, text: str | None, mark: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": answer.refusal}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"{mark}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.written},
            }
            for index, call in enumerate(answer.calls)
        ]
    return message


def _response(answer: Answer, asked: Body) -> dict[str, Any]:
    mark = fingerprint(answer, "responses", asked)
    spent, said = _tokens(asked, answer)
    return {
        "id": f"resp_{mark}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if answer.truncated else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if answer.truncated else None,
        "instructions": None,
        "max_output_tokens": asked.get("max_output_tokens"),
        "max_tool_calls": None,
        "metadata": asked.get("metadata") or {},
        "model": asked["model"],
        "output": _output_items(answer, mark),
        "parallel_tool_calls": asked.get("parallel_tool_calls", True),
        "previous_response_id": asked.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": asked.get("store", True),
        "temperature": asked.get("temperature", 1.0),
        "text": asked.get("text") or {"format": {"type": "text"}},
        "tool_choice": asked.get("tool_choice", "auto"),
        "tools": asked.get("tools") or [],
        "top_logprobs": 0,
        "top_p": asked.get("top_p", 1.0),
        "truncation": "disabled",
        "usage": {
            "input_tokens": spent,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": len((answer.thinking or "").split())},
            "total_tokens": spent + said,
        },
        "user": asked.get("user"),
    }


def _output_items(answer: Answer, mark: str) -> list[dict[str, Any]]:
    status = "incomplete" if answer.truncated else "completed"
    items: list[dict[str, Any]] = []
    if answer.thinking is not None:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        items.append({"type": "reasoning", "id": f"rs_{mark}", "summary": summary})
    content: list[dict[str, Any]] = []
    if answer.text is not None:
        text = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        content.append(text)
    if answer.refusal is not None:
        content.append({"type": "refusal", "refusal": answer.refusal})
    if content:
        message = {"type": "message", "id": f"msg_{mark}", "status": status, "role": "assistant"}
        items.append(message | {"content": content})
    for index, call in enumerate(answer.calls):
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{mark}_{index}",
                "call_id": f"call_{mark}_{index}",
                "name": call.name,
                "arguments": call.written,
                "status": status,
            }
            | ({"namespace": call.namespace} if call.namespace else {})
        )
    return items


def _message(answer: Answer, asked: Body, *, beta: bool) -> dict[str, Any]:
    mark = fingerprint(answer, "messages", asked)
    content: list[dict[str, Any]] = []
    if answer.thinking is not None:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": f"sig{mark}"})
    if answer.text is not None:
        content.append({"type": "text", "text": answer.text})
    for index, call in enumerate(answer.calls):
        block = {"type": "tool_use", "id": f"toolu_{mark}_{index}", "name": call.name}
        content.append(block | {"input": dict(call.arguments)})
    refused = answer.refusal is not None
    details = {"type": "refusal", "category": None, "explanation": answer.refusal}
    done = "refusal" if refused else "tool_use" if answer.calls else "end_turn"
    spent, said = _tokens(asked, answer)
    message = {
        "id": f"msg_{mark}",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": content,
        "stop_reason": "max_tokens" if answer.truncated else done,
        "stop_sequence": None,
        "stop_details": details if refused else None,
        "usage": {
            "input_tokens": spent,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": said,
            "service_tier": "standard",
        },
    }
    return message | {"container": None, "context_management": None} if beta else message


def _tokens(asked: Body, answer: Answer) -> tuple[int, int]:
    """Count words: of the last user message, and of all that was said."""
    calls = [call.written for call in answer.calls]
    said = [answer.text, answer.refusal, answer.thinking, *answer.choices, *calls]
    return len(last_user_text(asked).split()), len(" ".join(filter(None, said)).split())


# Structured output


def _schema(dialect: Dialect, asked: Body) -> Body | None:
    """Return the schema the caller wants the text to fit, wherever the vendor puts it."""
    formats: list[Any] = [
        (asked.get("response_format") or {}).get("json_schema"),
        (asked.get("text") or {}).get("format"),
        (asked.get("output_config") or {}).get("format"),
        asked.get("output_format"),
    ]
    found = {"chat": formats[:1], "responses": formats[1:2], "messages": formats[2:]}[dialect]
    return next((wanted["schema"] for wanted in found if wanted and "schema" in wanted), None)


def _example(schema: Body, text: str, defs: Body) -> Any:
    """Return a value that fits *schema*; its strings say *text*."""
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
