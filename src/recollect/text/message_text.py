"""
Extract the text of a message whose content is a list of parts, and of its tool calls.

Text parts are included. Tool results are included only for a message from the tool itself. Images,
thinking and tool calls contribute no text.
"""

import json
from collections.abc import Iterable
from typing import Any

from recollect.text.transcripts.json_fields import is_record, record_at, text_at
from recollect.text.transcripts.json_records import parse_json
from recollect.text.transcripts.message_parts import is_tool_result, part_text, tool_output_text

SEND_MESSAGE = "send_message"


def parts_text(parts: Iterable[Any], *, tool: bool = False) -> str:
    """Return the text of a message's parts, one part per line."""
    return "\n".join(filter(None, (_part_text(part, tool) for part in parts)))


def non_text_parts(parts: Iterable[Any], *, tool: bool = False) -> tuple[int, list[Any]]:
    """Return the number of images among *parts*, and the other parts that have no text."""
    images, others = 0, []
    for part in parts:
        if is_record(part) and "image" in text_at(part, "type"):
            images += 1
        elif not _part_text(part, tool):
            others.append(part)
    return images, others


def tool_calls_text(calls: Iterable[Any]) -> str:
    """Return tool calls as compact JSON, the text that is counted as tokens."""
    call_list = list(calls)
    return json.dumps(call_list, ensure_ascii=False, separators=(",", ":")) if call_list else ""


def send_message_text(calls: Iterable[Any]) -> str:
    """Return the text an agent sent by calling `send_message`, as Letta agents do."""
    return "\n".join(filter(None, (_sent_message(call) for call in calls)))


def _sent_message(call: Any) -> str:
    if not is_record(call):
        return ""
    function = record_at(call, "function") or call
    if text_at(function, "name") != SEND_MESSAGE:
        return ""
    arguments = function.get("arguments", function.get("input"))
    if isinstance(arguments, str):
        arguments = parse_json(arguments)
    return text_at(arguments, "message") if is_record(arguments) else ""


def _part_text(part: Any, tool: bool) -> str:
    if isinstance(part, str):
        return part
    if not is_record(part):
        return ""
    if is_tool_result(text_at(part, "type")):
        return tool_output_text(part.get("content", part.get("output"))) if tool else ""
    return part_text(part)
