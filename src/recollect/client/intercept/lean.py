"""
What memory keeps of a message's content: words and links, not pictures, sounds and files.

A payload is replaced by a note of its size. So is what a store would refuse, which would cost the
whole turn: text without end, nesting without end, numbers that are none. Whose content it is, and
what its parts mean, is not known here.
"""

import math
import re
from typing import Any

MOST_CHARS = 500_000  # of one text; a store takes a million in a whole message
MOST_DEPTH = 100  # a store takes 200
LONG_RUN = 2_000  # characters without a break: no word of any language, so base64

_PAYLOADS = ("data", "file_data")  # Anthropic's sources and OpenAI's audio; OpenAI's files
_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+[^,\s]*,\S*")
# Both are linear: no start is tried inside a run that an earlier start has already read.
_URL_WITHIN = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.+=-]+)*;base64,([A-Za-z0-9+/=_%-]+)")
_RUN = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{LONG_RUN},}}")


def lean(value: Any, *, most: int = MOST_CHARS, depth: int = 0) -> Any:
    """Return a copy of *value*, any JSON, without payloads; each text at most *most* long."""
    if depth > MOST_DEPTH:
        return "(left out: nested too deep)"
    if isinstance(value, str):
        return lean_text(value, most=most)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [lean(one, most=most, depth=depth + 1) for one in value]
    if isinstance(value, dict):
        return {
            key: _left_out(one)
            if _is_payload(key, one, value)
            else lean(one, most=most, depth=depth + 1)
            for key, one in value.items()
        }
    return value


def lean_text(text: str, *, most: int = MOST_CHARS) -> str:
    """Return *text* without files written into it, and not longer than *most* and a note."""
    if "data:" in text:
        if _URL.fullmatch(text):
            return _left_out(text)
        text = _URL_WITHIN.sub(lambda found: _left_out(found[1]), text)
    if len(text) >= LONG_RUN:
        text = _RUN.sub(lambda found: _left_out(found[0]), text)
    if len(text) > most:
        return f"{text[:most]} ({_kilobytes(len(text) - most)} left out)"
    return text


def _is_payload(key: str, value: object, record: dict[str, Any]) -> bool:
    # A document's source of type text has its words in `data`.
    return key in _PAYLOADS and isinstance(value, str) and record.get("type") != "text"


def _left_out(payload: str) -> str:
    encoded = payload.partition(",")[2] or payload
    return f"({_kilobytes(len(encoded) * 3 // 4)} left out)"


def _kilobytes(size: int) -> str:
    return f"{max(1, round(size / 1000)):,} kB"
