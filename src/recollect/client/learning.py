"""
`with learning(agent="…")`: calls to OpenAI and Anthropic inside the block have a memory.

The same object is a context manager, sync and async, and a decorator. Every entry is a session of
its own: a conversation of the agent, ended with the block. Blocks may be nested (the inner agent
counts), entered again, and open in several threads and tasks at once.
"""

import functools
import inspect
from collections.abc import Callable
from contextlib import suppress
from contextvars import Token
from types import TracebackType
from typing import Any, TypeVar

from anyio import to_thread

from recollect.client import current
from recollect.client.intercept import patch
from recollect.client.session import Session, Wish
from recollect.errors import AlreadyExists, InvalidInput, NotFound

F = TypeVar("F", bound=Callable[..., Any])


class Learning:
    """What `recollect.learning` returns: enter it, or put it above a function."""

    def __init__(self, connect: Callable[[], tuple[Any, bool]], wish: Wish) -> None:
        self._connect = connect  # gives the memory, and whether it is ours to close
        self._wish = wish
        self._entered: list[tuple[Session, Token[Any]]] = []

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
        self._opened(*await to_thread.run_sync(self._reached))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await to_thread.run_sync(self._left())

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

        @functools.wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            with Learning(self._connect, self._wish):
                return function(*args, **named)

        return run  # type: ignore[return-value]

    def _reached(self) -> tuple[Any, Callable[[], None]]:
        """Return the memory, with the agent in it, or raise why it cannot be used."""
        memory, ours = self._connect()
        close: Callable[[], None] = memory.close if ours else _nothing
        try:
            with current.outside():
                _ensure(memory, self._wish.agent)
        except BaseException:
            close()
            raise
        return memory, close

    def _opened(self, memory: Any, close: Callable[[], None]) -> None:
        session = Session(memory, self._wish, current.current(), at_the_end=close)
        patch.install()
        self._entered.append((session, current.enter(session)))

    def _left(self) -> Callable[[], None]:
        """Leave the innermost block of this context; return what is left to do, which may wait."""
        here = current.current()
        at = next(
            (i for i, entered in enumerate(self._entered) if entered[0] is here),
            len(self._entered) - 1,
        )
        session, token = self._entered.pop(at)
        current.leave(session, token)
        session.leave()
        patch.uninstall()
        return session.close


def _ensure(memory: Any, agent: str) -> None:
    try:
        memory.agent(agent)
    except NotFound:
        with suppress(AlreadyExists):  # somebody else may just have made it
            memory.create_agent(agent, default_blocks=False)


def _nothing() -> None:
    """Leave a memory open that is not ours."""
