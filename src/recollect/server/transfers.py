"""
Exports and imports over HTTP: the file is the body, and what the verb returns stands beside it.

The caller's files are the caller's: the server writes to and reads from a folder of its own that
goes when the answer is sent.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from recollect.app import Recollect
from recollect.domain.portability import AgentExport
from recollect.errors import RecollectError
from recollect.server.once import Key, Keyed, Once
from recollect.wire import segment
from recollect.wire.routes import EXPORTS, IMPORTS, PREFIX, RESULT_HEADER, SENT_FILE, Route

OCTETS = "application/octet-stream"
PIECE = 1_000_000
_FILE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


def router(memory: Recollect, once: Once) -> APIRouter:
    """Return the routes of the verbs that move files."""
    routes = APIRouter(prefix=PREFIX, tags=["transfers"])

    def add(route: Route, endpoint: Callable[..., Any], **told: Any) -> None:
        routes.add_api_route(
            route.path,
            endpoint,
            methods=[route.method],
            operation_id=route.verb.strip("_"),
            summary=route.verb.replace("_", " ").strip(),
            description=cleandoc(getattr(Recollect, route.verb).__doc__ or ""),
            **told,
        )

    def export(compress: bool = False) -> Response:
        return _sent(EXPORTS["export"], compress, memory.export)

    def export_agent(agent: str, format: str = "recollect", compress: bool = False) -> Response:
        named = segment.read(agent)

        def write(path: Path) -> AgentExport:
            # Where it lies is the caller's affair.
            return replace(memory.export_agent(named, path, format=format), path="")

        return _sent(EXPORTS["export_agent"], compress, write)

    async def import_(request: Request, idempotency_key: Key = None) -> Response:
        return await _received(
            IMPORTS["import_"], request, memory.import_, once.given(idempotency_key, {})
        )

    async def import_agent(
        request: Request,
        name: Annotated[str | None, Query()] = None,
        idempotency_key: Key = None,
    ) -> Response:
        return await _received(
            IMPORTS["import_agent"],
            request,
            lambda path: memory.import_agent(path, name),
            once.given(idempotency_key, {"name": name}),
        )

    result = {"description": "What the verb returns, as JSON.", "schema": {"type": "string"}}
    file = {200: {"content": {OCTETS: _FILE}, "headers": {RESULT_HEADER: result}}}
    body = {"requestBody": {"required": True, "content": {OCTETS: _FILE}}}
    add(EXPORTS["export"], export, response_class=Response, responses=file)
    add(EXPORTS["export_agent"], export_agent, response_class=Response, responses=file)
    for route, endpoint in ((IMPORTS["import_"], import_), (IMPORTS["import_agent"], import_agent)):
        add(route, endpoint, response_model=route.returns, openapi_extra=body)
    return routes


def _sent(route: Route, compress: bool, write: Callable[[Path], Any]) -> Response:
    folder = tempfile.TemporaryDirectory(prefix="recollect-")
    path = Path(folder.name) / ("export.jsonl.gz" if compress else "export.jsonl")
    try:
        result = write(path)
        # JSON without characters beyond ASCII: it has to stand in a header.
        told = TypeAdapter(route.returns).dump_json(result, ensure_ascii=True).decode("ascii")
    except BaseException:
        folder.cleanup()
        raise
    headers = {RESULT_HEADER: told, "content-length": str(path.stat().st_size)}
    return _Sent(_pieces(path), folder, media_type=OCTETS, headers=headers)


class _Sent(StreamingResponse):
    """A file on its way; its folder goes with the last byte, or with a reader who goes away."""

    def __init__(
        self, pieces: Iterator[bytes], folder: tempfile.TemporaryDirectory[str], **how: Any
    ) -> None:
        super().__init__(pieces, **how)
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._folder.cleanup()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


async def _received(
    route: Route, request: Request, read: Callable[[Path], Any], keyed: Keyed
) -> Response:
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        path = Path(folder) / "import"
        try:
            with path.open("wb") as file:
                async for piece in request.stream():
                    digest.update(piece)
                    file.write(piece)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody is there to read it

        def run() -> Response:
            try:
                result = read(path)
            except RecollectError as error:
                error.args = (str(error).replace(str(path), SENT_FILE),)
                raise
            body = TypeAdapter(route.returns).dump_json(result)
            return Response(body, media_type="application/json")

        return await run_in_threadpool(keyed.answer, request, digest.hexdigest(), run)
