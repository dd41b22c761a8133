"""
Response streams that pass a copy of each chunk to a listener while the caller reads them.

A tee replaces the byte stream of a response, which HTTPX allows. The response itself and the
objects that a vendor's package builds on it are not changed.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

ChunkListener = Callable[[bytes | None], None]  # called with a chunk, or with None at the end


class _BaseTee:
    def __init__(self, inner: Any, listen: ChunkListener) -> None:
        self._inner = inner
        self._listen = listen

    def __del__(self) -> None:
        self._listen(None)  # dropped before it was read to the end


class _Tee(_BaseTee):
    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            self._listen(chunk)
            yield chunk
        self._listen(None)

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._listen(None)


class _AsyncTee(_BaseTee):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._listen(chunk)
            yield chunk
        self._listen(None)

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._listen(None)


def tee_stream(http: ModuleType, stream: Any, listen: ChunkListener) -> Any:
    """Return *stream*, a byte stream of the library *http*, with a listener."""
    sync_tee, async_tee = _tee_classes(http)
    return (async_tee if isinstance(stream, http.AsyncByteStream) else sync_tee)(stream, listen)


@cache
def _tee_classes(http: ModuleType) -> tuple[type[Any], type[Any]]:
    """Return the sync and async class; the library requires subclasses of its own streams."""
    return (
        type("Tee", (_Tee, http.SyncByteStream), {}),
        type("AsyncTee", (_AsyncTee, http.AsyncByteStream), {}),
    )
