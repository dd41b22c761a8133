"""
Remove payloads (images, audio, files) from the content of a message; keep texts and links.

A payload is replaced by a note with its size. Values that the store would refuse together with the
whole message are replaced too: very long texts, deep nesting, NaN and infinity. This file does not
depend on a vendor.
"""

import math
import re
from typing import Any

MAX_CHARS = 500_000  # of one text; the store accepts a million per message
MAX_DEPTH = 100  # the store accepts 200
MIN_BASE64_RUN = 2_000  # a longer run of characters without a break is base64, not a word

_PAYLOADS = ("data", "file_data")  # Anthropic's sources and OpenAI's audio; OpenAI's files
_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+[^,\s]*,\S*")
# Both run in linear time: no match starts inside a run that an earlier attempt has consumed.
_URL_WITHIN = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.+=-]+)*;base64,([A-Za-z0-9+/=_%-]+)")
_RUN = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{MIN_BASE64_RUN},}}")


def strip_payloads(value: Any, *, max_chars: int = MAX_CHARS, depth: int = 0) -> Any:
    """Return a copy of the JSON *value* without payloads; each text has at most *max_chars*."""
    if depth > MAX_DEPTH:
        return "(left out: nested too deep)"
    if isinstance(value, str):
        return strip_payload_text(value, max_chars=max_chars)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [strip_payloads(item, max_chars=max_chars, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        return {
            key: _size_note(item)
            if _is_payload(key, item, value)
            else strip_payloads(item, max_chars=max_chars, depth=depth + 1)
            for key, item in value.items()
        }
    return value


def strip_payload_text(text: str, *, max_chars: int = MAX_CHARS) -> str:
    """Return *text* without embedded files, cut to *max_chars* and a note."""
    if "data:" in text:
        if _URL.fullmatch(text):
            return _size_note(text)
        text = _URL_WITHIN.sub(lambda match: _size_note(match[1]), text)
    if len(text) >= MIN_BASE64_RUN:
        text = _RUN.sub(lambda match: _size_note(match[0]), text)
    if len(text) > max_chars:
        return f"{text[:max_chars]} ({_kilobytes(len(text) - max_chars)} left out)"
    return text


def _is_payload(key: str, value: object, record: dict[str, Any]) -> bool:
    # A document source of type `text` has its text in `data`.
    return key in _PAYLOADS and isinstance(value, str) and record.get("type") != "text"


def _size_note(payload: str) -> str:
    encoded = payload.partition(",")[2] or payload
    return f"({_kilobytes(len(encoded) * 3 // 4)} left out)"


def _kilobytes(size: int) -> str:
    return f"{max(1, round(size / 1000)):,} kB"
