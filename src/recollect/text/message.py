"""
The words of a message whose content has parts, and of the calls in it.

Text parts are what was said. What a tool answered is the tool's, and counts only in a message of
the tool's own. Images, thinking and calls have no words here.
"""

import json
from collections.abc import Iterable
from typing import Any

from recollect.text.transcripts.fields import is_record, text_at
from recollect.text.transcripts.parts import is_result, output_text, text_of


def text_in(parts: Iterable[Any], *, tool: bool = False) -> str:
    """Return the words of a message's parts, one part a line."""
    return "\n".join(filter(None, (_words(part, tool) for part in parts)))


def calls_text(calls: Iterable[Any]) -> str:
    """Return tool calls as the text a model pays for."""
    found = list(calls)
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""


def _words(part: Any, tool: bool) -> str:
    if isinstance(part, str):
        return part
    if not is_record(part):
        return ""
    if is_result(text_at(part, "type")):
        return output_text(part.get("content", part.get("output"))) if tool else ""
    return text_of(part)
