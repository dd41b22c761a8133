"""
`with learning(agent="…")`: calls to OpenAI and Anthropic inside the block have a memory.

The same object is a context manager, sync and async, and a decorator. Every entry is a session of
its own: a conversation of the agent, ended with the block. Blocks may be nested (the inner agent
counts), entered again, and open in several threads and tasks at once.
"""

import functools
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

from recollect.client import current
from recollect.client.intercept import patch
from recollect.client.recall import within
from recollect.client.remote import Remote
from recollect.client.session import Session, Wish
from recollect.client.waiting import seen_through
from recollect.errors import AlreadyExists, InvalidInput, NotFound

F = TypeVar("F", bound=Callable[..., Any])


ENTER_WITHIN_S = 5.0


class Learning:
    """What `recollect.learning` returns: enter it, or put it above a function."""

    def __init__(self, connect: Callable[[], tuple[Any, bool]], wish: Wish) -> None:
        self._connect = connect  # gives the memory, and whether it is ours to close
        self._wish = wish
        self._entered: list[Session] = []

    def __enter__(self) -> "Learning":
        self._opened(*self._reached())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left()()

    async def __aenter__(self) -> "Learning":
        reached: list[tuple[Any, Callable[[], None]]] = []
        try:
            await seen_through(lambda: reached.append(self._reached()))
            await checkpoint()  # where a caller in a cancelled scope is told so
        except BaseException:
            for _, close in reached:
                close()
            raise
        self._opened(*reached[0])
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await seen_through(self._left())

    def __call__(self, function: F) -> F:
        """Let every call of *function* be a block of its own."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidInput(
                f"{function.__name__} is a generator, which runs in pieces; "
                "write `with learning(…):` inside of it"
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: Any, **named: Any) -> Any:
                async with Learning(self._connect, self._wish):
                    return await function(*args, **named)

            return run_async  # type: ignore[return-value]

        async def awaited(result: Awaitable[Any]) -> Any:
            async with Learning(self._connect, self._wish):
                return await result

        @functools.wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            with Learning(self._connect, self._wish):
                result = function(*args, **named)
            # What is only awaited later runs later, and has its block then.
            return awaited(result) if inspect.isawaitable(result) else result

        return run  # type: ignore[return-value]

    def _reached(self) -> tuple[Any, Callable[[], None]]:
        """Return the memory, with the agent in it, or raise why it cannot be used."""
        memory, ours = self._connect()
        close: Callable[[], None] = memory.close if ours else _nothing
        try:
            with current.outside():
                _ensure(within(memory, ENTER_WITHIN_S), self._wish.agent)
        except BaseException:
            close()
            raise
        return memory, close

    def _opened(self, memory: Any, close: Callable[[], None]) -> None:
        session = Session(memory, self._wish, current.current(), at_the_end=close)
        patch.install()
        current.enter(session)
        self._entered.append(session)

    def _left(self) -> Callable[[], None]:
        """Leave the innermost block of this context; return what is left to do, which may wait."""
        here = current.current()
        session = here if here in self._entered else self._entered[-1]
        self._entered.remove(session)
        session.leave()
        current.leave(session)
        patch.uninstall()
        return session.close


def _ensure(memory: Any, agent: str) -> None:
    if isinstance(memory, Remote):
        memory.health()
    try:
        memory.agent(agent)
    except NotFound:
        with suppress(AlreadyExists):  # somebody else may just have made it
            memory.create_agent(agent, default_blocks=False)


def _nothing() -> None:
    """Leave a memory open that is not ours."""
