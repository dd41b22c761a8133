"""
Split a long text into chunks that fit an embedding model.

A long text embedded as a whole is found less often than the best of its chunks. Chunks end at a
line, sentence or word break if there is one in their second half.
"""

CHUNK_CHARS = 1000  # about 200–250 word pieces of English, within the default model's 256
MAX_CHUNKS = 64  # bounds the work per item; the rest is still found by the word index

_BREAKS = ("\n", ". ", "? ", "! ", "; ", ", ", " ")


def split_into_chunks(
    text: str, *, size: int = CHUNK_CHARS, max_chunks: int = MAX_CHUNKS
) -> list[str]:
    """Return *text* in chunks of at most *size* characters, without blank ones."""
    pieces: list[str] = []
    start = 0
    while start < len(text) and len(pieces) < max_chunks:
        end = _piece_end(text, start, size)
        if piece := text[start:end].strip():
            pieces.append(piece)
        start = end
    return pieces


def _piece_end(text: str, start: int, size: int) -> int:
    end = start + size
    if end >= len(text):
        return len(text)
    for separator in _BREAKS:
        # Search the second half only: short chunks would multiply the work.
        position = text.rfind(separator, start + size // 2, end)
        if position >= 0:
            return position + len(separator)
    return end
