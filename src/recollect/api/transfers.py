"""
Exports and imports over HTTP: the file is the body, and what the verb returns stands beside it.

The caller's files are the caller's: the server writes to and reads from a folder of its own that
goes when the answer is sent.
"""

import tempfile
from collections.abc import Callable, Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from recollect.app import Recollect
from recollect.errors import RecollectError
from recollect.wire import segment
from recollect.wire.routes import EXPORTS, IMPORTS, PREFIX, RESULT_HEADER, SENT_FILE, Route

OCTETS = "application/octet-stream"
PIECE = 1_000_000
_FILE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


def router(memory: Recollect) -> APIRouter:
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
        return _sent(
            EXPORTS["export_agent"],
            compress,
            lambda path: memory.export_agent(named, path, format=format),
        )

    async def import_(request: Request) -> Response:
        return await _received(IMPORTS["import_"], request, memory.import_)

    async def import_agent(
        request: Request, name: Annotated[str | None, Query()] = None
    ) -> Response:
        return await _received(
            IMPORTS["import_agent"], request, lambda path: memory.import_agent(path, name)
        )

    file = {200: {"content": {OCTETS: _FILE}}}
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
    except BaseException:
        folder.cleanup()
        raise
    # JSON without characters beyond ASCII: it has to stand in a header.
    told = TypeAdapter(route.returns).dump_json(result, ensure_ascii=True).decode("ascii")
    headers = {RESULT_HEADER: told, "content-length": str(path.stat().st_size)}
    return StreamingResponse(_pieces(path, folder), media_type=OCTETS, headers=headers)


def _pieces(path: Path, folder: tempfile.TemporaryDirectory[str]) -> Iterator[bytes]:
    """Yield a file's bytes and remove its folder, also where the reader goes away."""
    with folder, path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


async def _received(route: Route, request: Request, read: Callable[[Path], Any]) -> Response:
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        path = Path(folder) / "import"
        with path.open("wb") as file:
            async for piece in request.stream():
                file.write(piece)
        try:
            result = await run_in_threadpool(read, path)
        except RecollectError as error:
            error.args = (str(error).replace(str(path), SENT_FILE),)
            raise
    return Response(TypeAdapter(route.returns).dump_json(result), media_type="application/json")
