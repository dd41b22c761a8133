"""
A program that calls a vendor: `python -m benchmarks.server.caller`, its plan as JSON on stdin.

Calls bare and inside `learning()` in turn, each with a question of its own, and prints how long
each took, and of the calls inside how long memory was asked (`Session.told`) and how long handing
over what was said took (`Session.overhear`). Bare calls run in a context without a session; that
the client's class is intercepted meanwhile costs them a look at one variable.
"""

import asyncio
import contextvars
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import openai

import recollect
from recollect.client.session import LearningSession

WARM_UP = 5
SYSTEM = "You are a careful assistant. Answer from what you know, and say where it comes from."
Plan = Mapping[str, Any]
Times = dict[str, list[float]]


def main() -> int:
    plan = json.loads(sys.stdin.readline())
    logging.getLogger("recollect.learning").setLevel(logging.ERROR)  # one warning is expected
    print("ready", flush=True)
    sys.stdin.readline()
    times: Times = {"bare": [], "inside": [], "told": [], "overheard": []}
    with _watched(times):
        if plan["async"]:
            asyncio.run(_async(plan, times))
        else:
            _sync(plan, times)
    print(json.dumps(times))
    return 0


def _sync(plan: Plan, times: Times) -> None:
    outside = contextvars.copy_context()
    client = openai.OpenAI(base_url=plan["vendor"], api_key="none", max_retries=0)

    def call(question: str) -> None:
        client.chat.completions.create(model="gpt-4o", messages=_messages(question))

    with _memory(plan) as given, recollect.learning(**given):
        for number, question in enumerate(plan["questions"]):
            _before(plan, number, times)
            time.sleep(plan["pause_s"])
            started = time.perf_counter()
            outside.run(call, question)
            between = time.perf_counter()
            if plan["pause_s"]:
                time.sleep(plan["pause_s"] / 10)
            again = time.perf_counter()
            call(question)
            times["bare"].append(1000 * (between - started))
            times["inside"].append(1000 * (time.perf_counter() - again))


async def _async(plan: Plan, times: Times) -> None:
    outside = contextvars.copy_context()
    client = openai.AsyncOpenAI(base_url=plan["vendor"], api_key="none", max_retries=0)

    async def call(question: str) -> float:
        started = time.perf_counter()
        await client.chat.completions.create(model="gpt-4o", messages=_messages(question))
        return 1000 * (time.perf_counter() - started)

    loop = asyncio.get_running_loop()
    with _memory(plan) as given:
        async with recollect.learning(**given):
            for number, question in enumerate(plan["questions"]):
                _before(plan, number, times)
                await asyncio.sleep(plan["pause_s"])
                times["bare"].append(await loop.create_task(call(question), context=outside))
                times["inside"].append(await loop.create_task(call(question)))


def _before(plan: Plan, number: int, times: Times) -> None:
    """Forget the warm-up when it is over, and do then to the server what the plan says."""
    if number == WARM_UP:
        for kept in times.values():
            kept.clear()
        if plan["signal"]:
            os.kill(plan["pid"], signal.Signals[plan["signal"]])


@contextmanager
def _memory(plan: Plan) -> Iterator[dict[str, Any]]:
    """Lend what `learning` is given: an open memory, or the address of a server."""
    with ExitStack() as stack:
        given: dict[str, Any] = {
            "agent": plan["agent"],
            "capture_only": plan["capture_only"],
            "flush_s": plan["flush_s"],
        }
        if plan["db"]:
            memory = stack.enter_context(recollect.open(Path(plan["db"])))
            memory.context_for("warm up", agent=plan["agent"])  # loading the model is no overhead
            given["memory"] = memory
        else:
            given["server_url"] = plan["url"]
        yield given


def _messages(question: str) -> Any:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]


@contextmanager
def _watched(times: Times) -> Iterator[None]:
    """Time what a session does before and after a call."""
    found = {"told": LearningSession.inject_memory, "overheard": LearningSession.tap_response}

    def timed(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)
        def run(*args: Any) -> Any:
            started = time.perf_counter()
            try:
                return work(*args)
            finally:
                times[name].append(1000 * (time.perf_counter() - started))

        return run

    setattr(LearningSession, "told", timed("told", LearningSession.inject_memory))  # noqa: B010  # not an assignment to mypy
    setattr(LearningSession, "overhear", timed("overheard", LearningSession.tap_response))  # noqa: B010
    try:
        yield
    finally:
        setattr(LearningSession, "told", found["told"])  # noqa: B010
        setattr(LearningSession, "overhear", found["overheard"])  # noqa: B010


if __name__ == "__main__":
    sys.exit(main())
