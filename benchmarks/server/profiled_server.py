"""
A memory server that times itself: `python -m benchmarks.server.profiled_server DB OUT`.

Prints its address, serves until it is stopped, and writes to OUT, as JSON, the time of each piece
of every `context_for`, and the time of each whole request in the application.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.server.span_timer import SpanTimer
from recollect.config import Settings
from recollect.engine.embedding_indexer import Indexer
from recollect.engine.resilient_embedder import ResilientEmbedder
from recollect.retrieval import retrieve
from recollect.server import verb_routes
from recollect.server.idempotency import IdempotentResponses
from recollect.server.serve import serve
from recollect.server.web_app import web_app
from recollect.service import retrieval_log, task_context
from recollect.text.token_counter import TokenCounter

PATH = "/api/context"
KEY = "idempotency key"  # the outermost piece
# What is timed, under which title: an owner and the name of its function.
PIECES: tuple[tuple[str, Any, str], ...] = (
    (KEY, IdempotentResponses, "respond"),
    ("verb and JSON", verb_routes, "_response"),
    ("everything else of `context_for`", task_context, "context_for"),
    ("agent, conversation and blocks", task_context, "_resolve_request"),
    ("embedding pending items", Indexer, "_embed_few_pending"),
    ("embedding the query", ResilientEmbedder, "embed_query"),
    ("memory search", retrieve, "retrieve"),
    ("answer preferences", task_context, "_answer_preferences"),
    ("message search", task_context, "find_messages"),
    ("topics, summaries, history, counts", task_context, "_bundle_input"),
    ("assembling", task_context, "assemble_bundle"),
    ("log row", retrieval_log, "log_retrieval"),
    ("token counting", TokenCounter, "count"),
    ("token counting", TokenCounter, "fits"),
    ("token counting", TokenCounter, "truncate"),
)


def main() -> int:
    db, out = sys.argv[1], Path(sys.argv[2])
    spans = SpanTimer()
    whole: list[float] = []
    for piece, owner, attribute in PIECES:
        spans.watch(piece, owner, attribute)

    def timed_app(memory: Any, settings: Settings) -> Any:
        app = web_app(memory, settings)
        app.add_middleware(_RequestTimer, whole=whole)
        return app

    serve(
        Settings(db=db, port=0, requests_per_second=0),
        on_start=lambda serving: print(json.dumps({"url": serving.url}), flush=True),
        make_app=timed_app,
    )
    out.write_text(json.dumps({"pieces": spans.requests, "whole": whole}), encoding="utf-8")
    return 0


class _RequestTimer:
    """The outermost ASGI middleware: times each request."""

    def __init__(self, app: Any, whole: list[float]) -> None:
        self._app = app
        self._whole = whole

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        started = time.perf_counter()
        await self._app(scope, receive, send)
        if scope["type"] == "http" and scope["path"] == PATH:
            self._whole.append(1000 * (time.perf_counter() - started))


if __name__ == "__main__":
    sys.exit(main())
