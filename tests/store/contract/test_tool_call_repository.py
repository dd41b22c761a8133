"""Tool calls of captured sessions, and the sources that wait to be read."""

from dataclasses import replace
from datetime import timedelta

from recollect.domain.scope import Owner, Scope
from recollect.domain.source import SourceKind
from recollect.domain.tool_call import ActionKind, Outcome, RecordedCall
from recollect.store.protocol import Store, Tables
from store_records import event, source
from support import START

SHOP, BANK = Owner(Scope.PROJECT, "shop"), Owner(Scope.PROJECT, "bank")
WITH_TOOLS = {"turns": [(0, 4, "tool", "Bash", 1_000)]}


def call(source_id: str, subject: str, **more: object) -> RecordedCall:
    made = RecordedCall(
        source_id=source_id,
        session="s",
        kind=ActionKind.RUN,
        name=subject.split()[0],
        subject=subject,
        outcome=Outcome.SUCCEEDED,
        error="",
        start=0,
        called_at=START,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def add_source(store: Store, source_id: str, owner: Owner, *, session: str = "s") -> None:
    def write(tables: Tables) -> None:
        made = source(source_id, f"text of {source_id}", kind=SourceKind.RUN, session=session)
        tables.sources.add(replace(made, metadata=WITH_TOOLS))
        tables.sources.add_event(event(f"e {source_id}", source_id=source_id, owner=owner))

    store.write(write)


def test_a_source_with_tool_calls_is_unread_until_they_are_stored(store: Store) -> None:
    add_source(store, "a", SHOP)
    add_source(store, "b", SHOP, session="other")
    store.write(lambda tables: tables.sources.add(source("c", "only talk", kind=SourceKind.RUN)))

    with store.read() as tables:
        assert tables.tool_calls.unread_sources(limit=9) == ["a", "b"]
        assert tables.tool_calls.unread_sources(limit=1) == ["a"]
        assert tables.unfinished_work.is_any_left()
    store.write(lambda tables: tables.tool_calls.add("a", [call("a", "make test")]))
    store.write(lambda tables: tables.tool_calls.add("b", []))

    with store.read() as tables:
        assert tables.tool_calls.unread_sources(limit=9) == []
        assert not tables.unfinished_work.is_any_left()
        assert tables.tool_calls.of_sources(["a", "b"]) == [call("a", "make test")]


def test_calls_are_found_by_name_error_and_session_within_their_owners(store: Store) -> None:
    add_source(store, "a", SHOP)
    add_source(store, "b", BANK, session="other")
    later = START + timedelta(hours=1)
    built = call("a", "make build", start=1)
    failed = call("a", "make test", start=2, outcome=Outcome.FAILED, error="no", called_at=later)
    edited = call("a", "src/make", kind=ActionKind.CHANGE, name="make", start=3)
    elsewhere = call("b", "make all", session="other", error="no", outcome=Outcome.FAILED)
    store.write(lambda tables: tables.tool_calls.add("a", [built, failed, edited]))
    store.write(lambda tables: tables.tool_calls.add("b", [elsewhere]))

    with store.read() as tables:
        calls = tables.tool_calls
        assert calls.calls_named(ActionKind.RUN, ["make"], [SHOP], limit=9) == [failed, built]
        assert calls.calls_named(ActionKind.RUN, ["make"], [SHOP], limit=1) == [failed]
        assert calls.calls_named(ActionKind.RUN, ["cargo"], [SHOP], limit=9) == []
        assert calls.calls_named(ActionKind.CHANGE, ["make"], [SHOP, BANK], limit=9) == [edited]
        assert calls.failures([SHOP], limit=9) == [failed]
        assert calls.failures([SHOP, BANK], limit=1) == [failed]
        assert calls.of_sources(["a"]) == [built, edited, failed]
        assert calls.latest_session([BANK]) == "other"
        assert calls.latest_session([Owner(Scope.AGENT, "nobody")]) is None
        assert calls.sources_of_sessions(["s", "other"], [SHOP]) == ["a"]
        assert calls.sources_of_sessions([""], [SHOP, BANK]) == []


def test_a_later_capture_of_a_session_takes_the_calls_over(store: Store) -> None:
    add_source(store, "a", SHOP)
    add_source(store, "b", SHOP)
    add_source(store, "c", BANK)
    store.write(lambda tables: tables.tool_calls.add("a", [call("a", "make build", start=1)]))
    store.write(lambda tables: tables.tool_calls.add("c", [call("c", "make build", start=1)]))
    again = [call("b", "make build", start=1), call("b", "make test", start=2)]
    store.write(lambda tables: tables.tool_calls.add("b", again))

    with store.read() as tables:
        assert tables.tool_calls.of_sources(["a"]) == []
        assert tables.tool_calls.of_sources(["b"]) == again
        assert len(tables.tool_calls.of_sources(["c"])) == 1  # of another project
