"""`learning()` and threads: timers, pools, overlapping blocks."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType
from typing import Any

import httpx2
import pytest

from learning_checks import memory_was_injected, user_texts
from recollect import LocalRecollect, ServerUnavailable, learning
from recollect import open as open_here
from support import open_memory
from vendor_calls import ask_chat, openai_client
from vendor_server import VendorServer

pytestmark = pytest.mark.vendor


class TracedMethod:
    """
    A method as tracing packages replace it: a descriptor that must be bound to its object.

    Like those of wrapt, it says that it is what it replaces.
    """

    __class__ = FunctionType  # type: ignore[assignment]

    def __init__(self, method: Any, owner: Any = None) -> None:
        self.method, self.owner = method, owner
        self.__name__, self.__qualname__ = method.__name__, method.__qualname__

    def __get__(self, owner: Any, _class: type | None = None) -> "TracedMethod":
        return TracedMethod(self.method, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.owner.is_traced = True
        return self.method(self.owner, *args, **kwargs)


def run(*targets: Any) -> None:
    threads = [threading.Thread(target=one) for one in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_timer_set_inside_belongs_to_the_block(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        timer = threading.Timer(0.01, ask_chat, (client, "timed"))
        timer.start()
        timer.join()

    assert user_texts(two_agents, "anna") == ["timed"]


def test_a_thread_with_a_run_of_its_own_belongs_to_the_block(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    class AskingThread(threading.Thread):
        def __init__(self, client: Any) -> None:
            super().__init__()
            self.client = client

        def run(self) -> None:
            ask_chat(self.client, "own run")

    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        thread = AskingThread(client)
        thread.start()
        thread.join()

    assert user_texts(two_agents, "anna") == ["own run"]
    assert "run" not in vars(thread)


def test_a_thread_started_twice_fails_as_ever_and_nothing_of_ours_stays_on_it(
    two_agents: LocalRecollect,
) -> None:
    thread = threading.Thread(target=lambda: None)
    with learning(agent="anna", memory=two_agents):
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="only be started once"):
            thread.start()

    assert "run" not in vars(thread)


def test_methods_that_another_package_traces_work_as_before(
    vendor: VendorServer, two_agents: LocalRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in ((threading.Thread, "start"), (ThreadPoolExecutor, "submit")):
        monkeypatch.setattr(owner, name, TracedMethod(owner.__dict__[name]))

    with (
        openai_client(vendor) as client,
        ThreadPoolExecutor(1) as pool,
        learning(agent="anna", memory=two_agents),
    ):
        thread = threading.Thread(target=ask_chat, args=(client, "thread"))
        thread.start()
        thread.join()
        pool.submit(ask_chat, client, "pool").result()

    assert user_texts(two_agents, "anna") == ["thread", "pool"]
    assert vars(thread)["is_traced"]
    assert vars(pool)["is_traced"]


def test_map_of_a_pool_that_survives_the_block_is_heard_only_inside(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, ThreadPoolExecutor(3) as pool:
        with learning(agent="anna", memory=two_agents):
            list(pool.map(lambda n: ask_chat(client, f"{n}"), range(6)))
        list(pool.map(lambda n: ask_chat(client, "after"), range(6)))

    assert sorted(user_texts(two_agents, "anna")) == [f"{n}" for n in range(6)]
    assert memory_was_injected(vendor) == [True] * 6 + [False] * 6


def test_a_pool_made_inside_and_used_by_others_hears_only_those_inside(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    inside, done = threading.Event(), threading.Event()
    pools: list[ThreadPoolExecutor] = []

    def outsider() -> None:
        inside.wait()
        with openai_client(vendor) as client:
            pools[0].submit(ask_chat, client, "private").result()
        done.set()

    thread = threading.Thread(target=outsider)
    thread.start()
    with (
        openai_client(vendor) as client,
        learning(agent="anna", memory=two_agents),
        ThreadPoolExecutor(1) as pool,
    ):
        pools.append(pool)
        pool.submit(ask_chat, client, "mine").result()
        inside.set()
        done.wait()
    thread.join()

    assert user_texts(two_agents, "anna") == ["mine"]


def test_a_thread_started_inside_that_calls_after_the_end_is_not_heard(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    over = threading.Event()

    def later(client: Any) -> None:
        over.wait()
        ask_chat(client, "after")

    with openai_client(vendor) as client:
        with learning(agent="anna", memory=two_agents):
            thread = threading.Thread(target=later, args=(client,))
            thread.start()
        over.set()
        thread.join()

    assert user_texts(two_agents, "anna") == []
    assert memory_was_injected(vendor) == [False]


def test_blocks_nested_in_threads_are_those_of_the_thread(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):

        def work() -> None:
            ask_chat(client, "a")
            with learning(agent="bert", memory=two_agents):
                ask_chat(client, "b")
                run(lambda: ask_chat(client, "b too"))
            ask_chat(client, "a")

        run(work, work)
        ask_chat(client, "a")

    assert user_texts(two_agents, "anna") == ["a"] * 5
    assert sorted(user_texts(two_agents, "bert")) == ["b", "b", "b too", "b too"]


def test_blocks_left_in_another_order_than_entered_each_end_by_themselves(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    first, second = (
        learning(agent="anna", memory=two_agents),
        learning(agent="bert", memory=two_agents),
    )
    with openai_client(vendor) as client:
        first.__enter__()
        second.__enter__()
        ask_chat(client, "in the second")
        first.__exit__(None, None, None)
        ask_chat(client, "still in the second")
        second.__exit__(None, None, None)
        ask_chat(client, "after")

    assert user_texts(two_agents, "bert") == ["in the second", "still in the second"]
    assert user_texts(two_agents, "anna") == []
    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_one_block_entered_in_many_threads_at_once_is_a_session_each(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    block = learning(agent="anna", memory=two_agents)
    barrier = threading.Barrier(8)
    usual = sys.getswitchinterval()

    def work(n: int) -> None:
        with openai_client(vendor) as client:
            for turn in range(3):
                barrier.wait()
                with block:
                    ask_chat(client, f"{n} {turn}")

    sys.setswitchinterval(1e-5)
    try:
        run(*(lambda n=n: work(n) for n in range(8)))
    finally:
        sys.setswitchinterval(usual)

    texts = [
        [
            one.content
            for one in two_agents.conversations.messages(conversation)
            if one.role == "user"
        ]
        for conversation in two_agents.conversations.list(agent="anna")
    ]
    assert sorted(text for one in texts for text in one) == sorted(
        f"{n} {turn}" for n in range(8) for turn in range(3)
    )
    assert all(len(one) == 1 for one in texts)
    assert all(one.ended_at for one in two_agents.conversations.list(agent="anna"))
    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_a_block_can_be_entered_after_it_could_not_be(
    vendor: VendorServer, two_agents: LocalRecollect, tmp_path: Path
) -> None:
    block = learning(agent="anna", server_url="http://127.0.0.1:9", required=True)
    for _ in range(2):
        with pytest.raises(ServerUnavailable):
            block.__enter__()
        assert not hasattr(httpx2.Client.send, "__wrapped__")
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        ask_chat(client, "Hello?")

    assert user_texts(two_agents, "anna") == ["Hello?"]
    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_a_memory_shared_by_several_blocks_outlives_them_and_is_its_owners(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    def work(agent: str, n: int) -> None:
        with openai_client(vendor) as client, learning(agent=agent, memory=two_agents):
            ask_chat(client, f"{n}")

    run(*(lambda n=n: work(("anna", "bert")[n % 2], n) for n in range(8)))

    assert sorted(user_texts(two_agents, "anna")) == ["0", "2", "4", "6"]
    assert sorted(user_texts(two_agents, "bert")) == ["1", "3", "5", "7"]
    assert two_agents.agents.list()


def test_another_memory_opened_on_the_same_file_inside_sees_what_was_stored(
    vendor: VendorServer, tmp_path: Path
) -> None:
    path = tmp_path / "same.db"
    with open_memory(path, words_only=True) as rec, openai_client(vendor) as client:
        with (
            learning(agent="anna", memory=rec),
            open_here(path, embedding_backend="none") as other,
        ):
            ask_chat(client, "Hello?")
            other.ingest("The office is in Bern.", type="profile", scope="global")

        assert user_texts(rec, "anna") == ["Hello?"]


def test_what_anna_was_told_is_not_told_to_bert(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        ask_chat(client, "I prefer tabs over spaces. My secret project is called Nightjar.")
    two_agents.drain()
    with openai_client(vendor) as client, learning(agent="bert", memory=two_agents):
        ask_chat(client, "What is my secret project, and do I prefer tabs over spaces?")

    system = vendor.requests[1].body["messages"][0]["content"]
    assert "Nightjar" not in system
    assert "of bert" in system
