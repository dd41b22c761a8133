"""
Count how many of many concurrent calls are told.

`python -m benchmarks.server.concurrent_calls --write`: 200 calls of an asynchronous client are made
at once inside `learning()`, each with a question of its own, with the default timeout. The vendor
answers at once, in this process. A call is told if memory is in the request that reaches it.
"""

import argparse
import asyncio
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import httpx2
import openai

import recollect
from benchmarks.capture.generated_messages import make_pool
from benchmarks.markdown_table import table
from benchmarks.quality import RESULTS
from benchmarks.recall.generated_conversations import questions
from benchmarks.server.fill_store import AGENT, fill_store
from benchmarks.server.processes import memory_server

OUT = RESULTS / "concurrent_calls.md"
REPEATED = 4  # a text that so many calls got is the briefing
FENCE = b"<memory fingerprint="
CLOSED = b"</memory>"
ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Well."},
        }
    ],
}


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.getLogger("recollect.learning").setLevel(logging.ERROR)
    rows = []
    with TemporaryDirectory(prefix="recollect-calls-") as temporary:
        filled = fill_store(
            Path(temporary) / "memory.db", make_pool(Path("none")), options.messages
        )
        texts = [item.text for item in questions(filled.past, AGENT, 3 * options.calls, seed=9)]
        for number, way in enumerate(options.ways):
            some = texts[number * options.calls :][: options.calls]
            with _memory(way, filled.path) as where:
                rows.append([way, *asyncio.run(_run(where, some))])
    header = ["memory", "calls", "told", "about the question", "s until the last", "CPU s"]
    lines = [
        "# Concurrent calls in learning()",
        "",
        f"- `python -m benchmarks.server.concurrent_calls --calls {options.calls} --messages "
        f"{options.messages} --write`. A call is told if memory came within the timeout of 2 s; "
        "those told, but not about their question, got the briefing.",
        f"- {os.cpu_count()} cores, load of the machine at the end: {os.getloadavg()[0]:.0f}.",
        "",
        *table(header, rows),
        "",
    ]
    text = "\n".join(lines)
    if options.write:
        OUT.write_text(text, encoding="utf-8")
    print(text)
    return 0


@contextmanager
def _memory(way: str, db: Path) -> Iterator[dict[str, Any]]:
    """Yield the arguments of `learning()` for a store in this process, or for a warm server."""
    if way == "server":
        with memory_server(db) as server:
            with recollect.connect(server.url) as remote:
                remote.context_for("warm up", agent=AGENT)
            yield {"server_url": server.url}
        return
    with recollect.open(db) as rec:
        rec.context_for("warm up", agent=AGENT)
        yield {"memory": rec}


async def _run(where: dict[str, Any], texts: list[str]) -> list[str]:
    texts_told: Counter[bytes] = Counter()

    def answer(request: httpx2.Request) -> httpx2.Response:
        memory = request.content.replace(b"\\", b"").partition(FENCE)[2].rpartition(CLOSED)[0]
        texts_told[memory] += 1
        return httpx2.Response(200, json=ANSWER)

    http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    client = openai.AsyncOpenAI(api_key="k", http_client=http, max_retries=0)

    async def ask(text: str) -> None:
        await client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": text}]
        )

    async with recollect.learning(agent=AGENT, **where):
        begun, used = perf_counter(), process_time()
        await asyncio.gather(*map(ask, texts))
        took, cpu = perf_counter() - begun, process_time() - used
    await http.aclose()
    nothing = texts_told.pop(b"", 0)
    briefed = sum(count for count in texts_told.values() if count >= REPEATED)
    told_count = len(texts) - nothing
    return [
        str(len(texts)),
        str(told_count),
        str(told_count - briefed),
        f"{took:.1f}",
        f"{cpu:.1f}",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--ways", nargs="+", default=["this process", "server"])
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
