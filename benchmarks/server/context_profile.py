"""
Profile one `context_for` over HTTP on an idle server.

The server times its own pieces (profiled_server.py), the client the reading of the response. The
differences between the clocks are HTTP and the framework.
"""

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import recollect
from benchmarks.recall.generated_conversations import questions
from benchmarks.server.fill_store import AGENT, FilledStore
from benchmarks.server.processes import module_server
from benchmarks.server.profiled_server import KEY
from benchmarks.server.span_timer import SpanTimer
from recollect.client import remote

WARM_UP = 5
# As `learning()` asks.
CONTEXT_OPTIONS: dict[str, Any] = {
    "agent": AGENT,
    "budget_tokens": 2_000,
    "form": "markdown",
    "metadata": False,
}


@dataclass(frozen=True, kw_only=True)
class ContextProfile:
    """Medians in ms: pieces add up to the whole only about."""

    pieces: dict[str, float]
    over_http: float
    embedded: float  # the same questions to an open memory


def profile_context(filled: FilledStore, folder: Path, *, calls: int) -> ContextProfile:
    """Ask so many questions, and say where their time went."""
    texts = [question.text for question in questions(filled.past, AGENT, calls + WARM_UP, seed=97)]
    db, out = folder / "profile.db", folder / "profile.json"
    shutil.copy(filled.path, db)
    reading = SpanTimer()
    read = remote._read
    times = []
    with module_server("benchmarks.server.profiled_server", str(db), str(out)) as server:
        setattr(remote, "_read", reading.timed("read", read))  # noqa: B010
        try:
            with recollect.connect(server.url) as rec:
                for question in texts:
                    started = time.perf_counter()
                    rec.context_for(question, visible_texts=[question], **CONTEXT_OPTIONS)
                    times.append(1000 * (time.perf_counter() - started))
        finally:
            setattr(remote, "_read", read)  # noqa: B010
    profile = json.loads(out.read_text(encoding="utf-8"))
    requests = [request for request in profile["pieces"] if KEY in request][WARM_UP:]
    whole = profile["whole"][WARM_UP:]
    pieces = {
        name: median(request.get(name, 0.0) for request in requests)
        for name in {name: None for request in requests for name in request}
    }
    around = [app - sum(request.values()) for app, request in zip(whole, requests, strict=True)]
    decoded = [request["read"] for request in reading.requests][WARM_UP:]
    sent = [
        all_of_it - app - own
        for all_of_it, app, own in zip(times[WARM_UP:], whole, decoded, strict=True)
    ]
    pieces["guard, routing, validation, change of thread"] = median(around)
    pieces["HTTP: httpx2, sockets, h11"] = median(sent)
    pieces["client: reading the answer"] = median(decoded)
    return ContextProfile(
        pieces=pieces, over_http=median(times[WARM_UP:]), embedded=_embedded(filled, folder, texts)
    )


def _embedded(filled: FilledStore, folder: Path, texts: list[str]) -> float:
    db = folder / "embedded.db"
    shutil.copy(filled.path, db)
    times = []
    with recollect.open(db) as rec:
        for question in texts:
            started = time.perf_counter()
            rec.context_for(question, visible_texts=[question], **CONTEXT_OPTIONS)
            times.append(1000 * (time.perf_counter() - started))
    return median(times[WARM_UP:])
