"""Render the results of `benchmarks.server` as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.markdown_table import table
from benchmarks.server.context_profile import ContextProfile
from benchmarks.server.kill_recovery import KillResult
from benchmarks.server.latency import Latency
from benchmarks.server.learning_overhead import Overhead
from benchmarks.server.server_load import LoadResult
from benchmarks.server.server_start import StartTimes

ADDED_MS = 20  # a call inside `learning()` may take so much longer, p95
START_S = 1.5  # to the first answer of /health
IMPORTS = 12  # packages shown
OWN = "recollect"


@dataclass(kw_only=True)
class ServerFigures:
    """What was measured so far; a part that was not asked for stays empty."""

    load: list[Mapping[str, LoadResult]] = field(default_factory=list)
    killed: list[KillResult] = field(default_factory=list)
    overhead: dict[int, list[Overhead]] = field(default_factory=dict)  # by messages in the store
    starts: dict[str, StartTimes] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    imports: Mapping[str, float] = field(default_factory=dict)
    profiles: dict[int, ContextProfile] = field(default_factory=dict)


def render(figures: ServerFigures, notes: Sequence[str]) -> str:
    """Return the whole report."""
    parts = ["# Server", "", *notes, ""]
    for systems in figures.load:
        parts += _load(systems)
    if figures.killed:
        parts += _killed(figures.killed)
    for messages, ways in figures.overhead.items():
        parts += _overhead(messages, ways)
    if figures.starts:
        parts += _starts(figures)
    for messages, profile in figures.profiles.items():
        parts += _profile(messages, profile)
    return "\n".join(parts).rstrip() + "\n"


def _load(systems: Mapping[str, LoadResult]) -> list[str]:
    own, *baselines = systems.values()
    names = [name for name in systems if name != OWN]
    times = ("p50", "p95", "p99", "mean", "most")
    header = [
        "",
        "requests",
        *(f"{time} ms" for time in times),
        *(f"mean : {name}" for name in names),
    ]
    others = [next(iter(baseline.verbs.values())).mean for baseline in baselines]
    rows = [
        [
            f"`{verb}`",
            f"{latency.count:,}",
            *_times(latency),
            *(_ratio(latency.mean, other) for other in others),
        ]
        for verb, latency in own.verbs.items()
    ]
    for name, baseline in zip(names, baselines, strict=True):
        latency = next(iter(baseline.verbs.values()))
        rows.append([name, f"{latency.count:,}", *_times(latency), *("" for _ in names)])
    lines = [f"## {_clients(own.clients)}", "", *table(header, rows), ""]
    header = ["", "requests/s", "errors", "cores: server", "cores: clients"]
    rows = [
        [
            name,
            _number(result.per_second),
            f"{result.errors}",
            f"{result.server_cores:.2f}" if result.server_cores else "",
            f"{result.client_cores:.2f}",
        ]
        for name, result in systems.items()
    ]
    summary = (
        f"At the end the server used {own.resident_mb:.0f} MB and "
        f"{own.pending:,} items were not embedded yet."
    )
    return [
        *lines,
        *table(header, rows),
        "",
        summary,
        *(f"- {word}" for word in own.error_messages),
        "",
    ]


def _times(latency: Latency) -> list[str]:
    """Return the times of one verb; percentiles only where there are requests enough for them."""
    enough = {50: 1, 95: 20, 99: 100}
    percentiles = zip(enough.values(), (latency.p50, latency.p95, latency.p99), strict=True)
    cells = [_number(value) if latency.count >= least else "–" for least, value in percentiles]
    return [*cells, _number(latency.mean), _number(latency.most)]


def _clients(count: int) -> str:
    return "Load, one client" if count == 1 else f"Load, {count} clients"


def _killed(kills: Sequence[KillResult]) -> list[str]:
    header = [
        "killed after s",
        "acknowledged",
        "lost",
        "duplicated",
        "retries",
        "… already stored",
        "never acknowledged",
        "restarted after s",
        "`verify` problems",
    ]
    rows = [
        [
            f"{kill.after_s:.2f}",
            f"{kill.acknowledged:,}",
            f"{kill.lost}",
            f"{kill.doubled}",
            f"{kill.sent_again}",
            f"{kill.there_already}",
            f"{kill.unacknowledged}",
            f"{kill.back_s:.2f}",
            f"{kill.problems}",
        ]
        for kill in kills
    ]
    return ["## Killed while clients write (kill -9)", "", *table(header, rows), ""]


def _overhead(messages: int, ways: Sequence[Overhead]) -> list[str]:
    header = [
        "",
        "calls",
        "bare p50 ms",
        "added p50 ms",
        "added p95 ms",
        "recall p50 / p95",
        "recording p50 / p95",
        "recall, first / maximum",
    ]
    rows = [
        [
            way.title,
            f"{way.added.count}",
            _number(way.bare.p50),
            _number(way.added.p50),
            _number(way.added.p95),
            f"{_number(way.recall.p50)} / {_number(way.recall.p95)}",
            f"{way.recording.p50:.3f} / {way.recording.p95:.3f}",
            f"{_number(way.first_recall)} / {_number(way.recall.most)}",
        ]
        for way in ways
    ]
    title = f"## What `learning()` adds to a call, {messages:,} messages in memory"
    return [title, "", f"Expected: added p95 ≤ {ADDED_MS} ms.", "", *table(header, rows), ""]


def _starts(figures: ServerFigures) -> list[str]:
    header = [
        "",
        "/health s",
        "first `context_for` s",
        "the next one ms",
        "held at /health MB",
        "held after answers MB",
    ]
    rows = [
        [
            name,
            f"{start.health_s:.2f}",
            f"{start.first_answer_s:.2f}",
            _number(1000 * start.second_answer_s),
            f"{start.at_health_mb:.0f}",
            f"{start.answered_mb:.0f}",
        ]
        for name, start in figures.starts.items()
    ]
    lines = ["## Start", "", f"Expected: /health ≤ {START_S} s.", "", *table(header, rows), ""]
    steps = [[step, _number(took)] for step, took in figures.steps.items()]
    lines += [*table(["before it listens", "ms"], steps), ""]
    largest = list(figures.imports.items())[:IMPORTS]
    rest = sum(figures.imports.values()) - sum(took for _, took in largest)
    packages = [[package, _number(took)] for package, took in [*largest, ("all others", rest)]]
    lines += [*table(["modules of (`-X importtime`, which slows it down)", "ms"], packages), ""]
    return lines


def _profile(messages: int, profile: ContextProfile) -> list[str]:
    rows = [
        [piece, f"{took:.2f}", f"{100 * took / profile.over_http:.0f} %"]
        for piece, took in sorted(profile.pieces.items(), key=lambda pair: -pair[1])
    ]
    rows += [
        ["**the whole call over HTTP**", f"{profile.over_http:.2f}", "100 %"],
        [
            "the same call to an open memory",
            f"{profile.embedded:.2f}",
            f"{100 * profile.embedded / profile.over_http:.0f} %",
        ],
    ]
    title = f"## Where the time of one `context_for` goes, {messages:,} messages"
    return [title, "", *table(["medians", "ms", "share"], rows), ""]


def _ratio(own: float, other: float) -> str:
    """Return how many times better ours is; below 1 it is worse."""
    ratio = other / own
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def _number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
