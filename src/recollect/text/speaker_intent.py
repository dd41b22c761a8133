"""
Detect whose messages a question asks about: the user's own, or the assistant's answers.

"Where did I park?" is answered by what the user said, "which hotel did you recommend?" by what the
assistant said, and "where does Ana live?" by either.
"""

import re

from recollect.text.lazy_pattern import LazyPattern

_SPEECH_VERBS = (
    r"said|told|tell|mention(?:ed)?|recommend(?:ed)?|suggest(?:ed)?|gave|given?|provided?|listed"
    r"|explain(?:ed)?|described?|proposed?|wrote|write|created?|generated?|shared?|advised?"
    r"|answer(?:ed)?|repl(?:y|ied)|came up with|come up with|made"
)
_SPEECH_NOUNS = (
    r"suggestions?|recommendations?|lists?|answers?|advice|explanations?|responses?|replies|reply"
    r"|descriptions?|examples?|proposals?|plans?|summary|version"
)
# A request ("could you tell me …") does not ask about what was said.
_ASKS_FOR_ASSISTANT = LazyPattern(
    rf"(?<!can )(?<!could )(?<!would )(?<!will )\byou(?:'ve|'d| have| had)? (?:\w+ly |just |also |"
    rf"once )?(?:{_SPEECH_VERBS})\b"
    rf"|\bdid you (?:\w+ly |just |also )?(?:{_SPEECH_VERBS})\b"
    rf"|\byour (?:\w+ )?(?:{_SPEECH_NOUNS})\b"
    rf"|\b(?:the assistant|chatgpt|claude) (?:{_SPEECH_VERBS})\b",
    flags=re.IGNORECASE,
)


_ASKS_FOR_USER = LazyPattern(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", flags=re.IGNORECASE)


def intended_speaker(question: str) -> str:
    """Return "user" or "assistant", whose messages *question* asks for, or '' for either."""
    if _ASKS_FOR_ASSISTANT.search(question):
        return "assistant"
    return "user" if _ASKS_FOR_USER.search(question) else ""
