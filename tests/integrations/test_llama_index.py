"""A memory block of LlamaIndex in Recollect, with the real package."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

from doc_examples import reader_environment, run_framework_page
from learning_checks import texts_of_all_agents
from recollect import LocalRecollect, learning
from recollect.integrations.llama_index import RecollectMemoryBlock
from vendor_calls import ask_chat, openai_client
from vendor_server import VendorServer, default_text

pytestmark = pytest.mark.vendor

QUESTION = ChatMessage(role="user", content="What is my dog called?")


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


@asynccontextmanager
async def short_term_memory(
    block: RecollectMemoryBlock, session: str, **options: Any
) -> AsyncIterator[Any]:
    """A memory of LlamaIndex with a block; its own store is closed with it."""
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    yield Memory.from_defaults(
        session_id=session, memory_blocks=[block], async_engine=engine, **options
    )
    await engine.dispose()


async def told(block: RecollectMemoryBlock, *, session: str) -> str:
    """Return what a memory tells the model besides the question."""
    async with short_term_memory(block, session) as memory:
        await memory.aput(QUESTION)
        messages = await memory.aget()
    return "\n".join(m.content or "" for m in messages if m.role is MessageRole.SYSTEM)


def test_what_leaves_the_short_term_memory_is_remembered(rec: LocalRecollect) -> None:
    async def scene() -> None:
        block = RecollectMemoryBlock(rec, agent="helper")
        async with short_term_memory(block, "s1", token_limit=60, token_flush_size=20) as memory:
            trains = (f"The train number {n} is late." for n in range(12))
            for text in ("My dog is called Rex.", *trains):
                await memory.aput(user(text))
                await memory.aput(ChatMessage(role="assistant", content="I see."))

        talk = rec.conversations.find("s1", agent="helper")
        assert talk is not None
        stored = rec.conversations.messages(talk)
        assert stored[0].content == "My dog is called Rex."
        assert stored[1].role == "assistant"
        assert "My dog is called Rex." in await told(block, session="s2")

    asyncio.run(scene())


def test_a_block_tells_what_its_agent_knows_and_nothing_that_is_in_sight(
    rec: LocalRecollect,
) -> None:
    async def scene() -> None:
        block = RecollectMemoryBlock(rec, agent="helper")
        assert await told(block, session="s1") == "", "nothing is known yet"
        await block.aput([user("My dog is called Rex.")], session_id="s1")

        assert "Rex" in await told(block, session="s2")
        assert "Rex" not in await told(RecollectMemoryBlock(rec, agent="stranger"), session="s3")
        in_sight = [user("My dog is called Rex."), QUESTION]
        assert "Rex" not in await block.aget(in_sight)
        assert await block.aget([]) == ""

    asyncio.run(scene())


def test_a_block_is_compiled_again_within_fewer_tokens(rec: LocalRecollect) -> None:
    async def scene() -> None:
        block = RecollectMemoryBlock(rec, agent="helper", priority=1)
        await block.aput([user(f"My dog Rex number {n} likes the park.") for n in range(9)])
        whole = await block.aget([user("What does my dog Rex like?")])
        for number in range(50):  # other sessions use the block too
            await block.aget([user(f"Rex and the park, number {number}?")])

        shorter = await block.atruncate(whole, 60)

        assert shorter is not None
        assert "Rex" in shorter
        count = rec.models.count_tokens
        assert count(shorter) <= count(whole) - 60
        assert await block.atruncate(whole, count(whole)) is None
        assert await block.atruncate("another text", 1) is None

    asyncio.run(scene())


def test_a_message_is_stored_whole(rec: LocalRecollect) -> None:
    blocks = [TextBlock(text="Look:"), ImageBlock(url="https://example.org/a.png")]
    message = ChatMessage(role="user", blocks=blocks, additional_kwargs={"id": 7})

    asyncio.run(RecollectMemoryBlock(rec, agent="helper").aput([message], session_id="s1"))

    talk = rec.conversations.find("s1", agent="helper")
    assert talk is not None
    [stored] = rec.conversations.messages(talk)
    assert stored.content == "Look:"
    assert ChatMessage.model_validate(stored.payload) == message


def test_an_agent_remembers_across_processes(tmp_path: Path) -> None:
    env = reader_environment(tmp_path)
    run_framework_page("llama-index.md", tmp_path, env, ignored="DeprecationWarning")

    block = RecollectMemoryBlock(tmp_path / "memory.db", agent="helper", name="known")
    text = asyncio.run(told(block, session="thread-3"))
    block.close()

    assert "<known>" in text
    assert "My dog is called Rex." in text


def test_inside_learning_what_a_block_stores_is_not_stored_again(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    async def scene() -> None:
        block = RecollectMemoryBlock(rec, agent="helper")
        answer = ask_chat(client, "Where is Rex?").choices[0].message.content
        ask_chat(client, "Is Rex a dog?")  # still in the short-term memory when the block ends
        await block.aput(
            [user("Where is Rex?"), ChatMessage(role="assistant", content=answer)], session_id="s1"
        )

    with openai_client(vendor) as client, learning(agent="helper", memory=rec):
        asyncio.run(scene())

    assert texts_of_all_agents(rec) == sorted(
        text
        for query in ("Where is Rex?", "Is Rex a dog?")
        for text in (query, default_text(query))
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of llama-index-workflows
def test_a_real_agent_is_told_what_it_heard_in_another_session(rec: LocalRecollect) -> None:
    prompts: list[list[ChatMessage]] = []

    def answer(messages: list[ChatMessage], **_: Any) -> ChatMessage:
        """Call the tool once in each session, then answer."""
        prompts.append(list(messages))
        if messages[-1].role is MessageRole.TOOL:
            return ChatMessage(role="assistant", content=f"So: {messages[-1].content}")
        call = ToolCallBlock(tool_call_id=f"c{len(prompts)}", tool_name="look", tool_kwargs={})
        return ChatMessage(role="assistant", blocks=[call])

    def look() -> str:
        """Look around."""
        return "A park."

    async def scene() -> list[str]:
        block = RecollectMemoryBlock(rec, agent="helper")
        answers = []
        for session, text in (("s1", "My dog is called Rex."), ("s2", "What is my dog called?")):
            async with short_term_memory(block, session) as memory:
                llm = MockFunctionCallingLLM(response_generator=answer)
                agent = FunctionAgent(llm=llm, tools=[look], system_prompt="Be brief.")
                answers.append(str(await agent.run(text, memory=memory)))
                await block.aput(await memory.aget_all(), session_id=session)
        return answers

    assert asyncio.run(scene()) == ["So: A park."] * 2
    first, *_, last = [str([message.content for message in prompt]) for prompt in prompts]
    assert "Rex" in first
    assert last.count("My dog is called Rex.") == 1  # said in the other session
    talk = rec.conversations.find("s1", agent="helper")
    assert talk is not None
    stored = [(message.role.value, message.content) for message in rec.conversations.messages(talk)]
    assert ("user", "My dog is called Rex.") in stored
    assert ("tool", "A park.") in stored
    assert stored[-1] == ("assistant", "So: A park.")
