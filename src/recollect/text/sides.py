"""
The two sides of a transcript: what people said, and what an assistant answered.

In a conversation kept as one text the assistant's side is often ten times as long as the user's,
and full of everything that might be asked about. What a person told is found by their own words, so
the sides are indexed apart. A text that is no such transcript has one side.
"""

import re

_LINE = re.compile(
    r"^[ \t>*#]*(?:(?P<person>user|human|me|you)|(?P<assistant>assistant|ai|bot|model))"
    r"[ \t*]*:[ \t*]*",
    re.IGNORECASE | re.MULTILINE,
)


def sides(text: str) -> tuple[str, str]:
    """Return what people said in *text*, and what an assistant said; '' where it did not speak."""
    turns = list(_LINE.finditer(text))
    if not (any(one["person"] for one in turns) and any(one["assistant"] for one in turns)):
        return text, ""
    said: dict[bool, list[str]] = {True: [text[: turns[0].start()]], False: []}
    ends = [one.start() for one in turns[1:]] + [len(text)]
    for turn, end in zip(turns, ends, strict=True):
        said[turn["assistant"] is None].append(text[turn.end() : end])
    return "\n".join(said[True]).strip(), "\n".join(said[False]).strip()
