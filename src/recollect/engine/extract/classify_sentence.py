"""
Decide whether a sentence becomes a candidate or a plain statement, and of which type.

First come the rules, which are exact and English: what the extraction rules describe, and
corrections. Of a note every sentence is kept. Of everything else the learned judge of durability
decides, in any language; what it does not keep is still kept if the user asked to remember it.
What says something but is not worth a review is a statement: search finds it, the inbox does not
list it.
"""

from dataclasses import replace

from recollect.domain.candidate import NotProposed, StatementSubject
from recollect.domain.memory import MemoryType
from recollect.engine.judges.durability import (
    MIN_DURABLE,
    MIN_INFORMATIVE,
    durability,
    is_decision,
    statement_subject,
)
from recollect.engine.judges.sentence_features import (
    SentenceContext,
    SentenceFeatures,
    person_features,
    sentence_features,
)
from recollect.lazy_dataclass import dataclass
from recollect.text.explicit_request import asks_to_remember
from recollect.text.extraction_rules import ExtractionRule, matching_rule
from recollect.text.failure_report import reports_failure
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import (
    introduces_speaker,
    is_question,
    is_reported_speech,
    is_supposition,
)
from recollect.text.statement_parser import content_words

MIN_WORDS = 3
MIN_CHARS_UNSPACED = 6  # of a sentence in a script without spaces
NOTE_CONFIDENCE = 0.6  # a sentence of a note, or a request to remember it, that matches no rule
CORRECTED_CONFIDENCE = 0.85  # a correction
INTRODUCED_CONFIDENCE = 0.8  # who the user is, in their own words
JUDGED = "durable"  # the rule of a statement that only the judge found
UNPROPOSED_RULE = "stated"  # the rule of a statement that is not proposed

_STATEMENT_VERB = LazyPattern(
    r"\b(?:is|are|was|were|isn't|aren't|wasn't|am|has|have|uses?|lives?|works?|called|starts?"
    r"|moved|runs?|needs?"
    r"|goes|costs?|means?|meant|don't|doesn't|left|changed)\b|'(?:s|m|re|ve)\b"
)
_FIRST_PERSON = LazyPattern(r"\b(?:i|i'm|my|me|we're not)\b")
_MOMENTARY = LazyPattern(
    r"\b(?:still|again|works?|working|worked|failing|fails?|failed|running|broken|down|crash\w*"
    r"|stuck|away"
    r"|sick|ready|done|fine|gone|here|there|check|look|wait|sorry|minute|second|moment|question"
    r"|think)\b"
)


@dataclass(frozen=True)
class ExtractionMode:
    """How to read a source. Every sentence of a note or a summary is a statement."""

    states_everything: bool = False  # keep every plain sentence, even if it matches no rule
    reported: bool = False  # written by an agent about the user, not by the user
    note_type: MemoryType = MemoryType.ARTIFACT  # of a statement that matches no rule


@dataclass(frozen=True)
class Sentence:
    """A sentence in the forms that are matched: as written, normalised, and its statement."""

    written: str
    normalized: str
    statement: str  # normalised, without filler and objection at its start
    is_correction: bool
    context: SentenceContext


@dataclass(frozen=True)
class Classification:
    """The rule that proposes a sentence, its type, and how sure that is."""

    rule: str
    type: MemoryType
    confidence: float
    not_proposed: NotProposed | None = None
    subject: StatementSubject | None = None  # None: not judged

    @property
    def is_proposed(self) -> bool:
        """Whether the sentence waits for review."""
        return self.not_proposed is None


def classify_sentence(sentence: Sentence, mode: ExtractionMode) -> Classification | None:
    """Return why a sentence becomes a candidate, or None if it does not."""
    classification = _classify(sentence, mode)
    if classification is None or mode.states_everything or not reports_failure(sentence.written):
        return classification
    if classification.type not in (MemoryType.PROFILE, MemoryType.PROJECT):
        return classification  # a decision or a task stays one
    # A failure is a pitfall of the work, whoever had it and whatever it was due to.
    return replace(classification, type=MemoryType.PROJECT, subject=StatementSubject.WORK)


def classify_part(clause: Sentence, confidence: float) -> Classification:
    """Classify a clause of a sentence that is worth remembering with this *confidence*."""
    rule = matching_rule(clause.statement)
    if rule is not None:
        return _with_subject(_classify_by_rule(clause, rule), clause, _features(clause, rule))
    if introduction := _introduction(clause):
        return introduction
    judged = Classification(JUDGED, MemoryType.PROJECT, confidence)
    return _with_subject(judged, clause, _features(clause, None))


def _classify(sentence: Sentence, mode: ExtractionMode) -> Classification | None:
    rule = matching_rule(sentence.statement, include_reported=mode.reported)
    exact = (
        _classify_by_rule(sentence, rule)
        if rule is not None
        else _introduction(sentence) or _correction(sentence)
    )
    if mode.states_everything:
        return exact or _note(sentence, mode)
    if exact is not None:
        return _with_subject(exact, sentence, _features(sentence, rule))
    if not _has_enough_words(sentence.statement):
        return _remember_request(sentence)
    features = _features(sentence, None)
    judged = _classify_by_judge(sentence, durability(features))
    if judged is None or not judged.is_proposed:
        judged = _remember_request(sentence) or judged
    if judged is None or not judged.is_proposed:
        return judged
    return _with_subject(judged, sentence, features)


def _features(sentence: Sentence, rule: ExtractionRule | None) -> SentenceFeatures:
    return sentence_features(sentence.written, sentence.normalized, rule, sentence.context)


def _classify_by_rule(sentence: Sentence, rule: ExtractionRule) -> Classification:
    confidence = CORRECTED_CONFIDENCE if sentence.is_correction else rule.confidence
    return Classification(rule.name, rule.type, confidence)


def _classify_by_judge(sentence: Sentence, probability: float) -> Classification | None:
    """Classify a sentence by the *probability* that it is worth remembering."""
    confidence = round(probability, 3)
    if probability < MIN_DURABLE:
        if probability < MIN_INFORMATIVE or is_question(sentence.statement):
            return None
        kind = _type_by_person(sentence.statement)
        return Classification(UNPROPOSED_RULE, kind, confidence, NotProposed.UNLIKELY)
    if sentence.is_correction:
        confidence = CORRECTED_CONFIDENCE
    elif asks_to_remember(sentence.normalized):
        confidence = max(confidence, NOTE_CONFIDENCE)
    return Classification(JUDGED, MemoryType.PROJECT, confidence)


def _with_subject(
    classification: Classification, sentence: Sentence, features: SentenceFeatures
) -> Classification:
    """Add what the judge says about the subject, and the type if no rule has found it."""
    features = features.without_context()
    persons = person_features(sentence.written)
    subject = statement_subject(features, persons)
    if classification.rule != JUDGED:
        return replace(classification, subject=subject)
    kind = MemoryType.PROJECT if subject is StatementSubject.WORK else MemoryType.PROFILE
    if is_decision(features, persons):
        kind = MemoryType.DECISION
    return replace(classification, subject=subject, type=kind)


def _introduction(sentence: Sentence) -> Classification | None:
    """Classify a sentence that only tells a name: too short for the judge."""
    if not introduces_speaker(sentence.written):
        return None
    return Classification("identity", MemoryType.PROFILE, INTRODUCED_CONFIDENCE)


def _correction(sentence: Sentence) -> Classification | None:
    """Classify a sentence that says what is right instead of something said before."""
    text = sentence.statement
    if not sentence.is_correction or len(text.split()) < MIN_WORDS or is_question(text):
        return None
    is_uncertain = is_supposition(text) or is_reported_speech(text) or _MOMENTARY.search(text)
    if is_uncertain or not _STATEMENT_VERB.search(text):
        return None
    return Classification("correction", _type_by_person(text), CORRECTED_CONFIDENCE)


def _note(sentence: Sentence, mode: ExtractionMode) -> Classification | None:
    text = sentence.statement
    if len(text.split()) < MIN_WORDS or is_question(text):
        return None
    return Classification("statement", mode.note_type, NOTE_CONFIDENCE)


def _remember_request(sentence: Sentence) -> Classification | None:
    """Classify a statement that the user asks to remember, whatever it is about."""
    text = sentence.statement
    if not asks_to_remember(sentence.normalized) or len(content_words(text)) < MIN_WORDS:
        return None
    if is_question(text) or is_supposition(text) or is_reported_speech(text):
        return None
    return Classification("remember", _type_by_person(text), NOTE_CONFIDENCE)


def _type_by_person(text: str) -> MemoryType:
    return MemoryType.PROFILE if _FIRST_PERSON.search(text) else MemoryType.PROJECT


def _has_enough_words(text: str) -> bool:
    """Return whether a sentence can state something; not every script has spaces."""
    if len(text.split()) >= MIN_WORDS:
        return True
    return not text.isascii() and len(text) >= MIN_CHARS_UNSPACED
