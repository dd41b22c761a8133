"""Score the answers to a task: the total, and a row for each question for `benchmarks.compare`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.constant_overrides import settings_of
from benchmarks.metrics import STALE, in_per_cent, percentile, scores, stale_above
from benchmarks.quality_table import TaskResult
from benchmarks.task_answers import Answer, Configuration, TaskAnswers
from benchmarks.task_halves import HALVES, Split
from benchmarks.tasks import Task
from recollect.text.token_counter import counter_for


@dataclass(frozen=True, kw_only=True)
class ScoredTask:
    """The result of a task, and each of its questions with its scores."""

    result: TaskResult
    questions: tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class RunConditions:
    """How all questions of a task were asked, whatever the configuration."""

    model: str
    messages: bool
    half: str
    halves: Split
    cached_texts: int  # item embeddings that came from the cache


def score_task(
    task: Task, configuration: Configuration, answers: TaskAnswers, asking: RunConditions
) -> ScoredTask:
    """Return what *answers* come to."""
    text_of = {item.id: item.text for item in task.items}
    count = counter_for().count
    rows = tuple(
        _row(answer, asking.halves, tokens=sum(count(text_of[name]) for name in answer.ranked[:5]))
        for answer in answers.answers
    )
    times = [answer.search_ms for answer in answers.answers]
    result = TaskResult(
        task=task.name,
        indexes=configuration.indexes,
        model=asking.model if configuration.indexes == "both" else "none",
        stored_as="messages" if asking.messages else "memories",
        settings=settings_of(configuration.overrides),
        half=asking.half,
        split_by=asking.halves.by,
        questions=len(rows),
        scores=in_per_cent([row["scores"] for row in rows]),
        by_category=_by(rows, sorted({row["category"] for row in rows}), _category),
        by_half=_by(rows, HALVES, _half),
        returned=_mean([len(answer.ranked) for answer in answers.answers]),
        tokens_5=_mean([row["tokens_5"] for row in rows]),
        search_p50_ms=percentile(times, 50),
        search_p95_ms=percentile(times, 95),
        stored=answers.stored,
        cut=answers.cut,
        ingest_per_s=answers.stored / answers.ingest_s,
        embed_s=answers.embed_s,
        cached_texts=asking.cached_texts,
    )
    return ScoredTask(result=result, questions=rows)


def _row(answer: Answer, halves: Split, *, tokens: int) -> dict[str, Any]:
    query = answer.query
    metrics = scores(answer.ranked, query.gold)
    stale = stale_above(answer.ranked, query.gold, query.stale)
    if stale is not None:
        metrics[STALE] = stale
    return {
        "id": query.id,
        "scope": query.scope,
        "category": query.category,
        "half": halves.half_of[query.id],
        "text": query.text,
        "gold": sorted(query.gold),
        "stale": sorted(query.stale),
        "ranked": answer.ranked,
        "returned": len(answer.ranked),
        "tokens_5": tokens,
        "search_ms": round(answer.search_ms, 3),
        "scores": {name: round(value, 6) for name, value in metrics.items()},
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
