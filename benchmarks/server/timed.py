"""
A memory server with a stopwatch in it: `python -m benchmarks.server.timed DB OUT`.

Prints its address, serves until it is told to stop, and writes to OUT, as JSON, what each piece of
every `context_for` took, and how long the whole application had each request.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.server.spans import Spans
from recollect.config import Settings
from recollect.engine.resilient_embedder import ResilientEmbedder
from recollect.engine.embedding_indexer import Indexer
from recollect.server import verbs
from recollect.server import idempotency
from recollect.server.serve import serve
from recollect.server.web_app import web_app
from recollect.service import context, read
from recollect.text.token_counter import TokenCounter

PATH = "/api/context"
KEY = "key of the request"  # the outermost piece


def main() -> int:
    db, out = sys.argv[1], Path(sys.argv[2])
    spans = Spans()
    whole: list[float] = []
    _watch(spans)

    def made(memory: Any, settings: Settings) -> Any:
        app = web_app(memory, settings)
        app.add_middleware(_Whole, whole=whole)
        return app

    serve(
        Settings(db=db, port=0, requests_per_second=0),
        on_start=lambda serving: print(json.dumps({"url": serving.url}), flush=True),
        make_app=made,
    )
    out.write_text(json.dumps({"pieces": spans.requests, "whole": whole}), encoding="utf-8")
    return 0


class _Whole:
    """The ASGI application around everything: how long it has a request."""

    def __init__(self, app: Any, whole: list[float]) -> None:
        self._app = app
        self._whole = whole

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        started = time.perf_counter()
        await self._app(scope, receive, send)
        if scope["type"] == "http" and scope["path"] == PATH:
            self._whole.append(1000 * (time.perf_counter() - started))


def _watch(spans: Spans) -> None:
    spans.watch(KEY, idempotency.IdempotentResponses, "answer")
    spans.watch("JSON", verbs, "_written")
    spans.watch("everything else of `context_for`", context, "context_for")
    spans.watch("who asks, blocks", context, "_scene")
    spans.watch("embedding what waits", Indexer, "_index")
    spans.watch("embedding the question", ResilientEmbedder, "vector")
    spans.watch("memory search", read, "retrieve")
    spans.watch("facts shown always", context, "_always")
    spans.watch("message search", context, "find_messages")
    spans.watch("topics, summaries, history, counts", context, "_given")
    spans.watch("assembling", context, "assemble")
    spans.watch("log row", read, "keep_log")
    for verb in ("count", "fits", "cut"):
        spans.watch("token counting", TokenCounter, verb)


if __name__ == "__main__":
    sys.exit(main())
