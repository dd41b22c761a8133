"""Review: a person promotes, rejects and takes back, one or many, and every step is on record."""

import stat
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import (
    Change,
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
from recollect.service import review
from recollect.service.review import BULK
from support import START, FakeClock, candidates, open_memory

TOKEN = "ghp_" + "a1B2" * 9
PORT = "The staging server listens on port 8080."
OTHER_PORT = "The staging server listens on port 9090."
HELLO = "Good morning, how are you today?"  # what the episode of a session quotes, then


def explained(memory: LocalRecollect, memory_id: str) -> MemoryExplanation:
    found = memory.explain(memory_id)
    assert isinstance(found, MemoryExplanation)
    return found


def last_change(memory: LocalRecollect, memory_id: str) -> Change:
    return explained(memory, memory_id).changes[-1]


def candidates(memory: LocalRecollect, number: int) -> list[Memory]:
    items = [{"content": f"idea number {n}", "status": "inbox"} for n in range(number)]
    return memory.memories.ingest_many(items)


def said(memory: LocalRecollect, text: str, session: str, **told: Any) -> None:
    """Have the user say something in a session of the site, and read it."""
    talk = [{"role": "user", "content": text}]
    memory.capture_session(talk, **{"project": "site", "session": session, **told})
    memory.drain()


def statuses(memory: LocalRecollect, *found: Memory) -> list[Status]:
    return [memory.memories.get(one.id).status for one in found]


def rivals(memory: LocalRecollect, clock: FakeClock) -> tuple[Memory, Memory]:
    """Return an active fact, and a candidate that speaks against it."""
    said(memory, PORT, "monday")
    [old] = candidates(memory)
    memory.promote(old.id)
    clock.advance(days=1)
    said(memory, OTHER_PORT, "tuesday")
    [new] = candidates(memory)
    return memory.memories.get(old.id), new


# ── one ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_promoted_candidate_is_active_found_and_on_record(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    said(memory, "We use pnpm for builds.", "monday")
    [candidate] = candidates(memory)
    clock.advance(days=3)
    kept = memory.promote(candidate.id, reason="I know it")

    [hit] = memory.search("pnpm builds", project="site", types=["project"])
    change = last_change(memory, candidate.id)
    assert kept == memory.memories.get(candidate.id)
    assert kept.status is Status.ACTIVE
    assert kept.confirmed_at == clock.now()
    assert hit.memory.id == candidate.id
    assert (change.before, change.after) == (Status.INBOX, Status.ACTIVE)
    assert (change.by, change.reason, change.at) == ("user", "I know it", clock.now())
    assert candidates(memory) == []


def test_a_rejected_candidate_is_archived_with_who_and_why(memory: LocalRecollect) -> None:
    [one, other] = candidates(memory, 2)
    memory.reject(one.id, "not true")
    memory.reject(other.id)

    assert statuses(memory, one, other) == [Status.ARCHIVED, Status.ARCHIVED]
    assert last_change(memory, one.id).reason == "not true"
    assert last_change(memory, one.id).by == "user"
    assert last_change(memory, other.id).reason == "rejected"
    assert memory.search("idea number") == []


def test_what_was_rejected_does_not_come_back_when_it_is_said_again(memory: LocalRecollect) -> None:
    said(memory, "We use pnpm for builds.", "monday")
    [candidate] = candidates(memory)
    memory.reject(candidate.id)
    said(memory, "Hello again, good morning. We use pnpm for builds.", "tuesday")

    assert candidates(memory) == []
    assert memory.memories.get(candidate.id).status is Status.ARCHIVED
    assert len(memory.memories.get(candidate.id).evidence) == 2


def test_what_the_engine_did_is_on_record_in_its_own_name(memory: LocalRecollect) -> None:
    said(memory, "We decided to use Postgres because it is robust.", "monday")

    [decision] = memory.memories.list(project="site", types=["decision"])
    changes = explained(memory, decision.id).changes
    assert [change.by for change in changes] == ["engine", "engine"]
    assert "a decision with its reason" in changes[-1].reason


def test_a_secret_in_a_reason_is_not_stored(memory: LocalRecollect, path: Path) -> None:
    [one, other] = candidates(memory, 2)
    memory.promote(one.id, reason=f"see {TOKEN}")
    memory.reject(other.id, f"see {TOKEN}")

    assert last_change(memory, one.id).reason == "see [redacted:github-token]"
    assert last_change(memory, other.id).reason == "see [redacted:github-token]"
    memory.close()
    assert TOKEN.encode() not in path.read_bytes()


@pytest.mark.parametrize("verb", ["promote", "reject"])
def test_undo_takes_a_decision_back_and_says_what_it_was(memory: LocalRecollect, verb: str) -> None:
    [one] = candidates(memory, 1)
    getattr(memory, verb)(one.id, reason="by mistake")

    back = memory.undo(one.id)

    change = last_change(memory, one.id)
    assert back.status is Status.INBOX
    assert [waiting.id for waiting in candidates(memory)] == [one.id]
    assert change.by == "user"
    assert "by mistake" in change.reason


def test_undo_takes_back_what_the_policy_did_too(memory: LocalRecollect) -> None:
    said(memory, "We decided to use Postgres because it is robust.", "monday")
    [decision] = memory.memories.list(project="site", types=["decision"])

    assert memory.undo(decision.id).status is Status.INBOX
    assert memory.search("Postgres robust", project="site", types=["decision"]) == []


def test_undo_makes_nothing_fresher_than_it_was(memory: LocalRecollect, clock: FakeClock) -> None:
    said(memory, "We use pnpm for builds.", "monday")
    [candidate] = candidates(memory)
    clock.advance(days=1)
    promoted = memory.promote(candidate.id)
    clock.advance(days=1)
    waits_again = memory.undo(candidate.id)
    clock.advance(days=1)
    active_again = memory.undo(candidate.id)
    memory.memories.set_status(candidate.id, "archived")
    clock.advance(days=1)
    brought_back = memory.undo(candidate.id)

    assert waits_again.confirmed_at == candidate.confirmed_at
    assert active_again.confirmed_at == promoted.confirmed_at
    assert (brought_back.status, brought_back.confirmed_at) == ("active", promoted.confirmed_at)


def test_what_was_said_twice_was_last_confirmed_by_the_second_time(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    said(memory, "We use pnpm for builds.", "monday")
    clock.advance(days=1)
    second = clock.now()
    said(memory, "Hello again. We use pnpm for builds.", "tuesday")
    [active] = memory.memories.list(project="site", types=["project"])
    clock.advance(days=1)

    assert active.status is Status.ACTIVE
    assert memory.undo(active.id).confirmed_at == second


# ── many ────────────────────────────────────────────────────────────────────────────────────────


def test_many_are_promoted_and_rejected_in_the_order_given(memory: LocalRecollect) -> None:
    found = candidates(memory, 6)

    kept = memory.inbox.promote([found[2].id, found[0].id], reason="good")
    gone = memory.inbox.reject([found[4].id, found[5].id], "bad")

    assert [one.id for one in kept] == [found[2].id, found[0].id]
    assert [one.id for one in gone] == [found[4].id, found[5].id]
    assert {last_change(memory, one.id).reason for one in kept} == {"good"}
    assert {last_change(memory, one.id).reason for one in gone} == {"bad"}
    assert {one.id for one in candidates(memory)} == {found[1].id, found[3].id}


def test_the_same_one_twice_is_that_one_once(memory: LocalRecollect) -> None:
    [one] = candidates(memory, 1)

    assert len(memory.inbox.promote([one.id, one.id])) == 1
    assert len(explained(memory, one.id).changes) == 2


def test_none_at_all_is_nothing_to_do(memory: LocalRecollect) -> None:
    assert memory.inbox.promote([]) == []
    assert memory.inbox.reject([]) == []


def test_many_means_all_or_none(memory: LocalRecollect) -> None:
    found = candidates(memory, 4)
    memory.promote(found[3].id)
    ids = [one.id for one in found]

    with pytest.raises(NotFound):
        memory.inbox.promote([ids[0], ids[1], "nowhere"])
    with pytest.raises(IllegalTransition):
        memory.inbox.reject([ids[0], ids[1], ids[3]])
    with pytest.raises(IllegalTransition):
        review.undo(memory._services, [ids[3], ids[0]])

    assert statuses(memory, *found) == [Status.INBOX] * 3 + [Status.ACTIVE]
    assert len(explained(memory, ids[0]).changes) == 1


def test_many_are_taken_back_together(memory: LocalRecollect) -> None:
    found = candidates(memory, 3)
    memory.inbox.promote([one.id for one in found])

    back = review.undo(memory._services, [one.id for one in found])

    assert {one.status for one in back} == {Status.INBOX}
    assert len(candidates(memory)) == 3


@pytest.mark.parametrize("verb", ["promote_many", "reject_many"])
def test_before_a_bulk_change_the_store_is_copied_for_its_owner_only(
    memory: LocalRecollect, path: Path, verb: str
) -> None:
    found = candidates(memory, BULK)
    getattr(memory, verb)([one.id for one in found])

    copy = path.with_name("memory.db.before-bulk")
    assert candidates(memory) == []
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with open_memory(copy) as before:
        assert len(candidates(before)) == BULK
        assert before.maintenance.verify().ok


def test_before_a_few_are_changed_no_copy_is_made(memory: LocalRecollect, path: Path) -> None:
    memory.inbox.promote([one.id for one in candidates(memory, BULK - 1)])

    assert [file.name for file in path.parent.glob("*.before-*")] == []


def test_a_second_bulk_change_replaces_the_copy_of_the_first(memory: LocalRecollect, path: Path) -> None:
    memory.inbox.promote([one.id for one in candidates(memory, BULK)])
    memory.ingest("written between the two")
    memory.inbox.reject([one.id for one in candidates(memory, BULK)])

    assert [file.name for file in path.parent.glob("*.before-*")] == ["memory.db.before-bulk"]
    with open_memory(path.with_name("memory.db.before-bulk")) as before:
        assert before.search("written between the two")


def test_memories_may_stand_for_their_ids_as_they_do_for_one(memory: LocalRecollect) -> None:
    candidates(memory, 3)

    assert len(memory.inbox.promote(candidates(memory))) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verb", "given"),
    [("promote_many", [["x"]]), ("promote", []), ("reject", []), ("undo", [])],
    ids=str,
)
def test_ids_that_are_none_are_refused(memory: LocalRecollect, verb: str, given: Any) -> None:
    with pytest.raises(RecollectError):
        getattr(memory, verb)(given)


# ── rivals ──────────────────────────────────────────────────────────────────────────────────────


def test_promoting_against_a_rival_leaves_both_and_shows_the_conflict(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    old, new = rivals(memory, clock)
    memory.promote(new.id)

    hits = memory.search("which port does the staging server use?", project="site")
    conflicts = {hit.memory.id: hit.conflicts for hit in hits if hit.memory.type == "project"}
    assert statuses(memory, old, new) == [Status.ACTIVE, Status.ACTIVE]
    assert conflicts == {old.id: (new.id,), new.id: (old.id,)}


def test_promoting_in_place_of_its_rivals_supersedes_them_and_undo_restores_them(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    old, new = rivals(memory, clock)

    memory.promote(new.id, reason="it moved", replaces=True)
    after = statuses(memory, old, new)
    links = {
        (link.from_id, link.relation.value, link.to_id) for link in explained(memory, old.id).links
    }
    replaced = last_change(memory, old.id)
    clock.advance(days=1)
    memory.undo(new.id)
    restored = last_change(memory, old.id)

    assert after == [Status.SUPERSEDED, Status.ACTIVE]
    assert (new.id, "supersedes", old.id) in links
    assert (new.id, "contradicts", old.id) in links
    assert (replaced.by, replaced.reason) == ("user", f"replaced by {new.id}")
    assert statuses(memory, old, new) == [Status.ACTIVE, Status.INBOX]
    assert memory.memories.get(old.id).confirmed_at == old.confirmed_at
    assert restored.by == "user"
    assert f"{new.id} was undone" in restored.reason


def test_a_rival_that_was_only_a_candidate_goes_back_to_the_inbox(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    said(memory, PORT, "monday")
    clock.advance(days=1)
    said(memory, OTHER_PORT, "tuesday")
    new, old = candidates(memory)

    memory.promote(new.id, replaces=True)
    superseded = memory.memories.get(old.id).status
    memory.undo(new.id)

    assert superseded is Status.SUPERSEDED
    assert statuses(memory, new, old) == [Status.INBOX, Status.INBOX]


def test_undo_leaves_what_somebody_else_superseded(memory: LocalRecollect, clock: FakeClock) -> None:
    old, new = rivals(memory, clock)
    third = memory.ingest("The staging server is gone.", project="site")
    memory.promote(new.id)
    memory.link(third.id, "supersedes", old.id)

    memory.undo(new.id)

    assert memory.memories.get(old.id).status is Status.SUPERSEDED


def test_a_candidate_without_rivals_replaces_nothing(memory: LocalRecollect) -> None:
    one, other = candidates(memory, 2)

    memory.promote(one.id, replaces=True)

    assert statuses(memory, one, other) == [Status.ACTIVE, Status.INBOX]


def test_undoing_a_later_move_leaves_the_replaced_rival_replaced(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    old, new = rivals(memory, clock)
    memory.promote(new.id, replaces=True)
    memory.memories.set_status(new.id, "archived")

    memory.undo(new.id)

    assert statuses(memory, old, new) == [Status.SUPERSEDED, Status.ACTIVE]


def test_undoing_a_promotion_does_not_bring_back_what_was_merged_before_it(
    words_only: LocalRecollect,
) -> None:
    memory = words_only
    said(memory, "We use pnpm for builds.", "monday")
    [less] = candidates(memory)
    said(memory, "We use pnpm for all builds on linux.", "tuesday")
    [more] = memory.memories.list(project="site", types=["project"], statuses=["inbox", "active"])
    assert memory.memories.get(less.id).status is Status.SUPERSEDED
    assert more.status is Status.ACTIVE  # said in two sessions

    memory.undo(more.id)

    assert [one.id for one in candidates(memory)] == [more.id]


def test_a_reason_that_reads_like_a_replacement_brings_nothing_back(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    old, new = rivals(memory, clock)
    memory.link(new.id, "supersedes", old.id)
    memory.promote(new.id, reason=f"in place of {old.id}")

    memory.undo(new.id)

    assert statuses(memory, old, new) == [Status.SUPERSEDED, Status.INBOX]


@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_a_reason_that_reads_like_a_confidence_changes_none(
    memory: LocalRecollect, verdict: str
) -> None:
    first, second = memory.memories.ingest_many(
        [
            {"content": "The backup runs on host atlas.", "status": "inbox", "confidence": 0.6},
            {"content": "The nightly backup runs on host atlas.", "status": "inbox"},
        ]
    )
    memory.inbox.decide(first.id, verdict, reason="old; it was 0.01 sure before")
    assert memory.memories.get(second.id).status is Status.ARCHIVED

    memory.undo(first.id)

    assert statuses(memory, first, second) == [Status.INBOX, Status.INBOX]
    assert [memory.memories.get(one.id).confidence for one in (first, second)] == [0.6, 1.0]


def test_a_duplicate_by_its_reason_only_stays_where_it_is(memory: LocalRecollect) -> None:
    first, second = candidates(memory, 2)
    memory.link(second.id, "supports", first.id)
    memory.promote(first.id)
    memory.reject(second.id, f"says the same as {first.id}, which was kept")

    memory.undo(first.id)

    assert statuses(memory, first, second) == [Status.INBOX, Status.ARCHIVED]


def test_undoing_a_change_without_recorded_effects_restores_only_its_status(
    memory: LocalRecollect, clock: FakeClock, path: Path
) -> None:
    old, new = rivals(memory, clock)
    memory.promote(new.id, reason="it moved", replaces=True)
    with apsw.Connection(str(path)) as db:
        db.execute("UPDATE memory_changes SET effects = '{}'")

    memory.undo(new.id)

    assert statuses(memory, old, new) == [Status.SUPERSEDED, Status.INBOX]


def test_undo_after_a_replaced_memory_was_forgotten_leaves_no_trace_of_it(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    old, new = rivals(memory, clock)
    memory.promote(new.id, replaces=True)
    memory.forget(old.id)

    assert last_change(memory, new.id).effects.superseded == ("(forgotten)",)
    assert memory.undo(new.id).status is Status.INBOX


def test_an_exported_store_undoes_as_the_original_would(
    memory: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    old, new = rivals(memory, clock)
    memory.promote(new.id, replaces=True)
    memory.export(tmp_path / "store.jsonl")

    with open_memory(tmp_path / "other.db", clock=clock) as other:
        other.import_(tmp_path / "store.jsonl")
        other.undo(new.id)

        assert statuses(other, old, new) == [Status.ACTIVE, Status.INBOX]


# ── illegal moves ───────────────────────────────────────────────────────────────────────────────


def test_moves_that_are_not_there_are_refused_in_words(memory: LocalRecollect) -> None:
    active = memory.ingest("written by hand")
    [waiting] = candidates(memory, 1)

    with pytest.raises(IllegalTransition, match="is active and cannot become active; it may"):
        memory.promote(active.id)
    with pytest.raises(IllegalTransition, match="only a candidate in the inbox can be decided"):
        memory.reject(active.id)
    with pytest.raises(IllegalTransition, match="has not changed since it was written"):
        memory.undo(active.id)
    with pytest.raises(IllegalTransition, match="has not changed since it was written"):
        memory.undo(waiting.id)


@pytest.mark.parametrize("verb", ["promote", "reject", "undo", "confirm"])
@pytest.mark.parametrize("nobody", ["nope", "", "\x00", "\ud800", "x" * 50], ids=ascii)
def test_a_memory_that_is_not_there_is_said_to_be_not_there(
    memory: LocalRecollect, verb: str, nobody: str
) -> None:
    with pytest.raises(NotFound, match="there is no memory"):
        getattr(memory, verb)(nobody)


@pytest.mark.parametrize("given", [None, 3, {"a"}], ids=str)
@pytest.mark.parametrize("verb", ["promote", "promote_many", "reject", "reject_many"])
def test_what_names_no_memory_is_refused(memory: LocalRecollect, verb: str, given: Any) -> None:
    with pytest.raises(InvalidInput, match="name a memory by its id"):
        getattr(memory, verb)(given)


def test_a_reason_is_text_of_some_length(memory: LocalRecollect) -> None:
    [one] = candidates(memory, 1)

    with pytest.raises(InvalidInput, match="reason must be text"):
        memory.promote(one.id, reason=None)  # type: ignore[arg-type]
    with pytest.raises(TooLarge, match="reason has 8,001 characters"):
        memory.reject(one.id, "x" * 8_001)

    assert memory.memories.get(one.id).status is Status.INBOX


def test_a_fact_whose_name_is_taken_is_not_brought_back_over_its_successor(
    memory: LocalRecollect,
) -> None:
    old = memory.upsert_profile_fact("editor", "vi")
    new = memory.upsert_profile_fact("editor", "helix")

    with pytest.raises(IllegalTransition, match=f"held by memory {new.id}"):
        memory.undo(old.id)

    assert statuses(memory, old, new) == [Status.SUPERSEDED, Status.ACTIVE]


# ── what waits ──────────────────────────────────────────────────────────────────────────────────


def test_a_reviewer_sees_why_against_what_from_where_and_who(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    said(memory, PORT, "monday")
    [old] = candidates(memory)
    memory.promote(old.id)
    clock.advance(days=1)
    said(memory, OTHER_PORT, "tuesday", title="Stand-up")

    [one] = memory.inbox.list()

    assert one.memory.content == OTHER_PORT
    assert one.memory.evidence[0].quote == OTHER_PORT
    assert one.why == "held: it speaks against something known"
    assert [rival.id for rival in one.rivals] == [old.id]
    assert one.source == "Stand-up, 2026-05-09"
    assert one.voice == "user"


def test_a_source_without_a_title_is_known_by_its_kind_and_day(memory: LocalRecollect) -> None:
    said(memory, "I live in Porto.", "monday")
    memory.ingest("by hand", status="inbox")

    by_hand, captured = memory.inbox.list()

    assert (captured.source, captured.voice) == ("run, 2026-05-08", "user")
    assert captured.why == "held: a fact about the user waits for confirmation"
    assert (by_hand.source, by_hand.voice) == ("manual, 2026-05-08", "")
    assert by_hand.why == "written by hand"
    assert captured.rivals == by_hand.rivals == ()


def test_what_waits_can_be_narrowed_to_a_place_and_a_type(memory: LocalRecollect) -> None:
    said(memory, "We use pnpm for builds. I live in Porto.", "monday")
    said(memory, "We use cargo for builds.", "tuesday", project="tool")

    def contents(**asked: Any) -> list[str]:
        found = [one.memory for one in memory.inbox.list(**asked)]
        assert {one.id for one in found} <= {
            one.id for one in candidates(memory, **{**asked, "limit": 9})
        }
        return sorted(one.content for one in found)

    assert len(contents()) == 3
    assert contents(limit=1) != []
    assert contents(types=["profile"]) == ["I live in Porto."]
    assert contents(project="tool", everywhere=False) == [
        "I live in Porto.",
        "We use cargo for builds.",
    ]
    with pytest.raises(InvalidInput, match="unknown: banana"):
        memory.inbox.list(banana=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="limit"):
        memory.inbox.list(limit=0)


# ── consolidate on request ──────────────────────────────────────────────────────────────────────


def everything(memory: LocalRecollect) -> dict[str, Any]:
    """Return what a second consolidation must not change."""
    found = memory.memories.list(everywhere=True, statuses=list(Status), limit=1_000)
    return {
        one.id: (
            one.status,
            one.content,
            one.evidence,
            one.confidence,
            {(link.from_id, link.relation, link.to_id) for link in explained(memory, one.id).links},
        )
        for one in found
    }


def test_consolidating_the_inbox_makes_one_of_two_that_say_the_same(memory: LocalRecollect) -> None:
    kept = memory.ingest("Use pnpm for builds.", project="site")
    memory.ingest("use pnpm for builds", project="site", status="inbox")

    counts = memory.consolidate()

    assert counts == {"repeated": 1}
    assert candidates(memory) == []
    assert len(memory.memories.get(kept.id).evidence) == 2


@pytest.mark.parametrize("times", [2, 3, 5])
def test_of_several_candidates_that_say_the_same_one_is_left(memory: LocalRecollect, times: int) -> None:
    for _ in range(times):
        memory.ingest("Use pnpm for builds.", project="site", status="inbox")

    counts = memory.consolidate()

    assert counts == {"repeated": times - 1, "held": 1}
    assert len(candidates(memory)) == 1


def test_what_a_person_turned_down_does_not_come_back(memory: LocalRecollect) -> None:
    said(memory, "We use pnpm for builds.", "monday")
    [one] = candidates(memory)
    memory.reject(one.id)
    said(memory, f"{HELLO} We use pnpm for builds.", "tuesday")

    assert candidates(memory) == []


def test_consolidating_twice_is_consolidating_once(memory: LocalRecollect) -> None:
    said(memory, f"{HELLO} We use pnpm for builds. I live in Porto.", "monday")
    said(memory, f"{HELLO} We decided to use Postgres because it is robust.", "tuesday")
    candidates(memory, 3)
    memory.consolidate()
    before = everything(memory)

    counts = memory.consolidate()

    assert counts == {"held": 5}
    assert everything(memory) == before


def test_only_those_named_are_consolidated(memory: LocalRecollect) -> None:
    one, other = candidates(memory, 2)
    active = memory.ingest("written by hand")

    assert memory.consolidate([one.id]) == {"held": 1}
    assert memory.consolidate([active.id]) == {}
    assert memory.consolidate([]) == {}
    assert len(explained(memory, other.id).changes) == 1
    with pytest.raises(NotFound):
        memory.consolidate([one.id, "nowhere"])


def test_an_empty_inbox_has_nothing_to_consolidate(memory: LocalRecollect) -> None:
    assert memory.consolidate() == {}


def test_consolidating_leaves_a_candidate_that_the_episode_of_its_session_quotes(
    memory: LocalRecollect,
) -> None:
    said(memory, "We use pnpm for builds.", "monday")
    before = everything(memory)

    memory.consolidate()

    assert everything(memory) == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use C++ for drivers.", "We use C# for drivers."),
        ("We keep logs of size < 5 MB.", "We keep logs of size > 5 MB."),
    ],
    ids=["C++ and C#", "less and more"],
)
def test_statements_that_differ_in_a_sign_are_two(memory: LocalRecollect, one: str, other: str) -> None:
    said(memory, f"{HELLO} {one}", "monday")
    said(memory, f"{HELLO} {other}", "tuesday")

    found = memory.memories.list(project="site", types=["project"], statuses=list(Status))
    assert {memory.content for memory in found} == {one, other}


def test_consolidating_again_does_not_count_a_contradiction_twice(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    said(memory, f"{HELLO} {PORT}", "monday")
    clock.advance(days=1)
    said(memory, f"{HELLO} {OTHER_PORT}", "tuesday")
    before = memory.maintenance.status().contradictions

    memory.consolidate()

    assert before == 1
    assert memory.maintenance.status().contradictions == 1


def test_consolidating_again_adds_nothing_to_the_record(memory: LocalRecollect) -> None:
    said(memory, f"{HELLO} We use pnpm for builds.", "monday")
    [one] = candidates(memory)
    before = explained(memory, one.id).changes

    memory.consolidate()

    assert explained(memory, one.id).changes == before


def test_what_a_repetition_adds_besides_its_quote_is_not_lost(memory: LocalRecollect) -> None:
    said(memory, "We decided to use pnpm.", "monday")
    said(memory, "We decided to use pnpm. The reason is that installs are faster.", "tuesday")

    [decision] = memory.memories.list(
        project="site", types=["decision"], statuses=[Status.INBOX, Status.ACTIVE]
    )
    assert len(decision.evidence) == 3  # both sessions' words, and the reason's
    assert "installs are faster" in decision.rationale


def test_what_somebody_wrote_beside_a_candidate_survives_consolidation(memory: LocalRecollect) -> None:
    memory.ingest("Use pnpm for builds.", project="site")
    memory.ingest(
        "Use pnpm for builds.", project="site", status="inbox", tags=["ci"], rationale="It is fast."
    )

    memory.consolidate()

    found = memory.memories.list(project="site", statuses=list(Status))
    assert {tag for one in found for tag in one.tags} == {"ci"}
    assert "It is fast." in {one.rationale for one in found}


def test_a_candidate_keeps_its_time_of_birth_through_review(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    [one] = candidates(memory, 1)
    clock.advance(days=2)
    memory.promote(one.id)
    clock.advance(days=2)
    back = memory.undo(one.id)

    assert back.created_at == back.observed_at == START
    assert back.updated_at == clock.now()
