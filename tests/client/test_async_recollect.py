"""The asynchronous API: the same verbs, in threads, with the signatures that editors show."""

import ast
import asyncio
import inspect
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect import AsyncRecollect, LocalRecollect, NotFound, Recollect
from recollect.api.agent_tools import AgentTools
from recollect.api.verb_group import VerbGroup
from recollect.client.async_recollect import AsyncVerbGroup  # type: ignore[attr-defined]
from scripts.generate_async_stub import STUB, generate_stub
from support import open_memory


def test_verbs_and_nouns_are_awaited_and_give_what_the_others_give(path: Path) -> None:
    async def scene() -> None:
        async with AsyncRecollect(lambda: open_memory(path)) as rec:
            memory = await rec.ingest("Answers should be short.", scope="global")
            hits = await rec.search("how long should answers be?")
            talk = await rec.conversations.start(agent="anna", key="thread-1")
            await asyncio.gather(
                *(rec.conversations.append(talk, "user", f"message {n}") for n in range(20))
            )
            messages = await rec.conversations.messages(talk)
            with pytest.raises(NotFound):
                await rec.memories.get("nothing")

        assert [hit.memory.id for hit in hits] == [memory.id]
        assert sorted(message.position for message in messages) == list(range(20))

    asyncio.run(scene())


def test_a_store_that_was_never_used_is_not_opened(tmp_path: Path) -> None:
    async def scene() -> None:
        await recollect.aopen(tmp_path / "never.db").close()

    asyncio.run(scene())

    assert not (tmp_path / "never.db").exists()


def test_the_loop_runs_while_a_verb_waits(rec: LocalRecollect) -> None:
    async def scene() -> int:
        shared, steps, searching = AsyncRecollect(lambda: rec), 0, True

        async def count() -> None:
            nonlocal steps
            while searching:
                steps += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        await shared.search("anything at all?")
        searching = False
        await counting
        return steps

    assert asyncio.run(scene()) > 1


def test_the_tools_of_an_agent_are_awaited_too(rec: LocalRecollect) -> None:
    async def scene() -> None:
        tools = await AsyncRecollect(lambda: rec).agents.tools("anna")
        names = [schema["name"] for schema in await tools.schemas("mcp")]
        stored = tools.call("archival_memory_insert", '{"content": "The boat is called Alba."}')
        assert inspect.iscoroutine(stored), "the call must not block the event loop"
        await stored
        found = await tools.archival_memory_search("boat")

        assert tuple(names) == tools.NAMES == AgentTools.NAMES
        assert [passage["content"] for passage in found["results"]] == ["The boat is called Alba."]

    rec.agents.create("anna")
    asyncio.run(scene())


def test_a_cancelled_stream_ends_at_once_and_is_closed_when_its_event_is_there() -> None:
    may_go_on, is_closed = threading.Event(), threading.Event()

    class SlowAgents(VerbGroup):
        def stream(self) -> Iterator[int]:
            try:
                yield 1
                may_go_on.wait(10)
                yield 2
            finally:
                is_closed.set()

    agents = SlowAgents(None)  # type: ignore[arg-type]
    events: list[int] = []

    async def scene() -> None:
        nonlocal events
        stream = AsyncVerbGroup(lambda: agents, "agents", SlowAgents).stream()
        async with asyncio.timeout(0.2):
            async for event in stream:
                events += [event]

    with pytest.raises(TimeoutError):
        asyncio.run(scene())
    assert not is_closed.is_set()
    may_go_on.set()

    assert is_closed.wait(10)
    assert events == [1]


def test_a_stream_that_fails_is_closed_without_another_thread() -> None:
    closed_in: list[str] = []

    class FailingEvents:
        def __iter__(self) -> Iterator[int]:
            return self

        def __next__(self) -> int:
            raise NotFound("the run is gone")

        def close(self) -> None:
            closed_in.append(threading.current_thread().name)

    class FailingAgents(VerbGroup):
        def stream(self) -> Iterator[int]:
            return FailingEvents()

    agents = FailingAgents(None)  # type: ignore[arg-type]

    async def scene() -> None:
        async for _ in AsyncVerbGroup(lambda: agents, "agents", FailingAgents).stream():
            pass

    with pytest.raises(NotFound, match="the run is gone"):
        asyncio.run(scene())
    assert len(closed_in) == 1
    assert "recollect-closing" not in closed_in


def test_a_stream_that_is_left_is_closed() -> None:
    is_closed = threading.Event()

    class EndlessAgents(VerbGroup):
        def stream(self) -> Iterator[int]:
            try:
                while True:
                    yield 1
            finally:
                is_closed.set()

    agents = EndlessAgents(None)  # type: ignore[arg-type]

    async def scene() -> None:
        stream = AsyncVerbGroup(lambda: agents, "agents", EndlessAgents).stream()
        assert await anext(stream) == 1
        await stream.aclose()

        assert is_closed.is_set()

    asyncio.run(scene())


def test_an_attribute_that_no_store_has_is_refused_and_the_others_are_listed() -> None:
    rec = recollect.aopen(":memory:")

    with pytest.raises(AttributeError, match="no verb or noun 'serach'"):
        rec.serach  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="blocks has no verb 'put'"):
        rec.blocks.put  # type: ignore[attr-defined]  # noqa: B018
    assert {"search", "conversations"} <= set(dir(rec))
    assert "append_many" in dir(rec.conversations)
    searched = inspect.signature(rec.search)
    assert list(searched.parameters) == list(inspect.signature(Recollect.search).parameters)[1:]


def test_the_signatures_for_editors_are_those_of_the_verbs() -> None:
    def classes(text: str) -> list[str]:
        return [ast.dump(node) for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]

    assert classes(STUB.read_text(encoding="utf-8")) == classes(generate_stub()), (
        "run python scripts/generate_reference.py"
    )
