"""
Make any text storable, changing as little as possible.

Two things cannot live in an SQLite text value and be measured and quoted there: the NUL character
(SQL functions stop at it) and lone surrogates (they have no UTF-8 form). Both become U+FFFD, so
offsets stay the same. Nothing else is touched.
"""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Return *text* with NUL and lone surrogates replaced, character for character."""
    return _UNSTORABLE.sub("�", text)
