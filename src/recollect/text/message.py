"""
The words of a message whose content has parts, and of the calls in it.

Text parts are what was said. What a tool answered is the tool's, and counts only in a message of
the tool's own. Images, thinking and calls have no words here.
"""

import json
from collections.abc import Iterable
from typing import Any

from recollect.text.transcripts.decode import from_json
from recollect.text.transcripts.fields import is_record, record_at, text_at
from recollect.text.transcripts.parts import is_result, output_text, text_of

SEND_MESSAGE = "send_message"


def text_in(parts: Iterable[Any], *, tool: bool = False) -> str:
    """Return the words of a message's parts, one part a line."""
    return "\n".join(filter(None, (_words(part, tool) for part in parts)))


def unspoken(parts: Iterable[Any], *, tool: bool = False) -> tuple[int, list[Any]]:
    """Return how many pictures are among some parts, and which others have no words."""
    pictures, others = 0, []
    for part in parts:
        if is_record(part) and "image" in text_at(part, "type"):
            pictures += 1
        elif not _words(part, tool):
            others.append(part)
    return pictures, others


def calls_text(calls: Iterable[Any]) -> str:
    """Return tool calls as the text a model pays for."""
    found = list(calls)
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""


def sent_text(calls: Iterable[Any]) -> str:
    """Return the words an agent sent by calling `send_message`, as agents of Letta speak."""
    return "\n".join(filter(None, (_sent(call) for call in calls)))


def _sent(call: Any) -> str:
    if not is_record(call):
        return ""
    asked = record_at(call, "function") or call
    if text_at(asked, "name") != SEND_MESSAGE:
        return ""
    told = asked.get("arguments", asked.get("input"))
    if isinstance(told, str):
        told = from_json(told)
    return text_at(told, "message") if is_record(told) else ""


def _words(part: Any, tool: bool) -> str:
    if isinstance(part, str):
        return part
    if not is_record(part):
        return ""
    if is_result(text_at(part, "type")):
        return output_text(part.get("content", part.get("output"))) if tool else ""
    return text_of(part)
