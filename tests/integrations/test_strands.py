"""A memory store of Strands Agents in Recollect, with the real package."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from strands import Agent
from strands.memory import MemoryManager
from strands.models import Model
from strands.models.openai import OpenAIModel

from doc_examples import reader_environment, run_framework_page
from learning_checks import memory_was_injected, texts_of_all_agents
from recollect import LocalRecollect, learning
from recollect.integrations.strands import RecollectMemoryStore
from support import candidates
from vendor_server import ScriptedResponse, VendorServer

pytestmark = pytest.mark.vendor

DOG = "My dog is called Rex."
QUESTION = "What is my dog called?"


class RepeatingModel(Model):  # type: ignore[misc]
    """Answers with everything that it was sent."""

    def update_config(self, **_: Any) -> None:
        """There is nothing to configure."""

    def get_config(self) -> dict[str, Any]:
        return {}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        events: tuple[Any, ...] = ()
        for event in events:
            yield event

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        texts = [block.get("text", "") for message in messages for block in message["content"]]
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "SENT " + " | ".join(texts)}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def ask(store: RecollectMemoryStore, text: str, model: Model | None = None) -> str:
    """Return what the model of an agent with this memory was sent."""

    async def run() -> str:
        manager = MemoryManager(stores=[store])
        agent = Agent(
            model=model or RepeatingModel(), memory_manager=manager, callback_handler=None
        )
        answer = str(await agent.invoke_async(text))
        await manager.flush()  # it saves in the background
        return answer

    return asyncio.run(run())


def said(text: str, role: str = "user") -> Any:
    return {"role": role, "content": [{"text": text}]}


def test_an_agent_remembers_what_was_said_in_another_session(rec: LocalRecollect) -> None:
    first = ask(RecollectMemoryStore(rec, agent="helper", session="s1"), DOG)
    later = ask(RecollectMemoryStore(rec, agent="helper"), QUESTION)
    stranger = ask(RecollectMemoryStore(rec, agent="stranger"), QUESTION)

    assert first == f"SENT {DOG}\n"
    assert DOG in later
    assert DOG not in stranger
    talk = rec.conversations.find("s1", agent="helper")
    assert talk is not None
    roles = [(m.role.value, m.content) for m in rec.conversations.messages(talk)]
    assert roles == [("user", DOG), ("assistant", f"SENT {DOG}")]


def test_a_session_goes_on_after_its_conversation_was_ended(rec: LocalRecollect) -> None:
    store = RecollectMemoryStore(rec, agent="helper", session="s", learn=False)
    for text in ("one", "two"):
        asyncio.run(store.add_messages([{"role": "user", "content": [{"text": text}]}]))
        [talk] = rec.conversations.list(agent="helper")
        rec.conversations.end(talk)

    assert [message.content for message in rec.conversations.messages(talk)] == ["one", "two"]


def test_candidates_are_made_from_what_the_user_said(rec: LocalRecollect) -> None:
    store = RecollectMemoryStore(rec, agent="helper")
    silent = RecollectMemoryStore(rec, agent="silent", learn=False)
    decision = "We decided to use PostgreSQL for the orders service."

    asyncio.run(store.add_messages([said(decision)]))
    asyncio.run(silent.add_messages([said("We decided to use Kafka for the events.")]))
    rec.drain()

    assert [memory.content for memory in candidates(rec)] == [decision]


def test_a_search_returns_memories_first_with_their_reasons(rec: LocalRecollect) -> None:
    async def scene() -> None:
        store = RecollectMemoryStore(rec, agent="helper", name="brain")
        assert await store.search(QUESTION) == []
        await store.add("Rex is a dog, a terrier.", {"ignored": 1})
        await store.add_messages([said(DOG), said("A nice name for a dog.", "assistant")])

        entries = await MemoryManager(stores=[store]).search("dog")

        assert [entry.content for entry in entries][:1] == ["Rex is a dog, a terrier."]
        assert {DOG, "A nice name for a dog."} <= {entry.content for entry in entries}
        assert entries[0].store_name == "brain"
        assert entries[0].metadata is not None
        assert entries[0].metadata.keys() == {"id", "author", "at", "score", "explanation"}
        assert len(await store.search("dog", {"max_search_results": 1})) == 1
        assert await store.search("") == []

    asyncio.run(scene())


def test_calls_of_tools_and_bytes_are_not_stored(rec: LocalRecollect) -> None:
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    call: Any = {"toolUse": {"toolUseId": "c1", "name": "look", "input": {}}}
    messages: Any = [
        {"role": "user", "content": [{"text": "What is this?"}, image]},
        {"role": "assistant", "content": [call]},
    ]

    asyncio.run(RecollectMemoryStore(rec, agent="a", session="s1").add_messages(messages))

    talk = rec.conversations.find("s1", agent="a")
    assert talk is not None
    [stored] = rec.conversations.messages(talk)
    assert stored.payload == {"role": "user", "content": [{"text": "What is this?"}]}


def test_a_store_that_is_not_writable_is_only_searched(rec: LocalRecollect) -> None:
    asyncio.run(RecollectMemoryStore(rec, agent="helper").add_messages([said(DOG)]))
    reader = RecollectMemoryStore(rec, agent="helper", writable=False, session="s2")

    assert DOG in ask(reader, QUESTION)

    assert rec.conversations.find("s2", agent="helper") is None


def test_an_agent_remembers_across_processes(vendor: VendorServer, tmp_path: Path) -> None:
    vendor.set_default(ScriptedResponse(text="Noted."))
    openai = {"OPENAI_BASE_URL": vendor.openai_url, "OPENAI_API_KEY": "test"}
    run_framework_page("strands.md", tmp_path, reader_environment(tmp_path, **openai))

    store = RecollectMemoryStore(tmp_path / "memory.db", agent="helper")
    answer = ask(store, QUESTION)
    store.close()

    assert DOG in answer


def test_inside_learning_a_run_gets_memory_and_is_stored_once(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    rec.agents.create("helper")
    rec.ingest("My dog Rex is a terrier.", agent="helper", scope="agent")
    options = {"base_url": vendor.openai_url, "api_key": "test"}
    model = OpenAIModel(client_args=options, model_id="gpt-test")
    store = RecollectMemoryStore(rec, agent="helper")
    reader = RecollectMemoryStore(rec, agent="helper", writable=False)

    with learning(agent="helper", memory=rec):
        ask(store, "Where is Rex?", model)
        ask(reader, "Is Rex a dog?", model)  # learning() records it

    assert memory_was_injected(vendor) == [True, True]
    recorded, question, *replies = texts_of_all_agents(rec)
    assert recorded.startswith("Is Rex a dog?")  # followed by what Strands added to it
    assert question == "Where is Rex?"
    assert len(replies) == 2
