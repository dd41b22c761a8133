"""Memory and conversations of pydantic-ai in Recollect, with the real package."""

import asyncio
from pathlib import Path

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from doc_examples import reader_environment, run_framework_page
from learning_checks import memory_was_injected, texts_of_all_agents
from recollect import LocalRecollect, learning
from recollect.integrations.pydantic_ai import RecollectConversationStore, RecollectMemory
from vendor_server import VendorServer, default_text

pytestmark = pytest.mark.vendor


def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer with the number of messages and what the model was told."""
    return ModelResponse(parts=[TextPart(f"{len(messages)} {info.instructions or ''}".strip())])


async def use_store(store: ConversationStore) -> list[object]:
    """Run one story on a store; return what can be compared with another store's."""
    agent = Agent(FunctionModel(echo))
    outcomes: list[object] = [await store.load("c1")]
    for prompt in ("one", "two", "three"):
        conversation = await store.load("c1") or Conversation(conversation_id="c1")
        result = await agent.run(prompt, conversation=conversation)
        await store.save(result, scope="alice")
        outcomes.append(result.output)
    loaded = await store.load("c1")
    stale = await store.load("c1")
    assert loaded is not None
    assert stale is not None
    outcomes += [loaded.messages and len(loaded.messages), loaded.usage.requests]
    outcomes.append(await store.load("c1", scope="bob"))
    fork = await store.fork("c1", at=2, new_conversation_id="c2")
    outcomes.append(len(fork.messages))
    branched = await store.branch("c1", at=4, expected_revision=loaded.revision)
    again = await agent.run("instead", conversation=branched)
    await store.save(again)
    outcomes.append(len((await store.load("c1")).messages))
    late = await agent.run("late", conversation=stale)
    with pytest.raises(ConversationConflict):
        await store.save(late)
    records = await store.read_records(scope="alice")
    outcomes += [[record.conversation_id for record in records], len(records[0].branches)]
    record = await store.read_record("c1")
    assert record is not None
    with pytest.raises(ConversationConflict):
        await store.delete_record("c1", expected_revision="other")
    await store.delete_record("c1", expected_revision=record.revision)
    outcomes += [await store.load("c1"), len((await store.load("c2")).messages)]
    return outcomes


def test_a_conversation_store_does_what_the_packages_own_does(rec: LocalRecollect) -> None:
    ours = asyncio.run(use_store(RecollectConversationStore(rec)))
    theirs = asyncio.run(use_store(InMemoryConversationStore()))

    assert ours == theirs
    # What no other conversation shares went with the deleted one; the fork has its two.
    assert len(rec.documents.search(("pydantic-ai", "pydantic-ai", "entries"))) == 2


def test_messages_come_back_equal_and_are_found(rec: LocalRecollect) -> None:
    async def scene() -> None:
        store = RecollectConversationStore(rec)
        agent = Agent(FunctionModel(echo))
        result = await agent.run("My dog is called Rex.", conversation=Conversation())
        await store.save(result)
        loaded = await RecollectConversationStore(rec).load(result.conversation_id)
        assert loaded is not None
        assert loaded.messages == result.all_messages()

    asyncio.run(scene())

    [hit, *_] = rec.documents.search(("pydantic-ai", "pydantic-ai", "entries"), "dog Rex")
    assert hit.document.text == "My dog is called Rex."


def test_an_agent_is_told_what_it_heard_in_another_process(tmp_path: Path) -> None:
    run_framework_page("pydantic-ai.md", tmp_path, reader_environment(tmp_path))

    async def ask(memory: RecollectMemory) -> str:
        agent = Agent(FunctionModel(echo), capabilities=[memory])
        result = await agent.run("What is my dog called?")
        return str(result.output)

    silent = RecollectMemory(tmp_path / "memory.db", agent="helper", record=False)
    stranger = RecollectMemory(tmp_path / "memory.db", agent="stranger", record=False)
    assert "My dog is called Rex." in asyncio.run(ask(silent))
    assert "Rex" not in asyncio.run(ask(stranger))
    silent.close()
    stranger.close()


def test_inside_learning_a_run_gets_memory_and_is_stored_once(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    rec.agents.create("helper")
    rec.ingest("My dog Rex is a terrier.", agent="helper", scope="agent")
    silent = RecollectMemory(rec, agent="helper", record=False)

    async def scene() -> None:
        async with AsyncOpenAI(base_url=vendor.openai_url, api_key="test") as client:
            model = OpenAIChatModel("gpt-test", provider=OpenAIProvider(openai_client=client))
            memory = RecollectMemory(rec, agent="helper")
            await Agent(model, capabilities=[memory]).run("Where is Rex?")
            await Agent(model, capabilities=[silent]).run("Is Rex a dog?")  # learning() records it

    with learning(agent="helper", memory=rec):
        asyncio.run(scene())

    assert memory_was_injected(vendor) == [True, True]
    assert texts_of_all_agents(rec) == sorted(
        text
        for query in ("Where is Rex?", "Is Rex a dog?")
        for text in (query, default_text(query))
    )
