"""
Many clients at once: the memory server, and in the same run a plain route and plain SQLite.

Clients are processes that ask again as soon as they are answered, so the machine is always full:
a time says how long one waits among so many, and clients take a share of the cores themselves.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.capture.messages import Pool
from benchmarks.recall.past import questions
from benchmarks.server.filled import AGENT, Filled, spoken
from benchmarks.server.processes import Clients, memory_server, module_server
from benchmarks.server.spread import Spread
from recollect import connect

SAID = 400  # texts of one client, used again with another number
ASKED = 300  # questions of one client
CLIENT = "benchmarks.server.client"
RIVAL_SHARE = 1 / 3  # of the time: theirs hardly vary


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What so many clients saw of one system."""

    clients: int
    verbs: Mapping[str, Spread]
    per_second: float
    errors: int
    words: Sequence[str]  # of the first errors
    client_cores: float  # computed by clients, in cores
    server_cores: float = 0.0
    resident_mb: float = 0.0
    waiting: int = 0  # items not yet embedded when the clients stopped


def under_load(
    filled: Filled, pool: Pool, folder: Path, *, clients: int, seconds: float
) -> dict[str, Loaded]:
    """Return what *clients* saw of each system, asked one system after the other."""
    plans = _plans(filled, pool, clients, seconds)
    shorter = [{**one, "seconds": RIVAL_SHARE * seconds} for one in plans]
    before = _sqlite(shorter, folder / f"before-{clients}.db")
    db = folder / f"load-{clients}.db"
    shutil.copy(filled.path, db)
    with memory_server(db) as server, connect(server.url) as memory:
        memory.context_for("warm up", agent=AGENT)
        used = server.cpu_s()
        told = _asked([{**one, "kind": "recollect", "url": server.url} for one in plans])
        computed = (server.cpu_s() - used) / max(one["seconds"] for one in told)
        waiting = memory.health()["embedder"]["waiting"]
        found = {
            "recollect": _loaded(
                told, server_cores=computed, resident_mb=server.resident_mb(), waiting=waiting
            )
        }
    with module_server("benchmarks.server.listening", "plain") as server:
        used = server.cpu_s()
        told = _asked([{**one, "kind": "plain", "url": server.url} for one in shorter])
        computed = (server.cpu_s() - used) / max(one["seconds"] for one in told)
        found["plain FastAPI"] = _loaded(told, server_cores=computed)
    # Before and after: what a disk takes to confirm a write changes with what others do to it.
    found["SQLite before"] = before
    found["SQLite after"] = _sqlite(shorter, folder / f"after-{clients}.db")
    return found


def _sqlite(plans: Sequence[Mapping[str, Any]], path: Path) -> Loaded:
    return _loaded(_asked([{**one, "kind": "sqlite", "path": str(path)} for one in plans]))


def _plans(filled: Filled, pool: Pool, clients: int, seconds: float) -> list[dict[str, Any]]:
    said = spoken(pool, SAID * clients, seed=81)
    asked = questions(filled.past, AGENT, ASKED * clients, seed=82)
    return [
        {
            "number": number,
            "seconds": seconds,
            "agent": AGENT,
            "said": [one.content for one in said[number::clients]],
            "asked": [one.text for one in asked[number::clients]],
        }
        for number in range(clients)
    ]


def _asked(plans: Sequence[Mapping[str, Any]]) -> list[Any]:
    clients = Clients(CLIENT, plans)
    clients.go()
    return clients.told()


def _loaded(told: Sequence[Any], **more: Any) -> Loaded:
    verbs: dict[str, list[float]] = {}
    for one in told:
        for verb, times in one["times"].items():
            verbs.setdefault(verb, []).extend(times)
    count = sum(len(times) for times in verbs.values())
    longest = max(one["seconds"] for one in told)
    return Loaded(
        clients=len(told),
        verbs={verb: Spread.of(times) for verb, times in sorted(verbs.items())},
        per_second=count / longest,
        errors=sum(one["errors"] for one in told),
        words=[words for one in told for words in one["words"]][:10],
        client_cores=sum(one["cpu_s"] for one in told) / longest,
        **more,
    )
