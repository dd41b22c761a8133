"""Show the server run as Markdown. Knows how numbers look, not how they were taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.markdown import table
from benchmarks.server.killed import Killed
from benchmarks.server.load import Loaded
from benchmarks.server.overhead import Overhead
from benchmarks.server.profile import Profile
from benchmarks.server.spread import Spread
from benchmarks.server.start import Started

ADDED_MS = 30  # a call inside `learning()` may take so much longer, p95
START_S = 1.5  # to the first answer of /health
IMPORTS = 12  # packages shown
OWN = "recollect"


@dataclass(kw_only=True)
class Found:
    """What was measured so far; a part that was not asked for stays empty."""

    load: list[Mapping[str, Loaded]] = field(default_factory=list)
    killed: list[Killed] = field(default_factory=list)
    overhead: dict[int, list[Overhead]] = field(default_factory=dict)  # by messages in the store
    starts: dict[str, Started] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    imports: Mapping[str, float] = field(default_factory=dict)
    profiles: dict[int, Profile] = field(default_factory=dict)


def render(found: Found, notes: Sequence[str]) -> str:
    """Return the whole report."""
    parts = ["# Server", "", *notes, ""]
    for one in found.load:
        parts += _load(one)
    if found.killed:
        parts += _killed(found.killed)
    for messages, ways in found.overhead.items():
        parts += _overhead(messages, ways)
    if found.starts:
        parts += _starts(found)
    for messages, profile in found.profiles.items():
        parts += _profile(messages, profile)
    return "\n".join(parts).rstrip() + "\n"


def _load(systems: Mapping[str, Loaded]) -> list[str]:
    own, *rivals = systems.values()
    names = [name for name in systems if name != OWN]
    times = ("p50", "p95", "p99", "mean", "most")
    header = ["", "requests", *(f"{one} ms" for one in times), *(f"mean : {one}" for one in names)]
    others = [next(iter(one.verbs.values())).mean for one in rivals]
    rows = [
        [
            f"`{verb}`",
            f"{one.count:,}",
            *_times(one),
            *(_ratio(one.mean, other) for other in others),
        ]
        for verb, one in own.verbs.items()
    ]
    for name, rival in zip(names, rivals, strict=True):
        one = next(iter(rival.verbs.values()))
        rows.append([name, f"{one.count:,}", *_times(one), *("" for _ in names)])
    lines = [f"## {_clients(own.clients)}", "", *table(header, rows), ""]
    header = ["", "requests/s", "errors", "cores: server", "cores: clients"]
    rows = [
        [
            name,
            _number(one.per_second),
            f"{one.errors}",
            f"{one.server_cores:.2f}" if one.server_cores else "",
            f"{one.client_cores:.2f}",
        ]
        for name, one in systems.items()
    ]
    told = (
        f"When the clients stopped the server held {own.resident_mb:.0f} MB and "
        f"{own.waiting:,} items waited to be embedded."
    )
    return [*lines, *table(header, rows), "", told, *(f"- {word}" for word in own.words), ""]


def _times(one: Spread) -> list[str]:
    """Return the times of one verb; percentiles only where there are requests enough for them."""
    enough = {50: 1, 95: 20, 99: 100}
    shown = zip(enough.values(), (one.p50, one.p95, one.p99), strict=True)
    cells = [_number(value) if one.count >= least else "–" for least, value in shown]
    return [*cells, _number(one.mean), _number(one.most)]


def _clients(count: int) -> str:
    return "Load, one client" if count == 1 else f"Load, {count} clients"


def _killed(kills: Sequence[Killed]) -> list[str]:
    header = [
        "killed after s",
        "acknowledged",
        "lost",
        "doubled",
        "sent again",
        "… was there already",
        "never acknowledged",
        "back after s",
        "`verify` finds",
    ]
    rows = [
        [
            f"{one.after_s:.2f}",
            f"{one.acknowledged:,}",
            f"{one.lost}",
            f"{one.doubled}",
            f"{one.sent_again}",
            f"{one.there_already}",
            f"{one.unacknowledged}",
            f"{one.back_s:.2f}",
            f"{one.problems}",
        ]
        for one in kills
    ]
    return ["## Killed while clients write (kill -9)", "", *table(header, rows), ""]


def _overhead(messages: int, ways: Sequence[Overhead]) -> list[str]:
    header = [
        "",
        "calls",
        "bare p50 ms",
        "added p50 ms",
        "added p95 ms",
        "asking memory p50 / p95",
        "handing over p50 / p95",
        "asking memory, first / most",
    ]
    rows = [
        [
            one.title,
            f"{one.added.count}",
            _number(one.bare.p50),
            _number(one.added.p50),
            _number(one.added.p95),
            f"{_number(one.asked.p50)} / {_number(one.asked.p95)}",
            f"{one.heard.p50:.3f} / {one.heard.p95:.3f}",
            f"{_number(one.first_asked)} / {_number(one.asked.most)}",
        ]
        for one in ways
    ]
    title = f"## What `learning()` adds to a call, {messages:,} messages in memory"
    return [title, "", f"Expected: added p95 ≤ {ADDED_MS} ms.", "", *table(header, rows), ""]


def _starts(found: Found) -> list[str]:
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
            f"{one.health_s:.2f}",
            f"{one.first_answer_s:.2f}",
            _number(1000 * one.second_answer_s),
            f"{one.at_health_mb:.0f}",
            f"{one.answered_mb:.0f}",
        ]
        for name, one in found.starts.items()
    ]
    lines = ["## Start", "", f"Expected: /health ≤ {START_S} s.", "", *table(header, rows), ""]
    steps = [[step, _number(took)] for step, took in found.steps.items()]
    lines += [*table(["before it listens", "ms"], steps), ""]
    largest = list(found.imports.items())[:IMPORTS]
    rest = sum(found.imports.values()) - sum(took for _, took in largest)
    packages = [[package, _number(took)] for package, took in [*largest, ("all others", rest)]]
    lines += [*table(["modules of (`-X importtime`, which slows it down)", "ms"], packages), ""]
    return lines


def _profile(messages: int, profile: Profile) -> list[str]:
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
