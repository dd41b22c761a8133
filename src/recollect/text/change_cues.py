"""
Recognise words that announce a change: "swimming has moved to Mondays", "it's Zettle now".

They say that an earlier statement no longer holds, not which one. The cues of other languages than
English are in `languages/*.toml`.
"""

from recollect.text.language_data import detect_language
from recollect.text.lazy_pattern import LazyPattern

MAX_CHARS = 300

_ENGLISH = LazyPattern(
    r"\b(?:now|any ?more|no longer|instead|after all|from now on|as of|moved|changed|switched"
    r"|replaced|renamed|becomes?|taken over|is gone|are gone|back on|goes to|turns out"
    r"|(?:i )?take (?:that|it) back|not \w+ but)\b"
)


def announces_change(text: str) -> bool:
    """Return whether *text* has a word that announces a change."""
    text = text[:MAX_CHARS]
    return bool(_ENGLISH.search(text.lower())) or detect_language(text).has_cue("change", text)
