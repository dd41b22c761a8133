"""
The same verbs and nouns for asyncio and trio: each call runs in a thread.

This is the only implementation: attributes are looked up on `Recollect` when they are used. The
signatures for editors and type checkers are in async_recollect.pyi, which is written by
scripts/generate_async_stub.py from the same classes.
"""

import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cached_property, partial, wraps
from typing import Any, Self, get_origin

from anyio import get_cancelled_exc_class

from recollect.api.recollect import Recollect
from recollect.api.verb_group import BlockingMethods, VerbGroup
from recollect.client.run_blocking import run_blocking, run_to_completion

_END = object()  # of an iterator


class AsyncRecollect:
    """One memory store, opened by its first call. Use it in an `async with` block."""

    def __init__(self, open_memory: Callable[[], Recollect]) -> None:
        self._open_memory = open_memory
        self._lock = threading.Lock()
        self._memory: Recollect | None = None

    def __getattr__(self, name: str) -> Any:
        attribute = inspect.getattr_static(Recollect, name, None)
        if name.startswith("_") or attribute is None:
            raise AttributeError(f"a memory store has no verb or noun {name!r}")
        if isinstance(attribute, cached_property):
            return AsyncVerbGroup(
                lambda: getattr(self._open_once(), name), name, _noun_class(attribute)
            )
        return _in_thread(self._open_once, attribute)

    def __dir__(self) -> list[str]:
        return [name for name in dir(Recollect) if not name.startswith("_")]

    async def __aenter__(self) -> Self:
        await run_blocking(self._open_once)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store if it was opened."""
        memory = self._memory
        if memory is not None:
            await run_blocking(memory.close)

    def _open_once(self) -> Recollect:
        with self._lock:
            if self._memory is None:
                self._memory = self._open_memory()
            return self._memory


class AsyncVerbGroup:
    """The methods of a noun, or of an agent's tools, each to be awaited."""

    def __init__(
        self, owner: Callable[[], BlockingMethods], name: str, group: type[BlockingMethods]
    ) -> None:
        self._owner = owner
        self._name = name
        self._group = group

    def __getattr__(self, name: str) -> Any:
        verb = inspect.getattr_static(self._group, name, None)
        if name.startswith("_") or verb is None:
            raise AttributeError(f"{self._name} has no verb {name!r}")
        return _in_thread(self._owner, verb) if callable(verb) else verb

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._group) if not name.startswith("_")]


def _noun_class(attribute: cached_property[Any]) -> type[VerbGroup]:
    """Return the class of a noun, which its property imports and is annotated with."""
    name = attribute.func.__annotations__["return"].strip('"')
    module = __import__(f"recollect.api.{name.lower()}", fromlist=[name])
    noun: type[VerbGroup] = getattr(module, name)
    return noun


def _in_thread(owner: Callable[[], Any], verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    async def call(*args: Any, **options: Any) -> Any:
        result = await run_blocking(partial(_call, owner, verb.__name__, args, options))
        if isinstance(result, BlockingMethods):
            return AsyncVerbGroup(lambda: result, verb.__name__, type(result))
        return result

    @wraps(verb)
    async def stream(*args: Any, **options: Any) -> AsyncIterator[Any]:
        events = await run_blocking(partial(_call, owner, verb.__name__, args, options))
        lock = threading.Lock()  # an iterator cannot be closed while its thread is in it

        def next_event() -> Any:
            with lock:
                return next(events, _END)

        def close() -> None:
            with lock:
                events.close()

        is_cancelled = False
        try:
            while (event := await run_blocking(next_event)) is not _END:
                yield event
        except get_cancelled_exc_class():
            is_cancelled = True
            raise
        finally:
            if is_cancelled:  # the caller does not wait for the event
                threading.Thread(target=close, name="recollect-closing", daemon=True).start()
            else:
                await run_to_completion(close)

    signature = inspect.signature(verb)
    if get_origin(signature.return_annotation) is Iterator:
        call = stream  # type: ignore[assignment]
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(signature.parameters.values())[1:]
    )
    return call


def _call(owner: Callable[[], Any], name: str, args: Any, options: Any) -> Any:
    return getattr(owner(), name)(*args, **options)
