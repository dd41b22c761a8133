"""
`with learning(agent="…")`: calls to OpenAI and Anthropic inside the block use an agent's memory.

The object is a sync and async context manager and a decorator. Each entry opens a session: one
conversation of the agent, which ends with the block. Blocks can be nested (the innermost agent
applies), entered again, and open in several threads and tasks at once.
"""

import functools
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

from recollect.client import current_session as sessions
from recollect.client.intercept import patch_clients
from recollect.client.recall import with_timeout
from recollect.client.remote import RemoteRecollect
from recollect.client.run_blocking import run_to_completion
from recollect.client.session import LearningOptions, LearningSession
from recollect.errors import AlreadyExists, InvalidInput, NotFound

F = TypeVar("F", bound=Callable[..., Any])

ENTER_TIMEOUT_S = 5.0


class Learning:
    """The result of `recollect.learning`: a context manager and a decorator."""

    def __init__(self, connect: Callable[[], tuple[Any, bool]], options: LearningOptions) -> None:
        self._connect = connect  # returns the memory, and whether to close it at the end
        self._options = options
        self._sessions: list[LearningSession] = []

    def __enter__(self) -> "Learning":
        self._open_session(*self._open_memory())
        return self

    def __exit__(self, *error: object) -> None:
        close = self._leave_session()
        close()

    async def __aenter__(self) -> "Learning":
        opened: list[tuple[Any, Callable[[], None]]] = []
        try:
            await run_to_completion(lambda: opened.append(self._open_memory()))
            await checkpoint()  # raises here if the caller was cancelled
        except BaseException:
            for _, close in opened:
                close()
            raise
        self._open_session(*opened[0])
        return self

    async def __aexit__(self, *error: object) -> None:
        await run_to_completion(self._leave_session())

    def __call__(self, function: F) -> F:
        """Return *function* wrapped so that each call runs in a block."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidInput(
                f"{function.__name__} is a generator, which cannot be decorated; "
                "write `with learning(…):` inside of it"
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: Any, **kwargs: Any) -> Any:
                async with Learning(self._connect, self._options):
                    return await function(*args, **kwargs)

            return run_async  # type: ignore[return-value]

        async def run_awaitable(result: Awaitable[Any]) -> Any:
            async with Learning(self._connect, self._options):
                return await result

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with Learning(self._connect, self._options):
                result = function(*args, **kwargs)
            # An awaitable result runs later, so it gets a block when it runs.
            return run_awaitable(result) if inspect.isawaitable(result) else result

        return run  # type: ignore[return-value]

    def _open_memory(self) -> tuple[Any, Callable[[], None]]:
        """Return the memory, with the agent created if needed, and the function that closes it."""
        memory, close_at_end = self._connect()
        close: Callable[[], None] = memory.close if close_at_end else _leave_open
        try:
            with sessions.no_session():
                _ensure_agent(with_timeout(memory, ENTER_TIMEOUT_S), self._options.agent)
        except BaseException:
            close()
            raise
        return memory, close

    def _open_session(self, memory: Any, close: Callable[[], None]) -> None:
        session = LearningSession(memory, self._options, sessions.current_session(), on_close=close)
        patch_clients.install()
        sessions.enter_session(session)
        self._sessions.append(session)

    def _leave_session(self) -> Callable[[], None]:
        """Leave the innermost session of this context; return its `close`, which may block."""
        current = sessions.current_session()
        session = current if current in self._sessions else self._sessions[-1]
        self._sessions.remove(session)
        session.leave()
        sessions.leave_session(session)
        patch_clients.uninstall()
        return session.close


def _ensure_agent(memory: Any, agent: str) -> None:
    if isinstance(memory, RemoteRecollect):
        memory.health()
    try:
        memory.agents.get(agent)
    except NotFound:
        with suppress(AlreadyExists):  # another process may have created it just now
            memory.agents.create(agent, default_blocks=False)


def _leave_open() -> None:
    """Do not close a memory that the caller opened."""
