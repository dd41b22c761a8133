"""
Detect sentences in which the user asks for something to be remembered or always done.

"Remember that …", "from now on …", "always …" and their like. A statement alone ("we use Postgres")
is not a request, however certain it sounds.
"""

from recollect.text.lazy_pattern import LazyPattern

_START = (
    r"^(?:(?:ok|okay|so|and|also|but|yes|yeah|hey|hi|please|pls|well|then|btw|by the way"
    r"|one more thing|another thing|just|for next time|could you|can you"
    r"|i want you to|i'd like you to|you should"
    r"|you must|make sure to|be sure to)\b[\s,:;.!–—-]*)*"
)
_ASKS_TO_REMEMBER = LazyPattern(
    rf"{_START}(?:remember|memori[sz]e|note down|write down|write it down|make a note|take a note"
    r"|put it in your memory)\b(?! when| how| why| what| who| where| if| the time)",
    rf"{_START}(?:don't|do not|never) (?:ever )?forget\b",
    rf"{_START}(?:keep|bear) in mind\b",
    rf"{_START}(?:note|please note)(?: that|:| for later:)",
    r"\b(?:please (?:never |don't )?(?:remember|forget|note|keep in mind)"
    r"|write (?:it|this|that) down|(?:save|add|store|put|keep) (?:it|this|that) (?:to"
    r"|in|into) (?:your |the )?memory"
    r"|keep (?:it|this|that) in mind|never forget (?:it|this|that)|so (?:please )?remember"
    r"|remember (?:it|this|that) for)\b",
)
_STANDING_ORDER = LazyPattern(
    rf"{_START}(?:from now on|from here on|going forward|in (?:the )?future|as of (?:now|today)"
    r"|starting (?:now|today)|every time|each time|whenever|by default|as a (?:general )?rule)\b",
    rf"{_START}(?:always|never) (?!mind\b|been\b|was\b|were\b|had\b|again\b|seen\b|heard\b)\w",
    r"[.!;,] (?:please )?(?:from now on|going forward)\b|\b(?:from now on|going forward)[.!]*$",
    r"\b(?:i want you to|you should|you must|i'd like you to|please) (?:always|never)\b",
)


def asks_to_remember(text: str) -> bool:
    """Return whether the normalised sentence *text* asks to remember what it says."""
    return bool(_ASKS_TO_REMEMBER.search(text))


def is_explicit_request(text: str) -> bool:
    """Return whether the normalised sentence *text* asks to remember it, or to do it always."""
    return asks_to_remember(text) or bool(_STANDING_ORDER.search(text))
