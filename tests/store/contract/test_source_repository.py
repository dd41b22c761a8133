"""Sources and the events that captured them."""

from dataclasses import replace

import pytest

from recollect import InvalidInput
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.source import SourceKind
from recollect.store.protocol import Store
from store_records import GLOBAL, Keep
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
        assert tables.sources.get("unknown") is None
        assert tables.sources.kind_of(source.id) is SourceKind.MANUAL
        assert tables.sources.kind_of("unknown") is None
        assert tables.sources.evidence_in(source.id) == list(kept.evidence)

    with pytest.raises(InvalidInput, match="immutable"):
        store.write(lambda tables: tables.sources.overwrite(source.id, "something else", "hash"))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.sources.add(replace(source, id="other")))


def test_uris_of_events_without_a_source_are_listed(store: Store, clock: FakeClock) -> None:
    def event(uri: str, trigger: Trigger = Trigger.MANUAL) -> Event:
        return Event(
            id=clock.new_id(),
            trigger=trigger,
            source_id=None,
            owner=GLOBAL,
            state=EventState.DONE,
            uri=uri,
            created_at=START,
            updated_at=START,
        )

    events = [event("file:///a#1"), event(""), event("file:///b", Trigger.CONVERSATION)]
    for new in events:
        store.write(lambda tables, new=new: tables.sources.add_event(new))  # type: ignore[misc]

    with store.read() as tables:
        assert tables.sources.uris_without_source(Trigger.MANUAL) == {"file:///a#1"}


def test_events_are_kept_in_order(store: Store, clock: FakeClock) -> None:
    events = [
        Event(
            id=clock.new_id(),
            trigger=Trigger.MANUAL,
            source_id=None,
            owner=GLOBAL,
            state=EventState.DONE,
            created_at=START,
            updated_at=START,
        )
        for _ in range(3)
    ]
    for event in events:
        store.write(lambda tables, event=event: tables.sources.add_event(event))  # type: ignore[misc]

    with store.read() as tables:
        assert tables.sources.events() == events
