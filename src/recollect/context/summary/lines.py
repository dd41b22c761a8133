"""
What of a message is worth a line in a summary, and under which heading.

Every line is a sentence somebody said, trimmed but not reworded, with the position of its message.
English is read by rules (text/rules.py and the few below); a sentence in any other language is
still what the user told or the assistant answered. How lines compete is summarize.py's matter.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice

from recollect.context.decisions import decides
from recollect.domain.conversation import Message, Role
from recollect.domain.memory import MemoryType
from recollect.text.patterns import Pattern
from recollect.text.rules import rule_for
from recollect.text.said import said_spans
from recollect.text.sentences import sentences
from recollect.text.wording import asks, commands_a_reader, lead_in, plain

MOST_CHARS = 240  # of a line
HEAD_CHARS, TAIL_CHARS = 8_000, 3_000  # read of a longer message, which is mostly a paste
MOST_SENTENCES = 60  # read of one message
LEAST_LETTERS = 8
SHORT_WORDS = 6  # a question of so few words leans on what was said before
LEAST_WORDS = 3  # of what an assistant says
ASSISTANT_ASKS = "assistant asks: "


class Section(StrEnum):
    """The headings of a summary, in order."""

    ASKED = "Asked"
    DECIDED = "Decided"
    TOLD = "Told by the user"
    FOUND = "Found and answered"
    DONE = "Done"
    OPEN = "Open"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that might stand in a summary; *weight* is what its kind is worth."""

    section: Section
    text: str
    position: int
    weight: float = 1.0
    at: datetime | None = None
    reference: str = ""
    order: int = 0  # among those of one message

    @property
    def mark(self) -> str:
        """Return where it was said, as it stands in the text."""
        place = self.reference or (str(self.position) if self.position >= 0 else "")
        return f"[{place}]" if place else ""


_PLEASANT = Pattern(
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
_NARRATES = Pattern(
    r"(?i)^(?:now,? |next,? |first,? |then,? |so,? |okay,? |ok,? |(?:sure|certainly|great)[,!] )*"
    r"(?:let me\b|let['’]s (?:break|look|start|go through|dive|walk|see|take|consider|analy)"
    r"|i['’]ll\b|i will\b|i['’]m going to\b|i['’]d be (?:happy|glad)"
    r"|i can (?:certainly |definitely )?help|looking at\b"
    r"|to (?:do|achieve|help|ensure) (?:this|that)|however, i['’]m an? |as an? (?:ai|large)"
    r"|the following|certainly\b|absolutely\b|great (?:question|idea|choice)|remember,)"
)
_REQUEST = Pattern(
    r"^(?:please |now |then |also |next,? |can you |could you |would you |will you )*"
    r"(?:add|apply|build|change|check|clean|commit|compare|continue|create|debug|delete|describe"
    r"|draft|edit|explain|find|fix|generate|give|go on|help|implement|inspect|install|investigate"
    r"|list|look|make|merge|move|open|optimi[sz]e|plan|push|read|refactor|remove|rename|replace"
    r"|review|rewrite|run|search|send|set up|show|suggest|summari[sz]e|tell|test|translate|try"
    r"|update|upgrade|use|verify|walk|write)\b"
    r"|\b(?:can|could|would|will) you\b|(?<!to )\bhelp me\b|\bi(?:'d like| would like| need| want) "
    r"(?:you |help|some help|to (?:know|understand|see|get|learn|make|have|ensure))|\blooking for\b"
)
_DID = Pattern(
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
_FOUND = Pattern(
    r"\b(?:root cause|the (?:bug|problem|issue|cause|culprit|reason|error|failure) (?:is|was|comes)"
    r"|turns? out|it seems|caused by|i (?:found|noticed|see) (?:that|the|an?)"
    r"|there(?:'s| is|are) an? (?:bug|test failure|problem|issue|error|mismatch)|because)\b"
)
_LEFT = Pattern(
    r"\b(?:still (?:need|have|fail\w*|to do|open|missing|broken)|next steps?|todo|to-do"
    r"|remain(?:s|ing)|not (?:yet|implemented)|fails?\b|failing|blocked"
    r"|waiting for|i need to|needs? to be)\b"
)
# An assistant's advice is full of what remains to be done; only what it says of itself is open.
_I_OR_WE = Pattern(r"(?:i|we)(?:'ll|'ve|'re)? ")
_PROMISES = Pattern(r"(?:next,? )?(?:i'll|i will|i still|we still|i need to|i'm going to)\b")
_HERE_IS = Pattern(r"(?i)^(?:here|below)(?:['’]s| is| are)\b[^:]{0,80}:\s*")
_PARTICULAR = Pattern(r"\d|(?<=[a-z,] )[A-Z][\w'’-]+|[\"“][^\"”]{3,60}[\"”]|`[^`]+`")
_OF_MINE = Pattern(r"\b(?:i|i'm|i've|i'd|my|me|we|we're|we've|our)\b")
_MARKDOWN = re.compile(r"\*\*|__|^#+ |^[-*•] |\[shared image:[^\]]*\]")
_UNSPACED_END = re.compile(r"(?<=[。！？])(?=.)")
_BREAK = re.compile(r"[,;:–—]\s|\s-\s|\.\s|[、，。]")


def lines_of(message: Message, *, last: bool = False) -> Iterator[Line]:
    """Yield the lines *message* is good for; *last*: nothing was said after it."""
    if message.role is Role.USER:
        yield from _of_user(message, last=last)
    elif message.role is Role.ASSISTANT:
        yield from _of_assistant(message, last=last)


def sentences_of(content: str) -> Iterator[str]:
    """Yield the sentences that were said in *content*; of a very long one its two ends."""
    if len(content) <= HEAD_CHARS + TAIL_CHARS:
        yield from islice(_sentences_in(content), MOST_SENTENCES)
        return
    yield from islice(_sentences_in(content[:HEAD_CHARS]), MOST_SENTENCES // 2)
    yield from deque(_sentences_in(content[-TAIL_CHARS:]), maxlen=MOST_SENTENCES // 2)


def shortened(sentence: str, most: int = MOST_CHARS) -> str:
    """Return *sentence* as one line of at most *most* characters, cut where a clause ends."""
    said = " ".join(_MARKDOWN.sub("", sentence).split())
    front = lead_in(said)
    if front:
        said = said[front : front + 1].upper() + said[front + 1 :]
    if len(said) <= most:
        return said
    cut = said[: most - 1]
    breaks = [match.start() for match in _BREAK.finditer(cut, most // 2)]
    end = breaks[-1] if breaks else cut.rfind(" ", most // 2)
    return (cut[:end] if end > 0 else cut).rstrip(" ,;:") + "…"


def says_something(sentence: str) -> bool:
    """Say whether *sentence* is more than politeness or a scrap."""
    letters = sum(map(str.isalnum, sentence))
    enough = letters >= (LEAST_LETTERS if sentence.isascii() else 4)
    return enough and not _PLEASANT.match(sentence)


def _sentences_in(text: str) -> Iterator[str]:
    for start, end in said_spans(text):
        for first, last in sentences(text, start, end):
            yield from _UNSPACED_END.split(text[first:last])


def _of_user(message: Message, *, last: bool) -> Iterator[Line]:
    for number, (sentence, said) in enumerate(_read(message)):
        section, weight = _kind_of_user(sentence, said, among_people=bool(message.name))
        if section is Section.ASKED and last:
            section, weight = Section.OPEN, 2.0
        if number == 0 and weight < 1.2 and len(said) < 300:
            weight += 0.1
        yield _line(section, sentence, message, weight)


def _kind_of_user(sentence: str, said: str, *, among_people: bool) -> tuple[Section, float]:
    rule = rule_for(said)
    if rule is not None and rule.type is MemoryType.DECISION:
        if decides(sentence):
            return Section.DECIDED, 2.5
        rule = None
    if rule is not None and rule.type is MemoryType.TASK_HINT:
        return Section.OPEN, 1.2
    particular = bool(_PARTICULAR.search(sentence, 1))
    if rule is not None:
        return Section.TOLD, 2.0 if particular else 1.7
    mine = bool(_OF_MINE.search(said))
    question = asks(said)
    if among_people and question:
        return Section.ASKED, 0.6 if particular else 0.3  # talk, answered in the next breath
    if question or (not among_people and _REQUEST.search(said)):
        leans = question and len(said.split()) <= SHORT_WORDS
        return Section.ASKED, 1.4 if particular else (1.1 if mine else 0.4 if leans else 0.8)
    return Section.TOLD, 1.0 + 0.4 * particular + 0.3 * mine


def _of_assistant(message: Message, *, last: bool) -> Iterator[Line]:
    for number, (sentence, said) in enumerate(_read(message)):
        if _HERE_IS.match(sentence):
            sentence, said = (_HERE_IS.sub("", one) for one in (sentence, said))
        if len(said.split()) < LEAST_WORDS and said.isascii():
            continue
        if decides(sentence, by=Role.ASSISTANT):
            yield _line(Section.DECIDED, f"assistant: {shortened(sentence)}", message, 1.6)
        elif _DID.search(said):
            yield _line(Section.DONE, sentence, message, 1.5)
        elif last and ((asks(said) and '"' not in said) or _PROMISES.match(said)):
            asked = ASSISTANT_ASKS if asks(said) else ""
            yield _line(Section.OPEN, asked + shortened(sentence), message, 1.8)
        elif _NARRATES.match(said) or asks(said) or said.endswith(":"):
            continue
        elif _LEFT.search(said) and _I_OR_WE.match(said):
            yield _line(Section.OPEN, sentence, message, 0.6)
        else:
            weight = 1.1 if _FOUND.search(said) else (0.55 if number == 0 else 0.35)
            yield _line(Section.FOUND, sentence, message, weight)


def _read(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the sentences worth a look, as written and as the rules read them."""
    for sentence in filter(says_something, sentences_of(message.content)):
        said = plain(sentence)
        # A summary is read by a model; what tries to command one stays out.
        if not commands_a_reader(said):
            yield sentence, said[lead_in(said) :]


def _line(section: Section, sentence: str, message: Message, weight: float) -> Line:
    text = shortened(sentence)
    if message.name and message.role is Role.USER:
        text = f"{message.name}: {text.removeprefix(f'{message.name}: ')}"
    return Line(section, text, message.position, weight, message.created_at)
