"""LangChain's chat history and retriever in Recollect, with the real package."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from openai import AsyncOpenAI

from doc_examples import reader_environment, run_framework_page
from learning_checks import memory_was_injected, texts_of_all_agents
from recollect import InvalidInput, LocalRecollect, learning
from recollect.integrations.langchain import RecollectChatHistory, RecollectRetriever
from vendor_calls import ask_chat, openai_client
from vendor_server import VendorServer, default_text

pytestmark = pytest.mark.vendor

MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage([{"type": "text", "text": "My dog is called Rex."}], id="h1", name="alice"),
    AIMessage(
        "",
        tool_calls=[{"name": "look", "args": {"q": "\x00"}, "id": "c1", "type": "tool_call"}],
        response_metadata={"key": "ghp_" + "a1B2c3D4e5" * 4},
    ),
    ToolMessage("It is a terrier.", tool_call_id="c1", artifact={"n": [1, None]}),
    AIMessage("Rex is a terrier."),
]


def test_messages_come_back_equal_and_are_cleared(rec: LocalRecollect) -> None:
    history = RecollectChatHistory("s1", memory=rec)
    other = RecollectChatHistory("s2", memory=rec)
    assert history.messages == []
    history.add_messages(MESSAGES[:3])
    history.add_messages([])
    other.add_user_message("Hello!")

    async def scene() -> None:
        await history.aadd_messages(MESSAGES[3:])
        assert await history.aget_messages() == MESSAGES
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(scene())
    assert [message.content for message in other.messages] == ["Hello!"]
    other.clear()
    assert other.messages == []


def test_a_history_goes_on_after_its_conversation_was_ended(rec: LocalRecollect) -> None:
    history = RecollectChatHistory("s", memory=rec, agent="helper")
    history.add_messages([HumanMessage("one")])
    talk = rec.conversations.find("s", agent="helper")
    assert talk is not None
    rec.conversations.end(talk)
    history.add_messages([HumanMessage("two")])

    assert [message.content for message in history.messages] == ["one", "two"]
    with pytest.raises(InvalidInput, match="session id is empty"):
        RecollectChatHistory("", memory=rec)


def test_messages_that_others_appended_are_read_too(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="langchain", key="s1")
    rec.conversations.append(talk, "user", "From elsewhere.")
    rec.conversations.append(talk, "tool", "42", tool_call_id="c1")

    human, tool = RecollectChatHistory("s1", memory=rec).messages
    assert (human.type, human.content) == ("human", "From elsewhere.")
    assert isinstance(tool, ToolMessage)
    assert (tool.content, tool.tool_call_id) == ("42", "c1")


def test_a_retriever_returns_memories_with_their_quotes(rec: LocalRecollect) -> None:
    for text in ("The staging server is called walnut.", "Billing runs on PostgreSQL."):
        rec.ingest(text, project="site")
    retriever = RecollectRetriever(memory=rec, project="site", k=1)

    [document] = retriever.invoke("what is the staging server called?")
    assert document.page_content == "The staging server is called walnut."
    assert document.metadata["quotes"] == ["The staging server is called walnut."]
    assert document.metadata["score"] > 0
    assert asyncio.run(retriever.ainvoke("what is the staging server called?")) == [document]
    weak = RecollectRetriever(memory=rec, project="site", below_threshold=True)
    assert len(weak.invoke("who won the chess tournament?")) == 2


def test_a_history_is_there_in_the_next_process(tmp_path: Path) -> None:
    run_framework_page("langchain.md", tmp_path, reader_environment(tmp_path))

    history = RecollectChatHistory("thread-1", memory=tmp_path / "memory.db", agent="helper")
    assert history.messages[0].content == "My dog is called Rex."
    history.close()


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory")  # deprecated, and still used
@pytest.mark.parametrize("is_async", [False, True])
def test_inside_learning_a_chain_gets_memory_and_is_stored_once(
    rec: LocalRecollect, vendor: VendorServer, is_async: bool
) -> None:
    rec.agents.create("helper")
    rec.ingest("My dog Rex is a terrier.", agent="helper", scope="agent")

    def call_model(messages: list[BaseMessage]) -> AIMessage:
        with openai_client(vendor) as client:
            reply = ask_chat(client, str(messages[-1].text))
        return AIMessage(reply.choices[0].message.content)

    async def call_model_async(messages: list[BaseMessage]) -> AIMessage:
        sent: Any = [{"role": "user", "content": str(messages[-1].text)}]
        async with AsyncOpenAI(base_url=vendor.openai_url, api_key="test") as client:
            reply = await client.chat.completions.create(model="gpt-test", messages=sent)
        return AIMessage(reply.choices[0].message.content or "")

    chain = RunnableWithMessageHistory(
        RunnableLambda(call_model, afunc=call_model_async),
        lambda session_id: RecollectChatHistory(session_id, memory=rec, agent="helper"),
    )
    config: Any = {"configurable": {"session_id": "s1"}}
    question = [HumanMessage("Where is Rex?")]
    with openai_client(vendor) as client, learning(agent="helper", memory=rec):
        if is_async:
            asyncio.run(chain.ainvoke(question, config))
        else:
            chain.invoke(question, config)
        ask_chat(client, "Is Rex a dog?")  # not of the chain: it is recorded

    assert memory_was_injected(vendor) == [True, True]
    assert texts_of_all_agents(rec) == sorted(
        text
        for query in ("Where is Rex?", "Is Rex a dog?")
        for text in (query, default_text(query))
    )
