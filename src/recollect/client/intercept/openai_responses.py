"""
The dialect of OpenAI's Responses API.

A conversation is sent as a complete list of items, or stored by the server and continued by id.
Calls with a `call_id` are answered by the caller. Other calls (web search, MCP) are answered by the
server; like reasoning, they are not captured. Streams are in `openai_responses_stream.py`.
"""

from collections.abc import Sequence

from recollect.client.intercept import captured_message as capture
from recollect.client.intercept.dialect import CapturedMessage, Dialect, Json
from recollect.client.intercept.new_messages import messages_after_reply
from recollect.client.intercept.openai_responses_stream import assemble_stream
from recollect.client.intercept.system_prefix import last_user_text_in, system_prefix_length
from recollect.text.message_text import parts_text
from recollect.text.transcripts import json_fields as fields

# Items from the model, besides its messages and calls. A reference almost always points to one of
# them, because user messages have no id on the caller's side.
_REPLY_TYPES = (
    "reasoning",
    "item_reference",
    "compaction",
    "program",
    "mcp_approval_request",
    "mcp_list_tools",
)
_ARGUMENTS = ("arguments", "input", "action", "actions", "operation")


def last_user_text(body: object) -> str:
    """Return the text of the last user message that has text."""
    return last_user_text_in(_items(body), _item_text)


def add_memory(body: object, text: str) -> Json:
    """Return the body with memory as a developer item, or at the end of `instructions`."""
    request = dict(body) if fields.is_record(body) else {}
    items = request.get("input")
    if not text.strip():
        return request
    if isinstance(items, list) and not _is_stored_by_server(request):
        prefix = system_prefix_length(items)
        part = {"type": "input_text", "text": text}
        memory = {"type": "message", "role": "developer", "content": [part]}
        return {**request, "input": [*items[:prefix], memory, *items[prefix:]]}
    # The server stores items, so memory would accumulate there. It does not store instructions.
    instructions = request.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        return request
    return {**request, "instructions": f"{instructions}\n\n{text}" if instructions else text}


def new_messages(body: object) -> list[CapturedMessage]:
    """Return the messages of users and tools after the last reply."""
    items: Sequence[fields.JsonRecord] = _items(body)
    if not (fields.is_record(body) and _is_stored_by_server(body)):
        items = messages_after_reply(items, is_reply=_is_reply)
    return [captured for item in items for captured in _capture(item)]


def reply_messages(response: object) -> list[CapturedMessage]:
    """Return the text and tool calls of the response."""
    body = response if fields.is_record(response) else {}
    if body.get("status") == "failed":
        return []
    output = fields.records_at(body, "output")
    texts = [_item_text(item) for item in output if item.get("role") == "assistant"]
    answered = {fields.text_at(item, "call_id") for item in output if _is_result(item)}
    calls = [
        _capture_call(item)
        for item in output
        if _is_call(item) and fields.text_at(item, "call_id") not in {"", *answered}
    ]
    text = "\n".join(filter(None, texts))
    return capture.assistant_message(text, calls=calls, model=body.get("model"))


def _items(body: object) -> list[fields.JsonRecord]:
    if not fields.is_record(body):
        return []
    if isinstance(text := body.get("input"), str):
        return [{"role": "user", "content": text}]
    return fields.records_at(body, "input")


def _is_stored_by_server(body: fields.JsonRecord) -> bool:
    """Return whether the server has the earlier items, and the request only has new ones."""
    return bool(body.get("previous_response_id") or body.get("conversation"))


def _is_reply(item: fields.JsonRecord) -> bool:
    kind = fields.text_at(item, "type")
    return item.get("role") == "assistant" or kind in _REPLY_TYPES or _is_call(item)


def _is_call(item: fields.JsonRecord) -> bool:
    return fields.text_at(item, "type").endswith("_call")


def _is_result(item: fields.JsonRecord) -> bool:
    return fields.text_at(item, "type").endswith("_output")


def _item_text(item: fields.JsonRecord) -> str:
    return fields.text_at(item, "content") or parts_text(fields.list_at(item, "content"))


def _capture(item: fields.JsonRecord) -> list[CapturedMessage]:
    if item.get("role") == "user":
        return capture.user_message(item.get("content"))
    if _is_result(item) and (fields.text_at(item, "call_id") or item.get("output") is not None):
        return [_capture_result(item)]
    return []


def _capture_result(item: fields.JsonRecord) -> CapturedMessage:
    output = item.get("output")
    chunks = fields.records_at(item, "output")
    call_id = fields.text_at(item, "call_id")
    metadata: Json = {}
    if any("stdout" in chunk or "stderr" in chunk for chunk in chunks):
        printed = (fields.text_at(chunk, key) for chunk in chunks for key in ("stdout", "stderr"))
        output = "\n".join(filter(None, printed))
        code = fields.record_at(chunks[-1], "outcome").get("exit_code")
        metadata = {"exit_code": code} if isinstance(code, int) else {}
    elif item.get("type") == "apply_patch_call_output":
        metadata = {"is_error": item.get("status") == "failed"}
    elif item.get("type") == "local_shell_call_output":
        call_id = fields.text_at(item, "call_id", "id")  # this type refers to its call by `id`
    return capture.tool_message(output, call_id=call_id, name=item.get("name"), metadata=metadata)


def _capture_call(item: fields.JsonRecord) -> Json:
    name = fields.text_at(item, "name") or fields.text_at(item, "type").removesuffix("_call")
    arguments = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
    return capture.tool_call(item.get("call_id"), name=name, arguments=arguments)


RESPONSES = Dialect(
    name="openai-responses",
    last_user_text=last_user_text,
    add_memory=add_memory,
    new_messages=new_messages,
    reply_messages=reply_messages,
    assemble_stream=assemble_stream,
)
