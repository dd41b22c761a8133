"""
Extract the candidate lines of a summary from a message, each under a heading.

Every line is a sentence of the message, shortened but not reworded, with the message's position.
English is classified by rules (text/extraction_rules.py and those below), and statements are
weighed (statement_weight.py); a sentence in another language counts as told by the user or answered
by the assistant. What was decided and what was told stand under one heading, in order of time, so
that a later line always stands below the earlier one that it changes.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from itertools import islice

from recollect.context.decision_detection import is_decision
from recollect.context.speaker_label import PERHAPS_PASTED, is_perhaps_pasted
from recollect.context.summary.statement_weight import statement_weight
from recollect.domain.conversation import Message, Role
from recollect.domain.memory import MemoryType
from recollect.lazy_dataclass import dataclass
from recollect.text import sentence_classifier
from recollect.text.extraction_rules import matching_rule
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import is_question, lead_in_length
from recollect.text.sentence_splitter import sentence_spans
from recollect.text.spoken_parts import spoken_spans

MAX_CHARS = 240  # of a line
HEAD_CHARS, TAIL_CHARS = 8_000, 3_000  # read of a longer message, which is mostly a paste
MAX_SENTENCES = 60  # read of one message
MIN_LETTERS = 8
SHORT_QUESTION_WORDS = 6  # a shorter question depends on what was said before
MIN_WORDS = 3  # of an assistant's sentence
ASSISTANT_ASKS = "assistant asks: "
ASSISTANT_SAYS = "assistant: "
DECISION_WEIGHT = 3.2  # at least
OPEN_WEIGHT = 2.8  # of a task that the user names
MAX_PASTED_WEIGHT = 2.4  # of a sentence that the user may not have typed
LASTING_REQUEST = 2.0  # a request of this weight sets something that lasts: it is a statement


class Heading(StrEnum):
    """The headings of a summary, in order."""

    ASKED = "Asked"
    STATED = "Decided and told"
    FOUND = "Found and answered"
    DONE = "Done"
    OPEN = "Open"


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A candidate line of a summary; *weight* depends on its kind."""

    section: Heading
    text: str
    position: int
    weight: float = 1.0
    at: datetime | None = None
    reference: str = ""
    order: int = 0  # in which it was added; 0: it comes from the summary so far
    decision: bool = False
    previous: str = ""  # the statement that this one supersedes,
    previous_weight: float = 0.0  # and its weight
    superseded_by: int = -1  # position of a message that supersedes it and is still in the window

    @property
    def mark(self) -> str:
        """Return the reference to its message, as written in the summary."""
        place = self.reference or (str(self.position) if self.position >= 0 else "")
        return f"[{place}]" if place else ""

    @property
    def is_assistants(self) -> bool:
        """Return whether the assistant said it."""
        return self.text.startswith((ASSISTANT_SAYS, ASSISTANT_ASKS))

    @property
    def is_pasted(self) -> bool:
        """Return whether the user may not have typed it."""
        return self.text.startswith(PERHAPS_PASTED)

    @property
    def rendered(self) -> str:
        """Return the line as written in the summary, with what it supersedes and its mark."""
        notes = f" (previously: {self.previous})" if self.previous else ""
        if self.superseded_by >= 0:
            notes += f" (superseded by [{self.superseded_by}])"
        return f"- {self.text}{notes} {self.mark}".rstrip()


_PLEASANT = LazyPattern(
    r"(?i)^(?:(?:ok(?:ay)?|yeah|yep|sure|great|perfect|awesome|nice|cool|wow|thanks?(?: you)?|thx"
    r"|hi|hello|hey|good (?:morning|evening|night|luck)|bye|of course|certainly|absolutely"
    r"|sounds good|got it|you['’]re welcome|no problem|happy to help|exactly)\b[\s,.!:;-]*+)+"
    r"(?:[\w'’-]++[\s.!]*+)?$"
    r"|^(?:(?:\w+[,!] )?(?:i['’]m )?(?:so )?(?:glad|happy|sorry) (?:to|that|you|it|for|the)\b"
    r"[^,;:]{0,60}$|you['’]re (?:absolutely |totally )?right\b[^,;:]{0,20}$"
    r"|(?:that|this)(?:['’]s| is|"
    r" sounds| looks) (?:so |really |very |such )?(?:an? )?(?:great|good|cool|awesome|nice|amazing"
    r"|helpful|right|perfect|wonderful|fantastic)\b[^,;:]{0,40}$"
    r"|(?:good,? )?(?:this|that|it) makes sense\b[^,;:]{0,20}$|feel free"
    r"|let me know|(?:i )?hope (?:this|that|it)|if you (?:have|need) any|good luck"
    r"|thank(?:s| you)\b[^,;:]{0,60}$|don['’]t hesitate|by following these|keep up the"
    r"|(?:how|what)(?:['’]s| is| about|['’]re| are) (?:up|you|new|it going)\b[^,;:]{0,30}$)"
)
_NARRATES = LazyPattern(
    r"(?i)^(?:now,? |next,? |first,? |then,? |so,? |okay,? |ok,? |(?:sure|certainly|great)[,!] )*"
    r"(?:let me\b|let['’]s (?:break|look|start|go through|dive|walk|see|take|consider|analy)"
    r"|i['’]ll\b|i will\b|i['’]m going to\b|i['’]d be (?:happy|glad)"
    r"|i can (?:certainly |definitely )?help|looking at\b"
    r"|to (?:do|achieve|help|ensure) (?:this|that)|however, i['’]m an? |as an? (?:ai|large)"
    r"|the following|certainly\b|absolutely\b|great (?:question|idea|choice)|remember,)"
)
_REQUEST = LazyPattern(
    r"^(?:please |now |then |also |next,? |can you |could you |would you |will you )*"
    r"(?:add|apply|build|change|check|clean|commit|compare|continue|create|debug|delete|describe"
    r"|draft|edit|explain|find|fix|generate|give|go on|help|implement|inspect|install|investigate"
    r"|list|look|make|merge|move|open|optimi[sz]e|plan|push|read|refactor|remove|rename|replace"
    r"|review|rewrite|run|search|send|set up|show|suggest|summari[sz]e|tell|test|translate|try"
    r"|update|upgrade|use|verify|walk|write)\b"
    r"|\b(?:can|could|would|will) you\b|(?<!to )\bhelp me\b|\bi(?:'d like| would like| need| want) "
    r"(?:you |help|some help|to (?:know|understand|see|get|learn|make|have|ensure))|\blooking for\b"
)
_DID = LazyPattern(
    r"^(?:i|we)(?:'ve| have)? (?:now |just |also |successfully |already )*(?:added|applied|built"
    r"|changed|cleaned|committed|completed|configured|converted|corrected|created|deleted|deployed"
    r"|extracted|finished|fixed|implemented|installed|made|merged|migrated|moved|pushed|ran"
    r"|refactored|released|removed|renamed|replaced|resolved|reverted|rewrote|set up|split|tested"
    r"|tried|updated|upgraded|verified|wrote|written)\b"
    r"|^(?:added|applied|built|changed|committed|configured|created|deleted|deployed|fixed"
    r"|implemented|installed|merged|migrated|moved|pushed|refactored|removed|renamed|replaced|resolved|reverted"
    r"|updated|upgraded|verified|wrote)\b(?! by)"
    r"|\b(?:tests?|checks?|build|suite)\b[^.]{0,20}\b(?:pass(?:es|ed)?|green|succeed(?:s|ed)?)\b"
    r"|\b(?:is|are) now (?:\w+ )?(?:working|fixed|done|ready|in place|committed|merged|green)\b"
)
_FOUND = LazyPattern(
    r"\b(?:root cause|the (?:bug|problem|issue|cause|culprit|reason|error|failure) (?:is|was|comes)"
    r"|turns? out|it seems|caused by|i (?:found|noticed|see) (?:that|the|an?)"
    r"|there(?:'s| is|are) an? (?:bug|test failure|problem|issue|error|mismatch)|because)\b"
)
_LEFT = LazyPattern(
    r"\b(?:still (?:need|have|fail\w*|to do|open|missing|broken)|next steps?|todo|to-do"
    r"|remain(?:s|ing)|not (?:yet|implemented)|fails?\b|failing|blocked"
    r"|waiting for|i need to|needs? to be)\b"
)
_OPEN_TASK = LazyPattern(
    r"\bstill (?:to (?:do|be done|come|decide|fix|sort)|missing|outstanding|pending|open)\b"
    r"|\b(?:still|yet) (?:need|have|needs|has) to\b|\bwe still need\b|\bi still need\b"
    r"|^(?:to-?do|to do|open|open points?|left to do|what's left|next up|pending)\b ?[:–-]"
    r"|\b(?:don't let me forget|remind me|put (?:it|that|this) on (?:the|my) list"
    r"|(?:is|are|isn't|aren't) not? ?(?:yet )?(?:done|finished) yet|not done yet)\b"
)
# An assistant's advice mentions many things to do; only what it says about itself is open.
_I_OR_WE = LazyPattern(r"(?:i|we)(?:'ll|'ve|'re)? ")
_PROMISES = LazyPattern(r"(?:next,? )?(?:i'll|i will|i still|we still|i need to|i'm going to)\b")
_HERE_IS = LazyPattern(r"(?i)^(?:here|below)(?:['’]s| is| are)\b[^:]{0,80}:\s*")
_PARTICULAR = LazyPattern(r"\d|(?<=[a-z,] )[A-Z][\w'’-]+|[\"“][^\"”]{3,60}[\"”]|`[^`]+`")
_OF_MINE = LazyPattern(r"\b(?:i|i'm|i've|i'd|my|me|we|we're|we've|our)\b")
_MARKDOWN = re.compile(r"\*\*|__|^#+ |^[-*•] |\[shared image:[^\]]*\]")
_UNSPACED_END = re.compile(r"(?<=[。！？])(?=.)")
_BREAK = re.compile(r"[,;:–—]\s|\s-\s|\.\s|[、，。]")


def lines_of_message(message: Message, *, last: bool = False) -> Iterator[SummaryLine]:
    """Yield the summary lines of *message*; *last*: it is the last spoken message."""
    if message.role is Role.USER:
        yield from _user_lines(message, last=last)
    elif message.role is Role.ASSISTANT:
        yield from _assistant_lines(message, last=last)


def spoken_sentences(content: str) -> Iterator[str]:
    """Yield the spoken sentences of *content*; of a very long text only its two ends."""
    if len(content) <= HEAD_CHARS + TAIL_CHARS:
        yield from islice(_split_sentences(content), MAX_SENTENCES)
        return
    yield from islice(_split_sentences(content[:HEAD_CHARS]), MAX_SENTENCES // 2)
    yield from deque(_split_sentences(content[-TAIL_CHARS:]), maxlen=MAX_SENTENCES // 2)


def shorten(sentence: str, max_chars: int = MAX_CHARS) -> str:
    """Return *sentence* as one line of at most *max_chars*, cut at the end of a clause."""
    text = " ".join(_MARKDOWN.sub("", sentence).split())
    lead = lead_in_length(text)
    if lead:
        text = text[lead : lead + 1].upper() + text[lead + 1 :]
    if len(text) <= max_chars:
        return text
    cut = text[: max_chars - 1]
    breaks = [match.start() for match in _BREAK.finditer(cut, max_chars // 2)]
    end = breaks[-1] if breaks else cut.rfind(" ", max_chars // 2)
    return (cut[:end] if end > 0 else cut).rstrip(" ,;:") + "…"


def has_substance(sentence: str) -> bool:
    """Return whether *sentence* is more than a polite phrase or a fragment."""
    letters = sum(map(str.isalnum, sentence))
    enough = letters >= (MIN_LETTERS if sentence.isascii() else 4)
    return enough and not _PLEASANT.match(sentence)


def _split_sentences(text: str) -> Iterator[str]:
    for start, end in spoken_spans(text):
        for first, last in sentence_spans(text, start, end):
            yield from _UNSPACED_END.split(text[first:last])


def _user_lines(message: Message, *, last: bool) -> Iterator[SummaryLine]:
    is_pasted = is_perhaps_pasted(message)
    for sentence, plain_text in _sentences(message):
        line = _classify(sentence, plain_text, message)
        if is_pasted and not is_question(plain_text):
            # Somebody else's sentence must not be told as the user's decision.
            text = f"{PERHAPS_PASTED}: {line.text}"
            weight = min(line.weight, MAX_PASTED_WEIGHT)
            yield replace(line, text=text, weight=weight, decision=False)
        elif line.section is Heading.ASKED and last:
            yield replace(line, section=Heading.OPEN, weight=2.0)
        else:
            yield line


def _classify(sentence: str, plain_text: str, message: Message) -> SummaryLine:
    """Return the line of a user's sentence: its heading, its weight, and if it is a decision."""
    rule = matching_rule(plain_text)
    weight = statement_weight(sentence, plain_text)
    if rule is not None and rule.type is MemoryType.DECISION and is_decision(sentence):
        line = _line(Heading.STATED, sentence, message, max(weight, DECISION_WEIGHT))
        return replace(line, decision=True)
    is_particular = bool(_PARTICULAR.search(sentence, 1))
    asks = is_question(plain_text)
    if (rule is not None and rule.type is MemoryType.TASK_HINT) or _OPEN_TASK.search(plain_text):
        return _line(Heading.OPEN, sentence, message, 1.2 if asks else OPEN_WEIGHT)
    if asks and message.name:  # conversation between people is usually answered at once
        return _line(Heading.ASKED, sentence, message, 0.6 if is_particular else 0.3)
    is_request = not message.name and _REQUEST.search(plain_text)
    if asks or (is_request and weight < LASTING_REQUEST):
        is_elliptical = asks and len(plain_text.split()) <= SHORT_QUESTION_WORDS
        own_weight = 1.1 if _OF_MINE.search(plain_text) else 0.4 if is_elliptical else 0.8
        weight = max(1.4 if is_particular else own_weight, 0 if asks else weight)
        return _line(Heading.ASKED, sentence, message, weight)
    return _line(Heading.STATED, sentence, message, weight)


def _assistant_lines(message: Message, *, last: bool) -> Iterator[SummaryLine]:
    for number, (sentence, plain_text) in enumerate(_sentences(message)):
        if _HERE_IS.match(sentence):
            sentence, plain_text = (_HERE_IS.sub("", text) for text in (sentence, plain_text))
        if len(plain_text.split()) < MIN_WORDS and plain_text.isascii():
            continue
        asks = is_question(plain_text)
        if is_decision(sentence, by=Role.ASSISTANT):
            text = f"{ASSISTANT_SAYS}{shorten(sentence)}"
            yield replace(_line(Heading.STATED, text, message, 1.6), decision=True)
        elif _DID.search(plain_text):
            yield _line(Heading.DONE, sentence, message, 1.5)
        elif last and ((asks and '"' not in plain_text) or _PROMISES.match(plain_text)):
            prefix = ASSISTANT_ASKS if asks else ""
            yield _line(Heading.OPEN, prefix + shorten(sentence), message, 1.8)
        elif _NARRATES.match(plain_text) or asks or plain_text.endswith(":"):
            continue
        elif _LEFT.search(plain_text) and _I_OR_WE.match(plain_text):
            yield _line(Heading.OPEN, sentence, message, 0.6)
        else:
            weight = 1.1 if _FOUND.search(plain_text) else (0.55 if number == 0 else 0.35)
            yield _line(Heading.FOUND, sentence, message, weight)


def _sentences(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the sentences with substance, as written and as normalized for the rules."""
    for sentence in filter(has_substance, spoken_sentences(message.content)):
        plain_text = sentence_classifier.normalize_sentence(sentence)
        # A model reads the summary, so possible prompt injections are left out.
        if not sentence_classifier.is_prompt_injection(plain_text):
            yield sentence, plain_text[lead_in_length(plain_text) :]


def _line(section: Heading, sentence: str, message: Message, weight: float) -> SummaryLine:
    text = shorten(sentence)
    if message.name and message.role is Role.USER:
        text = f"{message.name}: {text.removeprefix(f'{message.name}: ')}"
    return SummaryLine(section, text, message.position, weight, message.created_at)
