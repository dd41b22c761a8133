"""
A program that calls a vendor: `python -m benchmarks.server.vendor_caller`, its plan as JSON on
stdin.

Makes each call twice, outside and inside of `learning()`, and prints the time of each, and of the
calls inside the time to recall memory and to record the response. The calls outside run in a
context without a session; since the client's class is patched, they read one context variable more.
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
# What a session does before and after a call, and the methods that do it.
TIMED_METHODS = {"recall": "inject_memory", "recording": "tap_response"}
Plan = Mapping[str, Any]
Times = dict[str, list[float]]


def main() -> int:
    plan = json.loads(sys.stdin.readline())
    logging.getLogger("recollect.learning").setLevel(logging.ERROR)  # one warning is expected
    print("ready", flush=True)
    sys.stdin.readline()
    times: Times = {"bare": [], "inside": [], **{name: [] for name in TIMED_METHODS}}
    with _patched_session(times):
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

    with _memory(plan) as arguments, recollect.learning(**arguments):
        for number, question in enumerate(plan["questions"]):
            _start_measuring(plan, number, times)
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
    with _memory(plan) as arguments:
        async with recollect.learning(**arguments):
            for number, question in enumerate(plan["questions"]):
                _start_measuring(plan, number, times)
                await asyncio.sleep(plan["pause_s"])
                times["bare"].append(await loop.create_task(call(question), context=outside))
                times["inside"].append(await loop.create_task(call(question)))


def _start_measuring(plan: Plan, number: int, times: Times) -> None:
    """After the warm-up, clear the times and send the server the signal of the plan."""
    if number == WARM_UP:
        for time in times.values():
            time.clear()
        if plan["signal"]:
            os.kill(plan["pid"], signal.Signals[plan["signal"]])


@contextmanager
def _memory(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the arguments of `learning`: an open store, or the URL of a server."""
    with ExitStack() as stack:
        arguments: dict[str, Any] = {
            "agent": plan["agent"],
            "capture_only": plan["capture_only"],
            "flush_s": plan["flush_s"],
        }
        if plan["db"]:
            rec = stack.enter_context(recollect.open(Path(plan["db"])))
            rec.context_for("warm up", agent=plan["agent"])  # loading the model does not count
            arguments["memory"] = rec
        else:
            arguments["server_url"] = plan["url"]
        yield arguments


def _messages(question: str) -> Any:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]


@contextmanager
def _patched_session(times: Times) -> Iterator[None]:
    """Time what a session does before and after a call."""
    before = {name: getattr(LearningSession, name) for name in TIMED_METHODS.values()}

    def timed(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)
        def run(*args: Any) -> Any:
            started = time.perf_counter()
            try:
                return work(*args)
            finally:
                times[name].append(1000 * (time.perf_counter() - started))

        return run

    for name, method in TIMED_METHODS.items():
        setattr(LearningSession, method, timed(name, before[method]))
    try:
        yield
    finally:
        for method, original in before.items():
            setattr(LearningSession, method, original)


if __name__ == "__main__":
    sys.exit(main())
