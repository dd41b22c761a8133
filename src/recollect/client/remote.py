"""
A memory store behind a server: requests over HTTP, responses back as the values verbs return.

`recollect.connect` returns a `RemoteRecollect`. Its verbs and nouns are those of every `Recollect`;
this file only turns request models into HTTP requests.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from recollect.api.recollect import Recollect
from recollect.client.atomic_file import atomic_file
from recollect.client.connection import Connection, next_offset, not_a_memory_server
from recollect.errors import InvalidInput, RecollectError
from recollect.wire.event_stream import ERROR_EVENT, EVENT_STREAM
from recollect.wire.file_transfer import RESULT_HEADER, UPLOADED_FILE
from recollect.wire.path_segment import fill_path
from recollect.wire.problem import error_from_problem
from recollect.wire.request import PREFIX, VerbRequest
from recollect.wire.sse_decoder import SseDecoder

CHUNK_BYTES = 1_000_000
Response = TypeVar("Response")


class RemoteRecollect(Recollect):
    """A memory store behind a server. Made by `recollect.connect`; safe to share in threads."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(HttpTransport(connection))
        self._connection = connection

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._connection.url

    def health(self) -> Mapping[str, Any]:
        """Return the state of the server; raise `ServerUnavailable` if it does not answer."""
        response = self._connection.send("GET", "/health")
        adapter = TypeAdapter(Mapping[str, Any])
        health: Mapping[str, Any] = _read(adapter, response, self._connection)
        if "database_path" not in health:
            raise not_a_memory_server(self.url, response.status_code)
        return health

    def within(self, timeout_s: float) -> "RemoteRecollect":
        """Return the same memory with a shorter timeout and without retries."""
        return RemoteRecollect(self._connection.with_timeout(timeout_s))


class HttpTransport:
    """Carries requests to a server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, request: VerbRequest[Response]) -> Response:
        """Send *request* and return the response of its verb, all pages of a list."""
        route, fields = request.route, request.json_fields()
        in_path = {name: fields.pop(name) for name in route.path_fields}
        path = PREFIX + fill_path(route.path, in_path)
        if route.has_body:
            response = self._connection.send(route.method, path, body=fields)
            return self._response_of(request, response)
        response = self._connection.send(route.method, path, query=fields)
        result = self._response_of(request, response)
        if not request.is_list() or "limit" in type(request).model_fields:
            return result
        items: Any = result
        last = 0
        while (offset := next_offset(response) or 0) > last:
            # Only the offset of the link counts: the request goes to this server in any case.
            last = offset
            response = self._connection.send("GET", path, query={**fields, "offset": offset})
            items += self._response_of(request, response)
        all_pages: Response = items
        return all_pages

    def stream(self, request: VerbRequest[Any]) -> Iterator[Any]:
        """Send *request*; yield the events of its verb as the server sends them."""
        route, fields = request.route, request.json_fields()
        path = PREFIX + fill_path(
            route.path, {name: fields.pop(name) for name in route.path_fields}
        )
        # Not repeated after a failure: the first attempt may have run tools.
        headers = {"accept": EVENT_STREAM, **self._connection.idempotency_header()}
        return self._events(request, path, headers=headers, json=fields)

    def _events(self, request: VerbRequest[Any], path: str, **options: Any) -> Iterator[Any]:
        decoder, adapter = SseDecoder(), request.event_adapter()
        with self._connection.stream(request.route.method, path, **options) as response:
            for chunk in response.iter_bytes():
                for data in decoder.feed(chunk):
                    yield self._event(adapter, data, response)

    def _event(self, adapter: TypeAdapter[Any], data: str, response: Any) -> Any:
        value = json.loads(data)
        if isinstance(value, Mapping) and value.get("type") == ERROR_EVENT:
            raise error_from_problem(value["problem"], int(value["problem"].get("status", 500)))
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise not_a_memory_server(self._connection.url, response.status_code) from error

    def download(self, request: VerbRequest[Response], path: Path) -> Response:
        """Write the file that *request* returns to *path*, whole or not at all."""
        route, fields = request.route, request.json_fields()
        url = PREFIX + fill_path(route.path, {name: fields.pop(name) for name in route.path_fields})
        query = {**fields, "compress": path.suffix == ".gz"}
        with self._connection.stream("GET", url, query=query) as response:
            try:
                header = response.headers[RESULT_HEADER]
                result: Response = request.response_adapter().validate_json(header)
            except (KeyError, ValidationError) as error:
                raise not_a_memory_server(self._connection.url, response.status_code) from error
            with atomic_file(path) as file:
                for chunk in response.iter_bytes(CHUNK_BYTES):
                    file.write(chunk)
        return result

    def upload(self, request: VerbRequest[Response], path: Path) -> Response:
        """Send the file *path* as the body of *request*."""
        query = {name: value for name, value in request.json_fields().items() if value is not None}
        headers = {"content-type": "application/octet-stream"}
        headers |= self._connection.idempotency_header()
        url = PREFIX + request.route.path
        try:
            with path.open("rb") as file:
                response = self._connection.send_once(
                    "POST", url, params=query, content=_chunks(file), headers=headers
                )
        except (OSError, ValueError) as error:
            raise InvalidInput(f"cannot read {path}: {error}") from error
        except RecollectError as error:
            error.args = (str(error).replace(UPLOADED_FILE, str(path)),)
            raise
        return self._response_of(request, response)

    def _response_of(self, request: VerbRequest[Response], response: Any) -> Response:
        result: Response = _read(request.response_adapter(), response, self._connection)
        return result

    def close(self) -> None:
        """Close the connection. Closing twice is the same as closing once."""
        self._connection.close()


def _read(adapter: TypeAdapter[Any], response: Any, connection: Connection) -> Any:
    try:
        return adapter.validate_json(response.content)
    except ValidationError as error:
        raise not_a_memory_server(connection.url, response.status_code) from error


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk
