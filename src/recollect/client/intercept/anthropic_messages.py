"""
The dialect of Anthropic's Messages API, including its beta version.

Tool results are parts of user messages. They are captured as tool messages, followed by a user
message with the other parts; the API requires that order. Tools that the server runs itself (web
search, MCP) and thinking are not captured. Streams are in `anthropic_messages_stream.py`.
"""

from recollect.client.intercept import captured_message as capture
from recollect.client.intercept.anthropic_messages_stream import assemble_stream
from recollect.client.intercept.dialect import CapturedMessage, Dialect, Json
from recollect.client.intercept.new_messages import messages_after_reply, without_prefill
from recollect.text.message_text import parts_text
from recollect.text.transcripts import json_fields as fields


def last_user_text(body: object) -> str:
    """Return the text of the last user message that has text; tool results do not count."""
    for message in reversed(_messages(body)):
        if message.get("role") == "user":
            text = fields.text_at(message, "content") or parts_text(
                fields.list_at(message, "content")
            )
            if text.strip():
                return text
    return ""


def add_memory(body: object, text: str) -> Json:
    """Return the body with memory at the end of `system`, so that a cached prefix stays valid."""
    request = dict(body) if fields.is_record(body) else {}
    if not text.strip() or _continues_thread(request):
        return request
    system = request.get("system")
    match system:
        case None | "":
            return {**request, "system": text}
        case str():
            return {**request, "system": f"{system}\n\n{text}"}
        case list():
            return {**request, "system": [*system, {"type": "text", "text": text}]}
        case _:
            return request


def _continues_thread(request: fields.JsonRecord) -> bool:
    """Return whether the server takes `system`, with memory in it, from the first turn."""
    thread = fields.record_at(request, "thread")
    return bool(thread) and thread.get("type") != "create"


def new_messages(body: object) -> list[CapturedMessage]:
    """Return the messages of users and tools after the last reply."""
    messages = without_prefill(_messages(body))
    new = messages_after_reply(messages, is_reply=lambda item: item.get("role") == "assistant")
    users = [message for message in new if message.get("role") == "user"]
    return [captured for message in users for captured in _capture(message)]


def reply_messages(response: object) -> list[CapturedMessage]:
    """Return the text and tool calls of the response."""
    body = response if fields.is_record(response) else {}
    blocks = fields.records_at(body, "content")
    calls = [
        capture.tool_call(block.get("id"), name=block.get("name"), arguments=block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    # Optional: why the model refused.
    refusal = fields.text_at(fields.record_at(body, "stop_details"), "explanation")
    text = "\n".join(filter(None, (_blocks_text(blocks), refusal)))
    return capture.assistant_message(text, calls=calls, model=body.get("model"))


def _messages(body: object) -> list[fields.JsonRecord]:
    return fields.records_at(body, "messages") if fields.is_record(body) else []


def _capture(message: fields.JsonRecord) -> list[CapturedMessage]:
    content = message.get("content")
    if not isinstance(content, list):
        return capture.user_message(content)
    results = [part for part in content if _is_result(part)]
    rest = [part for part in content if not _is_result(part)]
    return [*(_capture_result(part) for part in results), *capture.user_message(rest)]


def _is_result(part: object) -> bool:
    return fields.is_record(part) and part.get("type") == "tool_result"


def _capture_result(part: fields.JsonRecord) -> CapturedMessage:
    is_error = part.get("is_error")
    metadata = {"is_error": is_error} if isinstance(is_error, bool) else None
    content, call_id = part.get("content"), part.get("tool_use_id")
    return capture.tool_message(content, call_id=call_id, metadata=metadata)


def _blocks_text(blocks: list[fields.JsonRecord]) -> str:
    """Return the text of *blocks*. Adjacent text blocks are joined: citations split a sentence."""
    runs = [""]
    for block in blocks:
        if block.get("type") == "text":
            runs[-1] += fields.text_at(block, "text")
        elif runs[-1]:
            runs.append("")
    return "\n".join(filter(None, runs))


MESSAGES = Dialect(
    name="anthropic-messages",
    last_user_text=last_user_text,
    add_memory=add_memory,
    new_messages=new_messages,
    reply_messages=reply_messages,
    assemble_stream=assemble_stream,
)
