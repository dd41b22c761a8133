"""
Exports and imports over HTTP: the file is the body, the verb's result is in a header.

The server writes to and reads from a temporary folder that is removed with the response. What the
server of an encrypted store has there is encrypted too (transfer_files.py).
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from recollect.domain.agent_transfer import AgentExport
from recollect.errors import RecollectError
from recollect.server.error_handlers import PROBLEM_RESPONSES
from recollect.server.idempotency import IdempotencyKey, KeyedRequest
from recollect.server.transfer_files import TransferFolder, UploadedFile, read_encrypted_of
from recollect.server.verb_routes import ServedStore
from recollect.service.export_reader import Decrypt
from recollect.wire import path_segment
from recollect.wire.file_transfer import RESULT_HEADER, UPLOADED_FILE
from recollect.wire.request import PREFIX, VerbRequest
from recollect.wire.requests.agents import ExportAgentRequest, ImportAgentRequest
from recollect.wire.requests.recollect import ExportRequest, ImportRequest

OCTETS = "application/octet-stream"
CHUNK_BYTES = 1_000_000
_FILE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
VerbClass = type[VerbRequest[Any]]


@cache
def file_routes() -> APIRouter:
    """Return the routes that download and upload files, for the store in `app.state.served`."""
    router = APIRouter(prefix=PREFIX, tags=["transfers"], responses=PROBLEM_RESPONSES)

    def add(request_class: VerbClass, endpoint: Callable[..., Any], **options: Any) -> None:
        router.add_api_route(
            request_class.route.path,
            endpoint,
            methods=[request_class.route.method],
            operation_id=request_class.verb(),
            summary=request_class.verb().replace("_", " "),
            description=cleandoc(request_class.__doc__ or ""),
            **options,
        )

    def export(
        request: Request, compress: bool = False, plain: bool = False, synced: bool = False
    ) -> Response:
        served: ServedStore = request.app.state.served

        # The file of an encrypted store is decrypted while it is sent.
        decrypt = read_encrypted_of(served.rec) if plain else None

        def write(path: Path) -> int:
            return served.rec.export(path, plain=plain and decrypt is None, synced=synced)

        return _download(served, ExportRequest, compress, write, decrypt)

    def export_agent(
        request: Request,
        agent: str,
        format: str = "recollect",
        compress: bool = False,
        plain: bool = False,
    ) -> Response:
        served: ServedStore = request.app.state.served
        name = path_segment.decode_segment(agent)

        def write(path: Path) -> AgentExport:
            # The client knows where it stores the file.
            written = served.rec.agents.export(name, path, format=format, plain=plain)
            return replace(written, path="")

        return _download(served, ExportAgentRequest, compress, write)

    async def import_(
        request: Request,
        trust: Annotated[bool, Query()] = False,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        served: ServedStore = request.app.state.served
        keyed = served.responses.for_request(idempotency_key, {"trust": trust})
        return await _upload(
            ImportRequest, request, lambda path: served.rec.import_(path, trust=trust), keyed
        )

    async def import_agent(
        request: Request,
        name: Annotated[str | None, Query()] = None,
        trust: Annotated[bool, Query()] = False,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        served: ServedStore = request.app.state.served
        keyed = served.responses.for_request(idempotency_key, {"name": name, "trust": trust})
        return await _upload(
            ImportAgentRequest,
            request,
            lambda path: served.rec.agents.import_(path, name, trust=trust),
            keyed,
        )

    result = {"description": "What the verb returns, as JSON.", "schema": {"type": "string"}}
    file = {200: {"content": {OCTETS: _FILE}, "headers": {RESULT_HEADER: result}}}
    body = {"requestBody": {"required": True, "content": {OCTETS: _FILE}}}
    add(ExportRequest, export, response_class=Response, responses=file)
    add(ExportAgentRequest, export_agent, response_class=Response, responses=file)
    for verb, endpoint in ((ImportRequest, import_), (ImportAgentRequest, import_agent)):
        add(verb, endpoint, response_model=verb.response_type(), openapi_extra=body)
    return router


def _download(
    served: ServedStore,
    request_class: VerbClass,
    compress: bool,
    write: Callable[[Path], Any],
    decrypt: Decrypt | None = None,
) -> Response:
    folder = TransferFolder(served.rec)
    path = folder.path / ("export.jsonl.gz" if compress else "export.jsonl")
    try:
        adapter = request_class.response_adapter()
        # Only ASCII: it is the value of a header.
        result = adapter.dump_json(write(path), ensure_ascii=True).decode("ascii")
    except BaseException:
        folder.close()
        raise
    headers = {RESULT_HEADER: result}
    if decrypt is None:
        headers["content-length"] = str(path.stat().st_size)
    return _FileResponse(_chunks(path, decrypt), folder, media_type=OCTETS, headers=headers)


class _FileResponse(StreamingResponse):
    """A file whose folder is removed when it is sent, or when the client disconnects."""

    def __init__(self, chunks: Iterator[bytes], folder: TransferFolder, **options: Any) -> None:
        super().__init__(chunks, **options)
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._folder.close()


def _chunks(path: Path, decrypt: Decrypt | None) -> Iterator[bytes]:
    with (decrypt and decrypt(path)) or path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


async def _upload(
    request_class: VerbClass, request: Request, read: Callable[[Path], Any], keyed: KeyedRequest
) -> Response:
    served: ServedStore = request.app.state.served
    digest = hashlib.sha256()
    folder = TransferFolder(served.rec)
    path = folder.path / "import"
    try:
        try:
            with UploadedFile(path, served.rec) as file:
                async for chunk in request.stream():
                    digest.update(chunk)
                    file.write(chunk)
        except ClientDisconnect:
            return Response(status_code=499)  # no client is left to read it

        def run() -> Response:
            try:
                result = read(path)
            except RecollectError as error:
                error.args = (str(error).replace(str(path), UPLOADED_FILE),)
                raise
            body = request_class.response_adapter().dump_json(result)
            return Response(body, media_type="application/json")

        return await run_in_threadpool(keyed.respond, request, digest.hexdigest(), run)
    finally:
        folder.close()
