"""Sources and the events that captured them."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from recollect import InvalidInput
from recollect.domain.capture_event import EventState, Trigger
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import SourceKind
from recollect.store.protocol import Store, Tables
from store_records import Keep, event, source
from support import START, FakeClock


def test_a_source_knows_when_each_of_its_messages_was_said(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    kept = keep("raw material")
    turns = [(0, 4, "user", "", 1_000), (6, 9, "assistant", "", None)]
    with store.read() as tables:
        [plain] = tables.sources.of_memory(kept.id)
    with_turns = replace(plain, id=clock.new_id(), sha256="other", metadata={"turns": turns})
    store.write(lambda tables: tables.sources.add(with_turns))

    with store.read() as tables:
        times = [tables.sources.said_at(with_turns.id, position) for position in (0, 3, 4, 6)]
        assert times == [1_000, 1_000, None, None]
        assert tables.sources.said_at(plain.id, 0) is None
        assert tables.sources.said_at("unknown", 0) is None


def test_a_source_does_not_change_and_is_stored_once(store: Store, keep: Keep) -> None:
    kept = keep("raw material")
    with store.read() as tables:
        [source] = tables.sources.of_memory(kept.id)
        assert tables.sources.with_hash(source.sha256, SourceKind.MANUAL) == source
        assert tables.sources.get(source.id) == source
        spans = [(source.id, 4, 6), (source.id, 0, 12), ("unknown", 1, 2), (source.id, 2, 3)]
        assert tables.sources.around(spans, 3) == [
            ("aw ", "ter"),
            ("", ""),
            ("", ""),
            ("ra", " ma"),
        ]
        assert tables.sources.get("unknown") is None
        assert tables.sources.kind_of(source.id) is SourceKind.MANUAL
        assert tables.sources.kind_of("unknown") is None
        assert tables.sources.evidence_in(source.id) == list(kept.evidence)

    with pytest.raises(InvalidInput, match="immutable"):
        store.write(lambda tables: tables.sources.overwrite(source.id, "something else", "hash"))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.sources.add(replace(source, id="other")))


def test_uris_of_events_without_a_source_are_listed(store: Store) -> None:
    events = [
        event("e1", uri="file:///a#1"),
        event("e2"),
        event("e3", uri="file:///b", trigger=Trigger.CONVERSATION),
    ]
    for new in events:
        store.write(lambda tables, new=new: tables.sources.add_event(new))  # type: ignore[misc]

    with store.read() as tables:
        assert tables.sources.uris_without_source(Trigger.MANUAL) == {"file:///a#1"}


def test_events_are_kept_in_order(store: Store, clock: FakeClock) -> None:
    events = [event(clock.new_id()) for _ in range(3)]
    for new in events:
        store.write(lambda tables, new=new: tables.sources.add_event(new))  # type: ignore[misc]

    with store.read() as tables:
        assert tables.sources.events() == events


def test_sources_are_found_by_their_session(store: Store) -> None:
    sources = [
        source("s1", "one", session="day 1"),
        source("s2", "two", session="day 1"),
        source("s3", "three", session="day 2"),
        source("s4", "four"),
    ]

    def write(tables: Tables) -> None:
        for new in sources:
            tables.sources.add(new)

    store.write(write)
    with store.read() as tables:
        assert tables.sources.ids_of_session("day 1") == ["s1", "s2"]
        assert tables.sources.ids_of_session("") == []
        assert tables.sources.with_session_prefix("day") == [
            ("day 1", "one"),
            ("day 1", "two"),
            ("day 2", "three"),
        ]
        assert tables.sources.with_session_prefix("day 2") == [("day 2", "three")]
        assert tables.sources.session_of("s1") == "day 1"
        assert tables.sources.session_of("s4") == "s4"
        assert tables.sources.session_of("unknown") == "unknown"


def test_a_source_without_evidence_can_be_deleted_and_another_cannot(
    store: Store, keep: Keep
) -> None:
    quoted = keep("quoted").evidence[0].source_id
    store.write(lambda tables: tables.sources.add(source("s1", "loose")))

    store.write(lambda tables: tables.sources.delete("s1"))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.sources.delete(quoted))

    with store.read() as tables:
        assert tables.sources.get("s1") is None
        assert tables.sources.get(quoted) is not None


def test_an_event_changes_and_is_found_by_its_source(store: Store) -> None:
    begun = event("e1", source_id="s1", owner=Owner(Scope.GLOBAL, ""), state=EventState.CAPTURED)
    failed = replace(begun, state=EventState.FAILED, error="no", retries=2, outcome="o")

    def fail(tables: Tables, *, retried: bool) -> None:
        state, at = EventState.FAILED, failed.updated_at
        tables.sources.update_event(
            "e1", state=state, outcome="o", error="no", retried=retried, at=at
        )

    def write(tables: Tables) -> None:
        tables.sources.add(source("s1", "text"))
        tables.sources.add_event(begun)
        tables.sources.add_event(event("e2"))

    store.write(write)
    with store.read() as tables:
        assert tables.sources.event("e1") == begun
        assert tables.sources.event("unknown") is None
    for retried in (True, False, True):
        store.write(partial(fail, retried=retried))

    with store.read() as tables:
        assert tables.sources.event("e1") == failed
        assert tables.sources.events_of("s1") == [failed]
        assert tables.sources.events_of("unknown") == []
        owners = {"e1": failed.owner, "e2": event("e2").owner}
        assert tables.sources.event_owners(["e2", "unknown", "e1"]) == owners
        assert tables.sources.event_owners([]) == {}


def test_an_event_in_work_has_a_state_and_an_outcome_so_far(store: Store) -> None:
    begun = event("e1", state=EventState.CAPTURED)
    later, end = START + timedelta(minutes=1), START + timedelta(minutes=2)

    def write(tables: Tables) -> None:
        tables.sources.add_event(begun)
        tables.sources.start_event("e1", later)
        tables.sources.start_event("e1", end)  # it is in work already

    store.write(write)
    working = replace(begun, state=EventState.WORKING, updated_at=later)
    with store.read() as tables:
        assert tables.sources.event("e1") == working
    store.write(lambda tables: tables.sources.set_outcome("e1", "2 facts", end))

    with store.read() as tables:
        assert tables.sources.event("e1") == replace(working, outcome="2 facts", updated_at=end)
