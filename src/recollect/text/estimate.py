"""
Estimate how many tokens a model will count for a text, without any model's tables.

Rules of thumb, set so that the estimate is seldom below the o200k count: a short word is one
token and a long one a token per six letters (four in capitals, or past sixteen letters); a change
of case starts a word; digits go by threes and a space before them counts; a run of one mark goes by
eights; two letters of another alphabet share a token, a letter without spaces around counts for
itself, and an emoji for three.
"""

import re

_PIECES = re.compile(
    r"(?P<word>[A-Z]?[a-z]+|[A-Z]+)|(?P<digits>[ \t]?[0-9]+)|(?P<letters>[^\W\d_]+)"
    r"|(?P<run>([!-/:-@\[-`{-~])\5*)|(?P<other>[^\s])|\n+"
)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens *text* costs, rather too many than too few."""
    total = 0
    for match in _PIECES.finditer(text):
        piece = match.group()
        size = len(piece)
        match match.lastgroup:
            case "word":
                total += _parts(size, 4 if size > 16 or (size > 1 and piece.isupper()) else 6)
            case "digits":
                spaced = not piece[0].isdigit()
                total += spaced + _parts(size - spaced, 3)
            case "letters":
                total += size if piece[0] >= "\u0e00" else _parts(size, 2)
            case "run":
                total += _parts(size, 8)
            case "other":
                total += 3 if piece >= "\U00010000" else 2
            case _:
                total += 1
    return total


def _parts(size: int, each: int) -> int:
    return (size + each - 1) // each
