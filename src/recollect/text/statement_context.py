"""
The words around a statement in its conversation, with which it is embedded.

"Then run it hourly, at :20" does not say what runs. The message it stands in and the reply to it
mostly do, so a statement is found better by its meaning if these are embedded with it. This
module does no I/O.
"""

from collections.abc import Sequence
from typing import Any

MESSAGE_CHARS = 100  # before and after the statement, within its message
REPLY_CHARS = 80  # of the beginning of the reply
REPLY_WITHIN = 4  # turns
ASSISTANT = "assistant"

# Start, end, voice, speaker and time of a turn, as the metadata of a source have them.
Turn = Sequence[Any]


def statement_context(content: str, turns: Sequence[Turn], start: int, end: int) -> str:
    """Return what surrounds the span of a statement in *content*, or '' if nothing does."""
    at = _turn_at(turns, start)
    if at is None:
        return ""
    message = _window(content, turns[at], start, end)
    reply = _reply(content, turns[at + 1 : at + 1 + REPLY_WITHIN])
    if not reply and message == content[start:end].strip():
        return ""
    return f"{message} {reply}".strip()


def _turn_at(turns: Sequence[Turn], position: int) -> int | None:
    """Return the index of the turn that contains a character; turns are in order."""
    low, high = 0, len(turns)
    while low < high:
        middle = (low + high) // 2
        if turns[middle][1] <= position:
            low = middle + 1
        else:
            high = middle
    return low if low < len(turns) and turns[low][0] <= position else None


def _window(content: str, turn: Turn, start: int, end: int) -> str:
    """Return the statement and the whole words near it in its turn."""
    first, last = max(start - MESSAGE_CHARS, turn[0]), min(end + MESSAGE_CHARS, turn[1])
    before, after = content[first:start], content[end:last]
    if first > turn[0]:
        before = before.partition(" ")[2]
    if last < turn[1]:
        after = after.rpartition(" ")[0]
    return f"{before}{content[start:end]}{after}".strip()


def _reply(content: str, turns: Sequence[Turn]) -> str:
    """Return the beginning of the assistant's first message among *turns*."""
    for start, end, voice, *_ in turns:
        if voice == ASSISTANT:
            words = content[start : min(end, start + REPLY_CHARS)]
            return (words.rpartition(" ")[0] if end - start > REPLY_CHARS else words).strip()
    return ""
