"""
Prepare text for the word index: split identifiers, and pair characters of unspaced scripts.

The index's tokenizer only knows spaces, letters and digits. Identifiers are split into their words
(`writeBoolean`, `HTTPServer`), and scripts written without spaces become overlapping pairs of
characters, so that a part of a phrase can be found. The tokenizer itself does the stemming.
"""

import re

_STOP_WORDS = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing don down during each few for from further
had has have having he her here hers herself him himself his how i if in into is it its itself
just me more most my myself no nor not now of off on once only or other our ours ourselves out
over own same she should so some such than that the their theirs them themselves then there
these they this those through to too under until up very was we were what when where which while
who whom why will with would you your yours yourself yourselves s t d ll m re ve
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Han, kana, Hangul, Thai, Lao, Khmer, Burmese: scripts without spaces between words (Korean has
# spaces, but particles are attached to the word; pairs match the stem).
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)
_CAMEL = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9]*?(?:[a-z][0-9]*[A-Z]|[A-Z][A-Z][a-z])[A-Za-z0-9]*"
)
_CAMEL_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def searchable_text(text: str) -> str:
    """Return *text* as the tokenizer needs it: unspaced runs as pairs, identifiers split."""
    opened = _UNSPACED.sub(_character_pairs, text)
    inner = " ".join(_CAMEL_PARTS.sub(r" \g<0>", name) for name in _CAMEL.findall(opened))
    return f"{opened} {inner}" if inner else opened


def _character_pairs(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " "
