"""
Counters and histograms of a server, and the text in which Prometheus reads them.

The text format is small: https://prometheus.io/docs/instrumenting/exposition_formats/. Labels come
from code (routes, methods, states), never from a request or the store.
"""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from recollect.lazy_dataclass import dataclass
from recollect.server.request_observer import HandledRequest

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

MetricKind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True)
class MetricSample:
    """One line: a value, its labels, and what is appended to the name of the metric."""

    value: float
    labels: Mapping[str, str]
    suffix: str = ""


@dataclass(frozen=True)
class Metric:
    """A metric and its samples at one moment."""

    name: str
    kind: MetricKind
    text: str  # what it is, for people
    samples: tuple[MetricSample, ...]


def gauge(name: str, text: str, value: float, **labels: str) -> Metric:
    """Return a metric with one value that may rise and fall."""
    return Metric(name, "gauge", text, (MetricSample(value, labels),))


def gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    """Return a metric with a value for each value of a label."""
    samples = (MetricSample(value, {label: each}) for each, value in values.items())
    return Metric(name, "gauge", text, tuple(samples))


def counter(name: str, text: str, value: float) -> Metric:
    """Return a metric with one value that only rises."""
    return Metric(name, "counter", text, (MetricSample(value, {}),))


class RequestMetrics:
    """Counts requests and how long they took, by method, route and status. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str, int], int] = {}
        self._durations: dict[tuple[str, str], _Durations] = {}

    def observe(self, request: HandledRequest) -> None:
        """Count a request."""
        route = (request.method, request.route)
        with self._lock:
            key = (*route, request.status)
            self._counts[key] = self._counts.get(key, 0) + 1
            self._durations.setdefault(route, _Durations()).add(request.seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield what was counted until now."""
        with self._lock:
            counts = tuple(
                MetricSample(count, {"method": method, "route": route, "status": str(status)})
                for (method, route, status), count in self._counts.items()
            )
            durations = tuple(
                sample
                for (method, route), each in self._durations.items()
                for sample in each.samples({"method": method, "route": route})
            )
        yield Metric("recollect_http_requests_total", "counter", "Requests handled.", counts)
        yield Metric(
            "recollect_http_request_duration_seconds",
            "histogram",
            "Time until the response began.",
            durations,
        )


class _Durations:
    """How many requests took how long. The caller holds the lock."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS_S) + 1)
        self._sum_s = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(BUCKETS_S, seconds)] += 1
        self._sum_s += seconds

    def samples(self, labels: Mapping[str, str]) -> Iterator[MetricSample]:
        total = 0
        for bound, count in zip((*BUCKETS_S, "+Inf"), self._counts, strict=True):
            total += count  # each bucket has what all smaller ones have
            yield MetricSample(total, {**labels, "le": str(bound)}, "_bucket")
        yield MetricSample(self._sum_s, labels, "_sum")
        yield MetricSample(total, labels, "_count")


def render(metrics: Iterable[Metric]) -> str:
    """Return the metrics as text."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.text}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for sample in metric.samples:
        pairs = ",".join(f'{name}="{_escape(text)}"' for name, text in sample.labels.items())
        labels = f"{{{pairs}}}" if pairs else ""
        yield f"{metric.name}{sample.suffix}{labels} {_number(sample.value)}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
