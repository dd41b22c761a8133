"""
The scores of plain SQLite FTS5 on the tasks, in per cent: the baseline to beat.

One porter-stemmed table for each scope, stop words removed from the query, BM25. The numbers were
measured once, on all questions of each task; there are none for other numbers of questions.
"""

from collections.abc import Mapping

from benchmarks.metrics import METRICS, STALE


def _row(*values: float) -> Mapping[str, float]:
    return dict(zip(METRICS, values, strict=True))


BASELINE: Mapping[str, Mapping[str, float]] = {
    "locomo-turn": _row(33.9, 54.9, 63.8, 59.3, 51.5, 59.5, 49.5, 47.4),
    "locomo-session": _row(61.4, 86.7, 94.1, 91.5, 82.2, 90.9, 80.0, 77.1),
    "lme-h50-session": _row(48.8, 96.7, 98.0, 100, 89.1, 93.5, 91.2, 90.9),
    "lme-h50-turn": _row(33.4, 73.0, 87.2, 87.0, 60.9, 78.3, 68.6, 69.2),
    "lme-pool-session": _row(30.9, 65.9, 80.5, 76.1, 56.5, 69.6, 63.9, 63.4),
    "lme-pool-turn": _row(25.0, 53.8, 64.3, 71.7, 37.0, 50.0, 51.2, 54.6),
    "beam-100K": _row(12.6, 29.6, 40.7, 46.8, 18.3, 27.3, 30.2, 34.3),
    "realmem-session": _row(31.1, 57.4, 70.5, 69.1, 47.1, 60.9, 53.4, 53.3),
    "realmem-memory": _row(10.3, 27.4, 39.0, 42.4, 16.1, 26.0, 26.7, 30.1),
    "factcons-6k": {"R@1": 46, "R@5": 99, STALE: 70},
    "factcons-32k": {"R@1": 50, "R@5": 98, STALE: 71},
    "letta-update": {"R@1": 17.0, "R@5": 97.1, STALE: 82},
    "cosqa-dev": {"R@1": 22.4, "R@5": 45.0, "R@10": 56.2, "nDCG@10": 38.2, "MRR": 33.7},
    "scifact": {"R@1": 53.8, "R@5": 74.4, "R@10": 81.8, "nDCG@10": 68.5, "MRR": 65.5},
}

QUESTIONS = {
    "locomo-turn": 997,
    "locomo-session": 997,
    "lme-h50-session": 46,
    "lme-h50-turn": 46,
    "lme-pool-session": 46,
    "lme-pool-turn": 46,
    "beam-100K": 355,
    "realmem-session": 728,
    "realmem-memory": 728,
    "factcons-6k": 100,
    "factcons-32k": 100,
    "letta-update": 1100,
    "cosqa-dev": 500,
    "scifact": 300,
}


def baseline_of(task: str, questions: int) -> Mapping[str, float]:
    """Return the baseline of *task*, nothing where it is not known for so many questions."""
    return BASELINE[task] if QUESTIONS.get(task) == questions else {}


def margins(baseline: Mapping[str, float], reached: Mapping[str, float]) -> dict[str, float]:
    """Return by how many points each metric is better than the baseline; below it is negative."""
    return {
        name: (baseline[name] - reached[name] if name == STALE else reached[name] - baseline[name])
        for name in baseline
        if name in reached
    }


def worst_margin(
    baseline: Mapping[str, float], reached: Mapping[str, float]
) -> tuple[str, float] | None:
    """Return the metric that stands worst against the baseline, and by how many points."""
    differences = margins(baseline, reached)
    return min(differences.items(), key=lambda pair: pair[1]) if differences else None
