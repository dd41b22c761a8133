"""
Make invisible characters visible: stored text is not trusted.

Control characters, which a terminal would obey, are replaced. Characters that reorder or hide text
are shown by their number (`<U+202E>`), unless they join letters or emoji.
"""

import re
from collections.abc import Callable

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Characters that have no shape: bidirectional controls, zero-width characters, fillers, line and
# paragraph separators, variation selectors, tags.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200c\u200d"  # part of many scripts, and of emoji
_TEXT_STYLE, _EMOJI_STYLE = "\ufe0e", "\ufe0f"
_KEYCAP = "\u20e3"


def visible(text: str) -> str:
    """Return *text* with its control characters and its invisible characters made visible."""
    return replace_invisible(_CONTROL.sub("�", text), lambda char: f"<U+{ord(char):04X}>")


def replace_invisible(text: str, replacement: Callable[[str], str]) -> str:
    """Return *text* with *replacement* of each invisible character that is no part of writing."""
    if text.isascii():
        return text
    return _INVISIBLE.sub(
        lambda match: match[0] if _is_part_of_writing(match) else replacement(match[0]), text
    )


def _is_part_of_writing(match: re.Match[str]) -> bool:
    """Return whether an invisible character joins two letters or emoji, or styles an emoji."""
    text, at, end = match.string, match.start(), match.end()
    before, after = text[max(0, at - 1) : at], text[end : end + 1]
    if match[0] in _JOINERS:
        return _is_foreign(after) and (_is_foreign(before) or before == _EMOJI_STYLE)
    if match[0] in (_TEXT_STYLE, _EMOJI_STYLE):
        return _is_foreign(before) or (before in "0123456789#*" and after == _KEYCAP)
    return False


def _is_foreign(char: str) -> bool:
    return not char.isascii() and not _INVISIBLE.match(char)
