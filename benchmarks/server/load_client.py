"""
One client of a load run: `python -m benchmarks.server.load_client`, its plan as JSON on stdin.

Prints `ready`, waits for a line, sends one request after another for some seconds, and prints the
times. The plan names the target: a memory server, the plain route, or an SQLite file.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from random import Random
from typing import Any

import httpx2

import recollect

MIX = {"append_message": 30, "add_message": 30, "context_for": 20, "search": 10, "ingest": 10}
BUDGET = 2_000
PROJECTS = 20
MAX_ERRORS = 20  # told in words; all are counted

Call = Callable[[], object]
Plan = Mapping[str, Any]


def main() -> int:
    plan = json.loads(sys.stdin.readline())
    calls = {"recollect": _recollect, "plain": _plain, "sqlite": _sqlite}[plan["kind"]](plan)
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(_run_calls(calls, plan["seconds"])))
    return 0


def _run_calls(calls: Iterator[tuple[str, Call]], seconds: float) -> dict[str, Any]:
    times: dict[str, list[float]] = {}
    errors: list[str] = []
    began, computed = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        verb, call = next(calls)
        started = time.perf_counter()
        try:
            call()
        # What is counted here: whatever a server or a database may refuse or leave undone.
        except (recollect.RecollectError, httpx2.HTTPError, sqlite3.Error) as error:
            errors.append(f"{verb}: {type(error).__name__}: {error}")
        else:
            times.setdefault(verb, []).append(1000 * (time.perf_counter() - started))
    return {
        "times": times,
        "errors": len(errors),
        "words": errors[:MAX_ERRORS],
        "seconds": time.perf_counter() - began,
        "cpu_s": time.process_time() - computed,
    }


def _recollect(plan: Plan) -> Iterator[tuple[str, Call]]:
    rec = recollect.connect(plan["url"])
    number, agent = plan["number"], plan["agent"]
    own = f"client-{number}"
    rec.agents.create(own)
    conversation = rec.conversations.start(agent=agent).id
    random = Random(number)
    texts, prompts = _numbered(plan["said"], number), cycle(plan["asked"])

    def call(verb: str) -> Call:
        where = f"project-{random.randrange(PROJECTS)}"
        match verb:
            case "append_message":
                return partial(rec.conversations.append, conversation, "user", next(texts))
            case "add_message":
                return partial(rec.conversations.add_message, own, "user", next(texts))
            case "ingest":
                return partial(rec.ingest, next(texts), project=where)
            case "search":
                return partial(rec.search, next(prompts), project=where)
            case _:
                return partial(rec.context_for, next(prompts), agent=agent, budget_tokens=BUDGET)

    def calls() -> Iterator[tuple[str, Call]]:
        while True:
            verb = random.choices(list(MIX), weights=list(MIX.values()))[0]
            yield verb, call(verb)

    return calls()


def _plain(plan: Plan) -> Iterator[tuple[str, Call]]:
    http = httpx2.Client(base_url=plan["url"], trust_env=False, timeout=60)
    texts = _numbered(plan["said"], plan["number"])

    def add(text: str) -> object:
        answer = http.post("/messages", json={"role": "user", "content": text})
        return answer.raise_for_status().json()

    return (("route", partial(add, text)) for text in texts)


def _sqlite(plan: Plan) -> Iterator[tuple[str, Call]]:
    db = sqlite3.connect(plan["path"], timeout=60, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    columns = "id INTEGER PRIMARY KEY, role TEXT, content TEXT"
    db.execute(f"CREATE TABLE IF NOT EXISTS messages({columns})")
    texts = _numbered(plan["said"], plan["number"])

    insert = partial(db.execute, "INSERT INTO messages(role, content) VALUES (?, ?)")
    return (("insert", partial(insert, ("user", text))) for text in texts)


def _numbered(texts: Sequence[str], client: int) -> Iterator[str]:
    """Yield texts without end, no two alike."""
    for number, text in enumerate(cycle(texts)):
        yield f"{text} ({client}.{number})"


if __name__ == "__main__":
    sys.exit(main())
