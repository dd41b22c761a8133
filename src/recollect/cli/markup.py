"""
Markup of printed lines: `[bold]`, `[dim]` and colours become the escape sequences of a terminal.

Text that was stored is escaped first: its brackets become a character that no printed text
contains, so it never becomes markup.
"""

import re

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
_TAG = re.compile(rf"\[(/?)((?:{'|'.join(_CODES)})(?: (?:{'|'.join(_CODES)}))*)\]")
_BRACKET = "\x02"  # control characters of a text are replaced before it is escaped
_RESET = "\x1b[0m"


def escape(text: str) -> str:
    """Return *text*, which has no control characters, so that it is printed as it is."""
    return text.replace("[", _BRACKET)


def to_terminal(markup: str) -> str:
    """Return *markup* with escape sequences instead of tags. A tag closes the one opened last."""
    opened: list[str] = []

    def sequence(tag: re.Match[str]) -> str:
        if tag[1]:
            opened.pop()
            return _RESET + "".join(opened)
        opened.append("".join(f"\x1b[{_CODES[style]}m" for style in tag[2].split()))
        return opened[-1]

    return _TAG.sub(sequence, markup).replace(_BRACKET, "[")
