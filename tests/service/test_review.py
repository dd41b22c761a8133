"""Review: a person promotes, rejects and takes back, one or many, and every step is on record."""

import stat
from operator import attrgetter
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import (
    Change,
    ChangeKind,
    IllegalTransition,
    InvalidInput,
    LocalRecollect,
    Memory,
    MemoryExplanation,
    NotFound,
    RecollectError,
    Status,
    TooLarge,
)
from recollect.service.review import SNAPSHOT_THRESHOLD
from support import START, FakeClock, candidates, open_memory

TOKEN = "ghp_" + "a1B2" * 9
PORT = "The staging server listens on port 8080."
OTHER_PORT = "The staging server listens on port 9090."
HELLO = "Good morning, how are you today?"  # what the episode of a session quotes, then


def explained(rec: LocalRecollect, memory_id: str) -> MemoryExplanation:
    explanation = rec.explain(memory_id)
    assert isinstance(explanation, MemoryExplanation)
    return explanation


def last_change(rec: LocalRecollect, memory_id: str) -> Change:
    return explained(rec, memory_id).changes[-1]


def add_candidates(rec: LocalRecollect, number: int) -> list[Memory]:
    items = [{"content": f"idea number {n}", "status": "inbox"} for n in range(number)]
    return rec.memories.ingest_many(items)


def capture_text(rec: LocalRecollect, text: str, session: str, **options: Any) -> None:
    """Have the user say something in a session of the site, and read it."""
    talk = [{"role": "user", "content": text}]
    rec.capture_session(talk, **{"project": "site", "session": session, **options})
    rec.drain()


def statuses(rec: LocalRecollect, *memories: Memory) -> list[Status]:
    return [rec.memories.get(memory.id).status for memory in memories]


def add_conflict(rec: LocalRecollect, clock: FakeClock) -> tuple[Memory, Memory]:
    """Return an active fact, and a candidate that contradicts it."""
    capture_text(rec, PORT, "monday")
    [old] = candidates(rec)
    rec.promote(old.id)
    clock.advance(days=1)
    capture_text(rec, OTHER_PORT, "tuesday")
    [new] = candidates(rec)
    return rec.memories.get(old.id), new


# ── one ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_promoted_candidate_is_active_found_and_on_record(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    capture_text(rec, "We use pnpm for builds.", "monday")
    [candidate] = candidates(rec)
    clock.advance(days=3)
    promoted = rec.promote(candidate.id, reason="I know it")

    [hit] = rec.search("pnpm builds", project="site", types=["project"])
    change = last_change(rec, candidate.id)
    assert promoted == rec.memories.get(candidate.id)
    assert promoted.status is Status.ACTIVE
    assert promoted.confirmed_at == clock.now()
    assert hit.memory.id == candidate.id
    assert (change.before, change.after) == (Status.INBOX, Status.ACTIVE)
    assert (change.by, change.reason, change.at) == ("user", "I know it", clock.now())
    assert candidates(rec) == []


def test_a_rejected_candidate_is_archived_with_who_and_why(rec: LocalRecollect) -> None:
    [memory, other] = add_candidates(rec, 2)
    rec.reject(memory.id, "not true")
    rec.reject(other.id)

    assert statuses(rec, memory, other) == [Status.ARCHIVED, Status.ARCHIVED]
    assert last_change(rec, memory.id).reason == "not true"
    assert last_change(rec, memory.id).by == "user"
    assert (last_change(rec, other.id).kind, last_change(rec, other.id).reason) == ("rejected", "")
    assert rec.search("idea number") == []


def test_what_was_rejected_does_not_come_back_when_it_is_said_again(rec: LocalRecollect) -> None:
    capture_text(rec, "We use pnpm for builds.", "monday")
    [candidate] = candidates(rec)
    rec.reject(candidate.id)
    capture_text(rec, "Hello again, good morning. We use pnpm for builds.", "tuesday")

    assert candidates(rec) == []
    assert rec.memories.get(candidate.id).status is Status.ARCHIVED
    assert len(rec.memories.get(candidate.id).evidence) == 2


def test_what_the_engine_did_is_on_record_in_its_own_name(rec: LocalRecollect) -> None:
    capture_text(rec, "Remember that we decided to use Postgres, it is robust.", "monday")

    [decision] = rec.memories.list(project="site", types=["decision"])
    changes = explained(rec, decision.id).changes
    assert [change.by for change in changes] == ["engine", "engine"]
    assert "the user asked to remember it" in changes[-1].reason


def test_a_secret_in_a_reason_is_not_stored(rec: LocalRecollect, path: Path) -> None:
    [memory, other] = add_candidates(rec, 2)
    rec.promote(memory.id, reason=f"see {TOKEN}")
    rec.reject(other.id, f"see {TOKEN}")

    assert last_change(rec, memory.id).reason == "see [redacted:github-token]"
    assert last_change(rec, other.id).reason == "see [redacted:github-token]"
    rec.close()
    assert TOKEN.encode() not in path.read_bytes()


@pytest.mark.parametrize("verb", ["promote", "reject"])
def test_undo_takes_a_decision_back_and_says_what_it_was(rec: LocalRecollect, verb: str) -> None:
    [memory] = add_candidates(rec, 1)
    attrgetter(verb)(rec)(memory.id, reason="by mistake")

    restored = rec.undo(memory.id)

    change = last_change(rec, memory.id)
    assert restored.status is Status.INBOX
    assert [waiting.id for waiting in candidates(rec)] == [memory.id]
    assert change.by == "user"
    assert "by mistake" in change.reason


def test_undo_takes_back_what_the_policy_did_too(rec: LocalRecollect) -> None:
    capture_text(rec, "Remember that we decided to use Postgres, it is robust.", "monday")
    [decision] = rec.memories.list(project="site", types=["decision"])

    assert rec.undo(decision.id).status is Status.INBOX
    assert rec.search("Postgres robust", project="site", statuses=["active"]) == []


def test_undo_makes_nothing_fresher_than_it_was(rec: LocalRecollect, clock: FakeClock) -> None:
    capture_text(rec, "We use pnpm for builds.", "monday")
    [candidate] = candidates(rec)
    clock.advance(days=1)
    promoted = rec.promote(candidate.id)
    clock.advance(days=1)
    waits_again = rec.undo(candidate.id)
    clock.advance(days=1)
    active_again = rec.undo(candidate.id)
    rec.memories.set_status(candidate.id, "archived")
    clock.advance(days=1)
    brought_back = rec.undo(candidate.id)

    assert waits_again.confirmed_at == candidate.confirmed_at
    assert active_again.confirmed_at == promoted.confirmed_at
    assert (brought_back.status, brought_back.confirmed_at) == ("active", promoted.confirmed_at)


def test_what_was_said_twice_was_last_confirmed_by_the_second_time(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    capture_text(rec, "We use pnpm for builds.", "monday")
    clock.advance(days=1)
    second = clock.now()
    capture_text(rec, "Hello again. We use pnpm for builds.", "tuesday")
    [active] = rec.memories.list(project="site", types=["project"])
    clock.advance(days=1)

    assert active.status is Status.ACTIVE
    assert rec.undo(active.id).confirmed_at == second


# ── many ────────────────────────────────────────────────────────────────────────────────────────


def test_many_are_promoted_and_rejected_in_the_order_given(rec: LocalRecollect) -> None:
    memories = add_candidates(rec, 6)

    promoted = rec.inbox.promote([memories[2].id, memories[0].id], reason="good")
    gone = rec.inbox.reject([memories[4].id, memories[5].id], "bad")

    assert [memory.id for memory in promoted] == [memories[2].id, memories[0].id]
    assert [memory.id for memory in gone] == [memories[4].id, memories[5].id]
    assert {last_change(rec, memory.id).reason for memory in promoted} == {"good"}
    assert {last_change(rec, memory.id).reason for memory in gone} == {"bad"}
    assert {memory.id for memory in candidates(rec)} == {memories[1].id, memories[3].id}


def test_the_same_one_twice_is_that_one_once(rec: LocalRecollect) -> None:
    [memory] = add_candidates(rec, 1)

    assert len(rec.inbox.promote([memory.id, memory.id])) == 1
    assert len(explained(rec, memory.id).changes) == 2


def test_none_at_all_is_nothing_to_do(rec: LocalRecollect) -> None:
    assert rec.inbox.promote([]) == []
    assert rec.inbox.reject([]) == []


def test_many_means_all_or_none(rec: LocalRecollect) -> None:
    memories = add_candidates(rec, 4)
    rec.promote(memories[3].id)
    ids = [memory.id for memory in memories]

    with pytest.raises(NotFound):
        rec.inbox.promote([ids[0], ids[1], "nowhere"])
    with pytest.raises(IllegalTransition):
        rec.inbox.reject([ids[0], ids[1], ids[3]])
    with pytest.raises(IllegalTransition):
        rec.inbox.undo([ids[3], ids[0]])

    assert statuses(rec, *memories) == [Status.INBOX] * 3 + [Status.ACTIVE]
    assert len(explained(rec, ids[0]).changes) == 1


def test_many_are_taken_back_together(rec: LocalRecollect) -> None:
    memories = add_candidates(rec, 3)
    rec.inbox.promote([memory.id for memory in memories])

    restored = rec.inbox.undo([memory.id for memory in memories])

    assert {memory.status for memory in restored} == {Status.INBOX}
    assert len(candidates(rec)) == 3


@pytest.mark.parametrize("verb", ["inbox.promote", "inbox.reject"])
def test_before_a_bulk_change_the_store_is_copied_for_its_owner_only(
    rec: LocalRecollect, path: Path, verb: str
) -> None:
    memories = add_candidates(rec, SNAPSHOT_THRESHOLD)
    attrgetter(verb)(rec)([memory.id for memory in memories])

    copy = path.with_name("memory.db.before-bulk")
    assert candidates(rec) == []
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with open_memory(copy) as before:
        assert len(candidates(before)) == SNAPSHOT_THRESHOLD
        assert before.maintenance.verify().ok


def test_before_a_few_are_changed_no_copy_is_made(rec: LocalRecollect, path: Path) -> None:
    rec.inbox.promote([memory.id for memory in add_candidates(rec, SNAPSHOT_THRESHOLD - 1)])

    assert [file.name for file in path.parent.glob("*.before-*")] == []


def test_a_second_bulk_change_replaces_the_copy_of_the_first(
    rec: LocalRecollect, path: Path
) -> None:
    rec.inbox.promote([memory.id for memory in add_candidates(rec, SNAPSHOT_THRESHOLD)])
    rec.ingest("written between the two")
    rec.inbox.reject([memory.id for memory in add_candidates(rec, SNAPSHOT_THRESHOLD)])

    assert [file.name for file in path.parent.glob("*.before-*")] == ["memory.db.before-bulk"]
    with open_memory(path.with_name("memory.db.before-bulk")) as before:
        assert before.search("written between the two")


def test_memories_may_stand_for_their_ids_as_they_do_for_one(rec: LocalRecollect) -> None:
    add_candidates(rec, 3)

    assert len(rec.inbox.promote(candidates(rec))) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verb", "value"),
    [("inbox.promote", [["x"]]), ("promote", []), ("reject", []), ("undo", [])],
    ids=str,
)
def test_ids_that_are_none_are_refused(rec: LocalRecollect, verb: str, value: Any) -> None:
    with pytest.raises(RecollectError):
        attrgetter(verb)(rec)(value)


# ── conflicts ─────────────────────────────────────────────────────────────────────────────────────


def test_promoting_leaves_the_contradicted_memory_and_shows_the_conflict(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    old, new = add_conflict(rec, clock)
    rec.promote(new.id)

    hits = rec.search("which port does the staging server use?", project="site")
    conflicts = {hit.memory.id: hit.conflicts for hit in hits if hit.memory.type == "project"}
    assert statuses(rec, old, new) == [Status.ACTIVE, Status.ACTIVE]
    assert conflicts == {old.id: (new.id,), new.id: (old.id,)}


def test_promoting_with_replaces_supersedes_contradicted_memories_and_undo_restores_them(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    old, new = add_conflict(rec, clock)

    rec.promote(new.id, reason="it moved", replaces=True)
    after = statuses(rec, old, new)
    links = {
        (link.from_id, link.relation.value, link.to_id) for link in explained(rec, old.id).links
    }
    replaced = last_change(rec, old.id)
    clock.advance(days=1)
    rec.undo(new.id)
    restored = last_change(rec, old.id)

    assert after == [Status.SUPERSEDED, Status.ACTIVE]
    assert (new.id, "supersedes", old.id) in links
    assert (new.id, "contradicts", old.id) in links
    assert (replaced.by, replaced.kind, replaced.effects.caused_by) == (
        "user",
        ChangeKind.SUPERSEDED,
        new.id,
    )
    assert statuses(rec, old, new) == [Status.ACTIVE, Status.INBOX]
    assert rec.memories.get(old.id).confirmed_at == old.confirmed_at
    assert restored.by == "user"
    assert (restored.kind, restored.effects.caused_by) == (ChangeKind.UNDONE, new.id)
    assert [link.relation.value for link in explained(rec, old.id).links] == ["contradicts"]


def test_a_contradicted_candidate_goes_back_to_the_inbox(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    capture_text(rec, PORT, "monday")
    clock.advance(days=1)
    capture_text(rec, OTHER_PORT, "tuesday")
    new, old = candidates(rec)

    rec.promote(new.id, replaces=True)
    superseded = rec.memories.get(old.id).status
    rec.undo(new.id)

    assert superseded is Status.SUPERSEDED
    assert statuses(rec, new, old) == [Status.INBOX, Status.INBOX]


def test_undo_leaves_what_somebody_else_superseded(rec: LocalRecollect, clock: FakeClock) -> None:
    old, new = add_conflict(rec, clock)
    third = rec.ingest("The staging server is gone.", project="site")
    rec.promote(new.id)
    rec.link(third.id, "supersedes", old.id)

    rec.undo(new.id)

    assert rec.memories.get(old.id).status is Status.SUPERSEDED


def test_a_candidate_without_conflicts_replaces_nothing(rec: LocalRecollect) -> None:
    memory, other = add_candidates(rec, 2)

    rec.promote(memory.id, replaces=True)

    assert statuses(rec, memory, other) == [Status.ACTIVE, Status.INBOX]


def test_undoing_a_later_change_leaves_the_replaced_memory_superseded(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    old, new = add_conflict(rec, clock)
    rec.promote(new.id, replaces=True)
    rec.memories.set_status(new.id, "archived")

    rec.undo(new.id)

    assert statuses(rec, old, new) == [Status.SUPERSEDED, Status.ACTIVE]


def test_undoing_a_promotion_does_not_bring_back_what_was_merged_before_it(
    words_only: LocalRecollect,
) -> None:
    capture_text(words_only, "We use pnpm for builds.", "monday")
    [less] = candidates(words_only)
    capture_text(words_only, "We use pnpm for all builds on linux.", "tuesday")
    [more] = words_only.memories.list(
        project="site", types=["project"], statuses=["inbox", "active"]
    )
    assert words_only.memories.get(less.id).status is Status.SUPERSEDED
    assert more.status is Status.ACTIVE  # said in two sessions

    words_only.undo(more.id)

    assert [memory.id for memory in candidates(words_only)] == [more.id]


def test_a_reason_that_reads_like_a_replacement_brings_nothing_back(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    old, new = add_conflict(rec, clock)
    rec.link(new.id, "supersedes", old.id)
    rec.promote(new.id, reason=f"in place of {old.id}")

    rec.undo(new.id)

    assert statuses(rec, old, new) == [Status.SUPERSEDED, Status.INBOX]


@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_a_reason_that_reads_like_a_confidence_changes_none(
    rec: LocalRecollect, verdict: str
) -> None:
    first, second = rec.memories.ingest_many(
        [
            {"content": "The backup runs on host atlas.", "status": "inbox", "confidence": 0.6},
            {"content": "The nightly backup runs on host atlas.", "status": "inbox"},
        ]
    )
    rec.inbox.decide(first.id, verdict, reason="old; it was 0.01 sure before")
    assert rec.memories.get(second.id).status is Status.ARCHIVED

    rec.undo(first.id)

    assert statuses(rec, first, second) == [Status.INBOX, Status.INBOX]
    assert [rec.memories.get(memory.id).confidence for memory in (first, second)] == [0.6, 1.0]


def test_a_duplicate_by_its_reason_only_stays_where_it_is(rec: LocalRecollect) -> None:
    first, second = add_candidates(rec, 2)
    rec.link(second.id, "supports", first.id)
    rec.promote(first.id)
    rec.reject(second.id, f"says the same as {first.id}, which was kept")

    rec.undo(first.id)

    assert statuses(rec, first, second) == [Status.INBOX, Status.ARCHIVED]


def test_undoing_a_change_without_recorded_effects_restores_only_its_status(
    rec: LocalRecollect, clock: FakeClock, path: Path
) -> None:
    old, new = add_conflict(rec, clock)
    rec.promote(new.id, reason="it moved", replaces=True)
    with apsw.Connection(str(path)) as db:
        db.execute("UPDATE memory_changes SET effects = '{}'")

    rec.undo(new.id)

    assert statuses(rec, old, new) == [Status.SUPERSEDED, Status.INBOX]


def test_undo_after_a_replaced_memory_was_forgotten_leaves_no_trace_of_it(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    old, new = add_conflict(rec, clock)
    rec.promote(new.id, replaces=True)
    rec.forget(old.id)

    assert last_change(rec, new.id).effects.superseded == ("(forgotten)",)
    assert rec.undo(new.id).status is Status.INBOX


def test_an_exported_store_undoes_as_the_original_would(
    rec: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    old, new = add_conflict(rec, clock)
    rec.promote(new.id, replaces=True)
    rec.export(tmp_path / "store.jsonl")

    with open_memory(tmp_path / "other.db", clock=clock) as other:
        other.import_(tmp_path / "store.jsonl", trust=True)
        other.undo(new.id)

        assert statuses(other, old, new) == [Status.ACTIVE, Status.INBOX]


# ── illegal moves ───────────────────────────────────────────────────────────────────────────────


def test_moves_that_are_not_there_are_refused_in_words(rec: LocalRecollect) -> None:
    active = rec.ingest("written by hand")
    [waiting] = add_candidates(rec, 1)

    with pytest.raises(IllegalTransition, match="is active and cannot become active; it may"):
        rec.promote(active.id)
    with pytest.raises(IllegalTransition, match="only a candidate or a statement can be decided"):
        rec.reject(active.id)
    with pytest.raises(IllegalTransition, match="has not changed since it was written"):
        rec.undo(active.id)
    with pytest.raises(IllegalTransition, match="has not changed since it was written"):
        rec.undo(waiting.id)


@pytest.mark.parametrize("verb", ["promote", "reject", "undo", "memories.confirm"])
@pytest.mark.parametrize("nobody", ["nope", "", "\x00", "\ud800", "x" * 50], ids=ascii)
def test_an_unknown_memory_is_not_found(rec: LocalRecollect, verb: str, nobody: str) -> None:
    with pytest.raises(NotFound, match="there is no memory"):
        attrgetter(verb)(rec)(nobody)


@pytest.mark.parametrize("value", [None, 3, {"a"}], ids=str)
@pytest.mark.parametrize("verb", ["promote", "reject"])
def test_what_is_not_an_id_is_refused(rec: LocalRecollect, verb: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match="name the memory by its name or id, not by"):
        attrgetter(verb)(rec)(value)


@pytest.mark.parametrize("value", [None, 3], ids=str)
@pytest.mark.parametrize("verb", ["inbox.promote", "inbox.reject"])
def test_what_is_not_a_list_of_ids_is_refused(rec: LocalRecollect, verb: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match="memory_ids must be an id or a list of ids"):
        attrgetter(verb)(rec)(value)


def test_a_reason_is_text_of_some_length(rec: LocalRecollect) -> None:
    [memory] = add_candidates(rec, 1)

    with pytest.raises(InvalidInput, match="reason must be text"):
        rec.promote(memory.id, reason=None)  # type: ignore[arg-type]
    with pytest.raises(TooLarge, match="reason has 8,001 characters"):
        rec.reject(memory.id, "x" * 8_001)

    assert rec.memories.get(memory.id).status is Status.INBOX


def test_a_fact_whose_name_is_taken_is_not_brought_back_over_its_successor(
    rec: LocalRecollect,
) -> None:
    old = rec.upsert_profile_fact("editor", "vi")
    new = rec.upsert_profile_fact("editor", "helix")

    with pytest.raises(IllegalTransition, match=f"held by memory {new.id}"):
        rec.undo(old.id)

    assert statuses(rec, old, new) == [Status.SUPERSEDED, Status.ACTIVE]


# ── what waits ──────────────────────────────────────────────────────────────────────────────────


def test_a_reviewer_sees_why_against_what_from_where_and_who(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    capture_text(rec, PORT, "monday")
    [old] = candidates(rec)
    rec.promote(old.id)
    clock.advance(days=1)
    capture_text(rec, OTHER_PORT, "tuesday", title="Stand-up")

    [memory] = rec.inbox.list()

    assert memory.memory.content == OTHER_PORT
    assert memory.memory.evidence[0].quote == OTHER_PORT
    assert memory.why == "held: it contradicts an existing memory"
    assert [rival.id for rival in memory.conflicts] == [old.id]
    assert memory.source == "Stand-up, 2026-05-09"
    assert memory.voice == "user"


def test_a_source_without_a_title_is_known_by_its_session_or_kind_and_its_day(
    rec: LocalRecollect,
) -> None:
    capture_text(rec, "I live in Porto.", "monday")
    rec.ingest("by hand", status="inbox")

    by_hand, captured = rec.inbox.list()

    assert (captured.source, captured.voice) == ("session monday, 2026-05-08", "user")
    assert captured.why == "held: a fact about the user waits for confirmation"
    assert (by_hand.source, by_hand.voice) == ("manual, 2026-05-08", "")
    assert by_hand.why == "written by hand"
    assert captured.conflicts == by_hand.conflicts == ()


def test_what_waits_can_be_narrowed_to_a_place_and_a_type(rec: LocalRecollect) -> None:
    capture_text(rec, "We use pnpm for builds. I live in Porto.", "monday")
    capture_text(rec, "We use cargo for builds.", "tuesday", project="tool")

    def contents(**filters: Any) -> list[str]:
        memories = [item.memory for item in rec.inbox.list(**filters)]
        assert {memory.id for memory in memories} <= {
            memory.id for memory in candidates(rec, **{**filters, "limit": 9})
        }
        return sorted(memory.content for memory in memories)

    assert len(contents()) == 3
    assert contents(limit=1) != []
    assert contents(types=["profile"]) == ["I live in Porto."]
    in_tool = contents(project="tool", everywhere=False)
    assert in_tool == ["I live in Porto.", "We use cargo for builds."]  # one is about the person
    assert contents(project="tool", types=["project"], everywhere=False) == in_tool[1:]
    with pytest.raises(InvalidInput, match="limit"):
        rec.inbox.list(limit=0)


# ── consolidate on request ──────────────────────────────────────────────────────────────────────


def everything(rec: LocalRecollect) -> dict[str, Any]:
    """Return what a second consolidation must not change."""
    memories = rec.memories.list(everywhere=True, statuses=list(Status), limit=1_000)
    return {
        memory.id: (
            memory.status,
            memory.content,
            memory.evidence,
            memory.confidence,
            {(link.from_id, link.relation, link.to_id) for link in explained(rec, memory.id).links},
        )
        for memory in memories
    }


def test_consolidating_the_inbox_makes_one_of_two_that_say_the_same(rec: LocalRecollect) -> None:
    promoted = rec.ingest("Use pnpm for builds.", project="site")
    rec.ingest("use pnpm for builds", project="site", status="inbox")

    counts = rec.consolidate()

    assert counts == {"repeated": 1}
    assert candidates(rec) == []
    assert len(rec.memories.get(promoted.id).evidence) == 2


@pytest.mark.parametrize("times", [2, 3, 5])
def test_of_several_candidates_that_say_the_same_one_is_left(
    rec: LocalRecollect, times: int
) -> None:
    for _ in range(times):
        rec.ingest("Use pnpm for builds.", project="site", status="inbox")

    counts = rec.consolidate()

    assert counts == {"repeated": times - 1, "held": 1}
    assert len(candidates(rec)) == 1


def test_what_a_person_turned_down_does_not_come_back(rec: LocalRecollect) -> None:
    capture_text(rec, "We use pnpm for builds.", "monday")
    [memory] = candidates(rec)
    rec.reject(memory.id)
    capture_text(rec, f"{HELLO} We use pnpm for builds.", "tuesday")

    assert candidates(rec) == []


def test_consolidating_twice_is_consolidating_once(rec: LocalRecollect) -> None:
    capture_text(rec, f"{HELLO} We use pnpm for builds. I live in Porto.", "monday")
    capture_text(rec, f"{HELLO} We decided to use Postgres because it is robust.", "tuesday")
    add_candidates(rec, 3)
    rec.consolidate()
    before = everything(rec)

    counts = rec.consolidate()

    assert counts == {"held": 6}
    assert everything(rec) == before


def test_only_those_named_are_consolidated(rec: LocalRecollect) -> None:
    memory, other = add_candidates(rec, 2)
    active = rec.ingest("written by hand")

    assert rec.consolidate([memory.id]) == {"held": 1}
    assert rec.consolidate([active.id]) == {}
    assert rec.consolidate([]) == {}
    assert len(explained(rec, other.id).changes) == 1
    with pytest.raises(NotFound):
        rec.consolidate([memory.id, "nowhere"])


def test_an_empty_inbox_has_nothing_to_consolidate(rec: LocalRecollect) -> None:
    assert rec.consolidate() == {}


def test_consolidating_leaves_a_candidate_that_the_episode_of_its_session_quotes(
    rec: LocalRecollect,
) -> None:
    capture_text(rec, "We use pnpm for builds.", "monday")
    before = everything(rec)

    rec.consolidate()

    assert everything(rec) == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We use C++ for drivers.", "We use C# for drivers."),
        ("We keep logs of size < 5 MB.", "We keep logs of size > 5 MB."),
    ],
    ids=["C++ and C#", "less and more"],
)
def test_statements_that_differ_in_a_sign_are_two(
    rec: LocalRecollect, first: str, second: str
) -> None:
    capture_text(rec, f"{HELLO} {first}", "monday")
    capture_text(rec, f"{HELLO} {second}", "tuesday")

    memories = rec.memories.list(project="site", types=["project"], statuses=list(Status))
    assert {memory.content for memory in memories} == {first, second}


def test_consolidating_again_does_not_count_a_contradiction_twice(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    capture_text(rec, f"{HELLO} {PORT}", "monday")
    clock.advance(days=1)
    capture_text(rec, f"{HELLO} {OTHER_PORT}", "tuesday")
    before = rec.maintenance.status().contradictions

    rec.consolidate()

    assert before == 1
    assert rec.maintenance.status().contradictions == 1


def test_consolidating_again_adds_nothing_to_the_record(rec: LocalRecollect) -> None:
    capture_text(rec, f"{HELLO} We use pnpm for builds.", "monday")
    [memory] = candidates(rec)
    before = explained(rec, memory.id).changes

    rec.consolidate()

    assert explained(rec, memory.id).changes == before


def test_what_a_repetition_adds_besides_its_quote_is_not_lost(rec: LocalRecollect) -> None:
    capture_text(rec, "We decided to use pnpm.", "monday")
    capture_text(rec, "We decided to use pnpm. The reason is that installs are faster.", "tuesday")

    [decision] = rec.memories.list(
        project="site", types=["decision"], statuses=[Status.INBOX, Status.ACTIVE]
    )
    assert len(decision.evidence) == 3  # both sessions' words, and the reason's
    assert "installs are faster" in decision.rationale


def test_what_somebody_wrote_beside_a_candidate_survives_consolidation(rec: LocalRecollect) -> None:
    rec.ingest("Use pnpm for builds.", project="site")
    rec.ingest(
        "Use pnpm for builds.", project="site", status="inbox", tags=["ci"], rationale="It is fast."
    )

    rec.consolidate()

    memories = rec.memories.list(project="site", statuses=list(Status))
    assert {tag for memory in memories for tag in memory.tags} == {"ci"}
    assert "It is fast." in {memory.rationale for memory in memories}


def test_a_candidate_keeps_its_time_of_birth_through_review(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    [memory] = add_candidates(rec, 1)
    clock.advance(days=2)
    rec.promote(memory.id)
    clock.advance(days=2)
    restored = rec.undo(memory.id)

    assert restored.created_at == restored.observed_at == START
    assert restored.updated_at == clock.now()


def test_a_candidate_is_merged_into_the_memory_that_says_the_same_until_undone(
    words_only: LocalRecollect,
) -> None:
    stored = words_only.ingest("The staging host is walnut.", project="site", confidence=0.6)
    candidate = words_only.ingest("The staging host is walnut!", project="site", status="inbox")

    merged = words_only.inbox.decide(candidate.id, "merge")

    assert [(memory.id, memory.status) for memory in merged] == [(candidate.id, "archived")]
    assert len(words_only.memories.get(stored.id).evidence) == 2
    assert words_only.maintenance.status().rejected == 0
    words_only.undo(candidate.id)
    assert words_only.memories.get(candidate.id).status == "inbox"
    assert words_only.memories.get(stored.id).evidence == stored.evidence
    assert words_only.memories.get(stored.id).confidence == 0.6


def test_a_candidate_that_resembles_nothing_cannot_be_merged(words_only: LocalRecollect) -> None:
    candidate = words_only.ingest("The staging host is walnut.", status="inbox")

    with pytest.raises(InvalidInput, match="no active memory says the same"):
        words_only.inbox.decide(candidate.id, "merge")

    assert words_only.memories.get(candidate.id).status == "inbox"
