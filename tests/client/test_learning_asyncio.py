"""`learning()` and asyncio: cancellation, many tasks, worker threads, abandoned tasks."""

import asyncio
import contextlib
import functools
import gc
import threading
import time
import warnings
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import pytest
from anyio import from_thread, to_thread

from fault_proxy import FaultProxy, forward_after, never_answer, wait_until
from learning_checks import memory_was_injected, stored_messages, user_texts
from recollect import LocalRecollect, learning
from vendor_calls import ask_chat, make_async_client, openai_client
from vendor_server import ScriptedResponse, VendorServer, default_text

pytestmark = pytest.mark.vendor


def test_a_call_cancelled_while_memory_is_asked_is_cancelled_at_once(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    async def scene() -> float:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", server_url=proxy.url, timeout_s=60, flush_s=1),
        ):
            proxy.set_behavior(never_answer, only="context")
            task = asyncio.create_task(ask_chat(client, "Hello?"))
            while not any("context" in one for one in proxy.requests):
                await asyncio.sleep(0.01)
            start = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - start

    assert asyncio.run(scene()) < 20
    assert vendor.requests == []
    assert user_texts(two_agents, "anna") == []


def test_a_call_with_a_deadline_of_its_own_keeps_it_while_memory_hangs(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    async def scene() -> None:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", server_url=proxy.url, timeout_s=60, flush_s=1),
        ):
            proxy.set_behavior(never_answer, only="context")
            start = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await ask_chat(client, "Hello?")
            assert time.monotonic() - start < 20

    asyncio.run(scene())


def test_fifty_calls_at_once_are_all_told_and_all_kept(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    async def scene() -> list[Any]:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", server_url=proxy.url, timeout_s=60, flush_s=60),
        ):
            return list(await asyncio.gather(*(ask_chat(client, f"{n}") for n in range(50))))

    replies = asyncio.run(scene())

    assert [one.choices[0].message.content for one in replies] == [
        default_text(f"{n}") for n in range(50)
    ]
    assert all(memory_was_injected(vendor))
    assert sorted(user_texts(two_agents, "anna"), key=int) == [f"{n}" for n in range(50)]


def test_fifty_calls_at_once_wait_for_a_memory_that_hangs_once_not_one_after_the_other(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    async def scene() -> float:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", server_url=proxy.url, timeout_s=3, flush_s=0.1),
        ):
            proxy.set_behavior(never_answer)
            start = time.monotonic()
            await asyncio.gather(*(ask_chat(client, f"{n}") for n in range(50)))
            return time.monotonic() - start

    assert asyncio.run(scene()) < 3 + 12, "even eight at a time would take 21 s"


def test_the_event_loop_goes_on_while_memory_is_asked(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    async def scene() -> int:
        beats = 0
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", server_url=proxy.url, timeout_s=20, flush_s=0.1),
        ):
            proxy.set_behavior(never_answer)
            task = asyncio.create_task(ask_chat(client, "Hello?"))
            while not task.done() and beats < 10:
                await asyncio.sleep(0.02)
                beats += any("context" in one for one in proxy.requests)
            proxy.ended.set()
            await task
        return beats

    assert asyncio.run(scene()) == 10


def test_tasks_of_a_group_belong_to_the_block(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    async def scene() -> None:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", memory=two_agents),
            asyncio.TaskGroup() as group,
        ):
            for n in range(5):
                group.create_task(ask_chat(client, f"{n}"))

    asyncio.run(scene())
    assert sorted(user_texts(two_agents, "anna")) == [f"{n}" for n in range(5)]


def test_a_task_that_outlives_the_block_goes_on_without_memory(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    async def scene() -> None:
        over = asyncio.Event()

        async def later(client: Any) -> Any:
            await over.wait()
            return await ask_chat(client, "after")

        async with make_async_client("chat", vendor) as client:
            async with learning(agent="anna", memory=two_agents):
                task = asyncio.create_task(later(client))
                await ask_chat(client, "inside")
            over.set()
            assert (await task).choices[0].message.content == default_text("after")

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["inside"]
    assert memory_was_injected(vendor) == [True, False]


def test_a_call_under_way_when_the_block_ends_gets_its_answer(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    vendor.script(ScriptedResponse(text="Late.", hold_after=0))

    async def scene() -> str:
        async with make_async_client("chat", vendor) as client:
            async with learning(agent="anna", memory=two_agents):
                task = asyncio.create_task(ask_chat(client, "Hello?"))
                await to_thread.run_sync(vendor.wait_for_requests, 1)
            vendor.release()
            return str((await task).choices[0].message.content)

    assert asyncio.run(scene()) == "Late."


def test_a_block_entered_in_one_task_may_be_left_in_another(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    async def scene() -> None:
        block = learning(agent="anna", memory=two_agents)
        async with make_async_client("chat", vendor) as client:
            await asyncio.create_task(block.__aenter__())
            await ask_chat(client, "not inside: the task that entered is over")
            await asyncio.create_task(block.__aexit__(None, None, None))
            await ask_chat(client, "after")

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == []


@pytest.mark.parametrize("way", ["to_thread", "executor", "anyio"])
def test_work_handed_to_worker_threads_belongs_to_the_block(
    vendor: VendorServer, two_agents: LocalRecollect, way: str
) -> None:
    async def scene() -> None:
        with openai_client(vendor) as client:
            async with learning(agent="anna", memory=two_agents):
                ask = functools.partial(ask_chat, client, "inside")
                if way == "to_thread":
                    await asyncio.to_thread(ask)
                elif way == "executor":
                    await asyncio.get_running_loop().run_in_executor(None, ask)
                else:
                    await to_thread.run_sync(ask)
            await asyncio.to_thread(ask_chat, client, "after")
            await asyncio.get_running_loop().run_in_executor(None, ask_chat, client, "after")
            await to_thread.run_sync(ask_chat, client, "after")

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["inside"]
    assert memory_was_injected(vendor) == [True, False, False, False]


@pytest.mark.parametrize("way", ["to_thread", "executor", "anyio"])
def test_other_requests_of_a_web_server_are_not_heard_on_threads_first_started_in_a_block(
    vendor: VendorServer, two_agents: LocalRecollect, way: str
) -> None:
    async def off_thread(ask: Any) -> None:
        if way == "to_thread":
            await asyncio.to_thread(ask)
        elif way == "executor":
            await asyncio.get_running_loop().run_in_executor(None, ask)
        else:
            await to_thread.run_sync(ask)

    async def scene() -> None:
        inside, other_done = asyncio.Event(), asyncio.Event()

        async def with_memory(client: Any) -> None:
            async with learning(agent="anna", memory=two_agents):
                await off_thread(functools.partial(ask_chat, client, "mine"))
                inside.set()
                await other_done.wait()

        async def without(client: Any) -> None:
            await inside.wait()
            for _ in range(5):
                await off_thread(functools.partial(ask_chat, client, "private"))
            other_done.set()

        with openai_client(vendor) as client:
            await asyncio.gather(with_memory(client), without(client))

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["mine"]
    assert memory_was_injected(vendor) == [True, *[False] * 5]


def test_a_call_needs_no_worker_thread_of_the_callers(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    """A web server's sync routes wait on its worker threads for calls that are made in the loop."""

    async def scene() -> None:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", memory=two_agents),
        ):

            async def ask() -> None:
                await ask_chat(client, "Hello?")

            to_thread.current_default_thread_limiter().total_tokens = 1
            try:
                with anyio.fail_after(60):
                    await to_thread.run_sync(from_thread.run, ask, abandon_on_cancel=True)
            finally:
                to_thread.current_default_thread_limiter().total_tokens = 40

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_an_async_generator_may_hold_a_block(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    async def answers(client: Any) -> AsyncIterator[str]:
        async with learning(agent="anna", memory=two_agents):
            for n in range(3):
                yield (await ask_chat(client, f"{n}")).choices[0].message.content

    async def scene() -> None:
        async with make_async_client("chat", vendor) as client:
            assert [one async for one in answers(client)] == [
                default_text(f"{n}") for n in range(3)
            ]
            begun = answers(client)
            await anext(begun)
            await begun.aclose()  # type: ignore[attr-defined]
            await ask_chat(client, "after")

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["0", "1", "2", "0"]
    assert memory_was_injected(vendor)[-1] is False


def test_an_async_generator_closed_by_another_task_ends_its_block(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    async def answers(client: Any) -> AsyncIterator[Any]:
        async with learning(agent="anna", memory=two_agents):
            while True:
                yield await ask_chat(client, "inside")

    async def scene() -> None:
        async with make_async_client("chat", vendor) as client:
            begun = answers(client)
            await anext(begun)
            await asyncio.create_task(begun.aclose())  # type: ignore[attr-defined]
            await ask_chat(client, "after")

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["inside"]


def test_a_cancelled_entry_leaves_nothing_open(proxy: FaultProxy) -> None:
    async def scene() -> None:
        proxy.set_behavior(forward_after(0.2))
        task = asyncio.create_task(learning(agent="anna", server_url=proxy.url).__aenter__())
        while not proxy.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # about what earlier tests left
        already = open_clients()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        asyncio.run(scene())
        assert wait_until(lambda: any("/agents" in one for one in proxy.requests))
        wait_until(lambda: not open_clients() - already)

    assert not open_clients() - already
    assert [str(one.message) for one in warned if one.category is ResourceWarning] == []


def open_clients() -> set[httpx2.Client]:
    gc.collect()
    every = [one for one in gc.get_objects() if type(one) is httpx2.Client]
    return {one for one in every if not one.is_closed}


@pytest.mark.parametrize("way", ["task", "scope"])
def test_a_block_left_while_its_task_is_cancelled_is_closed_as_any_other(
    vendor: VendorServer, two_agents: LocalRecollect, way: str
) -> None:
    async def cancelled_task() -> None:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent="anna", memory=two_agents),
        ):
            await ask_chat(client, "Hello?")
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

    async def cancelled_scope() -> None:
        with anyio.CancelScope() as scope:
            async with learning(agent="anna", memory=two_agents):
                async with make_async_client("chat", vendor) as client:
                    await ask_chat(client, "Hello?")
                scope.cancel()  # as a web server does when the browser is gone
                await anyio.sleep(1)

    async def scene() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.create_task(cancelled_task() if way == "task" else cancelled_scope())

    asyncio.run(scene())
    assert wait_until(
        lambda: any(one.ended_at for one in two_agents.conversations.list(agent="anna"))
    )
    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_a_coroutine_function_under_the_decorator_may_run_many_times_at_once(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    @learning(agent="anna", memory=two_agents)
    async def ask(client: Any, n: int) -> str:
        return str((await ask_chat(client, f"{n}")).choices[0].message.content)

    async def scene() -> list[str]:
        async with make_async_client("chat", vendor) as client:
            return list(await asyncio.gather(*(ask(client, n) for n in range(12))))

    assert asyncio.run(scene()) == [default_text(f"{n}") for n in range(12)]
    assert len(two_agents.conversations.list(agent="anna")) == 12
    assert sorted(user_texts(two_agents, "anna"), key=int) == [f"{n}" for n in range(12)]
    assert len(stored_messages(two_agents, "anna")) == 24
    assert wait_until(lambda: threading.active_count() < 60)
