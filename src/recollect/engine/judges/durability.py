"""
The judge of durability: how likely a sentence is worth remembering in later sessions.

A linear model over the features of a sentence (sentence_features.py), trained on labelled messages
in a dozen languages (benchmarks/judges, results in benchmarks/results/judges.md). Of a durable
sentence it also says what it is about (the person, the work or the assistant) and whether it is a
decision. Other kinds are left to the rules: the judge is right about a plan or a procedure in one
case of three.
"""

from functools import lru_cache
from itertools import islice
from pathlib import Path

from recollect.domain.candidate import StatementSubject
from recollect.engine.judges.linear_model import LinearHead, read_heads, sigmoid
from recollect.engine.judges.sentence_features import (
    SentenceContext,
    SentenceFeatures,
    sentence_features,
)
from recollect.text.extraction_rules import matching_rule
from recollect.text.sentence_classifier import normalize_sentence
from recollect.text.sentence_splitter import sentence_spans

WEIGHTS = Path(__file__).with_name("durability.weights")
DURABLE = "durable"
ABOUT_PERSON = "about the person"
ABOUT_ASSISTANT = "about the assistant"
DECISION = "decision"

MIN_DURABLE = 0.445  # see benchmarks/results/judges.md
MIN_INFORMATIVE = 0.03  # a sentence below this says nothing that anybody would search for
MIN_ABOUT_PERSON = 0.5
MAX_TEXT_CHARS, MAX_SENTENCES = 2_000, 12  # of a message that are judged
MIN_ABOUT_ASSISTANT = 0.7  # surer: how to answer is mostly a wish to every assistant
MIN_DECISION = 0.4

Persons = tuple[float, ...]  # the values of `person_features`; with features without context


def durability(features: SentenceFeatures) -> float:
    """Return the probability that a sentence is worth remembering in later sessions."""
    return _probability(DURABLE, features)


def says_something_durable(text: str) -> bool:
    """Return whether a sentence of *text*, the beginning of it, is worth remembering."""
    spans = list(islice(sentence_spans(text[:MAX_TEXT_CHARS]), MAX_SENTENCES))
    for number, (start, end) in enumerate(spans):
        sentence = text[start:end]
        context = SentenceContext(number=number, count=len(spans))
        normalized = normalize_sentence(sentence)
        rule = matching_rule(normalized)
        if rule is not None:
            return True
        if durability(sentence_features(sentence, normalized, rule, context)) >= MIN_DURABLE:
            return True
    return False


def statement_subject(features: SentenceFeatures, persons: Persons) -> StatementSubject:
    """Return what a durable sentence is about."""
    if _probability(ABOUT_ASSISTANT, features, persons) >= MIN_ABOUT_ASSISTANT:
        return StatementSubject.ASSISTANT
    if _probability(ABOUT_PERSON, features, persons) >= MIN_ABOUT_PERSON:
        return StatementSubject.PERSON
    return StatementSubject.WORK


def is_decision(features: SentenceFeatures, persons: Persons) -> bool:
    """Return whether a durable sentence says what was decided."""
    return _probability(DECISION, features, persons) >= MIN_DECISION


def _probability(name: str, features: SentenceFeatures, persons: Persons = ()) -> float:
    dense = (*features.dense, *persons)
    return sigmoid(_heads()[name].score((features.words, features.chars), dense))


@lru_cache(maxsize=1)
def _heads() -> dict[str, LinearHead]:
    return read_heads(WEIGHTS)[0]
