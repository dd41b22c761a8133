"""
Split a transcript into its two sides: what people said, and what an assistant answered.

In a conversation stored as one text, the assistant's side is often ten times as long as the user's
and mentions almost every topic. The sides are indexed separately, so that what a person said is
found by the person's own words. Any other text has one side.
"""

import re

_SPEAKER_LABEL = re.compile(
    r"^[ \t>*#]*(?:(?P<person>user|human|me|you)|(?P<assistant>assistant|ai|bot|model))"
    r"[ \t*]*:[ \t*]*",
    re.IGNORECASE | re.MULTILINE,
)


def split_sides(text: str) -> tuple[str, str]:
    """Return what people said in *text*, and what an assistant said ('' if there is none)."""
    turns = list(_SPEAKER_LABEL.finditer(text))
    if not (any(turn["person"] for turn in turns) and any(turn["assistant"] for turn in turns)):
        return text, ""
    texts_by_person: dict[bool, list[str]] = {True: [text[: turns[0].start()]], False: []}
    ends = [turn.start() for turn in turns[1:]] + [len(text)]
    for turn, end in zip(turns, ends, strict=True):
        texts_by_person[turn["assistant"] is None].append(text[turn.end() : end])
    return "\n".join(texts_by_person[True]).strip(), "\n".join(texts_by_person[False]).strip()
