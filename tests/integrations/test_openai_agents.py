"""A session of the OpenAI Agents SDK in Recollect, with the real package."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SessionSettings,
    function_tool,
)
from agents.memory import Session, SessionABC
from openai import AsyncOpenAI

from doc_examples import reader_environment, run_framework_page
from learning_checks import memory_was_injected, texts_of_all_agents
from recollect import InvalidInput, LocalRecollect, learning
from recollect.integrations.openai_agents import RecollectSession
from vendor_calls import ask_chat, openai_client
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer, default_text

pytestmark = pytest.mark.vendor

SECRET = "ghp_" + "a1B2c3D4e5" * 4
ITEMS: list[Any] = [
    {"role": "user", "content": "My dog is called Rex."},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SECRET},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"a": "\\u0000"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "It is a terrier."},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Rex is a terrier.", "annotations": []}],
    },
]


def responses_agent(client: AsyncOpenAI) -> Agent[Any]:
    model = OpenAIResponsesModel(model="gpt-5", openai_client=client)
    return Agent(name="helper", instructions="Be brief.", model=model)


def test_items_come_back_equal_in_order_and_are_taken_back(rec: LocalRecollect) -> None:
    async def scene() -> None:
        session = RecollectSession("s1", memory=rec)
        other = RecollectSession("s2", memory=rec)
        assert isinstance(session, Session)
        assert isinstance(session, SessionABC)
        assert await session.get_items() == []
        assert await session.pop_item() is None

        await session.add_items(ITEMS)
        await session.add_items([])
        await other.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS
        assert await session.get_items(2) == ITEMS[-2:]
        assert await session.get_items(0) == []
        assert await session.get_items(99) == ITEMS
        assert await session.pop_item() == ITEMS[-1]
        assert await session.get_items() == ITEMS[:-1]
        await session.clear_session()
        assert await session.get_items() == []
        assert await other.get_items() == ITEMS[:1]
        await session.add_items(ITEMS[:2])
        assert await session.get_items() == ITEMS[:2]

    asyncio.run(scene())


def test_a_session_that_is_made_on_an_event_loop_opens_no_file_there(tmp_path: Path) -> None:
    async def scene() -> None:
        await RecollectSession("s1", memory=tmp_path / "never.db").close()
        session = RecollectSession("s1", memory=tmp_path / "memory.db")
        assert not (tmp_path / "memory.db").exists()
        await session.add_items(ITEMS[:1])
        assert (tmp_path / "memory.db").exists()
        await session.close()

    asyncio.run(scene())

    assert not (tmp_path / "never.db").exists()


def test_the_settings_of_a_session_limit_its_items_and_unknown_ones_are_refused(
    rec: LocalRecollect,
) -> None:
    async def scene() -> None:
        session = RecollectSession("s1", memory=rec, session_settings=SessionSettings(limit=2))
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS[-2:]
        assert await session.get_items(3) == ITEMS[-3:]
        await session.close()
        with pytest.raises(RuntimeError, match="closed"):
            await session.get_items()

    asyncio.run(scene())
    with pytest.raises((TypeError, ValueError)):
        RecollectSession("s1", memory=rec, session_settings={"unknown": 1})


def test_a_session_goes_on_after_its_conversation_was_ended(rec: LocalRecollect) -> None:
    async def scene() -> list[Any]:
        session = RecollectSession("s", memory=rec, agent="helper")
        await session.add_items([{"role": "user", "content": "one"}])
        talk = rec.conversations.find("s", agent="helper")
        assert talk is not None
        rec.conversations.end(talk, capture=True)
        await session.add_items([{"role": "user", "content": "two"}])
        return await session.get_items()

    assert [item["content"] for item in asyncio.run(scene())] == ["one", "two"]
    with pytest.raises(InvalidInput, match="session id is empty"):
        RecollectSession("", memory=rec)


def test_a_long_history_is_read_whole_and_searched_by_its_texts(rec: LocalRecollect) -> None:
    items: list[Any] = [{"role": "user", "content": f"Line {n} of the story."} for n in range(300)]

    async def scene() -> None:
        session = RecollectSession("long", memory=rec, agent="anna")
        await session.add_items([*items, *ITEMS])
        assert await session.get_items() == [*items, *ITEMS]

    asyncio.run(scene())

    hits = rec.conversations.search("what is the dog called?", agent="anna")
    assert "Rex" in hits[0].message.content
    assert rec.conversations.search(SECRET, agent="anna", mode="fts") == []


def test_an_agent_remembers_across_processes_and_is_told_what_other_sessions_said(
    vendor: VendorServer, path: Path
) -> None:
    env = reader_environment(path.parent, OPENAI_BASE_URL=vendor.openai_url, OPENAI_API_KEY="test")
    run_framework_page("openai-agents.md", path.parent, env)
    vendor.script(ScriptedResponse(text="Rex."), ScriptedResponse(text="Rex."))

    async def scene() -> None:
        client = AsyncOpenAI(base_url=vendor.openai_url, api_key="test")
        for session_id in ("thread-1", "thread-2"):
            session = RecollectSession(session_id, memory=path, agent="helper")
            config = RunConfig(call_model_input_filter=session.add_memory, tracing_disabled=True)
            result = await Runner.run(
                responses_agent(client),
                "What is my dog called?",
                session=session,
                run_config=config,
            )
            assert result.final_output == "Rex."
            await session.close()
        await client.close()

    asyncio.run(scene())

    same, other = [request.body for request in vendor.requests[-2:]]
    assert "My dog is called Rex." in str(same["input"])
    assert "My dog is called Rex." not in str(other["input"])
    assert "My dog is called Rex." in other["instructions"]
    assert other["instructions"].startswith("Be brief.")


@pytest.mark.parametrize("streamed", [False, True])
def test_inside_learning_a_run_gets_memory_and_is_stored_once(
    rec: LocalRecollect, vendor: VendorServer, streamed: bool
) -> None:
    rec.agents.create("helper")
    rec.ingest("My dog Rex is a terrier.", agent="helper", scope="agent")
    vendor.script(
        ScriptedResponse(calls=(ScriptedCall("look", {}),)), ScriptedResponse(text="In the park.")
    )

    def look() -> str:
        """Look for the dog."""
        return "It is in the park."

    async def scene() -> None:
        client = AsyncOpenAI(base_url=vendor.openai_url, api_key="test")
        session = RecollectSession("s1", memory=rec, agent="helper")
        agent = responses_agent(client).clone(tools=[function_tool(look)])
        config = RunConfig(tracing_disabled=True)
        if streamed:
            running = Runner.run_streamed(
                agent, "Where is Rex?", session=session, run_config=config
            )
            async for _ in running.stream_events():
                pass
        else:
            await Runner.run(agent, "Where is Rex?", session=session, run_config=config)
        await client.close()

    with openai_client(vendor) as client, learning(agent="helper", memory=rec):
        asyncio.run(scene())
        ask_chat(client, "Is Rex a dog?")  # not of a run: it is recorded

    assert memory_was_injected(vendor) == [True, True, True]
    assert texts_of_all_agents(rec) == sorted(
        [
            "Where is Rex?",
            "It is in the park.",
            "In the park.",
            "Is Rex a dog?",
            default_text("Is Rex a dog?"),
        ]
    )
