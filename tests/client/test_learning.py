"""`with learning()`: blocks, threads, tasks, decorators; and what its ancestors got wrong."""

import asyncio
import copy
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from recollect import (
    InvalidInput,
    LocalRecollect,
    Message,
    ServerUnavailable,
    StoreClosed,
    learning,
)
from recollect.text.fence import fenced_spans
from support import candidates, open_memory
from vendor_calls import Note, anthropic_client, make_async_client, observe, openai_client, question
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer, default_text

pytestmark = pytest.mark.vendor

BLOCK = "Name: Alice"
OPENING = "The following is context from your memory:"


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    """A memory in which two agents know a name."""
    with open_memory(tmp_path / "learning.db") as opened:
        for name in ("anna", "bert"):
            opened.agents.create(name, default_blocks=False)
            opened.blocks.create("human", f"{BLOCK} of {name}", agent=name)
        yield opened


def messages_of(rec: LocalRecollect, agent: str) -> list[Message]:
    """Return all messages of an agent, those without words too, oldest first."""
    conversations = reversed(rec.conversations.list(agent=agent))
    return [
        message
        for conversation in conversations
        for message in rec.conversations.messages(conversation)
    ]


def roles_and_texts(rec: LocalRecollect, agent: str) -> list[tuple[str, str]]:
    """Return all that was said to an agent, oldest first."""
    return [(message.role.value, message.content) for message in messages_of(rec, agent)]


def chat(client: Any, text: str, **more: Any) -> Any:
    return client.chat.completions.create(**question("chat", text, **more))


# What ancestors got wrong, one by one


def test_a_list_as_input_gets_context(vendor: VendorServer, rec: LocalRecollect) -> None:
    ask = question("responses", "x", input=[{"role": "user", "content": "Who am I?"}])

    with learning(agent="anna", memory=rec):
        observe(vendor, "responses", "create", ask)

    developer, user = vendor.requests[0].body["input"]
    assert developer["role"] == "developer"
    assert BLOCK in developer["content"][0]["text"]
    assert user == {"role": "user", "content": "Who am I?"}


def test_stream_works_as_a_context_manager(vendor: VendorServer, rec: LocalRecollect) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", memory=rec),
        client.chat.completions.stream(**question("chat", "Hello?")) as stream,
    ):
        for _ in stream:
            pass
        final = stream.get_final_completion()

    assert final.choices[0].message.content == default_text("Hello?")
    assert roles_and_texts(rec, "anna") == [
        ("user", "Hello?"),
        ("assistant", default_text("Hello?")),
    ]


def test_parse_is_captured(vendor: VendorServer, rec: LocalRecollect) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        parsed = client.chat.completions.parse(
            **question("chat", "A note?"), response_format=Note
        ).choices[0]

    assert isinstance(parsed.message.parsed, Note)
    assert roles_and_texts(rec, "anna") == [
        ("user", "A note?"),
        ("assistant", parsed.message.content),
    ]


def test_beta_messages_get_context(vendor: VendorServer, rec: LocalRecollect) -> None:
    with learning(agent="anna", memory=rec):
        observe(vendor, "beta", "create", question("beta", "Who am I?"))

    assert BLOCK in vendor.requests[0].body["system"]


@pytest.mark.parametrize("resource", ["chat", "responses", "messages"])
@pytest.mark.parametrize("way", ["create", "create_stream"])
def test_a_turn_of_tool_calls_alone_is_captured(
    vendor: VendorServer, rec: LocalRecollect, resource: str, way: str
) -> None:
    vendor.set_default(ScriptedResponse(calls=[ScriptedCall("weather", {"city": "Bern"})]))

    with learning(agent="anna", memory=rec):
        observe(vendor, resource, way, question(resource, "Is it sunny?"))

    user, reply = messages_of(rec, "anna")
    assert (user.content, reply.content) == ("Is it sunny?", "")
    assert reply.tool_calls[0]["function"] == {"name": "weather", "arguments": '{"city": "Bern"}'}


def test_a_call_from_a_worker_thread_is_remembered(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        thread = threading.Thread(target=chat, args=(client, "From a thread"))
        thread.start()
        thread.join()

    assert BLOCK in str(vendor.requests[0].body)
    assert ("user", "From a thread") in roles_and_texts(rec, "anna")
    assert "run" not in vars(thread), "nothing of ours stays on the caller's thread"


def test_work_handed_to_a_pool_that_was_there_before_is_remembered(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    with openai_client(vendor) as client, ThreadPoolExecutor(1) as pool:
        pool.submit(chat, client, "before").result()
        with learning(agent="anna", memory=rec):
            pool.submit(chat, client, "inside").result()
        pool.submit(chat, client, "after").result()

    assert [BLOCK in str(request.body) for request in vendor.requests] == [False, True, False]
    assert [text for role, text in roles_and_texts(rec, "anna") if role == "user"] == ["inside"]


def test_an_async_client_inside_a_sync_block_is_remembered(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    async def ask() -> None:
        async with make_async_client("chat", vendor) as client:
            await chat(client, "Awaited")

    with learning(agent="anna", memory=rec):
        asyncio.run(ask())

    assert BLOCK in str(vendor.requests[0].body)
    assert ("user", "Awaited") in roles_and_texts(rec, "anna")


def test_the_callers_system_message_does_not_grow_by_repeated_calls(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello?"}]
    before = copy.deepcopy(messages)

    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        for _ in range(3):
            chat(client, "", messages=messages)

    assert messages == before
    for request in vendor.requests:
        head, memory_text, user = request.body["messages"]
        assert (head, user) == tuple(before)
        assert memory_text["content"].count(OPENING) == 1


# Blocks


def test_the_classes_are_as_they_were_found_after_the_last_exit(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    patched = (httpx2.Client, httpx2.AsyncClient, threading.Thread, ThreadPoolExecutor)
    original = [dict(vars(owner)) for owner in patched]

    with learning(agent="anna", memory=rec), learning(agent="bert", memory=rec):
        inside = [dict(vars(owner)) for owner in patched]

    assert inside != original
    assert [dict(vars(owner)) for owner in patched] == original


def test_the_inner_agent_counts_and_the_outer_one_comes_back(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        chat(client, "one")
        with learning(agent="bert", memory=rec):
            chat(client, "two")
        chat(client, "three")

    assert [("of anna" in str(request.body)) for request in vendor.requests] == [True, False, True]
    assert [text for role, text in roles_and_texts(rec, "anna") if role == "user"] == [
        "one",
        "three",
    ]
    assert [text for role, text in roles_and_texts(rec, "bert") if role == "user"] == ["two"]


def test_a_block_may_be_entered_again_and_inside_itself(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    block = learning(agent="anna", memory=rec)

    with openai_client(vendor) as client:
        with block:
            chat(client, "one")
            with block:
                chat(client, "two")
            chat(client, "three")
        with block:
            chat(client, "four")
        chat(client, "five")

    conversations = rec.conversations.list(agent="anna")
    texts = [
        {m.content for m in rec.conversations.messages(conversation) if m.role == "user"}
        for conversation in conversations
    ]
    assert sorted(texts, key=min) == [{"four"}, {"one", "three"}, {"two"}]
    assert all(conversation.ended_at for conversation in conversations)


def test_several_agents_at_once_in_threads_are_kept_apart(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    barrier = threading.Barrier(2)

    def work(agent: str) -> None:
        with openai_client(vendor) as client, learning(agent=agent, memory=rec):
            barrier.wait()
            for n in range(5):
                chat(client, f"{agent} {n}")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("anna", "bert")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for agent in ("anna", "bert"):
        mine = [text for role, text in roles_and_texts(rec, agent) if role == "user"]
        assert mine == [f"{agent} {n}" for n in range(5)]


def test_several_agents_at_once_in_tasks_are_kept_apart(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    async def work(agent: str) -> None:
        async with (
            make_async_client("chat", vendor) as client,
            learning(agent=agent, memory=rec),
        ):
            for n in range(3):
                await chat(client, f"{agent} {n}")

    async def both() -> None:
        await asyncio.gather(work("anna"), work("bert"))

    asyncio.run(both())

    for agent in ("anna", "bert"):
        mine = [text for role, text in roles_and_texts(rec, agent) if role == "user"]
        assert mine == [f"{agent} {n}" for n in range(3)]


def test_a_thread_outside_is_not_listened_to(vendor: VendorServer, rec: LocalRecollect) -> None:
    inside, done = threading.Event(), threading.Event()

    def outsider() -> None:
        inside.wait()
        with openai_client(vendor) as client:
            chat(client, "private")
        done.set()

    thread = threading.Thread(target=outsider)
    thread.start()
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        inside.set()
        done.wait()
        chat(client, "mine")
    thread.join()

    assert "private" not in str(roles_and_texts(rec, "anna"))
    assert BLOCK not in str(next(a.body for a in vendor.requests if "private" in str(a.body)))


def test_a_decorated_function_is_a_block(vendor: VendorServer, rec: LocalRecollect) -> None:
    @learning(agent="anna", memory=rec)
    def ask(text: str) -> str:
        """Ask."""
        with openai_client(vendor) as client:
            return str(chat(client, text).choices[0].message.content)

    @learning(agent="bert", memory=rec)
    async def ask_later(text: str) -> str:
        async with make_async_client("chat", vendor) as client:
            return str((await chat(client, text)).choices[0].message.content)

    assert ask("one") == default_text("one")
    assert asyncio.run(ask_later("two")) == default_text("two")
    assert (ask.__name__, ask.__doc__) == ("ask", "Ask.")
    assert ("user", "one") in roles_and_texts(rec, "anna")
    assert ("user", "two") in roles_and_texts(rec, "bert")


def test_a_generator_is_not_decorated(rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput, match="inside of it"):

        @learning(agent="anna", memory=rec)
        def pieces() -> Iterator[int]:
            yield 1


def test_an_error_in_the_block_comes_out_and_what_was_said_stays(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    def fails() -> None:
        with openai_client(vendor) as client, learning(agent="anna", memory=rec):
            chat(client, "one")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()

    assert len(roles_and_texts(rec, "anna")) == 2


def test_a_block_without_a_call_leaves_no_conversation(rec: LocalRecollect) -> None:
    with learning(agent="anna", memory=rec):
        pass

    assert rec.conversations.list(agent="anna") == []


def test_an_agent_of_a_new_name_is_made_bare(rec: LocalRecollect) -> None:
    with learning(agent="new / one", memory=rec):
        pass

    assert rec.blocks.list(rec.agents.get("new / one")) == []


# What is told and what is kept


def test_capture_only_tells_nothing_and_keeps_everything(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", capture_only=True, memory=rec):
        chat(client, "Hello?")

    assert OPENING not in str(vendor.requests[0].body)
    assert roles_and_texts(rec, "anna") == [
        ("user", "Hello?"),
        ("assistant", default_text("Hello?")),
    ]


def test_the_injected_text_is_fenced_and_never_captured(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        chat(client, "The harbour is in Genoa.")
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        chat(client, "Where is the harbour?")

    memory_text = vendor.requests[1].body["messages"][0]["content"]
    assert len(fenced_spans(memory_text)) == 2, "one fence for what stays, one for what was found"
    assert all(OPENING not in text for _, text in roles_and_texts(rec, "anna"))


def test_what_the_model_sees_anyway_is_not_told_again(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        reply = chat(client, "The harbour is in Genoa.").choices[0].message
        history = [
            {"role": "user", "content": "The harbour is in Genoa."},
            {"role": "assistant", "content": reply.content},
            {"role": "user", "content": "Where is the harbour?"},
        ]
        chat(client, "", messages=history)

    memory_text = vendor.requests[1].body["messages"][0]["content"]
    assert "Genoa" not in memory_text


def test_over_ten_turns_the_beginning_of_what_is_told_is_the_same_bytes(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    rec.blocks.create("style", "Short answers.", agent="anna")
    history: list[dict[str, Any]] = [{"role": "system", "content": "Be kind."}]

    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        for n in range(10):
            history.append({"role": "user", "content": f"Question {n} about topic {n * 7}?"})
            reply = chat(client, "", messages=history).choices[0].message.content
            history.append({"role": "assistant", "content": reply})

    prefixes = set()
    for request in vendor.requests:
        memory_text = request.body["messages"][1]["content"]
        _, end = fenced_spans(memory_text)[0]
        prefixes.add(memory_text[:end])
    (prefix,) = prefixes
    assert BLOCK in prefix
    assert "Short answers." in prefix


def test_the_tail_of_a_tool_loop_is_kept_once_and_in_order(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    vendor.script(
        ScriptedResponse(calls=[ScriptedCall("weather", {"city": "Bern"})]),
        ScriptedResponse(text="Sunny."),
    )
    tools = [
        {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    ]

    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        messages: list[Any] = [{"role": "user", "content": "Is it sunny?"}]
        first = chat(client, "", messages=messages, tools=tools).choices[0].message
        messages.append(first.model_dump(exclude_none=True))
        call_id = first.tool_calls[0].id
        messages.append({"role": "tool", "tool_call_id": call_id, "content": "yes"})
        chat(client, "", messages=messages, tools=tools)

    stored = roles_and_texts(rec, "anna")
    assert stored == [
        ("user", "Is it sunny?"),
        ("assistant", ""),
        ("tool", "yes"),
        ("assistant", "Sunny."),
    ]


def test_the_end_of_a_block_hands_the_conversation_over_to_be_learnt_from(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        chat(client, "I prefer tabs over spaces. We decided to use uv because it is fast.")
    rec.drain()

    (conversation,) = rec.conversations.list(agent="anna")
    assert conversation.ended_at is not None
    assert [event.state.value for event in rec.captures.list()] == ["done"]
    assert candidates(rec)


def test_a_stream_that_is_left_early_is_kept_as_far_as_it_was_read(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    vendor.set_default(ScriptedResponse(text="one two three four five six seven eight nine ten"))

    with openai_client(vendor) as client, learning(agent="anna", memory=rec):
        stream = client.chat.completions.create(**question("chat", "Count."), stream=True)
        next(stream)
        stream.close()

    roles = [role for role, _ in roles_and_texts(rec, "anna")]
    assert roles[0] == "user"


def test_a_call_that_fails_fails_as_ever_and_leaves_nothing(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    vendor.set_default(ScriptedResponse(status=400))

    with (
        openai_client(vendor) as client,
        learning(agent="anna", memory=rec),
        pytest.raises(openai.BadRequestError),
    ):
        chat(client, "Hello?")

    assert roles_and_texts(rec, "anna") == []


def test_a_call_that_is_retried_by_the_package_is_kept_once(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    vendor.script(ScriptedResponse(status=500), ScriptedResponse(text="At last."))

    with openai_client(vendor, max_retries=2) as client, learning(agent="anna", memory=rec):
        chat(client, "Hello?")

    assert roles_and_texts(rec, "anna") == [("user", "Hello?"), ("assistant", "At last.")]


def test_anthropics_blocks_come_first_and_stay_as_they_are(
    vendor: VendorServer, rec: LocalRecollect
) -> None:
    system = [{"type": "text", "text": "Long.", "cache_control": {"type": "ephemeral"}}]

    with anthropic_client(vendor) as client, learning(agent="anna", memory=rec):
        client.messages.create(**question("messages", "Who am I?", system=system))

    first, memory_text = vendor.requests[0].body["system"]
    assert first == system[0]
    assert BLOCK in memory_text["text"]


# When memory cannot be had


def test_a_required_server_that_is_not_there_is_one_clear_error_on_entry() -> None:
    with (
        pytest.raises(ServerUnavailable, match="recollect serve --background"),
        learning(agent="anna", server_url="http://127.0.0.1:9", required=True),
    ):
        pass
    assert httpx2.Client.send.__module__ == httpx2.Client.get.__module__
    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_a_required_memory_that_is_closed_is_one_clear_error_on_entry(
    rec: LocalRecollect,
) -> None:
    rec.close()

    with pytest.raises(StoreClosed), learning(agent="anna", memory=rec, required=True):
        pass


def test_a_memory_that_goes_away_is_one_warning_and_calls_go_on(
    vendor: VendorServer, rec: LocalRecollect, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, "recollect"),
        openai_client(vendor) as client,
        learning(agent="anna", memory=rec, flush_s=1),
    ):
        rec.close()
        replies = [chat(client, f"{n}").choices[0].message.content for n in range(3)]

    assert replies == [default_text(f"{n}") for n in range(3)]
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 1
