"""
Detect whether a message states a decision.

The rule is the one of extraction (text/extraction_rules.py). A search for its keywords runs first,
because most messages contain none, and splitting into sentences is slower.
"""

from recollect.domain.conversation import Role
from recollect.domain.memory import MemoryType
from recollect.text.extraction_rules import matching_rule
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import is_joke, lead_in_length, normalize_sentence

MAX_CHARS = 20_000  # a longer message is a pasted document
MAX_SENTENCE_CHARS = 600

# Every decision contains one of these; the rule then decides.
_DECISION_WORDS = LazyPattern(
    r"(?i)decid|decision|choos|chos|pick|opt|settl|agree|vot|commit|resol|verdict|final|minds?\b"
    r"|\blet['’]?s\b|\blet us\b|['’]ll\b|\bwill\b|\bwon['’]?t\b|going|gonna|dropp|replac|switch|mov"
    r"|keep|adopt|remov|retir|deprecat|stick|stay|standard|abandon|migrat|ditch|writing|flying"
    r"|taking|buying|went"
)

# "Let's use the formula" and "I'll keep reading" are not decisions when an assistant says them.
_ASSISTANT_DECISION_WORDS = LazyPattern(
    r"(?i)\b(?:decided|decision|agreed|settled on|opted|chose|chosen|verdict|resolved to"
    r"|we(?:['’]ll| will)|we['’]?re|we are|(?:going|went|sticking) with)\b"
)

# Good intentions are not decisions: to keep going, to keep an eye out, to keep somebody posted.
_GOOD_INTENTION = LazyPattern(
    r"(?i)\b(?:posted|in mind|in touch|take care|for example|if you|taking the time"
    r"|keep (?:an eye|up|at it|(?!using|running|hosting)\w+ing))\b"
)


def is_decision(sentence: str, *, by: Role = Role.USER) -> bool:
    """Return whether *sentence*, said by a user or an assistant, states a decision."""
    pattern = _DECISION_WORDS if by is Role.USER else _ASSISTANT_DECISION_WORDS
    if not pattern.search(sentence) or _GOOD_INTENTION.search(sentence):
        return False
    text = normalize_sentence(sentence)
    rule = matching_rule(text[lead_in_length(text) :])
    return rule is not None and rule.type is MemoryType.DECISION and not is_joke(text)
