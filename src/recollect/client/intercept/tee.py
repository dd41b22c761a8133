"""
Streams that are overheard: the caller reads them as ever, and each piece is copied on its way.

They stand in for the byte stream of a response, which HTTPX lets anybody wrap; the response itself
and everything a vendor's package builds on it stay what they are.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

Listening = Callable[[bytes | None], None]  # a piece, or None for the end


class _Tee:
    def __init__(self, inner: Any, listen: Listening) -> None:
        self._inner = inner
        self._listen = listen

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._inner:
            self._listen(piece)
            yield piece
        self._listen(None)

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._listen(None)

    def __del__(self) -> None:
        self._listen(None)  # dropped unread: no more will come


class _AsyncTee:
    def __init__(self, inner: Any, listen: Listening) -> None:
        self._inner = inner
        self._listen = listen

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._listen(piece)
            yield piece
        self._listen(None)

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._listen(None)

    def __del__(self) -> None:
        self._listen(None)  # as above


def teed(http: ModuleType, stream: Any, listen: Listening) -> Any:
    """Return *stream*, a byte stream of the library *http*, overheard."""
    return _kinds(http)[isinstance(stream, http.AsyncByteStream)](stream, listen)


@cache
def _kinds(http: ModuleType) -> dict[bool, type[Any]]:
    """Return the two kinds of stream; the library asks whether they are of its own."""
    return {
        False: type("Tee", (_Tee, http.SyncByteStream), {}),
        True: type("AsyncTee", (_AsyncTee, http.AsyncByteStream), {}),
    }
