"""
The dialect of OpenAI's chat completions, which many other servers implement.

Memory is a separate system message after those of the caller, so that tool calls and their results
stay adjacent. Streams are in `openai_chat_stream.py`.
"""

from recollect.client.intercept.captured_message import (
    assistant_message,
    tool_call,
    tool_message,
    user_message,
)
from recollect.client.intercept.dialect import CapturedMessage, Dialect, Json
from recollect.client.intercept.new_messages import messages_after_reply, without_prefill
from recollect.client.intercept.openai_chat_stream import assemble_stream
from recollect.client.intercept.system_prefix import last_user_text_in, system_prefix_length
from recollect.text.message_text import parts_text
from recollect.text.transcripts import json_fields as fields

_TOOL_ROLES = ("tool", "function")  # "function" was used until the end of 2023


def last_user_text(body: object) -> str:
    """Return the text of the last user message that has text."""
    return last_user_text_in(_messages(body), _message_text)


def add_memory(body: object, text: str) -> Json:
    """Return the body with memory as a system message after the leading ones."""
    request = dict(body) if fields.is_record(body) else {}
    messages = request.get("messages")
    if not isinstance(messages, list) or not text.strip():
        return request
    prefix = system_prefix_length(messages)
    role = messages[0]["role"] if prefix else "system"
    memory = {"role": role, "content": text}
    return {**request, "messages": [*messages[:prefix], memory, *messages[prefix:]]}


def new_messages(body: object) -> list[CapturedMessage]:
    """Return the messages of users and tools after the last reply."""
    messages = without_prefill(_messages(body))
    new = messages_after_reply(messages, is_reply=lambda item: item.get("role") == "assistant")
    return [captured for message in new for captured in _capture(message)]


def reply_messages(response: object) -> list[CapturedMessage]:
    """Return the text and tool calls of the first choice."""
    body = response if fields.is_record(response) else {}
    choice: fields.JsonRecord = next(iter(fields.records_at(body, "choices")), {})
    message = fields.record_at(choice, "message")
    spoken = fields.text_at(fields.record_at(message, "audio"), "transcript")
    texts = [_message_text(message), spoken, fields.text_at(message, "refusal")]
    calls = [_capture_call(call) for call in fields.records_at(message, "tool_calls")]
    if function := fields.record_at(message, "function_call"):  # the format before `tool_calls`
        calls.append(tool_call("", name=function.get("name"), arguments=function.get("arguments")))
    return assistant_message("\n".join(filter(None, texts)), calls=calls, model=body.get("model"))


def _messages(body: object) -> list[fields.JsonRecord]:
    return fields.records_at(body, "messages") if fields.is_record(body) else []


def _message_text(message: fields.JsonRecord) -> str:
    return fields.text_at(message, "content") or parts_text(fields.list_at(message, "content"))


def _capture(message: fields.JsonRecord) -> list[CapturedMessage]:
    content, name = message.get("content"), message.get("name")
    if message.get("role") == "user":
        return user_message(content, name=name)
    if message.get("role") in _TOOL_ROLES:
        return [tool_message(content, call_id=message.get("tool_call_id"), name=name)]
    return []


def _capture_call(call: fields.JsonRecord) -> Json:
    function = fields.record_at(call, "function") or fields.record_at(call, "custom")
    arguments = function.get("arguments", function.get("input"))
    return tool_call(call.get("id"), name=function.get("name"), arguments=arguments)


CHAT = Dialect(
    name="openai-chat",
    last_user_text=last_user_text,
    add_memory=add_memory,
    new_messages=new_messages,
    reply_messages=reply_messages,
    assemble_stream=assemble_stream,
)
