"""
Describe how a later statement relates to an earlier one, by features that a linear model weighs.

Overlap of words and characters, numbers, names, negation and the similarity of embeddings say
whether both are about one thing. The words of the later statement say whether it changes it: as
they are, with shared words replaced by a marker ("not ⋯ anymore"), and as short templates in
which long words are replaced too. Training (benchmarks/judges) and the judge use these functions,
so a change here requires new weights.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from zlib import crc32

from recollect.lazy_dataclass import dataclass
from recollect.text.language_data import detect_language
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import content_words, is_negated, names_in
from recollect.text.statement_similarity import statement_similarity
from recollect.text.value_kinds import values_by_kind

BUCKET_BITS = 14
MAX_CHARS = 300  # a longer statement is compared by its beginning
SHARED, OTHER = "⋯", "□"  # a word of both statements; a long word of the later one only
MIN_NAME_LENGTH = 3
MIN_RARE_LENGTH = 7  # long words are rarer: two statements that share one are often about it
MAX_CUE_LENGTH = 4  # longer words are replaced in templates
_SEEDS = (29, 31, 37)
_MASK = (1 << BUCKET_BITS) - 1
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_GRAM = 3
_CHANGE_CUE = LazyPattern(
    r"\b(?:now|instead|any ?more|no longer|actually|turns? out|wrong|not|chang\w+|switch\w*|mov\w+"
    r"|dropp\w+|gone|cancel\w*|new|back|mistake|mix\w*|correct\w*|misread|meant|after all|rather"
    r"|used to|quit|stopped|became|finally|left|replac\w*|until|thought|checked|ended|bumped|raised"
    r"|went)\b"
)
_ADDITION_CUE = LazyPattern(r"\b(?:also|too|as well|both|another|besides|other|only|exactly|and)\b")

DENSE_NAMES = (
    "share of the earlier words",
    "share of the later words",
    "shared words",
    "shared character n-grams",
    "likeness of the statements",
    "similarity of embeddings",
    "similarity is unknown",
    "both have numbers",
    "a number of the later is new",
    "a number is shared",
    "names are shared",
    "both have names and share none",
    "a name of the later is new",
    "one is negated",
    "order of the words",
    "same first word",
    "same last word",
    "difference in length",
    "later is longer",
    "a word of change",
    "a word of addition",
    "a cue of change in its language",
    "a name of one is a word of the other",
    "a rare shared word",
    "values of one kind",
    "another value of one kind",
    "the same value of one kind",
)


@dataclass(frozen=True, slots=True)
class PairFeatures:
    """Buckets of the later statement's words in three forms, and the dense features."""

    words: tuple[tuple[int, ...], ...]
    dense: tuple[float, ...]


def pair_features(earlier: str, later: str, similarity: float | None) -> PairFeatures:
    """Return the features of two statements; *similarity* is that of their embeddings."""
    earlier, later = (text[:MAX_CHARS].replace("’", "'") for text in (earlier, later))
    first, second = (_TOKEN.findall(text.lower()) for text in (earlier, later))
    dense = (
        *_overlap(earlier, later, similarity),
        *_values(earlier, later),
        *_shape(first, second),
        float(bool(_CHANGE_CUE.search(later.lower()))),
        float(bool(_ADDITION_CUE.search(later.lower()))),
        *_attributes(earlier, later),
    )
    return PairFeatures(_word_buckets(first, second), dense)


def _word_buckets(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    before = set(first)
    marked = [SHARED if token in before and token.isalnum() else token for token in second]
    template = [token if len(token) <= MAX_CUE_LENGTH else OTHER for token in marked]
    forms = (
        {*marked, *_runs(["^", *marked, "$"], 2)},
        set(second),
        {*_runs(template, 2), *_runs(template, 3)},
    )
    return tuple(
        tuple({crc32(feature.encode(), seed) & _MASK for feature in features})
        for features, seed in zip(forms, _SEEDS, strict=True)
    )


def _runs(tokens: Sequence[str], size: int) -> list[str]:
    return [" ".join(tokens[start : start + size]) for start in range(len(tokens) - size + 1)]


def _overlap(earlier: str, later: str, similarity: float | None) -> tuple[float, ...]:
    before, after = content_words(earlier), content_words(later)
    shared = len(before & after)
    first_grams, second_grams = _grams(earlier), _grams(later)
    return (
        shared / max(1, len(before)),
        shared / max(1, len(after)),
        min(shared, 5) / 5,
        len(first_grams & second_grams) / max(1, min(len(first_grams), len(second_grams))),
        statement_similarity(later, earlier, similarity) / 3,
        similarity or 0.0,
        float(similarity is None),
    )


def _values(earlier: str, later: str) -> tuple[float, ...]:
    """Return what numbers, names and negations say."""
    first_numbers, second_numbers = (set(_NUMBER.findall(text)) for text in (earlier, later))
    first_names, second_names = names_in(earlier), names_in(later)
    shared_names = first_names & second_names
    return (
        float(bool(first_numbers and second_numbers)),
        float(bool(second_numbers - first_numbers)),
        float(bool(first_numbers & second_numbers)),
        float(bool(shared_names)),
        float(bool(first_names and second_names) and not shared_names),
        float(bool(second_names - first_names)),
        float(is_negated(earlier) != is_negated(later)),
    )


def _attributes(earlier: str, later: str) -> tuple[float, ...]:
    """Return whether both tell a value of one kind, or name the same thing."""
    before, after = values_by_kind(earlier), values_by_kind(later)
    kinds = before.keys() & after.keys()
    words, later_words = (
        {word for word in _TOKEN.findall(text.lower()) if len(word) >= MIN_NAME_LENGTH}
        for text in (earlier, later)
    )
    named = {word for name in names_in(later) for word in name.lower().split()} & words
    named |= {word for name in names_in(earlier) for word in name.lower().split()} & later_words
    shared = content_words(earlier) & content_words(later)
    return (
        float(detect_language(later).has_cue("change", later)),
        float(bool(named)),
        float(any(len(word) >= MIN_RARE_LENGTH for word in shared)),
        float(bool(kinds)),
        float(any(after[kind] - before[kind] for kind in kinds)),
        float(any(after[kind] & before[kind] for kind in kinds)),
    )


def _shape(first: Sequence[str], second: Sequence[str]) -> tuple[float, ...]:
    return (
        SequenceMatcher(None, first, second, autojunk=False).ratio(),
        float(first[:1] == second[:1]),
        float(first[-1:] == second[-1:]),
        min(2.0, abs(len(first) - len(second)) / 10),
        float(len(second) > len(first)),
    )


def _grams(text: str) -> set[str]:
    plain = " ".join(text.lower().split())
    return {plain[start : start + _GRAM] for start in range(len(plain) - _GRAM + 1)}
