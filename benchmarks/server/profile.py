"""
Where the time of one `context_for` over HTTP goes, with nothing else to do.

The server runs with a stopwatch in it (timed.py), the client here with one around what it reads.
What is left between two clocks is named after what lies there.
"""

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import recollect
from benchmarks.recall.past import questions
from benchmarks.server.filled import AGENT, Filled
from benchmarks.server.processes import module_server
from benchmarks.server.spans import Spans
from benchmarks.server.timed import KEY
from recollect.client.remote import RemoteRecollect

WARM_UP = 5
# As `learning()` asks.
WANTED: dict[str, Any] = {
    "agent": AGENT,
    "budget_tokens": 2_000,
    "form": "markdown",
    "metadata": False,
}


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Medians in ms: pieces add up to the whole only about."""

    pieces: dict[str, float]
    over_http: float
    embedded: float  # the same questions to an open memory


def profile(filled: Filled, folder: Path, *, calls: int) -> Profile:
    """Ask so many questions, and say where their time went."""
    asked = [one.text for one in questions(filled.past, AGENT, calls + WARM_UP, seed=97)]
    db, out = folder / "profile.db", folder / "profile.json"
    shutil.copy(filled.path, db)
    reading = Spans()
    read = RemoteRecollect._read
    times = []
    with module_server("benchmarks.server.timed", str(db), str(out)) as server:
        setattr(RemoteRecollect, "_read", reading.timed("read", read))  # noqa: B010
        try:
            with recollect.connect(server.url) as memory:
                for question in asked:
                    started = time.perf_counter()
                    memory.context_for(question, in_sight=[question], **WANTED)
                    times.append(1000 * (time.perf_counter() - started))
        finally:
            setattr(RemoteRecollect, "_read", read)  # noqa: B010
    told = json.loads(out.read_text(encoding="utf-8"))
    requests = [one for one in told["pieces"] if KEY in one][WARM_UP:]
    whole = told["whole"][WARM_UP:]
    pieces = {
        name: median(one.get(name, 0.0) for one in requests)
        for name in {name: None for one in requests for name in one}
    }
    around = [app - sum(one.values()) for app, one in zip(whole, requests, strict=True)]
    decoded = [one["read"] for one in reading.requests][WARM_UP:]
    sent = [
        all_of_it - app - own
        for all_of_it, app, own in zip(times[WARM_UP:], whole, decoded, strict=True)
    ]
    pieces["guard, routing, validation, change of thread"] = median(around)
    pieces["HTTP: httpx2, sockets, h11"] = median(sent)
    pieces["client: reading the answer"] = median(decoded)
    return Profile(
        pieces=pieces, over_http=median(times[WARM_UP:]), embedded=_embedded(filled, folder, asked)
    )


def _embedded(filled: Filled, folder: Path, asked: list[str]) -> float:
    db = folder / "embedded.db"
    shutil.copy(filled.path, db)
    times = []
    with recollect.open(db) as memory:
        for question in asked:
            started = time.perf_counter()
            memory.context_for(question, in_sight=[question], **WANTED)
            times.append(1000 * (time.perf_counter() - started))
    return median(times[WARM_UP:])
