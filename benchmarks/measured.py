"""
Score the answers to a task: the result of the whole, and a row for each question.

Decides nothing about how things are asked or shown. Rows are what `benchmarks.compare` reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.answers import Answer, Answers, Configuration
from benchmarks.halves import HALVES, Split
from benchmarks.metrics import STALE, in_per_cent, percentile, scores, stale_above
from benchmarks.overrides import settings_of
from benchmarks.quality_table import Result
from benchmarks.tasks import Task
from recollect.text.token_counter import counter_for


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The result of a task, and each of its questions with its scores."""

    result: Result
    questions: tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How all questions of a task were asked, whatever the configuration."""

    model: str
    messages: bool
    half: str
    halves: Split
    known_texts: int  # item embeddings that came from the cache


def measured(
    task: Task, configuration: Configuration, answers: Answers, asking: Asking
) -> Measured:
    """Return what *answers* come to."""
    text_of = {item.id: item.text for item in task.items}
    count = counter_for().count
    rows = tuple(
        _row(one, asking.halves, tokens=sum(count(text_of[name]) for name in one.ranked[:5]))
        for one in answers.answers
    )
    times = [one.search_ms for one in answers.answers]
    result = Result(
        task=task.name,
        leg=configuration.leg,
        model=asking.model if configuration.leg == "both" else "none",
        told_as="messages" if asking.messages else "memories",
        settings=settings_of(configuration.overrides),
        half=asking.half,
        split_by=asking.halves.by,
        questions=len(rows),
        reached=in_per_cent([row["scores"] for row in rows]),
        by_category=_by(rows, sorted({row["category"] for row in rows}), _category),
        by_half=_by(rows, HALVES, _half),
        returned=_mean([len(one.ranked) for one in answers.answers]),
        tokens_5=_mean([row["tokens_5"] for row in rows]),
        search_p50_ms=percentile(times, 50),
        search_p95_ms=percentile(times, 95),
        stored=answers.stored,
        cut=answers.cut,
        ingest_per_s=answers.stored / answers.ingest_s,
        embed_s=answers.embed_s,
        known_texts=asking.known_texts,
    )
    return Measured(result=result, questions=rows)


def _row(one: Answer, halves: Split, *, tokens: int) -> dict[str, Any]:
    query = one.query
    found = scores(one.ranked, query.gold)
    stale = stale_above(one.ranked, query.gold, query.stale)
    if stale is not None:
        found[STALE] = stale
    return {
        "id": query.id,
        "scope": query.scope,
        "category": query.category,
        "half": halves.half_of[query.id],
        "text": query.text,
        "gold": sorted(query.gold),
        "stale": sorted(query.stale),
        "ranked": one.ranked,
        "returned": len(one.ranked),
        "tokens_5": tokens,
        "search_ms": round(one.search_ms, 3),
        "scores": {name: round(value, 6) for name, value in found.items()},
    }


def _by(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    name_of: Callable[[Mapping[str, Any]], str],
) -> dict[str, tuple[int, Mapping[str, float]]]:
    """Return count and scores of the rows of each name that has any."""
    groups = {name: [row["scores"] for row in rows if name_of(row) == name] for name in names}
    return {name: (len(each), in_per_cent(each)) for name, each in groups.items() if each}


def _category(row: Mapping[str, Any]) -> str:
    return str(row["category"])


def _half(row: Mapping[str, Any]) -> str:
    return str(row["half"])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
