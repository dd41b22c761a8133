"""The percentiles of many times."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.metrics import percentile


@dataclass(frozen=True)
class Latency:
    """How many there were, and how long they took, in ms."""

    count: int
    p50: float
    p95: float
    p99: float
    mean: float  # what percentiles hide: a few that wait very long
    most: float

    @classmethod
    def of(cls, times: Sequence[float]) -> "Latency":
        """Return the spread of *times*."""
        if not times:
            raise ValueError("nothing was timed")
        p50, p95, p99 = (percentile(times, rank) for rank in (50, 95, 99))
        return cls(len(times), p50, p95, p99, sum(times) / len(times), max(times))
