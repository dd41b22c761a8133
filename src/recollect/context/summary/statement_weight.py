"""
Weigh a sentence of the user: how much somebody who reads only the summary would miss it.

A sentence scores points for signs that it states something lasting (a rule, a fact, a date, a name,
a reason) and loses points for signs that it only matters at the moment (a question, a mood, a
story, a quotation). The points are those of a logistic regression on labelled messages of people
with different work; decisions and corrections get extra points, because within one conversation
they matter more than the labels say. In other languages the cue words of their file, names, numbers
and length decide.
"""

import math
import re

from recollect.text.extraction_rules import matching_rule
from recollect.text.language_data import ENGLISH, detect_language
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import is_joke, is_question, is_supposition

LEAST_WEIGHT, WEIGHT_RANGE = 0.15, 3.0
INTERCEPT = -2.2
QUESTION, SUPPOSITION, JOKE = -1.7, -2.0, -0.6
RULE_MATCHES = 0.7  # a rule of extraction matches
NAME, NUMBER, CODE = 0.8, 0.3, 0.4
CLAUSES = 0.8  # the sentence has a comma
LENGTH = 2.2  # for a sentence of LONG_WORDS or more, in proportion above SHORT_WORDS
SHORT = -0.6  # for each three words below SHORT_WORDS
SHORT_WORDS, LONG_WORDS = 6, 16
CHARACTERS_PER_WORD = 2  # of a script without spaces
OTHER_LANGUAGE = 0.7  # for the signs of a lasting state that are read in English only
_CUES = ((0.6, "rule"), (1.2, "decision"), (1.2, "change"), (-1.4, "moment"), (-1.2, "question"))

_SIGNS: tuple[tuple[float, LazyPattern], ...] = (
    (0.7, LazyPattern(r"\b(?:we|our|us)\b")),
    (
        0.7,  # a state of things
        LazyPattern(
            r"\b(?:is|are|has|have|needs?|stays?|lives?|goes|runs?|uses?|takes?|holds?|costs?|comes?"
            r"|starts?|ends?|closes?|opens?|belongs?|works?|gets?|pays?|means?)\b"
        ),
    ),
    (
        0.6,  # a rule or a limit
        LazyPattern(
            r"\b(?:must(?:n't)?|ha(?:ve|s) to|needs? to|never|always|only|every|each|all"
            r"|at (?:most|least)|no more than|should(?:n't)?|not allowed|can't|cannot|don't"
            r"|doesn't|won't|without|except|unless|by default)\b"
        ),
    ),
    (
        0.6,  # a date or a time of day
        LazyPattern(
            r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june"
            r"|july|august|september|october|november|december|\d{1,2}(?:st|nd|rd|th)"
            r"|\d{1,2}(?::\d\d)? ?(?:am|pm)|\d{1,2}:\d\d|weekly|daily|monthly|yearly|until|till"
            r"|deadline)\b"
        ),
    ),
    (1.1, LazyPattern(r"\b(?:because|since|so that|otherwise)\b|, so\b")),
    (
        1.2,  # a decision
        LazyPattern(
            r"\b(?:let's|we'll|we will|go(?:ing)? with|decided|settled on|stick(?:ing)? with"
            r"|we're using)\b"
        ),
    ),
    (
        1.2,  # a change or a correction
        LazyPattern(
            r"\b(?:instead|any ?more|no longer|from now on|actually|forget|cancel|scrap|make it"
            r"|rather than|now)\b|\bset \w+(?: \w+)? to\b|\bwon't do\b|\btoo \w+$"
        ),
    ),
    (
        -1.4,  # the present moment
        LazyPattern(
            r"\b(?:right now|at the moment|just now|today|tonight|this (?:morning|afternoon|evening"
            r"|time|line|one|file|error|bug|test|week)|again|so far|one sec"
            r"|a (?:minute|second|moment) ago|yesterday|tomorrow|currently)\b"
        ),
    ),
    (-0.9, LazyPattern(r"^(?:this|that|it|these|those|there)\b")),
    (
        -0.9,  # a mood
        LazyPattern(
            r"\b(?:lol|haha+|ugh+|urgh|omg|wow|hmm+|damn|sorry|thanks?|love it|tired|annoying|weird"
            r"|worr(?:y|ied)|excited|honestly|god|lmao|yay)\b"
        ),
    ),
    (
        -0.9,  # a story
        LazyPattern(
            r"\b(?:was|were|did|didn't|got|had|went|came|called|asked|tried|broke|failed|made|saw"
            r"|forgot|spent|ate|took|said|told|finally)\b"
        ),
    ),
    (
        -0.9,  # a request for a single action
        LazyPattern(
            r"^(?:please |now |then |also |next,? |can you |could you |would you |will you )*"
            r"(?:check|commit|compare|continue|create|debug|describe|draft|explain|find|fix|generate"
            r"|give|go on|help|inspect|investigate|list|look|open|plan|push|read|rename|review"
            r"|rewrite|run|search|send|show|suggest|summari[sz]e|tell|test|translate|try|verify|walk"
            r"|write)\b|\b(?:can|could|would|will) you\b|\bhelp me\b"
        ),
    ),
    (
        -0.4,
        LazyPattern(
            r"\b(?:error|crash(?:es|ed)?|fails?|failing|bug|warning|output|screenshot|broken|looks?"
            r"|stuck|keeps)\b"
        ),
    ),
    (
        -2.0,  # a quotation
        LazyPattern(r"^[\"“']|: [\"“']|\b(?:says|said|write|story|example|sample)\b"),
    ),
)
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+")
_CODE = re.compile(r"`|\b\w+[_/.]\w+")


def statement_weight(sentence: str, plain_text: str) -> float:
    """Return the weight of *sentence*; *plain_text* is its normalized form without lead-in."""
    score = _score(sentence, plain_text)
    return LEAST_WEIGHT + WEIGHT_RANGE / (1 + math.exp(-score))


def _score(sentence: str, plain_text: str) -> float:
    score = INTERCEPT
    language = detect_language(sentence)
    if language.code == ENGLISH:
        score += sum(points for points, pattern in _SIGNS if pattern.search(plain_text))
    else:
        score += OTHER_LANGUAGE
        score += sum(points for points, cue in _CUES if language.has_cue(cue, plain_text))
    score += QUESTION if is_question(plain_text) else 0
    score += SUPPOSITION if is_supposition(plain_text) else 0
    score += JOKE if is_joke(plain_text) else 0
    score += RULE_MATCHES if matching_rule(plain_text) is not None else 0
    score += NAME if _NAME.search(sentence) else 0
    score += NUMBER if _DIGIT.search(sentence) else 0
    score += CODE if _CODE.search(sentence) else 0
    score += CLAUSES if "," in sentence else 0
    is_spaced = language.is_spaced
    words = len(plain_text.split()) if is_spaced else len(plain_text) // CHARACTERS_PER_WORD
    if words < SHORT_WORDS:
        return score + SHORT * (SHORT_WORDS - words) / 3
    return score + LENGTH * min((words - SHORT_WORDS) / (LONG_WORDS - SHORT_WORDS), 1)
