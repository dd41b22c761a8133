"""
Replace the characters that an SQLite text value cannot store.

These are the NUL character (SQL functions stop at it) and lone surrogates (they have no UTF-8
form). Both become U+FFFD, so that offsets stay the same. Nothing else changes.
"""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Return *text* with each NUL and lone surrogate replaced by U+FFFD."""
    return _UNSTORABLE.sub("�", text)
