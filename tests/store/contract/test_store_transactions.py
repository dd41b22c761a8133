"""Reads, writes and closing."""

import threading
from collections.abc import Callable
from functools import partial

import pytest

from recollect import InvalidInput, Project, StoreClosed
from recollect.store.protocol import Store, Tables
from store_records import Keep, agent
from support import START, FakeClock


def test_a_failed_write_leaves_nothing_behind(store: Store, clock: FakeClock) -> None:
    def write(tables: Tables) -> None:
        tables.projects.add_project(Project(id="p1", name="one", created_at=START))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(write)

    with store.read() as tables:
        assert tables.projects.projects() == []


def test_a_write_inside_a_write_is_refused_and_harms_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError, match="inside a write"):
        store.write(lambda tables: store.write(lambda inner: None))

    store.write(lambda tables: tables.agents.add(agent("a", "anna")))
    with store.read() as tables:
        assert tables.agents.by_name("anna") == agent("a", "anna")


def test_many_threads_write_at_once_and_each_sees_its_own_error(store: Store) -> None:
    errors: list[str] = []

    def work(number: int) -> None:
        name = "same" if number % 2 else f"project {number}"

        def write(tables: Tables) -> None:
            project = Project(id=f"id{number}", name=name, identity=name, created_at=START)
            tables.projects.add_project(project)

        try:
            store.write(write)
        except InvalidInput as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with store.read() as tables:
        assert len(tables.projects.projects()) == 21
    assert len(errors) == 19


def test_statements_after_one_that_failed_can_be_run_in_later_writes(store: Store) -> None:
    def write(tables: Tables, number: int, *, name: str) -> None:
        project = Project(id=f"p{number}", name=name, identity=name, created_at=START)
        tables.projects.add_project(project)
        tables.agents.add(agent(f"a{number}", f"agent {number}"))

    store.write(lambda tables: write(tables, 0, name="taken"))
    for number in range(1, 20):  # a driver prepares a statement that it has run a few times
        with pytest.raises(InvalidInput):
            store.write(partial(write, number=number, name="taken"))
    store.write(lambda tables: write(tables, 20, name="free"))

    with store.read() as tables:
        assert tables.agents.by_name("agent 20") is not None


def test_a_read_sees_one_moment_of_the_store(store: Store, keep: Keep) -> None:
    first = keep("one")
    with store.read() as tables:
        assert tables.memories.get(first.id) is not None
        second = keep("two")

        assert tables.memories.get(second.id) is None
    with store.read() as tables:
        assert tables.memories.get(second.id) is not None


def test_a_reader_cannot_write(store: Store) -> None:
    with (
        pytest.raises(Exception, match=r"readonly|read-only|cannot be used"),
        store.read() as tables,
    ):
        tables.agents.add(agent("a", "anna"))


def test_a_closed_store_says_so(store: Store) -> None:
    store.flush_log(timeout_s=0.0)
    with store.read():
        store.close()
    store.close()

    with pytest.raises(StoreClosed, match="open it again"):
        store.write(lambda tables: None)


def test_what_was_written_is_there_after_opening_again(
    store: Store, keep: Keep, open_store: Callable[[], Store]
) -> None:
    kept = keep("still here")
    store.close()

    again = open_store()
    with again.read() as tables:
        assert tables.memories.get(kept.id) == kept
    again.close()


def test_writes_that_wait_while_the_store_closes_are_refused_not_acknowledged(
    store: Store, open_store: Callable[[], Store]
) -> None:
    started, go_on = threading.Event(), threading.Event()
    outcomes: list[str] = []

    def slow(tables: Tables) -> None:
        started.set()
        go_on.wait(60)

    def late(number: int) -> None:
        try:
            store.write(lambda tables: tables.agents.add(agent(f"a{number}", f"n{number}")))
            outcomes.append("acknowledged")
        except StoreClosed:
            outcomes.append("refused")

    threads = [threading.Thread(target=store.write, args=(slow,))]
    threads[0].start()
    started.wait(60)
    threads += [threading.Thread(target=late, args=(number,)) for number in range(4)]
    closing = threading.Thread(target=store.close)
    for thread in (closing, *threads[1:]):
        thread.start()
    go_on.set()
    for thread in (*threads, closing):
        thread.join()

    again = open_store()
    with again.read() as tables:
        kept = sum(tables.agents.by_name(f"n{number}") is not None for number in range(4))
    again.close()
    assert outcomes.count("acknowledged") == kept
    assert len(outcomes) == 4
