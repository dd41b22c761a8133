"""
Read a source and return what is worth remembering, each with the span it rests on.

turns → sentences → guards → rules → details. Pure: the same source gives the same finds in the
same order, which is what makes the stage above it safe to run twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.domain.candidate import CORRECTION, INSTRUCTION, UPDATE, Found, Span
from recollect.domain.memory import MemoryType
from recollect.domain.transcript import Voice
from recollect.engine.extract.utterances import Utterance, utterances
from recollect.engine.material import Turn
from recollect.text.details import alternatives_in, observed_at, rationale_in
from recollect.text.patterns import Pattern
from recollect.text.rules import rule_for
from recollect.text.statements import content_words
from recollect.text.wording import (
    asks,
    commands_a_reader,
    invents,
    jokes,
    lead_in,
    plain,
    reports,
    supposes,
)

LEAST_WORDS = 3
SPECIFIC = 0.55  # the confidence in a plain statement that names or counts something
STATED = 0.6  # the confidence in a sentence of a note that no rule knows
CORRECTED = 0.85  # the confidence in what somebody took the trouble to put right

_PUTS_RIGHT = Pattern(
    r"^(?:(?:(?:no(?:,? no)*(?=[,.:;!–—-]| (?:it|the|i|i'm|we|my|that|he|she|they|there|you)\b)"
    r"|nope|nah|wrong|incorrect|correction|hold on|wait|actually|not quite|sorry"
    r"|(?:that|this|it)(?:'s| is| was| info is| information is) (?:wrong|not (?:right|true"
    r"|correct|quite right)"
    r"|incorrect|outdated|out of date|old|a mistake|no longer true)"
    r"|you(?:'ve| have)? (?:got|have|had|mixed|confused|misunderstood|misread) (?:that|it|this|me)"
    r"(?: mixed up| wrong| up| the wrong way round)?|i misspoke|i was wrong|my mistake|let me "
    r"correct (?:that|myself))"
    r"\b[\s,:;.!–—-]+(?:actually,? )?){1,3}|you (?:keep|kept) \w+ing [\w ]{1,30}, )(?P<rest>.*)$"
)
_STATES = Pattern(
    r"\b(?:is|are|was|were|isn't|aren't|wasn't|am|has|have|uses?|lives?|works?|called|starts?"
    r"|moved|runs?|needs?"
    r"|goes|costs?|means?|meant|don't|doesn't|left|changed)\b|'(?:s|m|re|ve)\b"
)
_BRINGS_UP_TO_DATE = Pattern(
    r"\b(?:no longer|any ?more|any longer|as of (?:today|now|this \w+)|switched (?:from|to)"
    r"|moved (?:from|off|over)|migrated from|replaced [\w .+#-]{2,60} (?:with|by)"
    r"|changed (?:to|from|my mind)|renamed|used to)\b|(?<!right )(?<!by )(?<!for )\bnow\b(?! "
    r"that| on)"
)
_OF_MINE = Pattern(r"(?:i(?:'m|'ve| am| have| had| was| \w+)|my|we(?:'re|'ve| \w+)|our)\b")
_PARTICULAR = Pattern(r"\d|(?<=[a-z,] )[A-Z][\w'’-]+|[\"“][^\"”]{3,60}[\"”]|`[^`]+`")
_PASSING = Pattern(
    r"\byour?s?\b|\b(?:now|today|tonight|again|just|currently|still|yet|already|please|error|bug"
    r"|trying|looking|getting|seeing|running|wondering|think|guess|feel|hope|wish|need|want|like"
    r"|love|hate|sorry|thanks|help|question|understand|ready|line|stuck|this|these|here)\b|\?"
)
_MINE = Pattern(r"\b(?:i|i'm|my|me|we're not)\b")
_OF_THE_MOMENT = Pattern(
    r"\b(?:still|again|works?|working|worked|failing|fails?|failed|running|broken|down|crash\w*"
    r"|stuck|away"
    r"|sick|ready|done|fine|gone|here|there|check|look|wait|sorry|minute|second|moment|question"
    r"|think)\b"
)
_NOT_A_FACT = Pattern(r"^(?:yes|no|ok|thanks|cool|nice|great|lol|haha|hmm)\b[.!\s]*$")


@dataclass(frozen=True)
class Reading:
    """How a source is to be read: notes and summaries state everything they say on purpose."""

    states_everything: bool = False  # each plain sentence is a statement somebody wanted kept
    reported: bool = False  # written by an agent about the user, not by the user
    note_type: MemoryType = MemoryType.ARTIFACT  # of a statement that no rule knows


def find(content: str, turns: Sequence[Turn], reading: Reading) -> Iterator[Found]:
    """Yield what is worth remembering, in the order in which it was said."""
    for turn in turns:
        if turn.voice is Voice.USER or (reading.reported and turn.voice is Voice.ASSISTANT):
            said = utterances(content, turn, all_of_it=reading.states_everything)
            yield from _in_turn(said, reading)


def _in_turn(said: Sequence[Utterance], reading: Reading) -> Iterator[Found]:
    corrects = False
    read = 0
    for number, one in enumerate(said):
        text = plain(one.text)
        front = lead_in(text)
        found = _in_sentence(one, text[front:], reading, corrects=corrects)
        corrects = found is None and _only_objects(text)
        if found is None:
            continue
        if not reading.states_everything:
            # Asked only where something was found: most messages hold nothing.
            if any(invents(plain(before.text)) for before in said[read : number + 1]):
                return  # from here on it is a story, a role, or somebody's text to work on
            read = number + 1
        yield _with_reason(found, said[number + 1 :])


def _in_sentence(one: Utterance, text: str, reading: Reading, *, corrects: bool) -> Found | None:
    objection = _PUTS_RIGHT.match(text)
    rest = objection["rest"] if objection else text
    corrects = corrects or bool(objection)
    found = _kind_of(rest, reading, corrects=corrects) or _specific(one.text, rest)
    if found is None or jokes(text) or _NOT_A_FACT.match(text):
        return None
    rule, kind, confidence = found
    flags = flags_of(text)
    if _BRINGS_UP_TO_DATE.search(rest):
        flags = (UPDATE, *flags)
    if corrects:
        flags = (CORRECTION, *flags)
    return _found(one, rule, kind, confidence, flags)


def _kind_of(
    text: str, reading: Reading, *, corrects: bool
) -> tuple[str, MemoryType, float] | None:
    """Return what *text* is, as rule, type and confidence; None where it is nothing to keep."""
    rule = rule_for(text, reported=reading.reported)
    if rule is not None:
        return rule.name, rule.type, CORRECTED if corrects else rule.confidence
    if len(text.split()) < LEAST_WORDS or asks(text):
        return None
    if (
        corrects
        and _STATES.search(text)
        and not (supposes(text) or reports(text) or _OF_THE_MOMENT.search(text))
    ):
        kind = MemoryType.PROFILE if _MINE.search(text) else MemoryType.PROJECT
        return "correction", kind, CORRECTED
    if reading.states_everything:
        return "statement", reading.note_type, STATED
    return None


def _specific(written: str, text: str) -> tuple[str, MemoryType, float] | None:
    """Return what a plain statement about the user or the project is, if it is a specific one."""
    begins = _OF_MINE.match(text)
    if begins is None or not _PARTICULAR.search(written, 1) or _PASSING.search(text):
        return None
    if not 5 <= len(content_words(text)) <= 25 or asks(text) or supposes(text) or reports(text):
        return None
    mine = begins[0].startswith(("i", "my"))
    return "specific", MemoryType.PROFILE if mine else MemoryType.PROJECT, SPECIFIC


def _found(
    one: Utterance, rule: str, kind: MemoryType, confidence: float, flags: tuple[str, ...]
) -> Found:
    content = _without_objection(one.text[lead_in(one.text) :])
    if content != one.text:
        content = content[:1].upper() + content[1:]  # it begins later than its writer began it
    decided = kind is MemoryType.DECISION
    return Found(
        type=kind,
        content=content,
        rule=rule,
        confidence=confidence,
        observed_at=observed_at(one.text, said_at=one.at),
        spans=(Span(one.start, one.end, one.turn.voice),),
        rationale=rationale_in(content) if decided else "",
        alternatives=alternatives_in(content) if decided else (),
        flags=flags,
    )


def _without_objection(text: str) -> str:
    """Return what is right without the words that say something was wrong."""
    objection = _PUTS_RIGHT.match(text.lower().replace("’", "'"))
    if objection is None or not objection["rest"].strip():
        return text
    return text[objection.start("rest") :] if len(text.lower()) == len(text) else text


def _with_reason(found: Found, following: Sequence[Utterance]) -> Found:
    """Take the reason of a decision from the next sentence, where that is where it stands."""
    if found.type is not MemoryType.DECISION or found.rationale or not following:
        return found
    after = following[0]
    reason = rationale_in(after.text, alone=True)
    if not reason:
        return found
    span = Span(after.start, after.end, after.turn.voice)
    return replace(found, rationale=reason, spans=(*found.spans, span))


def flags_of(text: str) -> tuple[str, ...]:
    """Return what a reader should be warned of in *text*, made plain."""
    return (INSTRUCTION,) if commands_a_reader(text) else ()


def _only_objects(text: str) -> bool:
    """Say whether a sentence only says that something is wrong; the next may say what is right."""
    objection = _PUTS_RIGHT.match(f"{text.rstrip('.! ')}. ")
    return bool(objection) and not objection["rest"].strip()  # type: ignore[index]  # matched
