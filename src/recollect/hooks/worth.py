"""
Which prompts are worth a look into memory, and which memories are worth telling unasked.

Pure. Nobody asked memory anything: what it says uninvited must be few and fit. Where meanings were
compared, the bar of retrieval has already refused questions that nothing answers; where only words
were, one word in common is no reason to speak.
"""

import re
from collections.abc import Collection, Sequence

from recollect.domain.memory import MemoryType
from recollect.domain.retrieval import Hit
from recollect.text.words import STOP_WORDS

MOST = 5
NEAR_THE_BEST = 0.6  # of the best hit's relevance
LEAST_WORDS = 2  # in common, where meaning was not compared
SHARE_OF_WORDS = 0.3  # of those that carry the prompt
ENOUGH_WORDS = 4  # however long it is
LEAST_CHARS = 8

_WORD = re.compile(r"\w+")
_COMMAND = re.compile(r"\s*[/!#][\w:-]*")  # of the client, not for the model
# Said to go on with what was being done; nothing in it could be looked up.
_GOING_ON_WORDS = """
again agree agreed ahead alright also and best commit continue correct do done exactly fine fix go
going good great hello help hey hi it just keep let lets looks make next nice no nope now off ok
okay on once one perfect please proceed push ready resume retry right run same start still stop sure
test tests thank thanks that this thx try two wait well yeah yep yes you
"""
_GOING_ON = frozenset(_GOING_ON_WORDS.split())


def asks_something(prompt: str) -> bool:
    """Say whether *prompt* has words that could be looked up."""
    text = prompt.strip()
    if len(text) < LEAST_CHARS or _COMMAND.match(text):
        return False
    return len(content_words(text) - _GOING_ON) > 0


def content_words(text: str) -> set[str]:
    """Return the words of *text* that carry it."""
    return {word for word in _WORD.findall(text.casefold()) if len(word) > 1} - STOP_WORDS


def strong(hits: Sequence[Hit], prompt: str, *, besides: Collection[str]) -> list[Hit]:
    """Return the few of *hits* that are worth telling unasked, without those told already."""
    best = max((hit.parts.relevance for hit in hits), default=0.0)
    least = min(max(LEAST_WORDS, SHARE_OF_WORDS * len(content_words(prompt))), ENOUGH_WORDS)
    told = set(besides)
    found = [
        hit
        for hit in hits
        if hit.parts.relevance >= NEAR_THE_BEST * best
        and (hit.parts.semantic > 0 or len(hit.matched_words) >= least)
        # What another project decided is for those who ask, or who linked it.
        and hit.reached != "relevant"
    ]
    return [hit for hit in _without_echoes(found) if hit.memory.id not in told][:MOST]


def _without_echoes(hits: Sequence[Hit]) -> list[Hit]:
    """
    Leave out the records of sessions where something that was learnt from sessions answers better.

    They tell in other words what was said, and still do when it was put right since.
    """
    learnt = [hit for hit in hits if hit.memory.type is not MemoryType.EPISODE]
    bar = max((hit.parts.relevance for hit in learnt), default=-1.0)
    return [hit for hit in hits if hit in learnt or hit.parts.relevance > bar]
