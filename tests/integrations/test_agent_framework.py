"""History and memory of the Microsoft Agent Framework in Recollect, with the real package."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, BaseChatClient, ChatResponse, Content, Message
from openai import AsyncOpenAI

from doc_examples import reader_environment, run_framework_page
from learning_checks import memory_was_injected, texts_of_all_agents
from recollect import LocalRecollect, learning
from recollect.integrations.agent_framework import RecollectProvider
from vendor_server import ScriptedResponse, VendorServer, default_text

pytestmark = pytest.mark.vendor


class EchoClient(BaseChatClient[Any]):  # type: ignore[misc]
    """Answers with the number of messages and the instructions it was given."""

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Awaitable[ChatResponse]:
        async def respond() -> ChatResponse:
            text = f"{len(messages)} {options.get('instructions') or ''}"
            return ChatResponse(messages=[Message("assistant", [text])])

        return respond()


class CallingClient(BaseChatClient[Any]):  # type: ignore[misc]
    """Sends the instructions and the messages to a vendor."""

    def __init__(self, vendor: VendorServer) -> None:
        super().__init__()
        self._url = vendor.openai_url

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Awaitable[ChatResponse]:
        async def respond() -> ChatResponse:
            sent: Any = [
                {"role": str(message.role), "content": message.text} for message in messages
            ]
            if options.get("instructions"):
                sent.insert(0, {"role": "system", "content": options["instructions"]})
            async with AsyncOpenAI(base_url=self._url, api_key="test") as client:
                reply = await client.chat.completions.create(model="gpt-test", messages=sent)
            return ChatResponse(messages=[Message("assistant", [reply.choices[0].message.content])])

        return respond()


def test_messages_come_back_equal(rec: LocalRecollect) -> None:
    messages = [
        Message("user", ["My dog is called Rex."], author_name="alice", message_id="m1"),
        Message("assistant", [Content.from_function_call("c1", "look", arguments={"q": "\x00"})]),
        Message("tool", [Content.from_function_result("c1", result="a terrier")]),
    ]

    async def scene() -> None:
        provider = RecollectProvider(rec)
        assert await provider.get_messages("s1") == []
        await provider.save_messages("s1", messages)
        loaded = await provider.get_messages("s1")
        assert [m.to_dict() for m in loaded] == [m.to_dict() for m in messages]
        assert await provider.get_messages("s2") == []

    asyncio.run(scene())


def test_a_session_goes_on_after_its_conversation_was_ended(rec: LocalRecollect) -> None:
    async def scene() -> list[Message]:
        provider = RecollectProvider(rec, agent="helper")
        await provider.save_messages("s", [Message("user", ["one"])])
        talk = rec.conversations.find("s", agent="helper")
        assert talk is not None
        rec.conversations.end(talk)
        await provider.save_messages("s", [Message("user", ["two"])])
        return await provider.get_messages("s")

    assert [message.text for message in asyncio.run(scene())] == ["one", "two"]


def test_an_agent_remembers_across_processes_and_sessions(
    vendor: VendorServer, tmp_path: Path
) -> None:
    vendor.set_default(ScriptedResponse(text="Noted."))
    openai = {"OPENAI_BASE_URL": vendor.openai_url, "OPENAI_API_KEY": "test"}
    run_framework_page("agent-framework.md", tmp_path, reader_environment(tmp_path, **openai))

    async def ask(session_id: str, provider: RecollectProvider) -> str:
        agent = Agent(EchoClient(), context_providers=[provider])
        session = AgentSession(session_id=session_id)
        response = await agent.run("What is my dog called?", session=session)
        provider.close()
        return str(response.text)

    path = tmp_path / "memory.db"
    same = asyncio.run(ask("thread-1", RecollectProvider(path, agent="helper")))
    other = asyncio.run(ask("thread-2", RecollectProvider(path, agent="helper")))
    stranger = asyncio.run(ask("thread-3", RecollectProvider(path, agent="stranger")))

    assert same.startswith("3 ")  # two of the first process, and the question
    assert other.startswith("1 ")
    assert "My dog is called Rex." in other
    assert "Rex" not in stranger


def test_inside_learning_a_run_gets_memory_and_is_stored_once(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    rec.agents.create("helper")
    rec.ingest("My dog Rex is a terrier.", agent="helper", scope="agent")

    async def scene() -> None:
        provider = RecollectProvider(rec, agent="helper")
        session = AgentSession(session_id="s1")
        agent = Agent(CallingClient(vendor), context_providers=[provider])
        await agent.run("Where is Rex?", session=session)
        await Agent(CallingClient(vendor)).run("Is Rex a dog?")  # without the provider

    with learning(agent="helper", memory=rec):
        asyncio.run(scene())

    assert memory_was_injected(vendor) == [True, True]
    assert texts_of_all_agents(rec) == sorted(
        text
        for query in ("Where is Rex?", "Is Rex a dog?")
        for text in (query, default_text(query))
    )
