"""The asynchronous API: the same verbs, in threads, with the signatures that editors show."""

import ast
import asyncio
import inspect
from pathlib import Path

import pytest

import recollect
from recollect import AsyncRecollect, LocalRecollect, NotFound, Recollect
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
