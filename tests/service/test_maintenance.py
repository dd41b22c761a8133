"""Maintenance suggests and never decides; the status of a store adds up."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import (
    EventState,
    IllegalTransition,
    InvalidInput,
    LocalRecollect,
    Memory,
    MemoryExplanation,
    MemoryType,
    NotFound,
    Retrieval,
    Status,
)
from recollect.config import Settings
from recollect.domain.job import LEASE_S
from recollect.domain.memory import HALF_LIFE
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.service.maintenance import MIN_PRUNED, PRUNE_BATCH
from support import START, FakeClock, candidates, open_memory

GATEWAY = "The API gateway runs on port 8443."
SECOND = timedelta(seconds=1)


def pairs(rec: LocalRecollect, **arguments: Any) -> list[set[str]]:
    return [{pair.memory.id, pair.other.id} for pair in rec.maintenance.run(**arguments).duplicates]


def everything(rec: LocalRecollect) -> list[Memory]:
    return rec.memories.list(everywhere=True, statuses=list(Status), limit=1_000)


def capture_text(rec: LocalRecollect, text: str, session: str) -> None:
    rec.capture_session([{"role": "user", "content": text}], project="site", session=session)
    rec.drain()


# ── duplicates ────────────────────────────────────────────────────────────────────────────────────


def test_two_active_memories_that_say_the_same_are_pointed_out_once_and_left_alone(
    rec: LocalRecollect,
) -> None:
    memory = rec.ingest(GATEWAY, project="site")
    other = rec.ingest("the api gateway runs on port 8443", project="site")
    rec.ingest("Invoices are sent on the first of the month.", project="site")
    before = everything(rec)

    assert pairs(rec) == [{memory.id, other.id}]
    assert pairs(rec) == [{memory.id, other.id}]
    assert everything(rec) == before


def test_a_more_detailed_memory_is_a_duplicate_too(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("We use pnpm for builds.", project="site")
    other = words_only.ingest("We use pnpm for all builds on linux.", project="site")

    assert pairs(words_only) == [{memory.id, other.id}]


def test_memories_of_different_owners_are_not_duplicates(rec: LocalRecollect) -> None:
    rec.ingest(GATEWAY, project="site")
    rec.ingest(GATEWAY, project="shop")
    rec.ingest(GATEWAY, agent="bob")
    rec.ingest(GATEWAY)

    assert pairs(rec) == []


def test_only_active_facts_have_duplicates(rec: LocalRecollect) -> None:
    rec.ingest(GATEWAY, project="site")
    rec.ingest(GATEWAY, project="site", status="inbox")
    rec.memories.set_status(rec.ingest(GATEWAY, project="site").id, "archived")
    rec.ingest("We talked about the gateway.", project="site", type="episode")
    rec.ingest("We talked about the gateway.", project="site", type="episode")

    assert pairs(rec) == []


def test_contradictions_are_not_duplicates(rec: LocalRecollect) -> None:
    rec.ingest(GATEWAY, project="site")
    rec.ingest("The API gateway runs on port 9443.", project="site")

    assert pairs(rec) == []


def test_a_limit_says_how_many_are_looked_at(rec: LocalRecollect, clock: FakeClock) -> None:
    for _ in range(3):
        rec.ingest(GATEWAY, project="site")
        clock.advance(minutes=1)
        rec.ingest("Invoices are sent on the first of the month.", project="shop")
        clock.advance(minutes=1)

    assert len(pairs(rec, limit=1)) == 1
    for limit in (0, -1, 1_001, True, "many", None):
        with pytest.raises(InvalidInput, match="limit must be a whole number"):
            rec.maintenance.run(limit=limit)  # type: ignore[arg-type]


# ── stale facts ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "kind", [memory for memory in MemoryType if memory is not MemoryType.EPISODE]
)
def test_a_fact_is_stale_after_two_half_lives_of_its_type(
    rec: LocalRecollect, clock: FakeClock, kind: MemoryType
) -> None:
    fact = rec.ingest("Something that may change.", type=kind.value, project="site")

    clock.advance(seconds=(2 * HALF_LIFE[kind]).total_seconds())
    not_yet = rec.maintenance.run().stale
    clock.advance(seconds=1)
    now = rec.maintenance.run().stale

    assert not_yet == ()
    assert [memory.id for memory in now] == [fact.id]
    assert rec.memories.get(fact.id).status is Status.ACTIVE


def test_an_episode_does_not_go_stale(rec: LocalRecollect, clock: FakeClock) -> None:
    rec.ingest("We met.", type="episode", project="site")
    clock.advance(days=10_000)

    assert rec.maintenance.run().stale == ()


def test_only_what_is_active_goes_stale_and_the_oldest_comes_first(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    first = rec.ingest("The oldest fact.", project="site")
    clock.advance(days=1)
    second = rec.ingest("A younger fact.", project="site")
    rec.ingest("A candidate.", project="site", status="inbox")
    rec.memories.set_status(rec.ingest("Long gone.", project="site").id, "archived")
    clock.advance(days=400)

    assert [memory.id for memory in rec.maintenance.run().stale] == [first.id, second.id]
    assert [memory.id for memory in rec.maintenance.run(limit=1).stale] == [first.id]


def test_what_was_said_long_ago_and_promoted_today_is_fresh(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    talk = [{"role": "user", "content": "We use pnpm for builds."}]
    rec.capture_session(talk, project="site", observed_at="2020-01-01")
    rec.drain()
    [candidate] = candidates(rec)
    rec.promote(candidate.id)

    assert rec.maintenance.run().stale == ()
    clock.advance(days=361)
    assert [memory.id for memory in rec.maintenance.run().stale] == [candidate.id]


def test_confirming_makes_a_stale_fact_fresh(rec: LocalRecollect, clock: FakeClock) -> None:
    fact = rec.ingest("Something that may change.", project="site")
    clock.advance(days=400)
    stale = rec.maintenance.run().stale

    confirmed = rec.memories.confirm(fact.id)

    assert [memory.id for memory in stale] == [fact.id]
    assert confirmed == rec.memories.get(fact.id)
    assert confirmed.confirmed_at == clock.now()
    assert confirmed.freshness(clock.now()) == 1.0
    assert (confirmed.content, confirmed.status) == (fact.content, fact.status)
    assert confirmed.observed_at == START
    assert rec.maintenance.run().stale == ()


def test_hearing_a_fact_again_confirms_it(rec: LocalRecollect, clock: FakeClock) -> None:
    fact = rec.ingest("We use pnpm for builds.", project="site")
    clock.advance(days=400)
    capture_text(rec, "Good morning, how are you today? We use pnpm for builds.", "later")

    assert rec.maintenance.run().stale == ()
    assert rec.memories.get(fact.id).confirmed_at == clock.now()


@pytest.mark.parametrize("status", ["inbox", "archived", "superseded"])
def test_only_what_is_active_can_be_confirmed(rec: LocalRecollect, status: str) -> None:
    memory = rec.ingest("Something that may change.")
    rec.memories.set_status(memory.id, status)

    with pytest.raises(IllegalTransition):
        rec.memories.confirm(memory.id)


def test_what_is_not_there_cannot_be_confirmed(rec: LocalRecollect) -> None:
    with pytest.raises(NotFound, match="there is no memory 'nope'"):
        rec.memories.confirm("nope")


# ── the log ─────────────────────────────────────────────────────────────────────────────────────


def store_with_retrievals(
    path: Path, questions: int, keep: int
) -> tuple[LocalRecollect, list[str]]:
    """Open a store, ask it; all but *keep* questions are old. Return the ids, oldest first."""
    clock = FakeClock()
    settings = Settings(db=str(path), embedding_backend="none", keep_retrievals_days=9)
    rec = LocalRecollect(settings, clock=clock)
    rec.ingest(GATEWAY)
    ids = []
    for number in range(questions):
        if number == questions - keep:
            rec._store.flush_log(timeout_s=5.0)
            clock.advance(days=10)
        ids.append(rec.search("gateway port")[0].retrieval_id or "")
    return rec, ids


def test_maintenance_keeps_the_newest_retrievals_and_says_what_became_of_others(
    path: Path,
) -> None:
    rec, ids = store_with_retrievals(path, 7, keep=4)
    with rec:
        status = rec.memories.list()[0]
        assert rec.maintenance.run().pruned == 3
        assert rec.captures.list()[-1].outcome.endswith(", 3 old retrievals removed")
        assert rec.maintenance.run().pruned == 0

        for memory in ids[3:]:
            assert isinstance(rec.explain(memory), Retrieval)
        for memory in ids[:3]:
            with pytest.raises(NotFound, match=r"kept for 9 days .*keep_retrievals_days.* 64 MB"):
                rec.explain(memory)
        explanation = rec.explain(status.id)
        assert isinstance(explanation, MemoryExplanation)
        assert explanation.shown_in == 4
        assert "Returned by 4 of the retrievals in the log." in explanation.text
        assert rec.maintenance.status().counts["retrievals"] == 4
        assert rec.maintenance.verify().ok


def test_without_limits_every_retrieval_is_kept(path: Path, clock: FakeClock) -> None:
    settings = Settings(
        db=str(path), embedding_backend="none", keep_retrievals_days=0, keep_retrievals_mb=0
    )
    with LocalRecollect(settings, clock=clock) as rec:
        rec.ingest(GATEWAY)
        ids = [rec.search("gateway port")[0].retrieval_id or "" for _ in range(5)]
        clock.advance(days=4000)
        assert rec.maintenance.run().pruned == 0
        assert all(isinstance(rec.explain(memory), Retrieval) for memory in ids)
        with pytest.raises(NotFound, match=r"retrieval of this store$"):
            rec.explain("nope")


@pytest.mark.kill
def test_work_prunes_the_log_when_a_whole_batch_is_too_many(path: Path) -> None:
    rec, _ = store_with_retrievals(path, PRUNE_BATCH + MIN_PRUNED + 5, keep=3)
    with rec:
        assert rec.engine.prune_retrievals() == PRUNE_BATCH
        assert rec.drain() == 0  # nothing that was waited for
        assert rec.maintenance.status().counts["retrievals"] == 3
        assert rec.engine.prune_retrievals() == 0


# ── the run itself ──────────────────────────────────────────────────────────────────────────────


def test_each_run_leaves_an_event_that_says_what_it_found(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    rec.ingest(GATEWAY, project="site")
    rec.ingest(GATEWAY, project="site")
    clock.advance(days=400)
    rec.maintenance.run()

    event = rec.captures.list()[-1]
    assert (event.trigger, event.state) == ("maintenance", EventState.DONE)
    assert event.source_id is None
    assert event.created_at == clock.now()
    assert event.outcome == "2 embedded, 1 pairs of duplicates, 2 stale, 0 jobs without a worker"


def test_an_empty_store_is_in_order(rec: LocalRecollect) -> None:
    done = rec.maintenance.run()

    assert (done.embedded, done.duplicates, done.stale, done.taken_over) == (0, (), (), 0)
    assert [event.trigger.value for event in rec.captures.list()] == ["maintenance"]


def test_what_waits_to_be_embedded_is_embedded(path: Path, clock: FakeClock) -> None:
    embedder = ScriptedEmbedder()
    with open_memory(path, clock=clock, embedder=embedder) as rec:
        rec.memories.ingest_many([{"content": f"fact number {n}"} for n in range(5)])
        waiting = rec.maintenance.status().waiting
        done = rec.maintenance.run()

        assert waiting == 5
        assert done.embedded == 5
        assert rec.maintenance.status().waiting == 0
        assert rec.maintenance.run().embedded == 0


def test_jobs_whose_worker_went_silent_are_counted_and_then_taken_over(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    event = rec.capture_session("We use pnpm for builds.", project="site")
    lease_until = clock.now() + timedelta(seconds=LEASE_S)
    rec._store.write(
        lambda tables: tables.jobs.claim("gone", now=clock.now(), lease_until=lease_until)
    )
    at_work = rec.maintenance.run().taken_over
    clock.moment = lease_until + SECOND
    silent = rec.maintenance.run().taken_over
    rec.drain()

    assert (at_work, silent) == (0, 1)
    assert rec.maintenance.run().taken_over == 0
    assert rec.captures.get(event.id).state is EventState.DONE


# ── status ──────────────────────────────────────────────────────────────────────────────────────


def test_the_numbers_of_a_store_add_up(rec: LocalRecollect, clock: FakeClock) -> None:
    capture_text(rec, "We use pnpm for builds. I live in Porto. We use ruff for linting.", "monday")
    clock.advance(days=1)
    capture_text(rec, "I prefer short answers. The staging server listens on port 8080.", "tuesday")
    rec.ingest("written by hand", project="site")
    rec.capture_session("We deploy with make.", project="site")
    rejected, promoted, *_ = candidates(rec)
    rec.reject(rejected.id)
    rec.promote(promoted.id)
    by_hand = rec.ingest("an idea", status="inbox")
    rec.reject(by_hand.id)

    store_status = rec.maintenance.status()
    everyone = everything(rec)
    assert (
        store_status.counts["memories"]
        == len(everyone)
        == sum(store_status.memories_by_status.values())
    )
    for status in Status:
        number = sum(memory.status is status for memory in everyone)
        assert store_status.memories_by_status.get(status.value, 0) == number
    assert store_status.jobs == {"done": 4, "todo": 1}
    assert sum(store_status.jobs.values()) == store_status.counts["jobs"]
    assert (store_status.extracted, store_status.rejected) == (5, 1)
    assert store_status.junk_rate == pytest.approx(1 / 5)
    assert (
        store_status.waiting + sum(store_status.embedded.values())
        == store_status.counts["memories"]
    )


def test_without_anything_extracted_the_junk_rate_is_zero(rec: LocalRecollect) -> None:
    rec.reject(rec.ingest("an idea", status="inbox").id)

    assert (rec.maintenance.status().extracted, rec.maintenance.status().junk_rate) == (0, 0.0)


def test_a_rejection_that_was_taken_back_is_no_junk(rec: LocalRecollect) -> None:
    capture_text(rec, "I live in Porto.", "monday")
    [memory] = candidates(rec)
    rec.reject(memory.id)
    before = rec.maintenance.status().rejected
    rec.undo(memory.id)

    assert (before, rec.maintenance.status().rejected) == (1, 0)


def test_what_the_engine_set_aside_is_no_junk(words_only: LocalRecollect) -> None:
    capture_text(words_only, "We use pnpm for all builds on linux.", "monday")
    capture_text(words_only, "We use pnpm for builds.", "tuesday")

    assert words_only.maintenance.status().memories_by_status["archived"] == 1
    assert words_only.maintenance.status().rejected == 0


def test_a_contradiction_counts_while_both_sides_stand(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    capture_text(rec, "The staging server listens on port 8080.", "monday")
    clock.advance(days=1)
    capture_text(rec, "The staging server listens on port 9090.", "tuesday")
    standing = rec.maintenance.status().contradictions
    new, _ = candidates(rec)
    rec.promote(new.id, replaces=True)
    replaced = rec.maintenance.status().contradictions
    rec.undo(new.id)

    assert (standing, replaced, rec.maintenance.status().contradictions) == (1, 0, 1)


def test_a_contradiction_linked_both_ways_is_one_pair(rec: LocalRecollect) -> None:
    memory, other = rec.ingest("The door is red."), rec.ingest("The door is blue.")
    rec.link(memory.id, "contradicts", other.id)
    rec.link(other.id, "contradicts", memory.id)

    assert rec.maintenance.status().contradictions == 1
