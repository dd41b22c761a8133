"""
The fence around memory that is put into a prompt, and how it is known again.

What stands inside is data for a model. The opening carries the fingerprint of what it encloses, so
that a transcript which comes back with it is not mistaken for news: what Recollect said itself is
never learnt from.
"""

from recollect.text.fingerprint import short_hash
from recollect.text.patterns import Pattern

CLOSING = "</memory>"
_OPENED = Pattern(r'<memory fingerprint="\d{16}">')
_ANY = Pattern(r"(?i)<\s*/?\s*memory\b[^<>]*>")


def fenced(inside: str) -> str:
    """Return *inside* within the fence."""
    # Digits only: whatever is inside, the fence costs the same number of tokens.
    mark = int.from_bytes(short_hash(inside)) % 10**16
    return f'<memory fingerprint="{mark:016}">\n{inside}\n{CLOSING}'


def unfenced(text: str) -> str:
    """Return *text* unable to open or close the fence it will stand in."""
    return _ANY.sub("‹memory›", text)


def fenced_spans(text: str) -> list[tuple[int, int]]:
    """Return where *text* repeats memory that was put into a prompt; to the end where it is cut."""
    spans: list[tuple[int, int]] = []
    if "<memory fingerprint=" not in text:
        return spans
    for opened in _OPENED.finditer(text):
        if spans and opened.start() < spans[-1][1]:
            continue
        closed = text.find(CLOSING, opened.end())
        spans.append((opened.start(), len(text) if closed < 0 else closed + len(CLOSING)))
    return spans
