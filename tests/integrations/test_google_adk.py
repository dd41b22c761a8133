"""A memory service of Google's ADK in Recollect, with the real package."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.cli.service_registry import get_service_registry
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory, preload_memory
from google.genai import types

from chat_server import chat_server, json_reply
from doc_examples import reader_environment, run_framework_page
from learning_checks import texts_of_all_agents
from recollect import LocalRecollect, learning
from recollect.integrations.google_adk import RecollectMemoryService, create_memory_service
from sample_responses import gemini_response
from vendor_calls import ask_chat, openai_client
from vendor_server import VendorServer, default_text

pytestmark = pytest.mark.vendor

ALICE: dict[str, Any] = {"app_name": "shop", "user_id": "alice"}
BOB: dict[str, Any] = {"app_name": "shop", "user_id": "bob"}
QUESTION = "What is my dog called?"


class ScriptedLlm(BaseLlm):  # type: ignore[misc]
    """Calls the memory tool, then repeats what it returned."""

    model: str = "scripted"
    requests: list[Any]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request)
        parts = [part for content in llm_request.contents for part in content.parts]
        results = [part.function_response for part in parts if part.function_response]
        if results:
            part = types.Part.from_text(text=str(results[-1].response))
        else:
            part = types.Part.from_function_call(name="load_memory", args={"query": QUESTION})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def event(event_id: str, author: str, *texts: str) -> Event:
    parts = [types.Part.from_text(text=text) for text in texts]
    return Event(id=event_id, author=author, content=types.Content(parts=parts))


def session(*events: Event) -> Session:
    return Session(id="s1", events=list(events), **ALICE)


async def search_texts(
    service: RecollectMemoryService, owner: dict[str, Any], query: str = QUESTION
) -> list[str]:
    response = await service.search_memory(query=query, **owner)
    return [entry.content.parts[0].text for entry in response.memories]


def test_a_session_that_is_added_again_is_stored_once_and_only_its_user_finds_it(
    rec: LocalRecollect,
) -> None:
    dog = event("e1", "user", "My dog is called Rex.")
    thought = Event(
        id="e2",
        author="helper",
        content=types.Content(parts=[types.Part(text="A dog, then.", thought=True)]),
    )
    noted = event("e3", "helper", "Noted.")

    async def scene() -> None:
        service = RecollectMemoryService(rec)
        await service.add_session_to_memory(session(dog))
        rec.conversations.end(rec.conversations.list(agent="shop/alice")[0])  # it goes on
        await service.add_session_to_memory(session(dog, thought, noted))
        assert await search_texts(service, ALICE) == ["My dog is called Rex."]
        assert await search_texts(service, BOB) == []
        assert await search_texts(service, {**ALICE, "app_name": "other"}) == []
        assert await search_texts(service, ALICE, "  ") == []

    asyncio.run(scene())
    [talk] = rec.conversations.list(agent="shop/alice")
    stored = rec.conversations.messages(talk)
    assert [(message.role.value, message.content) for message in stored] == [
        ("user", "My dog is called Rex."),
        ("assistant", "Noted."),
    ]


def test_what_a_user_says_is_learnt_for_that_user_alone(rec: LocalRecollect) -> None:
    said = event("e1", "user", "Remember that I always pay by invoice.")

    async def scene() -> tuple[Any, Any]:
        service = RecollectMemoryService(rec)
        await service.add_events_to_memory(events=[said], **ALICE)
        rec.drain()
        query = "How do I pay?"
        of_alice = await service.search_memory(query=query, **ALICE)
        return of_alice, await service.search_memory(query=query, **BOB)

    of_alice, of_bob = asyncio.run(scene())
    assert [entry.author for entry in of_alice.memories] == ["memory"]
    assert "invoice" in of_alice.memories[0].content.parts[0].text
    assert of_bob.memories == []


def test_a_deleted_entry_does_not_come_back_with_its_session(rec: LocalRecollect) -> None:
    dog, cat = event("e1", "user", "My dog is called Rex."), event("e2", "user", "I own a cat.")
    fact = MemoryEntry(content=types.Content(parts=[types.Part(text="The dog is a terrier.")]))

    async def scene() -> None:
        service = RecollectMemoryService(rec, learn=False)
        await service.add_session_to_memory(session(dog, cat))
        await service.add_memory(memories=[fact], **ALICE)
        named = await service.search_memory(query=QUESTION, **ALICE)
        bred = await service.search_memory(query="Which terrier?", **ALICE)
        ids = {entry.id for entry in (*named.memories, *bred.memories)}
        assert len(ids) == 2
        for entry_id in ids:
            await service.delete_memory(memory_id=entry_id, **BOB)  # not Bob's
        assert "My dog is called Rex." in await search_texts(service, ALICE)
        for entry_id in ids:
            await service.delete_memory(memory_id=entry_id, **ALICE)
            await service.delete_memory(memory_id=entry_id, **ALICE)
        await service.add_session_to_memory(session(dog, cat))
        assert await search_texts(service, ALICE) == []
        assert await search_texts(service, ALICE, "Which terrier?") == []
        assert await search_texts(service, ALICE, "my cat") == ["I own a cat."]

    asyncio.run(scene())


def test_the_command_of_adk_opens_the_service_by_a_uri(tmp_path: Path) -> None:
    registry = get_service_registry()
    registry.register_memory_service("recollect", create_memory_service)
    path = tmp_path / "my memory.db"

    service = registry.create_memory_service(f"recollect://{path.as_posix().replace(' ', '%20')}")
    assert isinstance(service, RecollectMemoryService)
    service.close()
    assert path.exists()


def test_an_agent_remembers_across_processes(tmp_path: Path) -> None:
    with chat_server() as gemini:
        gemini.replies = [json_reply(gemini_response({"text": "Noted."}))]
        google = {"GOOGLE_GEMINI_BASE_URL": gemini.url, "GEMINI_API_KEY": "test"}
        env = reader_environment(tmp_path, **google)
        run_framework_page("google-adk.md", tmp_path, env, ignored="DeprecationWarning")
    assert "My dog is called Rex." in str(gemini.requests[0].body)

    async def ask(user_id: str) -> tuple[str, str]:
        service = RecollectMemoryService(tmp_path / "memory.db")
        sessions = InMemorySessionService()
        await sessions.create_session(app_name="shop", user_id=user_id, session_id="later")
        model = ScriptedLlm(requests=[])
        agent = LlmAgent(name="helper", model=model, tools=[load_memory, preload_memory])
        runner = Runner(
            app_name="shop", agent=agent, session_service=sessions, memory_service=service
        )
        question = types.Content(role="user", parts=[types.Part.from_text(text=QUESTION)])
        answer = ""
        async for shown in runner.run_async(
            user_id=user_id, session_id="later", new_message=question
        ):
            if shown.is_final_response():
                answer = shown.content.parts[0].text
        await runner.close()
        service.close()
        return answer, str(model.requests[0])

    answer, prompt = asyncio.run(ask("alice"))
    assert "My dog is called Rex." in answer  # of load_memory, which the model called
    assert "My dog is called Rex." in prompt  # of preload_memory, before the model was asked
    answer, prompt = asyncio.run(ask("bob"))
    assert "Rex" not in answer + prompt


def test_inside_learning_a_session_that_is_added_is_stored_once(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    class CallingLlm(BaseLlm):  # type: ignore[misc]
        """Sends the last message to a vendor."""

        model: str = "calling"

        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            with openai_client(vendor) as client:
                reply = ask_chat(client, llm_request.contents[-1].parts[-1].text)
            part = types.Part.from_text(text=reply.choices[0].message.content)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    async def scene() -> None:
        service = RecollectMemoryService(rec)
        sessions = InMemorySessionService()
        agent = LlmAgent(name="helper", model=CallingLlm())
        runner = Runner(
            app_name="shop", agent=agent, session_service=sessions, memory_service=service
        )
        for session_id, text in (("s1", "Where is Rex?"), ("s2", "Is Rex a dog?")):
            await sessions.create_session(app_name="shop", user_id="alice", session_id=session_id)
            said = types.Content(role="user", parts=[types.Part.from_text(text=text)])
            async for _ in runner.run_async(
                user_id="alice", session_id=session_id, new_message=said
            ):
                pass
        added = await sessions.get_session(app_name="shop", user_id="alice", session_id="s1")
        await service.add_session_to_memory(added)  # the other one only learning() records
        await runner.close()

    with learning(agent="helper", memory=rec):
        asyncio.run(scene())

    assert texts_of_all_agents(rec) == sorted(
        text
        for query in ("Where is Rex?", "Is Rex a dog?")
        for text in (query, default_text(query))
    )
