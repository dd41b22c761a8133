"""
Whose words a question about the past is after: the user's own, or what the assistant answered.

"Where did I park?" is answered by what the user said; "which hotel did you recommend?" by what the
assistant said; "where does Ana live?" by anybody. This file knows words only.
"""

import re

_SAYING = (
    r"said|told|tell|mention(?:ed)?|recommend(?:ed)?|suggest(?:ed)?|gave|given?|provided?|listed"
    r"|explain(?:ed)?|described?|proposed?|wrote|write|created?|generated?|shared?|advised?"
    r"|answer(?:ed)?|repl(?:y|ied)|came up with|come up with|made"
)
_WHAT_IS_SAID = (
    r"suggestions?|recommendations?|lists?|answers?|advice|explanations?|responses?|replies|reply"
    r"|descriptions?|examples?|proposals?|plans?|summary|version"
)
# A wish ("could you tell me …") is no question about what was said.
_OF_THE_ASSISTANT = re.compile(
    rf"(?<!can )(?<!could )(?<!would )(?<!will )\byou(?:'ve|'d| have| had)? (?:\w+ly |just |also |"
    rf"once )?(?:{_SAYING})\b"
    rf"|\bdid you (?:\w+ly |just |also )?(?:{_SAYING})\b"
    rf"|\byour (?:\w+ )?(?:{_WHAT_IS_SAID})\b"
    rf"|\b(?:the assistant|chatgpt|claude) (?:{_SAYING})\b",
    re.IGNORECASE,
)


_OF_THE_USER = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)


def whose_words(question: str) -> str:
    """Return "user" or "assistant", whose words *question* asks for; '' where anybody's."""
    if _OF_THE_ASSISTANT.search(question):
        return "assistant"
    return "user" if _OF_THE_USER.search(question) else ""
