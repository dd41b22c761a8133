"""
`with learning(agent="…")`: calls of model clients inside the block use an agent's memory.

The object is a sync and async context manager and a decorator. Each entry opens a session: one
conversation of the agent, which ends with the block. Blocks can be nested (the innermost agent
applies), entered again, and open in several threads and tasks at once.

A block fails open: if the memory is unavailable, one warning is logged and the caller's code runs
without memory. `client/circuit_breaker.py` keeps later blocks from paying for the same outage.
"""

import functools
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

from recollect.client import current_session as sessions
from recollect.client.circuit_breaker import CircuitBreaker, breaker_of
from recollect.client.intercept import patch_clients
from recollect.client.recall import with_timeout
from recollect.client.remote import RemoteRecollect
from recollect.client.run_blocking import run_to_completion
from recollect.client.session import LearningOptions, LearningSession
from recollect.client.suppress_errors import log
from recollect.errors import AlreadyExists, InvalidInput, NotFound, ServerUnavailable
from recollect.lazy_dataclass import dataclass

F = TypeVar("F", bound=Callable[..., Any])

ENTER_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class MemorySource:
    """Where the memory of a block comes from."""

    name: str  # the URL of the server, or the path of the store
    memory: Any = None  # None: `open_store` opens it
    open_store: Callable[[], Any] | None = None
    close_at_end: bool = True


class Learning:
    """The result of `recollect.learning`: a context manager and a decorator."""

    def __init__(self, find_source: Callable[[], MemorySource], options: LearningOptions) -> None:
        self._find_source = find_source
        self._options = options
        self._sessions: list[LearningSession] = []

    def __enter__(self) -> "Learning":
        self._open_session(self._open_memory())
        return self

    def __exit__(self, *error: object) -> None:
        close = self._leave_session()
        close()

    async def __aenter__(self) -> "Learning":
        opened: list[_OpenMemory] = []
        try:
            await run_to_completion(lambda: opened.append(self._open_memory()))
            await checkpoint()  # raises here if the caller was cancelled
        except BaseException:
            for memory in opened:
                memory.close()
            raise
        self._open_session(opened[0])
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
                async with Learning(self._find_source, self._options):
                    return await function(*args, **kwargs)

            return run_async  # type: ignore[return-value]

        async def run_awaitable(result: Awaitable[Any]) -> Any:
            async with Learning(self._find_source, self._options):
                return await result

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with Learning(self._find_source, self._options):
                result = function(*args, **kwargs)
            # An awaitable result runs later, so it gets a block when it runs.
            return run_awaitable(result) if inspect.isawaitable(result) else result

        return run  # type: ignore[return-value]

    def _open_memory(self) -> "_OpenMemory":
        """Return the memory of a block; raise if it is unavailable and required."""
        source = self._find_source()
        breaker = breaker_of(source.name)
        if breaker.is_paused and not self._options.required:
            return _OpenMemory(source, breaker, source.memory)
        deadline_s = ENTER_TIMEOUT_S
        if not breaker.is_healthy and not self._options.required:
            deadline_s = min(deadline_s, self._options.timeout_s)
        entry = _MemoryOpener(source, self._options.agent, deadline_s)
        error = entry.run()
        if error is None:
            breaker.end_outage()
            return _OpenMemory(source, breaker, entry.memory)
        if self._options.required or isinstance(error, InvalidInput):
            entry.close()
            raise error
        breaker.pause()
        breaker.begin_outage(is_gone=True)
        if breaker.claim_warning():
            log.warning(
                "%s: the memory is not available, and calls continue without it: %s. "
                "Use learning(…, required=True) to get an error instead",
                self._options.agent,
                str(error).rstrip("."),
            )
        log.debug("the memory is not available", exc_info=error)
        return _OpenMemory(source, breaker, entry.memory)

    def _open_session(self, opened: "_OpenMemory") -> None:
        session = LearningSession(
            opened.memory,
            self._options,
            sessions.current_session(),
            breaker=opened.breaker,
            on_close=opened.close,
        )
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


class _OpenMemory:
    """The memory of one block, None if the store cannot be opened, and how to close it."""

    def __init__(self, source: MemorySource, breaker: CircuitBreaker, memory: Any) -> None:
        self.breaker = breaker
        self.memory = memory
        self._close_at_end = source.close_at_end

    def close(self) -> None:
        """Close the memory, unless the caller of `learning()` opened it."""
        if self._close_at_end and self.memory is not None:
            self.memory.close()


class _MemoryOpener:
    """
    Opens the memory of a block and creates its agent, within a deadline.

    It runs in a thread, because a store whose file is locked, and a server that sends a byte now
    and then, would exceed any timeout of a single request.
    """

    def __init__(self, source: MemorySource, agent: str, deadline_s: float) -> None:
        self.memory = source.memory
        self._source = source
        self._agent = agent
        self._deadline_s = deadline_s
        self._error: Exception | None = None
        self._lock = threading.Lock()
        self._is_late = False

    def run(self) -> Exception | None:
        """Return None if the memory is available, else the error."""
        thread = threading.Thread(target=self._open, name="recollect-entry", daemon=True)
        with sessions.no_session():
            thread.start()
        try:
            thread.join(self._deadline_s)
        finally:
            with self._lock:
                self._is_late = thread.is_alive()
        if self._is_late:
            return ServerUnavailable(
                f"the memory {self._source.name} did not respond within {self._deadline_s:g} s; "
                "it may be busy or locked by another program"
            )
        return self._error

    def close(self) -> None:
        """Close a memory that was opened for the block."""
        if self._source.close_at_end and self.memory is not None:
            self.memory.close()

    def _open(self) -> None:
        try:
            memory = self._source.memory
            if memory is None and self._source.open_store is not None:
                memory = self._source.open_store()
                with self._lock:
                    if not self._is_late:
                        self.memory = memory
                if self.memory is None:
                    memory.close()  # nobody waits for it any more
                    return
            _ensure_agent(with_timeout(memory, self._deadline_s), self._agent)
        except Exception as error:  # whatever it is, it must not reach the caller's code
            self._error = error
