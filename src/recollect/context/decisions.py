"""
Does a message state a decision? Asked of every message that might leave the window, so cheaply.

The rule is the extractor's (text/rules.py); a look for its words first spares most messages the
cutting into sentences.
"""

from recollect.domain.conversation import Message, Role
from recollect.domain.memory import MemoryType
from recollect.text.patterns import Pattern
from recollect.text.rules import rule_for
from recollect.text.said import said_spans
from recollect.text.sentences import sentences
from recollect.text.wording import jokes, lead_in, plain

MOST_CHARS = 20_000  # a longer message is a pasted document
MOST_SENTENCE_CHARS = 600

# Every decision holds one of these; the rule decides which of those that do are one.
_MAY_DECIDE = Pattern(
    r"(?i)decid|decision|choos|chos|pick|opt|settl|agree|vot|commit|resol|verdict|final|minds?\b"
    r"|\blet['’]?s\b|\blet us\b|['’]ll\b|\bwill\b|\bwon['’]?t\b|going|gonna|dropp|replac|switch|mov"
    r"|keep|adopt|remov|retir|deprecat|stick|stay|standard|abandon|migrat|ditch|writing|flying"
    r"|taking|buying|went"
)

# "Let's use the formula" and "I'll keep reading" are how an assistant talks, not what was decided.
_ASSISTANT_DECIDES = Pattern(
    r"(?i)\b(?:decided|decision|agreed|settled on|opted|chose|chosen|verdict|resolved to"
    r"|we(?:['’]ll| will)|we['’]?re|we are|(?:going|went|sticking) with)\b"
)

# Good intentions are no decisions: to keep going, to keep an eye out, to keep somebody posted.
_INTENDS = Pattern(
    r"(?i)\b(?:posted|in mind|in touch|take care|for example|if you|taking the time"
    r"|keep (?:an eye|up|at it|(?!using|running|hosting)\w+ing))\b"
)


def states_a_decision(message: Message) -> bool:
    """Say whether a person or the assistant decides something in *message*."""
    if message.role not in (Role.USER, Role.ASSISTANT) or len(message.content) > MOST_CHARS:
        return False
    text = message.content
    if not _MAY_DECIDE.search(text):
        return False
    return any(
        decides(text[first:last], by=message.role)
        for start, end in said_spans(text)
        for first, last in sentences(text, start, end)
        if last - first <= MOST_SENTENCE_CHARS
    )


def decides(sentence: str, *, by: Role = Role.USER) -> bool:
    """Say whether *sentence*, said by a user or an assistant, states a decision."""
    signs = _MAY_DECIDE if by is Role.USER else _ASSISTANT_DECIDES
    if not signs.search(sentence) or _INTENDS.search(sentence):
        return False
    said = plain(sentence)
    rule = rule_for(said[lead_in(said) :])
    return rule is not None and rule.type is MemoryType.DECISION and not jokes(said)
