"""The job queue, candidates that wait for consolidation, and the ledger of model calls."""

import threading
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recollect import Status
from recollect.domain.capture_event import EventState
from recollect.domain.job import LEASE_S, Job, JobKind, JobState
from recollect.domain.model_usage import ModelCall, ModelUsage
from recollect.store.protocol import Store, Tables
from store_records import Keep, event
from support import START

LEASE = START + timedelta(seconds=LEASE_S)


def job(job_id: str, minutes: int = 0, **more: object) -> Job:
    values: dict[str, object] = {
        "id": job_id,
        "event_id": "e1",
        "kind": JobKind.EXTRACT,
        "payload": {"k": [1, "é"]},
        "run_at": START + timedelta(minutes=minutes),
        "created_at": START,
        "updated_at": START,
    }
    return Job(**(values | more))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def captured(store: Store) -> None:
    """An event that jobs belong to."""
    store.write(lambda tables: tables.sources.add_event(event("e1", state=EventState.WORKING)))


def add(store: Store, *jobs: Job) -> None:
    def write(tables: Tables) -> None:
        for new in jobs:
            tables.jobs.add(new)

    store.write(write)


def claim(store: Store, worker: str, now: datetime = START, lease: datetime = LEASE) -> Job | None:
    return store.write(lambda tables: tables.jobs.claim(worker, now=now, lease_until=lease))


def test_a_job_comes_back_as_it_was_written_and_is_stored_once(store: Store) -> None:
    first = job("j1")
    add(store, first, replace(first, payload={}), job("j2", event_id="e1"))

    with store.read() as tables:
        assert tables.jobs.get("j1") == first
        assert tables.jobs.get("unknown") is None
        assert tables.jobs.of_event("e1") == [first, job("j2")]
        assert tables.jobs.of_event("unknown") == []


def test_a_claimed_job_is_not_claimed_again_until_its_lease_ends(store: Store) -> None:
    add(store, job("j1"), job("j2", minutes=1))

    claimed = claim(store, "w1")
    assert claimed == job(
        "j1", state=JobState.DOING, attempts=1, worker="w1", lease_until=LEASE, updated_at=START
    )
    assert claim(store, "w2") is None  # the other one is not due
    with store.read() as tables:
        assert tables.jobs.count_due(START) == 0
        assert tables.jobs.count_expired_leases(START) == 0
        assert tables.jobs.count_expired_leases(LEASE + timedelta(seconds=1)) == 1

    again = claim(store, "w2", LEASE + timedelta(seconds=1), LEASE + timedelta(seconds=60))
    assert again is not None
    assert (again.id, again.worker, again.attempts, again.crashes) == ("j1", "w2", 2, 1)


def test_only_the_worker_with_the_lease_renews_and_releases_a_job(store: Store) -> None:
    add(store, job("j1"))
    claimed = claim(store, "w1")
    assert claimed is not None
    stale = replace(claimed, worker="w2")
    later = LEASE + timedelta(minutes=1)

    def renew(held: Job) -> bool:
        return store.write(
            lambda tables: tables.jobs.renew_lease(held, lease_until=later, payload={"at": 3})
        )

    def release(held: Job) -> bool:
        options = {"now": START, "run_at": later, "attempts": 0, "error": "slow"}
        return store.write(lambda tables: tables.jobs.release(held, JobState.TODO, **options))  # type: ignore[arg-type]

    assert not renew(stale)
    assert renew(claimed)
    with store.read() as tables:
        renewed = tables.jobs.get("j1")
        assert renewed == replace(claimed, lease_until=later, payload={"at": 3})
    assert not release(stale)
    assert release(claimed)
    assert not release(claimed)
    with store.read() as tables:
        assert tables.jobs.get("j1") == job(
            "j1", payload={"at": 3}, run_at=later, error="slow", updated_at=START
        )
        assert tables.jobs.next_run_at() == later


def test_a_parked_or_waiting_job_is_made_due_and_others_are_not(store: Store) -> None:
    add(
        store,
        job("j1", minutes=60),
        job("j2", state=JobState.PARKED, attempts=5, error="no"),
        job("j3", state=JobState.DONE),
    )

    def requeue(job_id: str) -> bool:
        return store.write(lambda tables: tables.jobs.requeue(job_id, now=START))

    assert [requeue(name) for name in ("j1", "j2", "j3", "unknown")] == [True, True, False, False]
    with store.read() as tables:
        assert tables.jobs.count_due(START) == 2
        assert tables.jobs.next_run_at() == START
        requeued = tables.jobs.get("j2")
        assert requeued is not None
        assert (requeued.state, requeued.attempts) == (JobState.TODO, 0)


def test_jobs_are_listed_and_counted_by_state(store: Store) -> None:
    with store.read() as tables:
        assert tables.jobs.next_run_at() is None
    add(
        store,
        job("j1", minutes=2),
        job("j2", minutes=1),
        job("j3", state=JobState.PARKED),
        job("j4", state=JobState.DONE),
    )

    with store.read() as tables:
        jobs = tables.jobs
        assert [j.id for j in jobs.in_states([JobState.TODO, JobState.PARKED], 9)] == [
            "j3",
            "j2",
            "j1",
        ]
        assert [j.id for j in jobs.in_states([JobState.TODO], 1)] == ["j2"]
        assert jobs.count_by_state() == {"todo": 2, "parked": 1, "done": 1}
        assert jobs.count_open() == {"todo": 2, "parked": 1}
        assert jobs.count_due(START + timedelta(minutes=1)) == 1


def test_candidates_wait_for_consolidation_until_they_are_marked(store: Store, keep: Keep) -> None:
    first, second = (keep(text, status=Status.INBOX).id for text in ("one", "two"))

    def write(tables: Tables) -> None:
        for memory_id in (first, second, first):
            tables.jobs.add_unconsolidated("e1", memory_id)

    store.write(write)
    with store.read() as tables:
        assert list(tables.jobs.unconsolidated("e1", 9)) == [first, second]
        assert list(tables.jobs.unconsolidated("e1", 1)) == [first]
        assert tables.jobs.unconsolidated_among([second, "unknown"]) == {second}
    store.write(lambda tables: tables.jobs.mark_consolidated(first))
    with store.read() as tables:
        assert list(tables.jobs.unconsolidated("e1", 9)) == [second]


def test_written_memories_wait_apart_from_candidates(store: Store, keep: Keep) -> None:
    written, candidate = keep("one").id, keep("two", status=Status.INBOX).id

    def write(tables: Tables) -> None:
        tables.jobs.add_unconsolidated("e1", written, candidate)

    store.write(write)
    with store.read() as tables:
        jobs = tables.jobs
        assert jobs.unconsolidated_candidates_among([written, candidate]) == {candidate}
        assert jobs.unconsolidated_writings(limit=9) == {written: "one"}
        assert tables.unfinished_work.is_any_left()
    store.write(lambda tables: tables.jobs.mark_consolidated(written))
    with store.read() as tables:
        assert tables.jobs.unconsolidated_writings(limit=9) == {}
        assert not tables.unfinished_work.is_any_left()


def test_model_calls_are_listed_newest_first_and_summed_since_a_moment(store: Store) -> None:
    calls = [
        ModelCall(
            id=f"call {hours}",
            event_id="e1",
            model="m",
            purpose="extract",
            input_tokens=10,
            output_tokens=1,
            asked_at=START + timedelta(hours=hours),
        )
        for hours in range(3)
    ]

    def write(tables: Tables) -> None:
        for call in calls:
            tables.jobs.add_call(call)

    store.write(write)
    with store.read() as tables:
        assert tables.jobs.calls(2) == [calls[2], calls[1]]
        assert tables.jobs.spent_since(START + timedelta(hours=1)) == ModelUsage(2, 22)
        assert tables.jobs.spent_since(START + timedelta(days=1)) == ModelUsage(0, 0)


def test_a_store_that_tells_of_jobs_tells_of_each_one_that_is_due(store: Store) -> None:
    woken = threading.Event()
    listener = store.listen_for_jobs(woken.set)
    if listener is None:
        assert store.file is not None  # a file tells nobody
        return
    try:
        assert woken.wait(60)  # a job may have been stored before it listened
        assert listener.is_listening
        for change in (
            lambda tables: tables.jobs.add(job("j1")),
            lambda tables: tables.jobs.requeue("j1", now=START),
        ):
            woken.clear()
            store.write(change)
            assert woken.wait(60)
    finally:
        listener.close()
    assert not listener.is_listening
