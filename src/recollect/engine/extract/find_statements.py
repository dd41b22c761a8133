"""
Find the statements in a source that are worth remembering, each with its span as evidence.

turns → sentences → guards → rules → details. Pure: the same source gives the same statements in the
same order, so the extract stage can be run again safely.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.domain.candidate import ExtractedStatement, VoicedSpan
from recollect.domain.memory import MemoryType
from recollect.domain.provenance import StatementFlag
from recollect.domain.transcript import Voice
from recollect.engine.extract.utterances import Utterance, utterances
from recollect.engine.source_text import SourceTurn
from recollect.text.decision_details import alternatives_in, observed_at, rationale_in
from recollect.text.explicit_request import asks_to_remember, is_explicit_request
from recollect.text.extraction_rules import matching_rule
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import (
    is_fiction_or_pasted_text,
    is_joke,
    is_prompt_injection,
    is_question,
    is_reported_speech,
    is_supposition,
    lead_in_length,
    normalize_sentence,
)
from recollect.text.statement_parser import content_words

MIN_WORDS = 3
SPECIFIC_CONFIDENCE = 0.55  # a plain statement that names or counts something
NOTE_CONFIDENCE = 0.6  # a sentence of a note, or a request to remember it, that matches no rule
CORRECTED_CONFIDENCE = 0.85  # a correction

_OBJECTION = LazyPattern(
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
_STATEMENT_VERB = LazyPattern(
    r"\b(?:is|are|was|were|isn't|aren't|wasn't|am|has|have|uses?|lives?|works?|called|starts?"
    r"|moved|runs?|needs?"
    r"|goes|costs?|means?|meant|don't|doesn't|left|changed)\b|'(?:s|m|re|ve)\b"
)
_UPDATE = LazyPattern(
    r"\b(?:no longer|any ?more|any longer|as of (?:today|now|this \w+)|switched (?:from|to)"
    r"|moved (?:from|off|over)|migrated from|replaced [\w .+#-]{2,60} (?:with|by)"
    r"|changed (?:to|from|my mind)|renamed|used to)\b|(?<!right )(?<!by )(?<!for )\bnow\b(?! "
    r"that| on)"
)
_FIRST_PERSON_START = LazyPattern(
    r"(?:i(?:'m|'ve| am| have| had| was| \w+)|my|we(?:'re|'ve| \w+)|our)\b"
)
_SPECIFIC_DETAIL = LazyPattern(r"\d|(?<=[a-z,] )[A-Z][\w'’-]+|[\"“][^\"”]{3,60}[\"”]|`[^`]+`")
_TRANSIENT = LazyPattern(
    r"\byour?s?\b|\b(?:now|today|tonight|again|just|currently|still|yet|already|please|error|bug"
    r"|trying|looking|getting|seeing|running|wondering|think|guess|feel|hope|wish|need|want|like"
    r"|love|hate|sorry|thanks|help|question|understand|ready|line|stuck|this|these|here)\b|\?"
)
_FIRST_PERSON = LazyPattern(r"\b(?:i|i'm|my|me|we're not)\b")
_MOMENTARY = LazyPattern(
    r"\b(?:still|again|works?|working|worked|failing|fails?|failed|running|broken|down|crash\w*"
    r"|stuck|away"
    r"|sick|ready|done|fine|gone|here|there|check|look|wait|sorry|minute|second|moment|question"
    r"|think)\b"
)
_NOT_A_FACT = LazyPattern(r"^(?:yes|no|ok|thanks|cool|nice|great|lol|haha|hmm)\b[.!\s]*$")

Flags = tuple[StatementFlag, ...]
Statements = Iterator[ExtractedStatement]
Classification = tuple[str, MemoryType, float]  # rule, memory type and confidence


@dataclass(frozen=True)
class ExtractionMode:
    """How to read a source. Every sentence of a note or a summary is a statement."""

    states_everything: bool = False  # keep every plain sentence, even if it matches no rule
    reported: bool = False  # written by an agent about the user, not by the user
    note_type: MemoryType = MemoryType.ARTIFACT  # of a statement that matches no rule


def find_statements(content: str, turns: Sequence[SourceTurn], mode: ExtractionMode) -> Statements:
    """Yield the statements worth remembering, in the order of the source."""
    for turn in turns:
        is_of_user = turn.voice in (Voice.USER, Voice.PASTED)
        if is_of_user or (mode.reported and turn.voice is Voice.ASSISTANT):
            sentences = utterances(content, turn, all_of_it=mode.states_everything)
            yield from _statements_in_turn(sentences, mode)


def _statements_in_turn(sentences: Sequence[Utterance], mode: ExtractionMode) -> Statements:
    is_correction = False
    checked = 0
    for number, sentence in enumerate(sentences):
        text = normalize_sentence(sentence.text)
        lead = lead_in_length(text)
        statement = _statement_in_sentence(sentence, text, lead, mode, is_correction)
        is_correction = statement is None and _is_bare_objection(text)
        if statement is None:
            continue
        if not mode.states_everything:
            # Checked only after a statement was found: most messages contain none.
            texts = (normalize_sentence(s.text) for s in sentences[checked : number + 1])
            if any(map(is_fiction_or_pasted_text, texts)):
                return  # the rest is a story, a role, or a text to work on
            checked = number + 1
        yield _with_reason(statement, sentences[number + 1 :])


def _statement_in_sentence(
    sentence: Utterance, whole: str, lead: int, mode: ExtractionMode, is_correction: bool
) -> ExtractedStatement | None:
    text = whole[lead:]
    objection = _OBJECTION.match(text)
    rest = objection["rest"] if objection else text
    is_correction = is_correction or bool(objection)
    kind = (
        _classify(rest, mode, is_correction)
        or _classify_specific(sentence.text, rest)
        or _classify_remember_request(whole, rest)
    )
    if kind is None or is_joke(text) or _NOT_A_FACT.match(text):
        return None
    rule, memory_type, confidence = kind
    flags = content_flags(text)
    if sentence.turn.voice is Voice.USER and is_explicit_request(whole):
        flags = (StatementFlag.EXPLICIT, *flags)
    if _UPDATE.search(rest):
        flags = (StatementFlag.UPDATE, *flags)
    if is_correction:
        flags = (StatementFlag.CORRECTION, *flags)
    return _build_statement(sentence, rule, memory_type, confidence, flags)


def _classify(text: str, mode: ExtractionMode, is_correction: bool) -> Classification | None:
    rule = matching_rule(text, include_reported=mode.reported)
    if rule is not None:
        return rule.name, rule.type, CORRECTED_CONFIDENCE if is_correction else rule.confidence
    if len(text.split()) < MIN_WORDS or is_question(text):
        return None
    is_uncertain = is_supposition(text) or is_reported_speech(text) or _MOMENTARY.search(text)
    if is_correction and _STATEMENT_VERB.search(text) and not is_uncertain:
        memory_type = MemoryType.PROFILE if _FIRST_PERSON.search(text) else MemoryType.PROJECT
        return "correction", memory_type, CORRECTED_CONFIDENCE
    if mode.states_everything:
        return "statement", mode.note_type, NOTE_CONFIDENCE
    return None


def _classify_specific(written: str, text: str) -> Classification | None:
    """Classify a statement about the user or the project that names or counts something."""
    start = _FIRST_PERSON_START.match(text)
    if start is None or not _SPECIFIC_DETAIL.search(written, 1) or _TRANSIENT.search(text):
        return None
    if not 5 <= len(content_words(text)) <= 25:
        return None
    if is_question(text) or is_supposition(text) or is_reported_speech(text):
        return None
    is_personal = start[0].startswith(("i", "my"))
    memory_type = MemoryType.PROFILE if is_personal else MemoryType.PROJECT
    return "specific", memory_type, SPECIFIC_CONFIDENCE


def _classify_remember_request(whole: str, text: str) -> Classification | None:
    """Classify a statement that the user asks to remember, whatever it is about."""
    if not asks_to_remember(whole) or len(content_words(text)) < MIN_WORDS:
        return None
    if is_question(text) or is_supposition(text) or is_reported_speech(text):
        return None
    memory_type = MemoryType.PROFILE if _FIRST_PERSON.search(text) else MemoryType.PROJECT
    return "remember", memory_type, NOTE_CONFIDENCE


def _build_statement(
    sentence: Utterance, rule: str, memory_type: MemoryType, confidence: float, flags: Flags
) -> ExtractedStatement:
    content = _without_objection(sentence.text[lead_in_length(sentence.text) :])
    if content != sentence.text:
        content = content[:1].upper() + content[1:]  # its first words were removed
    is_decision = memory_type is MemoryType.DECISION
    return ExtractedStatement(
        type=memory_type,
        content=content,
        rule=rule,
        confidence=confidence,
        observed_at=observed_at(sentence.text, said_at=sentence.at),
        spans=(VoicedSpan(sentence.start, sentence.end, sentence.turn.voice),),
        rationale=rationale_in(content) if is_decision else "",
        alternatives=alternatives_in(content) if is_decision else (),
        flags=flags,
    )


def _without_objection(text: str) -> str:
    """Return *text* without the words that reject something ("no, that's wrong:")."""
    objection = _OBJECTION.match(text.lower().replace("’", "'"))
    if objection is None or not objection["rest"].strip():
        return text
    return text[objection.start("rest") :] if len(text.lower()) == len(text) else text


def _with_reason(statement: ExtractedStatement, rest: Sequence[Utterance]) -> ExtractedStatement:
    """Add the reason of a decision from the next sentence, if it is given there."""
    if statement.type is not MemoryType.DECISION or statement.rationale or not rest:
        return statement
    next_sentence = rest[0]
    reason = rationale_in(next_sentence.text, alone=True)
    if not reason:
        return statement
    span = VoicedSpan(next_sentence.start, next_sentence.end, next_sentence.turn.voice)
    return replace(statement, rationale=reason, spans=(*statement.spans, span))


def content_flags(text: str) -> Flags:
    """Return the warning flags of *text*, which must be normalized."""
    return (StatementFlag.INSTRUCTION,) if is_prompt_injection(text) else ()


def _is_bare_objection(text: str) -> bool:
    """Return whether a sentence only rejects something; the next one may correct it."""
    objection = _OBJECTION.match(f"{text.rstrip('.! ')}. ")
    return bool(objection) and not objection["rest"].strip()  # type: ignore[index]  # matched
