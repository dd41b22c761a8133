"""Memories, their evidence and their history."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from recollect import Change, EvidenceMissing, InvalidInput, MemoryType, Status
from recollect.domain.change import ChangeEffects, ChangeKind, ConfirmationChange
from recollect.domain.provenance import MentionedDate, Provenance, StatementFlag
from recollect.domain.retrieval import Filters
from recollect.domain.scope import Scope
from recollect.domain.transcript import Voice
from recollect.store.protocol import Store, Tables
from store_records import GLOBAL, Keep, item_id_of, matching_items, project
from support import START, FakeClock


def test_a_memory_comes_back_as_it_was_written(store: Store, keep: Keep, clock: FakeClock) -> None:
    home = project(store, clock, "site")
    kept = keep(
        "Use pnpm.",
        type=MemoryType.DECISION,
        scope=Scope.PROJECT,
        project_id=home.id,
        title="Package manager",
        summary="pnpm",
        tags=("build", "ci"),
        rationale="faster",
        alternatives=("npm", "yarn"),
        confidence=0.5,
        metadata={"by": "hand"},
        provenance=Provenance(
            voice=Voice.PASTED,
            flags=(StatementFlag.EXPLICIT, StatementFlag.UPDATE),
            rule="preference",
            event_id="e1",
            session="monday",
            author="coder",
            dates=(MentionedDate("tomorrow", date(2026, 5, 10)),),
        ),
    )

    with store.read() as tables:
        assert tables.memories.get(kept.id) == kept
        assert tables.memories.get_many([kept.id, "unknown"]) == [kept]
        assert tables.memories.get("unknown") is None
        assert tables.memories.item_id_of("unknown") is None
        assert tables.sources.of_memory(kept.id)[0].content == "Use pnpm."


def test_a_memory_is_found_by_its_words_as_soon_as_it_is_written(store: Store, keep: Keep) -> None:
    kept = keep("The build uses pnpm.", tags=("tooling",), title="Bundles")

    for query in ("builds", "PNPM", "tooling", "bundle"):
        assert matching_items(store, query) == [item_id_of(store, kept)]
    assert matching_items(store, "yarn") == []


def test_an_active_memory_without_evidence_is_refused(store: Store, keep: Keep) -> None:
    with pytest.raises(EvidenceMissing):
        keep("no proof", evidence=())

    candidate = keep("no proof yet", evidence=(), status=Status.INBOX)
    active = replace(candidate, status=Status.ACTIVE)
    with pytest.raises(EvidenceMissing):
        store.write(lambda tables: tables.memories.update_status(active))


def test_a_quote_that_is_not_in_its_source_is_refused(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    honest = keep("The sky is blue.")
    forged = replace(honest.evidence[0], id=clock.new_id(), memory_id="x", quote="The sky is red.")

    with pytest.raises(EvidenceMissing, match="verbatim"):
        keep("The sky is red.", id="x", evidence=(forged,))


def test_the_status_changes_and_the_change_is_stored(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    kept = keep("a fact")
    moved = replace(kept, status=Status.ARCHIVED, updated_at=START + timedelta(days=1))
    change = Change(
        id=clock.new_id(),
        memory_id=kept.id,
        kind=ChangeKind.ARCHIVED,
        before=Status.ACTIVE,
        after=Status.ARCHIVED,
        by="user",
        reason="old",
        at=START,
        effects=ChangeEffects(
            caused_by="c",
            superseded=("a", "b"),
            merged=("d",),
            evidence=("e",),
            links=("f",),
            confirmations=(
                ConfirmationChange(
                    memory_id="c",
                    confidence_before=0.5,
                    confidence_after=1.0,
                    confirmed_before=START,
                    confirmed_after=START + timedelta(microseconds=1),
                ),
            ),
            policy_rule="said_once",
        ),
    )

    def write(tables: Tables) -> None:
        tables.memories.update_status(moved)
        tables.memories.add_change(change)

    store.write(write)

    with store.read() as tables:
        assert tables.memories.get(kept.id) == moved
        assert tables.memories.changes(kept.id) == [change]
        assert tables.memories.count_by_status() == {"archived": 1}


def test_deleting_removes_every_trace_and_says_how_much(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    kept = keep("unrepeatable zebra", tags=("animal",))
    other = keep("another animal")

    removed = store.write(lambda tables: tables.memories.delete(kept.id))

    assert removed["memories"] == 1
    assert removed["memory_tags"] == 1
    assert removed["evidence"] == 1
    assert removed["postings"] == 3
    assert matching_items(store, "zebra") == []
    assert matching_items(store, "animal") == [item_id_of(store, other)]
    assert store.write(lambda tables: tables.memories.delete(kept.id)) == {}
    assert store.check()[1] == []


def test_memories_are_filtered(store: Store, keep: Keep) -> None:
    old = keep("old", observed_at=START - timedelta(days=10), tags=("x",))
    new = keep("new", type=MemoryType.EPISODE, tags=("x", "y"))
    waiting = keep("waiting", status=Status.INBOX)

    def newest(**filters: object) -> list[str]:
        with store.read() as tables:
            chosen = Filters(**filters)  # type: ignore[arg-type]
            return [memory.id for memory in tables.memories.newest([GLOBAL], chosen, 10)]

    assert newest() == [new.id, old.id]
    assert newest(statuses=frozenset({Status.INBOX})) == [waiting.id]
    assert newest(types=frozenset({MemoryType.EPISODE})) == [new.id]
    assert newest(tags=frozenset({"x", "y"})) == [new.id]
    assert newest(since=START - timedelta(days=1)) == [new.id]
    assert newest(until=START - timedelta(days=1)) == [old.id]
    with store.read() as tables:
        item_ids = [tables.memories.item_id_of(memory.id) or 0 for memory in (old, new, waiting)]
        candidate_rows = tables.memories.candidate_rows(item_ids, Filters(tags=frozenset({"y"})))
    assert [row.id for row in candidate_rows] == [new.id]


def test_a_timeline_is_in_order_and_says_when_there_is_too_much(store: Store, keep: Keep) -> None:
    new = keep("new", type=MemoryType.EPISODE)
    old = keep("old", observed_at=START - timedelta(days=10))
    keep("waiting", status=Status.INBOX)

    with store.read() as tables:
        both = tables.memories.timeline([GLOBAL], Filters(), limit=2)
        late = tables.memories.timeline(None, Filters(since=START), limit=2)
        too_many = tables.memories.timeline([GLOBAL], Filters(), limit=1)

    in_order = [(memory.observed_at, item_id_of(store, memory)) for memory in (old, new)]
    assert (both, late, too_many) == (in_order, in_order[1:], None)


def test_one_profile_fact_of_a_name_is_active_at_a_time(store: Store, keep: Keep) -> None:
    first = keep("vim", key="editor")
    with store.read() as tables:
        assert tables.memories.with_key("editor", GLOBAL) == first
        assert tables.memories.with_key("shell", GLOBAL) is None

    with pytest.raises(InvalidInput):
        keep("emacs", key="editor")
