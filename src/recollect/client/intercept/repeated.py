"""
What memory said itself, taken out of what others say.

A model may quote what it was told, and a user may paste it. Stored as said, it would be recalled,
told and quoted again, and grow. The marks around it say what it is.
"""

from typing import Any

from recollect.client.intercept.dialect import Saying
from recollect.text.fence import OPENING, fenced_spans
from recollect.text.transcripts.fields import is_record


def unrepeated(saying: Saying) -> Saying | None:
    """Return *saying* without memory's own words; None where nothing else was said."""
    content = saying.get("content")
    if isinstance(content, str):
        kept: Any = _without(content)
    elif isinstance(content, list):
        kept = [_part(part) for part in content]
    else:
        return saying
    if kept == content:
        return saying
    if not kept and not saying.get("tool_calls"):
        return None
    return {**saying, "content": kept}


def _part(part: Any) -> Any:
    text = part.get("text") if is_record(part) else None
    return {**part, "text": _without(text)} if isinstance(text, str) else part


def _without(text: str) -> str:
    spans = fenced_spans(text)
    if not spans:
        return text
    kept, at = [], 0
    for start, end in spans:
        kept.append(text[at:start])
        at = end
    kept.append(text[at:])
    return "".join(kept).replace(OPENING, "").strip()
