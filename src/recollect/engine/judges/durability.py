"""
The judge of durability: how likely a sentence is worth remembering in later sessions.

A linear model over the features of a sentence (sentence_features.py), trained on labelled messages
in a dozen languages (benchmarks/judges, results in benchmarks/results/judges.md). For a durable
sentence it also says what kind of statement it is and whether it is about the person.
"""

from functools import lru_cache
from itertools import islice
from pathlib import Path

from recollect.domain.memory import MemoryType
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
ABOUT_PERSON = "about person"
KINDS = {
    "fact": MemoryType.PROJECT,  # or of the profile, if it is about the person
    "decision": MemoryType.DECISION,
    "plan": MemoryType.TASK_HINT,
    "procedure": MemoryType.ARTIFACT,
    "pitfall": MemoryType.PROJECT,
}

MIN_DURABLE = 0.45  # see benchmarks/results/judges.md
MIN_INFORMATIVE = 0.03  # a sentence below this says nothing that anybody would search for
MIN_ABOUT_PERSON = 0.5
MAX_TEXT_CHARS, MAX_SENTENCES = 2_000, 12  # of a message that are judged


def durability(features: SentenceFeatures) -> float:
    """Return the probability that a sentence is worth remembering in later sessions."""
    return sigmoid(_score(DURABLE, features))


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


def durable_type(features: SentenceFeatures) -> MemoryType:
    """Return the type of a memory that states a durable sentence."""
    kind = max(KINDS, key=lambda name: _score(name, features))
    if kind != "fact":
        return KINDS[kind]
    about_person = sigmoid(_score(ABOUT_PERSON, features)) >= MIN_ABOUT_PERSON
    return MemoryType.PROFILE if about_person else MemoryType.PROJECT


def _score(name: str, features: SentenceFeatures) -> float:
    return _heads()[name].score((features.words, features.chars), features.dense)


@lru_cache(maxsize=1)
def _heads() -> dict[str, LinearHead]:
    return read_heads(WEIGHTS)[0]
