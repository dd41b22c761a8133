"""
The dialect of Ollama's own chat API, `/api/chat`.

Its messages are those of OpenAI's chat completions, so memory is added in the same way. Arguments
of tool calls are objects, results name their tool instead of a call, and images stand beside the
text. A stream is one JSON object per line, each with the next piece of the message.
"""

from collections.abc import Iterable

from recollect.client.intercept import captured_message as capture
from recollect.client.intercept import openai_chat
from recollect.client.intercept.dialect import CapturedMessage, Dialect, Json
from recollect.client.intercept.new_messages import messages_after_reply, without_prefill
from recollect.client.intercept.sse import SseEvent
from recollect.text.transcripts import json_fields as fields


def new_messages(body: object) -> list[CapturedMessage]:
    """Return the messages of users and tools after the last reply."""
    messages = without_prefill(
        fields.records_at(body, "messages") if fields.is_record(body) else []
    )
    new = messages_after_reply(messages, is_reply=lambda item: item.get("role") == "assistant")
    return [captured for message in new for captured in _capture(message)]


def reply_messages(response: object) -> list[CapturedMessage]:
    """Return the text and tool calls of the response."""
    body = response if fields.is_record(response) else {}
    message = fields.record_at(body, "message")
    calls = [_capture_call(call) for call in fields.records_at(message, "tool_calls")]
    text = fields.text_at(message, "content")
    return capture.assistant_message(text, calls=calls, model=body.get("model"))


def assemble_stream(events: Iterable[SseEvent]) -> Json:
    """Return the response that the lines of a stream add up to."""
    top: Json = {}
    texts: list[str] = []
    calls: list[fields.JsonRecord] = []
    for event in events:
        chunk = event.data if fields.is_record(event.data) else {}
        message = fields.record_at(chunk, "message")
        top |= {key: value for key, value in chunk.items() if key != "message"}
        texts.append(fields.text_at(message, "content"))
        calls += fields.records_at(message, "tool_calls")
    return {**top, "message": {"role": "assistant", "content": "".join(texts), "tool_calls": calls}}


def _capture(message: fields.JsonRecord) -> list[CapturedMessage]:
    content, name = message.get("content"), fields.text_at(message, "tool_name", "name")
    if message.get("role") == "user":
        images = [{"type": "image", "data": image} for image in fields.list_at(message, "images")]
        text = {"type": "text", "text": fields.text_at(message, "content")}
        return capture.user_message([text, *images] if images else content, name=name)
    if message.get("role") == "tool":
        call_id = message.get("tool_call_id")
        return [capture.tool_message(content, call_id=call_id, name=name)]
    return []


def _capture_call(call: fields.JsonRecord) -> Json:
    function = fields.record_at(call, "function")
    arguments = function.get("arguments")
    return capture.tool_call(call.get("id"), name=function.get("name"), arguments=arguments)


OLLAMA = Dialect(
    name="ollama-chat",
    last_user_text=openai_chat.last_user_text,
    add_memory=openai_chat.add_memory,
    new_messages=new_messages,
    reply_messages=reply_messages,
    assemble_stream=assemble_stream,
)
