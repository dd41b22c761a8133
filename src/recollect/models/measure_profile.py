"""
Measure an embedding model on a few sentences of our own: the scale of its similarities, and whether
it tells texts of other languages apart.

`similarity_probe.txt` has a question and the statement that answers it on each line, in English and
five other languages. The mean similarity of questions to their answers, and that to all other
statements, are two points of the model's scale; both are known for the model that the constants
were chosen with. A model that finds unrelated texts of other languages as similar as a question and
its answer in English understands English only, and gets glosses (text/gloss.py).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from recollect.domain.model_profile import (
    REFERENCE_PROFILE,
    SAME_SCALE,
    ModelProfile,
    SimilarityScale,
)
from recollect.models.embedder import Vectors
from recollect.text.language_data import ENGLISH

# The mean similarities of the model that the constants were chosen with, all-MiniLM-L6-v2.
REFERENCE_RELATED, REFERENCE_UNRELATED = 0.369478, 0.052414
MIN_DIFFERENCE = 0.05  # of both means; with less, the model does not tell related texts at all
SAME_VECTOR = 0.9999  # cosine, from which on a query is embedded as any other text

# Embeds texts, with or without the prefix of queries.
EmbedTexts = Callable[[Sequence[str]], Vectors]


class _Means(NamedTuple):
    """Mean similarities of questions to their answers, and to the answers of others."""

    related: float
    unrelated: float


def measure_profile(embed: EmbedTexts, embed_queries: EmbedTexts) -> ModelProfile:
    """Return the profile of a model; *embed_queries* embeds texts as queries."""
    pairs_by_language = _read_pairs()
    pairs = [pair for pairs in pairs_by_language.values() for pair in pairs]
    questions = embed([question for question, _ in pairs])
    answers = embed([answer for _, answer in pairs])
    means: dict[str, _Means] = {}
    start = 0
    for language, some in pairs_by_language.items():
        end = start + len(some)
        means[language] = _means(questions[start:end], answers[start:end])
        start = end
    english = means.pop(ENGLISH)
    if english.related - english.unrelated < MIN_DIFFERENCE:
        return REFERENCE_PROFILE
    as_texts = _scale_of(english)
    needs_gloss = _mean([other.unrelated for other in means.values()]) > _mean(english)
    return ModelProfile(
        _scale_of_queries(embed_queries, pairs_by_language[ENGLISH], questions, answers, as_texts),
        as_texts,
        needs_gloss=needs_gloss,
    )


def _scale_of_queries(
    embed_queries: EmbedTexts,
    pairs: Sequence[tuple[str, str]],
    questions: Vectors,
    answers: Vectors,
    as_texts: SimilarityScale,
) -> SimilarityScale:
    """Return the scale of queries: that of texts, if a query is embedded as any other text."""
    [first] = embed_queries([pairs[0][0]])
    if float(first @ questions[0]) >= SAME_VECTOR:
        return as_texts
    queries = embed_queries([question for question, _ in pairs])
    means = _means(queries, answers[: len(pairs)])
    if means.related - means.unrelated < MIN_DIFFERENCE:
        return SAME_SCALE
    return _scale_of(means)


def _means(questions: Vectors, answers: Vectors) -> _Means:
    similarities = questions @ answers.T
    count = len(similarities)
    related = float(similarities.diagonal().sum())
    others = float(similarities.sum()) - related
    return _Means(related / count, others / (count * (count - 1)))


def _scale_of(means: _Means) -> SimilarityScale:
    """Return the map by which these means become those of the reference."""
    slope = (REFERENCE_RELATED - REFERENCE_UNRELATED) / (means.related - means.unrelated)
    return SimilarityScale(round(slope, 6), round(REFERENCE_RELATED - slope * means.related, 6))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _read_pairs() -> dict[str, list[tuple[str, str]]]:
    """Return questions and answers by language, English first."""
    path = Path(__file__).with_name("similarity_probe.txt")
    pairs: dict[str, list[tuple[str, str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        language, question, answer = line.split("\t")
        pairs.setdefault(language, []).append((question, answer))
    return pairs
