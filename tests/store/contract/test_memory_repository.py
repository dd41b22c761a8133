"""Memories, their evidence and their history."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from recollect import Change, EvidenceMissing, InvalidInput, MemoryType, Status
from recollect.domain.change import ChangeEffects, ChangeKind, ConfirmationChange
from recollect.domain.provenance import MentionedDate, Provenance, StatementFlag
from recollect.domain.retrieval import Filters
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice
from recollect.store.protocol import Store, Tables
from recollect.text.fingerprint import fingerprint
from store_records import GLOBAL, Keep, matching_ids, memory_query, project
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
        assert tables.sources.of_memory(kept.id)[0].content == "Use pnpm."


def test_a_memory_is_found_by_its_words_as_soon_as_it_is_written(store: Store, keep: Keep) -> None:
    kept = keep("The build uses pnpm.", tags=("tooling",), title="Bundles")

    for query in ("builds", "PNPM", "tooling", "bundle"):
        assert matching_ids(store, query) == [kept.id]
    assert matching_ids(store, "yarn") == []


def test_an_active_memory_without_evidence_is_refused(store: Store, keep: Keep) -> None:
    with pytest.raises(EvidenceMissing):
        keep("no proof", evidence=())

    candidate = keep("no proof yet", evidence=(), status=Status.INBOX)
    active = replace(candidate, status=Status.ACTIVE)
    with pytest.raises(EvidenceMissing):
        store.write(lambda tables: tables.memories.update_mutable_fields(active))


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
        tables.memories.update_mutable_fields(moved)
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
    assert matching_ids(store, "zebra") == []
    assert matching_ids(store, "animal") == [other.id]
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
    with store.read() as tables:
        assert tables.memories.newest(None, Filters(), 1) == [new]
        assert tables.memories.newest_ids([GLOBAL], Filters(), 9) == [new.id, old.id]
    assert newest(statuses=frozenset({Status.INBOX})) == [waiting.id]
    assert newest(types=frozenset({MemoryType.EPISODE})) == [new.id]
    assert newest(tags=frozenset({"x", "y"})) == [new.id]
    assert newest(since=START - timedelta(days=1)) == [new.id]
    assert newest(until=START - timedelta(days=1)) == [old.id]
    days = [START - timedelta(days=10), START - timedelta(days=1), START]
    with store.read() as tables:
        assert list(tables.memories.count_by_day(days).items()) == [
            *zip(days, (1, 0, 2), strict=True)
        ]
    with store.read() as tables:
        ids = [memory.id for memory in (old, new, waiting)]
        records = tables.search_index.records(ids, Filters(tags=frozenset({"y"})))
    assert [record.id for record in records] == [new.id]


def test_a_timeline_is_in_order_and_says_when_there_is_too_much(store: Store, keep: Keep) -> None:
    new = keep("new", type=MemoryType.EPISODE)
    old = keep("old", observed_at=START - timedelta(days=10))
    keep("waiting", status=Status.INBOX)

    with store.read() as tables:
        timeline = tables.search_index.timeline
        both = timeline(memory_query(owners=[GLOBAL]), limit=2)
        late = timeline(memory_query(filters=Filters(since=START)), limit=2)
        too_many = timeline(memory_query(owners=[GLOBAL]), limit=1)

    in_order = [(memory.observed_at, memory.id) for memory in (old, new)]
    assert (both, late, too_many) == (in_order, in_order[1:], None)


def test_one_profile_fact_of_a_name_is_active_at_a_time(store: Store, keep: Keep) -> None:
    first = keep("vim", key="editor")
    with store.read() as tables:
        assert tables.memories.with_key("editor", GLOBAL) == first
        assert tables.memories.with_key("shell", GLOBAL) is None

    with pytest.raises(InvalidInput):
        keep("emacs", key="editor")


def test_memories_are_listed_by_status_and_by_when_they_were_confirmed(
    store: Store, keep: Keep
) -> None:
    old = keep("old", confirmed_at=START - timedelta(days=9))
    older = keep("older", type=MemoryType.DECISION, confirmed_at=START - timedelta(days=10))
    fresh, waiting = keep("fresh"), keep("waiting", status=Status.INBOX)
    since = dict.fromkeys((MemoryType.PROFILE, MemoryType.DECISION), START)

    with store.read() as tables:
        memories = tables.memories
        assert memories.ids_with_status(Status.ACTIVE) == [old.id, older.id, fresh.id]
        assert memories.ids_with_status(Status.INBOX) == [waiting.id]
        assert memories.unconfirmed(since, 9) == [older, old]
        assert memories.unconfirmed(since, 1) == [older]
        assert memories.unconfirmed({MemoryType.PROFILE: START}, 9) == [old]
        assert memories.contents([old.id, "unknown"]) == {old.id: "old"}
        assert memories.stored_ids([waiting.id, "unknown", old.id]) == {waiting.id, old.id}


def test_candidates_are_ordered_by_group_and_certainty(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    instruction = Provenance(flags=(StatementFlag.INSTRUCTION,))
    agents = {"source_kind": SourceKind.RUN, "provenance": Provenance(voice=Voice.ASSISTANT)}
    record = keep("a record", type=MemoryType.EPISODE, status=Status.INBOX)
    risky = keep("risky", status=Status.INBOX, provenance=instruction)
    of_agent = keep("of an agent", status=Status.INBOX, **agents)
    unsure = keep("unsure", status=Status.INBOX, confidence=0.5)
    decision = keep("a decision", type=MemoryType.DECISION, status=Status.INBOX, confidence=0.9)
    older = keep("older", status=Status.INBOX, observed_at=START - timedelta(days=1))
    new = keep("new", status=Status.INBOX)
    keep("active")
    twice = keep("said twice", type=MemoryType.DECISION, status=Status.INBOX, confidence=0.1)
    again = replace(twice.evidence[0], id=clock.new_id(), source_id=new.evidence[0].source_id)
    again = replace(again, start=0, end=3, quote="new")
    store.write(lambda tables: tables.memories.add_evidence(again))

    with store.read() as tables:
        order = tables.memories.review_order()
        texts = tables.memories.candidate_texts(GLOBAL, MemoryType.DECISION)
        counts = [tables.memories.count_with_status(status) for status in Status]

    decisions, others = [twice, decision], [new, older, unsure, of_agent, risky]
    assert order == [memory.id for memory in (*decisions, *others, record)]
    assert sorted(texts) == sorted((memory.id, "", "", memory.content) for memory in decisions)
    assert dict(zip(Status, counts, strict=True)) == {
        **dict.fromkeys(Status, 0),
        Status.INBOX: 8,
        Status.ACTIVE: 1,
    }


def test_memories_of_the_same_words_are_found_by_their_fingerprint(
    store: Store, keep: Keep
) -> None:
    first, second = keep("Use pnpm."), keep("use  PNPM")
    other = keep("Use yarn.")

    with store.read() as tables:
        words = fingerprint("use pnpm")
        elsewhere = Owner(Scope.PROJECT, "p")
        ids = tables.memories.with_fingerprints(
            [(words, elsewhere), (words, GLOBAL), (fingerprint("Use yarn."), GLOBAL)]
        )
    assert ids == [[], [first.id, second.id], [other.id]]


def test_evidence_is_added_and_dropped(store: Store, keep: Keep, clock: FakeClock) -> None:
    kept = keep("a fact")
    more = replace(kept.evidence[0], id=clock.new_id(), start=2, end=6, quote="fact")
    store.write(lambda tables: tables.memories.add_evidence(more))
    with store.read() as tables:
        assert tables.memories.get(kept.id) == replace(kept, evidence=(*kept.evidence, more))

    store.write(lambda tables: tables.memories.drop_evidence([more.id, "unknown"]))

    with store.read() as tables:
        assert tables.memories.get(kept.id) == kept


def test_the_id_of_a_forgotten_memory_is_removed_from_the_history_of_others(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    kept, gone, unrelated = keep("kept"), keep("gone"), keep("unrelated")

    def change(memory_id: str) -> Change:
        return Change(
            id=clock.new_id(),
            memory_id=memory_id,
            kind=ChangeKind.SUPERSEDED,
            before=Status.ACTIVE,
            after=Status.SUPERSEDED,
            by="engine",
            reason=f"replaced by {gone.id}",
            at=START,
            effects=ChangeEffects(caused_by=gone.id),
        )

    changes = [change(kept.id), change(unrelated.id)]

    def write(tables: Tables) -> None:
        for new in changes:
            tables.memories.add_change(new)
        tables.memories.remove_id_from_history(gone.id, [kept.id])

    store.write(write)
    with store.read() as tables:
        [scrubbed] = tables.memories.changes(kept.id)
        assert gone.id not in repr(scrubbed)
        assert tables.memories.changes(unrelated.id) == [changes[1]]


def test_extracted_memories_are_counted_with_those_a_person_rejected(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    keep("by hand")
    extracted = {"source_kind": SourceKind.CONVERSATION, "status": Status.ARCHIVED}
    keep("extracted", **extracted | {"status": Status.INBOX})
    by_person, by_engine = keep("rejected", **extracted), keep("duplicate", **extracted)

    def write(tables: Tables) -> None:
        rejected = (by_person, ChangeKind.REJECTED, "user")
        for memory, kind, by in (rejected, (by_engine, ChangeKind.MERGED, "engine")):
            change = Change(
                id=clock.new_id(),
                memory_id=memory.id,
                kind=kind,
                before=Status.INBOX,
                after=Status.ARCHIVED,
                by=by,
                reason="",
                at=START,
            )
            tables.memories.add_change(change)

    store.write(write)
    with store.read() as tables:
        assert tables.memories.count_extracted() == (3, 1)


def test_memories_are_added_together_or_not_at_all(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    first = keep("zebra one", status=Status.INBOX, tags=("a",), evidence=())
    copies = [replace(first, id=clock.new_id(), tags=tags) for tags in (("b", "c"), ())]
    twice = [replace(first, id=clock.new_id()), first]

    store.write(lambda tables: tables.memories.add_many(copies))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.memories.add_many(twice))

    with store.read() as tables:
        assert tables.memories.get_many([memory.id for memory in copies]) == copies
        assert tables.memories.count_by_status() == {"inbox": 3}
    assert store.check()[1] == []
