"""
Measure many clients at once: the memory server, a plain route and plain SQLite.

Clients are processes that send the next request as soon as they have a response, so the machine is
always busy: a time is the wait among so many clients, and the clients use part of the cores.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.capture.generated_messages import TextPool
from benchmarks.recall.generated_conversations import questions
from benchmarks.server.fill_store import AGENT, FilledStore, user_and_assistant_messages
from benchmarks.server.latency import Latency
from benchmarks.server.processes import ClientProcesses, memory_server, module_server
from recollect import connect

TEXTS_PER_CLIENT = 400  # texts of one client, used again with another number
QUESTIONS_PER_CLIENT = 300  # questions of one client
CLIENT = "benchmarks.server.load_client"
BASELINE_SHARE = 1 / 3  # of the time: theirs hardly vary


@dataclass(frozen=True, kw_only=True)
class LoadResult:
    """What so many clients saw of one system."""

    clients: int
    verbs: Mapping[str, Latency]
    per_second: float
    errors: int
    error_messages: Sequence[str]  # of the first errors
    client_cores: float  # computed by clients, in cores
    server_cores: float = 0.0
    resident_mb: float = 0.0
    pending: int = 0  # items not yet embedded when the clients stopped


def measure_load(
    filled: FilledStore, pool: TextPool, folder: Path, *, clients: int, seconds: float
) -> dict[str, LoadResult]:
    """Return what *clients* saw of each system, asked one system after the other."""
    plans = _plans(filled, pool, clients, seconds)
    shorter = [{**plan, "seconds": BASELINE_SHARE * seconds} for plan in plans]
    before = _measure_sqlite(shorter, folder / f"before-{clients}.db")
    db = folder / f"load-{clients}.db"
    shutil.copy(filled.path, db)
    with memory_server(db) as server, connect(server.url) as rec:
        rec.context_for("warm up", agent=AGENT)
        used = server.cpu_s()
        client_results = _run_clients(
            [{**plan, "kind": "recollect", "url": server.url} for plan in plans]
        )
        computed = (server.cpu_s() - used) / max(result["seconds"] for result in client_results)
        pending = rec.health()["embedder"]["waiting"]
        systems = {
            "recollect": _load_result(
                client_results,
                server_cores=computed,
                resident_mb=server.resident_mb(),
                pending=pending,
            )
        }
    with module_server("benchmarks.server.stub_servers", "plain") as server:
        used = server.cpu_s()
        client_results = _run_clients(
            [{**plan, "kind": "plain", "url": server.url} for plan in shorter]
        )
        computed = (server.cpu_s() - used) / max(result["seconds"] for result in client_results)
        systems["plain FastAPI"] = _load_result(client_results, server_cores=computed)
    # Before and after: what a disk takes to confirm a write changes with what others do to it.
    systems["SQLite before"] = before
    systems["SQLite after"] = _measure_sqlite(shorter, folder / f"after-{clients}.db")
    return systems


def _measure_sqlite(plans: Sequence[Mapping[str, Any]], path: Path) -> LoadResult:
    return _load_result(
        _run_clients([{**plan, "kind": "sqlite", "path": str(path)} for plan in plans])
    )


def _plans(
    filled: FilledStore, pool: TextPool, clients: int, seconds: float
) -> list[dict[str, Any]]:
    messages = user_and_assistant_messages(pool, TEXTS_PER_CLIENT * clients, seed=81)
    prompts = questions(filled.past, AGENT, QUESTIONS_PER_CLIENT * clients, seed=82)
    return [
        {
            "number": number,
            "seconds": seconds,
            "agent": AGENT,
            "said": [message.content for message in messages[number::clients]],
            "asked": [prompt.text for prompt in prompts[number::clients]],
        }
        for number in range(clients)
    ]


def _run_clients(plans: Sequence[Mapping[str, Any]]) -> list[Any]:
    clients = ClientProcesses(CLIENT, plans)
    clients.start()
    return clients.results()


def _load_result(client_results: Sequence[Any], **more: Any) -> LoadResult:
    verbs: dict[str, list[float]] = {}
    for result in client_results:
        for verb, times in result["times"].items():
            verbs.setdefault(verb, []).extend(times)
    count = sum(len(times) for times in verbs.values())
    longest = max(result["seconds"] for result in client_results)
    return LoadResult(
        clients=len(client_results),
        verbs={verb: Latency.of(times) for verb, times in sorted(verbs.items())},
        per_second=count / longest,
        errors=sum(result["errors"] for result in client_results),
        error_messages=[words for result in client_results for words in result["words"]][:10],
        client_cores=sum(result["cpu_s"] for result in client_results) / longest,
        **more,
    )
