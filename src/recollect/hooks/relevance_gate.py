"""
Decide which prompts to search for, and which hits are relevant enough to inject.

The user did not ask for memories, so only a few clearly relevant ones are injected: no weak match,
and no statement that is not worth a review. With embeddings the threshold of retrieval has already
removed unrelated hits. Without them a hit needs more than one word in common with the prompt. All
functions are pure.
"""

import re
from collections.abc import Collection, Sequence

from recollect.domain.memory import MemoryType, Status
from recollect.domain.retrieval import Hit
from recollect.text.request_kind import content_words, has_words_to_search

MAX_HITS = 5
MIN_SHARE_OF_BEST = 0.6  # of the best hit's relevance
MIN_MATCHED_WORDS = 2  # if the hit has no embedding similarity
MIN_MATCHED_SHARE = 0.3  # of the content words of the prompt
SUFFICIENT_MATCHED_WORDS = 4  # for a prompt of any length
MIN_PROMPT_CHARS = 8

_COMMAND = re.compile(r"\s*[/!#][\w:-]*")  # of the client, not a prompt for the model


def is_searchable(prompt: str) -> bool:
    """Return whether *prompt* has words to search for."""
    text = prompt.strip()
    if len(text) < MIN_PROMPT_CHARS or _COMMAND.match(text):
        return False
    return has_words_to_search(text)


def relevant_hits(hits: Sequence[Hit], prompt: str, *, injected_ids: Collection[str]) -> list[Hit]:
    """Return the few of *hits* to inject, without those whose ids are in *injected_ids*."""
    best = max((hit.parts.relevance for hit in hits), default=0.0)
    share = MIN_MATCHED_SHARE * len(content_words(prompt))
    min_words = min(max(MIN_MATCHED_WORDS, share), SUFFICIENT_MATCHED_WORDS)
    relevant = [
        hit
        for hit in hits
        if hit.parts.relevance >= MIN_SHARE_OF_BEST * best
        and (hit.parts.semantic > 0 or len(hit.matched_words) >= min_words)
        # Unlinked memories of other projects are only for explicit searches.
        and hit.reached != "relevant"
        and not hit.is_weak
        and hit.memory.status is not Status.STATED
    ]
    new = [hit for hit in _drop_redundant_episodes(relevant) if hit.memory.id not in injected_ids]
    return new[:MAX_HITS]


def _drop_redundant_episodes(hits: Sequence[Hit]) -> list[Hit]:
    """
    Remove episodes (records of sessions) that are not more relevant than the best other memory.

    An episode repeats what was said in a session, even if it was corrected later.
    """
    others = [hit for hit in hits if hit.memory.type is not MemoryType.EPISODE]
    best = max((hit.parts.relevance for hit in others), default=-1.0)
    return [hit for hit in hits if hit in others or hit.parts.relevance > best]
