"""
Cut a long text into pieces an embedder can take whole.

A long text embedded at once loses to the best of its pieces. Pieces end at a line, a sentence or a
word where one is near, so that no piece starts in the middle of a thought if it can be helped.
"""

CHUNK_CHARS = 1000  # about 200–250 word pieces of English, within the default model's 256
MAX_CHUNKS = 64  # bounds the work for one item; what lies beyond is still found by words

_BREAKS = ("\n", ". ", "? ", "! ", "; ", ", ", " ")


def chunks(text: str, *, size: int = CHUNK_CHARS, most: int = MAX_CHUNKS) -> list[str]:
    """Return *text* in pieces of at most *size* characters, blank ones left out."""
    pieces: list[str] = []
    start = 0
    while start < len(text) and len(pieces) < most:
        end = _end_of_piece(text, start, size)
        if piece := text[start:end].strip():
            pieces.append(piece)
        start = end
    return pieces


def _end_of_piece(text: str, start: int, size: int) -> int:
    end = start + size
    if end >= len(text):
        return len(text)
    for mark in _BREAKS:
        # Look back over the second half only: short pieces would multiply the work.
        found = text.rfind(mark, start + size // 2, end)
        if found >= 0:
            return found + len(mark)
    return end
