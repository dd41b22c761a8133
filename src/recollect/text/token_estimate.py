"""
Estimate how many tokens a text has, without any model's tables.

The rules are set so that the estimate is seldom below the o200k count. A word has one token per six
letters (four in capitals, or past sixteen letters); a change of case starts a word. Digits have one
token per three, plus one for a space before them. A run of the same punctuation mark has one per
eight. Other alphabets have one per two letters, scripts without spaces one per letter, emoji three.
"""

import re

_PIECES = re.compile(
    r"(?P<word>[A-Z]?[a-z]+|[A-Z]+)|(?P<digits>[ \t]?[0-9]+)|(?P<letters>[^\W\d_]+)"
    r"|(?P<run>([!-/:-@\[-`{-~])\5*)|(?P<other>[^\s])|\n+"
)


def estimate_tokens(text: str) -> int:
    """Return the approximate number of tokens of *text*, rather too high than too low."""
    total = 0
    for match in _PIECES.finditer(text):
        piece = match.group()
        size = len(piece)
        match match.lastgroup:
            case "word":
                total += _ceil_div(size, 4 if size > 16 or (size > 1 and piece.isupper()) else 6)
            case "digits":
                spaced = not piece[0].isdigit()
                total += spaced + _ceil_div(size - spaced, 3)
            case "letters":
                total += size if piece[0] >= "\u0e00" else _ceil_div(size, 2)
            case "run":
                total += _ceil_div(size, 8)
            case "other":
                total += 3 if piece >= "\U00010000" else 2
            case _:
                total += 1
    return total


def _ceil_div(size: int, each: int) -> int:
    return (size + each - 1) // each
