"""A store of LangGraph in Recollect, with the real package."""

import asyncio
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode, tools_condition
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

from doc_examples import reader_environment, run_framework_page
from recollect import LocalRecollect
from recollect.integrations.langgraph import RecollectStore
from support import FakeClock

pytestmark = pytest.mark.vendor

SECRET = "ghp_" + "a1B2c3D4e5" * 4
ALICE = ("users", "alice")


def test_items_are_put_read_changed_and_deleted(rec: LocalRecollect) -> None:
    store = RecollectStore(rec)
    value = {"text": SECRET, "deep": {"list": [1, None, "\x00"]}}
    store.put(ALICE, "prefs", value)

    item = store.get(ALICE, "prefs")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (ALICE, "prefs", value)
    store.put(ALICE, "prefs", {"theme": "dark"})
    changed = store.get(ALICE, "prefs")
    assert changed is not None
    assert (changed.value, changed.created_at) == ({"theme": "dark"}, item.created_at)
    assert store.get(("users", "bob"), "prefs") is None
    store.put(["a", "list"], "key", {"v": 1})
    assert [item.namespace for item in store.search(["a"])] == [("a", "list")]
    store.delete(ALICE, "prefs")
    store.delete(ALICE, "prefs")
    assert store.get(ALICE, "prefs") is None
    with pytest.raises(InvalidNamespaceError):
        store.put(("a.b",), "k", {})
    with pytest.raises(InvalidNamespaceError):
        store.put((), "k", {})


def test_search_ranks_filters_and_pages_within_a_prefix(rec: LocalRecollect) -> None:
    store = RecollectStore(rec)
    store.put(ALICE, "car", {"text": "I drive a red Volvo", "year": 2019, "tags": {"kind": "car"}})
    store.put(ALICE, "food", {"text": "I love pizza", "year": 2024})
    store.put(ALICE, "hidden", {"text": "a red Volvo", "year": 2020}, index=False)
    store.put(("users", "bob"), "car", {"text": "I drive a red Volvo"}, index=["year"])
    store.put(("users2",), "car", {"text": "I drive a red Volvo"})

    ranked = store.search(ALICE, query="which vehicle do I drive?")
    assert ranked[0].key == "car"
    assert sorted(item.key for item in ranked) == ["car", "food", "hidden"]
    assert (ranked[0].score or 0) > 0
    assert {item.namespace for item in store.search(("users",), query="Volvo")} == {
        ALICE,
        ("users", "bob"),
    }
    old = store.search(ALICE, filter={"year": {"$lt": 2024, "$ne": 2020}})
    assert [(item.key, item.score) for item in old] == [("car", None)]
    for kind in ({"tags": {"kind": "car"}}, {"tags.kind": "car"}):
        assert [item.key for item in store.search(ALICE, filter=kind)] == ["car"]
    with pytest.raises(ValueError, match=r"unknown operator '\$in'"):
        store.search(ALICE, filter={"year": {"$in": [2019]}})
    assert len(store.search(ALICE, limit=2)) == 2
    assert len(store.search((), limit=5_000)) == 5
    pages = [store.search(ALICE, query="Volvo", limit=1, offset=n)[0].key for n in range(3)]
    assert sorted(pages) == ["car", "food", "hidden"]


def test_namespaces_are_listed_by_prefix_suffix_and_depth(rec: LocalRecollect) -> None:
    store = RecollectStore(rec)
    rec.documents.put(("elsewhere",), "k", 1)
    for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("z",)):
        store.put(namespace, "k", {"v": 1})

    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z",)]
    assert store.list_namespaces(limit=1, offset=3) == [("z",)]


def test_an_item_expires_unless_it_is_read(rec: LocalRecollect, clock: FakeClock) -> None:
    store = RecollectStore(rec, ttl={"default_ttl": 1, "refresh_on_read": True})
    for key in ("read", "peeked", "lasting"):
        store.put(ALICE, key, {"v": key}, **({"ttl": None} if key == "lasting" else {}))
    clock.advance(seconds=40)
    assert store.get(ALICE, "read") is not None
    assert store.get(ALICE, "peeked", refresh_ttl=False) is not None
    clock.advance(seconds=40)

    assert store.get(ALICE, "peeked") is None
    assert sorted(item.key for item in store.search(ALICE)) == ["lasting", "read"]


def test_a_batch_reads_before_it_writes_and_the_last_put_of_a_key_counts(
    rec: LocalRecollect,
) -> None:
    store = RecollectStore(rec)
    store.put(ALICE, "k", {"n": 1})

    async def scene() -> list[Any]:
        first, last = {"n": 2}, {"n": 3}
        return await store.abatch(
            [PutOp(ALICE, "k", first), GetOp(ALICE, "k"), PutOp(ALICE, "k", last), SearchOp(ALICE)]
        )

    put, read, _, listed = asyncio.run(scene())
    assert put is None
    assert read.value == {"n": 1}
    assert [item.value for item in listed] == [{"n": 1}]
    item = store.get(ALICE, "k")
    assert item is not None
    assert item.value == {"n": 3}


class _State(TypedDict):
    question: str
    answer: str


def test_a_graph_remembers_across_processes(tmp_path: Path) -> None:
    run_framework_page("langgraph.md", tmp_path, reader_environment(tmp_path))

    def answer(state: _State, runtime: Runtime[None]) -> dict[str, str]:
        assert runtime.store is not None
        [item] = runtime.store.search(ALICE, query=state["question"], limit=1)
        return {"answer": item.value["text"]}

    builder = StateGraph(_State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    with RecollectStore(tmp_path / "memory.db") as store:
        graph = builder.compile(store=store)
        result = graph.invoke({"question": "what is the name of my dog?", "answer": ""})

    assert result["answer"] == "My dog is called Rex."


class ScriptedGraphModel(BaseChatModel):  # type: ignore[misc]
    """Answers with its turns, one after the other."""

    turns: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        said = sum(isinstance(message, AIMessage) for message in messages)
        return ChatResult(generations=[ChatGeneration(message=self.turns[said])])


@tool  # type: ignore[untyped-decorator]
def remember(text: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Remember a text."""
    store.put(ALICE, text, {"text": text})
    return "Stored."


@tool  # type: ignore[untyped-decorator]
def recall(query: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Return what was remembered about a query."""
    return "; ".join(item.value["text"] for item in store.search(ALICE, query=query, limit=1))


def run_agent(path: Path, text: str, *turns: AIMessage) -> list[str]:
    """Send a message to an agent with a model and two tools; return all messages of the run."""
    model = ScriptedGraphModel(turns=list(turns))
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([remember, recall]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    with RecollectStore(path) as store:
        result = builder.compile(store=store).invoke({"messages": [HumanMessage(text)]})
    return [str(message.text) for message in result["messages"]]


def turn(name: str, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"id": "c1", "name": name, "args": arguments}])


def test_an_agent_with_a_model_remembers_across_processes(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store_it = turn("remember", text="My dog is called Rex.")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other_process:
        first = other_process.submit(run_agent, path, "My dog is Rex.", store_it, AIMessage("Ok."))
        assert first.result(timeout=60)[-2:] == ["Stored.", "Ok."]

    question = "What is my dog called?"
    messages = run_agent(path, question, turn("recall", query=question), AIMessage("Rex."))

    assert messages == [question, "", "My dog is called Rex.", "Rex."]
