"""A session store of the Claude Agent SDK in Recollect, held to the SDK's own conformance suite."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, query
from claude_agent_sdk.testing import run_session_store_conformance

import recollect
from doc_examples import reader_environment, run_framework_page
from recollect import LocalRecollect
from recollect.integrations.claude_agent_sdk import RecollectSessionStore
from vendor_server import ScriptedResponse, VendorServer

pytestmark = pytest.mark.vendor

KEY: Any = {"project_key": "-home-alice-site", "session_id": "s1"}
TRANSCRIPT: list[Any] = [
    {"type": "summary", "summary": "Dogs"},
    {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-05-08T12:00:00.000Z",
        "message": {"role": "user", "content": "Remember that my dog is called Rex."},
    },
    {
        "type": "assistant",
        "uuid": "u2",
        "timestamp": "2026-05-08T12:00:01.000Z",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]},
    },
]


def test_the_conformance_suite_of_the_sdk_passes_without_state_in_the_process(
    tmp_path: Path,
) -> None:
    count = 0

    class Reopened(RecollectSessionStore):
        """Each call is made by another store on the same file, as another process would."""

        def __init__(self, path: Path) -> None:
            self._path = path

        def __getattribute__(self, name: str) -> Any:
            if name.startswith("_") or name == "close":
                return object.__getattribute__(self, name)

            async def call(*args: Any) -> Any:
                store = RecollectSessionStore(object.__getattribute__(self, "_path"))
                result = await getattr(store, name)(*args)
                await store.close()
                return result

            return call

    def make_store() -> RecollectSessionStore:
        nonlocal count
        count += 1
        return Reopened(tmp_path / f"{count}.db")

    asyncio.run(run_session_store_conformance(make_store))

    assert count == 15  # one for each of the 14 contracts, and one that is only looked at
    assert ClaudeAgentOptions(session_store=make_store()).session_store is not None


def test_a_batch_that_is_sent_again_is_stored_once(rec: LocalRecollect) -> None:
    async def scene() -> None:
        stores = [RecollectSessionStore(rec) for _ in range(4)]
        await asyncio.gather(*(store.append(KEY, TRANSCRIPT[1:]) for store in stores))
        assert await stores[0].load(KEY) == TRANSCRIPT[1:]
        await stores[0].append(KEY, TRANSCRIPT[:1])
        await stores[0].append(KEY, TRANSCRIPT[:1])
        assert await stores[1].load(KEY) == [*TRANSCRIPT[1:], TRANSCRIPT[0], TRANSCRIPT[0]]

    asyncio.run(scene())


def test_many_writers_of_one_session_all_get_through(rec: LocalRecollect) -> None:
    lines = [{**TRANSCRIPT[0], "uuid": f"line {number}"} for number in range(20)]

    async def scene() -> None:
        stores = [RecollectSessionStore(rec) for _ in lines]
        writes = (store.append(KEY, [line]) for store, line in zip(stores, lines, strict=True))
        await asyncio.gather(*writes)
        loaded = await stores[0].load(KEY) or []
        assert sorted(line["uuid"] for line in loaded) == sorted(line["uuid"] for line in lines)

    asyncio.run(scene())


def test_a_session_goes_on_after_its_conversation_was_ended(rec: LocalRecollect) -> None:
    async def scene() -> None:
        store = RecollectSessionStore(rec, agent="claude")
        await store.append(KEY, TRANSCRIPT[:1])
        [talk] = rec.conversations.list(agent="claude")
        rec.conversations.end(talk)
        await store.append(KEY, TRANSCRIPT[1:])
        assert await store.load(KEY) == TRANSCRIPT

    asyncio.run(scene())


def test_query_is_resumed_from_the_store_on_another_machine(
    rec: LocalRecollect, vendor: VendorServer, tmp_path: Path
) -> None:
    """The SDK's own program runs, with a scripted model: each time with an empty home folder."""

    async def ask(machine: str, text: str, **more: Any) -> str:
        home = tmp_path / machine
        home.mkdir()
        env = {
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": vendor.anthropic_url,
            "ANTHROPIC_API_KEY": "test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        options = ClaudeAgentOptions(
            session_store=RecollectSessionStore(rec, agent="claude"),
            env=env,
            cwd=folder,
            model="claude-sonnet-5-5",
            setting_sources=[],
            **more,
        )
        messages = [message async for message in query(prompt=text, options=options)]
        return str(messages[-1].session_id)

    async def scene() -> None:
        session_id = await ask("first", "My dog is called Rex.")
        vendor.clear_requests()
        await ask("second", "What is my dog called?", resume=session_id)

    folder = tmp_path / "project"
    folder.mkdir()
    vendor.set_default(ScriptedResponse(text="Rex, I see."))
    asyncio.run(scene())

    prompt = str(vendor.requests[-1].body["messages"])
    assert "My dog is called Rex." in prompt
    assert "Rex, I see." in prompt
    hits = rec.conversations.search("what is the dog called?", agent="claude", roles="user")
    assert "My dog is called Rex." in [hit.message.content for hit in hits]


def test_lines_of_an_unknown_form_are_kept(rec: LocalRecollect) -> None:
    lines: list[Any] = [
        {},
        {"message": "text"},
        {"uuid": 5, "message": {"role": ["user"], "content": 5}},
        {"message": {"role": "user", "content": 5}},
        {"message": {"role": "user", "content": [1, None, {"type": "text", "text": None}]}},
    ]

    async def scene() -> None:
        store = RecollectSessionStore(rec)
        await store.append(KEY, lines)
        assert await store.load(KEY) == lines

    asyncio.run(scene())


def test_a_session_is_searched_and_learnt_from(rec: LocalRecollect) -> None:
    async def scene() -> None:
        store = RecollectSessionStore(rec, agent="claude")
        await store.append(KEY, TRANSCRIPT)
        await store.capture(KEY, project="site")

    asyncio.run(scene())
    rec.drain()

    [hit, *_] = rec.conversations.search("what is the dog called?", agent="claude")
    assert hit.message.content == "Remember that my dog is called Rex."
    [learnt, *_] = rec.search("what is the dog called?", project="site", agent="claude")
    assert "Rex" in learnt.memory.content


def test_the_guide_runs(vendor: VendorServer, tmp_path: Path) -> None:
    vendor.set_default(ScriptedResponse(text="Noted."))
    env = {
        "ANTHROPIC_BASE_URL": vendor.anthropic_url,
        "ANTHROPIC_API_KEY": "test",
        "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }

    run_framework_page("claude-agent-sdk.md", tmp_path, reader_environment(tmp_path, **env))

    with recollect.open(tmp_path / "memory.db") as rec:
        rec.drain()
        [hit, *_] = rec.search("staging server", project="site", statuses=("active", "inbox"))
    assert "walnut" in hit.memory.content
