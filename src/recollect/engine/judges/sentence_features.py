"""
Describe a sentence by features that a linear model weighs.

Word and character n-grams, hashed into a fixed number of buckets, work in any language. The dense
features tell what n-grams cannot: length, position in the message, what was said before, and what
the extraction rules found. `person_features` say who a sentence is about, by the pronouns and the
words for relatives of its language. Training (benchmarks/judges) and the judge use these functions,
so a change here requires new weights.
"""

import math
import re
from dataclasses import replace
from zlib import crc32

from recollect.lazy_dataclass import dataclass
from recollect.text.explicit_request import is_explicit_request
from recollect.text.extraction_rules import RULES, ExtractionRule
from recollect.text.language_data import detect_language
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import (
    is_joke,
    is_question,
    is_reported_speech,
    is_supposition,
)

BUCKET_BITS = 16
MAX_CHARS = 300  # a longer sentence is judged by its beginning
SHORTEST_GRAM, LONGEST_GRAM = 2, 4
_WORD_SEED, _CHAR_SEED = 17, 71
_MASK = (1 << BUCKET_BITS) - 1

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]")
_DIGIT = re.compile(r"\d")
_QUESTION_END = re.compile(r"[?？][\"'”’)\s]*$")
_QUESTION_MARK = re.compile(r"[?？]")
_NAME = LazyPattern(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Þ]")
_UNSPACED_SCRIPT = LazyPattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_QUOTATION = re.compile(r"[\"“„«「『]")
_CODE_CHARS = frozenset("`{}[]()<>=_/\\|;$#*")

RULE_NAMES = tuple(rule.name for rule in RULES)
DENSE_NAMES = (
    "ends with a question mark",
    "has a question mark",
    "length",
    "length squared",
    "short",
    "script without spaces",
    "length in a script without spaces",
    "has a digit",
    "has a name",
    "share of code",
    "has a quotation",
    "has an exclamation mark",
    "has a colon",
    "first in its message",
    "last in its message",
    "only one in its message",
    "something was said before",
    "answers a question",
    "follows a question",
    "question",
    "supposition",
    "reported speech",
    "joke",
    "explicit request",
    "matches a rule",
    *(f"matches the rule {name}" for name in RULE_NAMES),
)


FIRST_OF_CONTEXT, LAST_OF_CONTEXT = "first in its message", "follows a question"
PERSON_CUES = ("speaker", "group", "addressee", "family")  # in text/languages
OTHER_CUES = ("change", "decision", "rule", "moment", "open")
BEGINNING = 4  # characters: a pronoun within them is the subject
PERSON_NAMES = (
    *(f"names the {cue}" for cue in PERSON_CUES),
    *(f"begins with the {cue}" for cue in PERSON_CUES),
    "the speaker but not the group",
    "the group but not the speaker",
    *(f"a cue of {cue}" for cue in OTHER_CUES),
)


@dataclass(frozen=True, slots=True)
class SentenceContext:
    """Where a sentence stands: its place in the message, and what was said before."""

    number: int = 0  # in its message, from 0
    count: int = 1  # sentences in the message
    previous_sentence: str = ""  # of the same message
    previous_message: str = ""  # of the other speaker


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """Buckets of word features, buckets of character n-grams, and the dense features."""

    words: tuple[int, ...]
    chars: tuple[int, ...]
    dense: tuple[float, ...]

    def without_context(self) -> "SentenceFeatures":
        """Return these features as if the sentence stood alone: what it is about stays the same."""
        first, last = (DENSE_NAMES.index(name) for name in (FIRST_OF_CONTEXT, LAST_OF_CONTEXT))
        neutral = (0.0,) * (last + 1 - first)
        return replace(self, dense=(*self.dense[:first], *neutral, *self.dense[last + 1 :]))


def sentence_features(
    text: str, normalized: str, rule: ExtractionRule | None, context: SentenceContext
) -> SentenceFeatures:
    """Return the features of *text*; *normalized* and *rule* are what the rules made of it."""
    text = text[:MAX_CHARS]
    plain = " ".join(_DIGIT.sub("0", text.lower().replace("’", "'")).split())
    return SentenceFeatures(
        _word_buckets(plain), _char_buckets(plain), _dense(text, normalized, rule, context)
    )


def person_features(text: str) -> tuple[float, ...]:
    """Return who *text* is about: the speaker, a group, the assistant, the speaker's family."""
    text = text[:MAX_CHARS].replace("’", "'")
    language = detect_language(text)
    matches = [language.find_cue(cue, text) for cue in PERSON_CUES]
    speaker, group, *_ = matches
    return (
        *(float(match is not None) for match in matches),
        *(float(match is not None and match.start() <= BEGINNING) for match in matches),
        float(speaker is not None and group is None),
        float(group is not None and speaker is None),
        *(float(language.has_cue(cue, text)) for cue in OTHER_CUES),
    )


def _word_buckets(plain: str) -> tuple[int, ...]:
    words = _WORD.findall(plain)
    features = {f"w {word}" for word in words}
    features.update(
        f"b {first} {second}" for first, second in zip(["^", *words], [*words, "$"], strict=True)
    )
    features.update(f"f {word}" for word in words[:3])
    features.add("s " + " ".join(words[:2]))
    features.update(f"l {word}" for word in words[-1:])
    return tuple({crc32(feature.encode(), _WORD_SEED) & _MASK for feature in features})


def _char_buckets(plain: str) -> tuple[int, ...]:
    padded = f" {plain} "
    grams = {
        padded[start : start + size]
        for size in range(SHORTEST_GRAM, LONGEST_GRAM + 1)
        for start in range(len(padded) - size + 1)
    }
    return tuple({crc32(gram.encode(), _CHAR_SEED) & _MASK for gram in grams})


def _dense(
    text: str, normalized: str, rule: ExtractionRule | None, context: SentenceContext
) -> tuple[float, ...]:
    length = math.log(len(text) + 1) / 3
    is_unspaced = bool(_UNSPACED_SCRIPT.search(text))
    code = sum(char in _CODE_CHARS for char in text) / max(1, len(text))
    return (
        float(bool(_QUESTION_END.search(text))),
        float(bool(_QUESTION_MARK.search(text))),
        length,
        length * length,
        float(len(text) < 15),
        float(is_unspaced),
        length * is_unspaced,
        float(bool(_DIGIT.search(text))),
        float(bool(_NAME.search(text))),
        min(1.0, code * 5),
        float(bool(_QUOTATION.search(text))),
        float("!" in text or "！" in text),
        float(":" in text or "：" in text),
        float(context.number == 0),
        float(context.number == context.count - 1),
        float(context.count == 1),
        float(bool(context.previous_message)),
        float(bool(_QUESTION_MARK.search(context.previous_message[-3:]))),
        float(bool(_QUESTION_MARK.search(context.previous_sentence))),
        float(is_question(normalized)),
        float(is_supposition(normalized)),
        float(is_reported_speech(normalized)),
        float(is_joke(normalized)),
        float(is_explicit_request(normalized)),
        float(rule is not None),
        *(float(rule is not None and rule.name == name) for name in RULE_NAMES),
    )
