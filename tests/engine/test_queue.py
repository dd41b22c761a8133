"""
The queue: what is claimed, held, let go, put back and parked, and what a day costs.

The first half goes through `Store` and `Tables` only, as tests/store/test_contract.py does; the
second half runs jobs, with a clock that moves when told.
"""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from recollect import IllegalTransition, ImportRefused, LocalRecollect, NotFound
from recollect.clock import derived_id
from recollect.config import Settings
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.job import (
    JITTER,
    LEASE_S,
    MAX_ATTEMPTS,
    MAX_CRASHES,
    Job,
    JobKind,
    JobState,
    next_attempt_at,
)
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.model_usage import (
    ModelBudget,
    ModelCall,
    ModelUsage,
    start_of_day,
    start_of_next_day,
)
from recollect.domain.scope import Owner, Scope
from recollect.engine.engine_context import EngineContext
from recollect.engine.job_worker import Worker
from recollect.errors import ModelUnavailable
from recollect.models.chat_model import ChatModel, Completion
from recollect.models.embedder import Vectors
from recollect.models.scripted_models import ScriptedChatModel, ScriptedEmbedder
from recollect.store.protocol import Store, Tables
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from support import START, FakeClock, candidates, open_memory
from tables import each_row

T = TypeVar("T")

LEASE = timedelta(seconds=LEASE_S)
SECOND = timedelta(seconds=1)
EVERY_STATE = [state.value for state in JobState]


@pytest.fixture
def store(path: Path, clock: FakeClock) -> Iterator[Store]:
    opened = SqliteStore(path, clock)
    yield opened
    opened.close()


@pytest.fixture
def event(store: Store, clock: FakeClock) -> Event:
    """An event whose steps are the jobs of a test."""
    made = Event(
        id=clock.new_id(),
        trigger=Trigger.SESSION,
        source_id=None,
        owner=Owner(Scope.GLOBAL, ""),
        state=EventState.CAPTURED,
        created_at=START,
        updated_at=START,
    )
    store.write(lambda tables: tables.sources.add_event(made))
    return made


Add = Callable[..., Job]


@pytest.fixture
def add(store: Store, event: Event) -> Add:
    """Put a job in the queue."""

    def added(number: int = 0, **given: Any) -> Job:
        values: dict[str, Any] = {
            "id": derived_id(event.id, "extract", number),
            "event_id": event.id,
            "kind": JobKind.EXTRACT,
            "run_at": START,
            "created_at": START,
            "updated_at": START,
        }
        job = Job(**values | given)
        store.write(lambda tables: tables.jobs.add(job))
        return job

    return added


def claim(store: Store, worker: str = "anna", *, now: datetime = START) -> Job | None:
    return store.write(lambda tables: tables.jobs.claim(worker, now=now, lease_until=now + LEASE))


def claimed(store: Store, worker: str = "anna", *, now: datetime = START) -> Job:
    job = claim(store, worker, now=now)
    assert job is not None
    return job


def hold(store: Store, job: Job, *, until: datetime = START + 2 * LEASE) -> bool:
    return store.write(
        lambda tables: tables.jobs.renew_lease(job, lease_until=until, payload={"extracted": 50})
    )


def let_go(store: Store, job: Job, to: JobState, **given: Any) -> bool:
    values: dict[str, Any] = {"run_at": START, "attempts": job.attempts, "error": ""}
    return store.write(lambda tables: tables.jobs.release(job, to, now=START, **values | given))


def requeue(store: Store, job: Job, *, now: datetime = START) -> bool:
    return store.write(lambda tables: tables.jobs.requeue(job.id, now=now))


def kept(store: Store, job: Job) -> Job:
    with store.read() as tables:
        found = tables.jobs.get(job.id)
    assert found is not None
    return found


# ── the jobs of a store ─────────────────────────────────────────────────────────────────────────


def test_a_job_comes_back_as_it_was_added_and_adding_it_again_changes_nothing(
    store: Store, add: Add
) -> None:
    job = add(payload={"project_id": "p", "scope": None}, error="once", attempts=2)
    add(payload={"other": 1}, state=JobState.DONE)

    with store.read() as tables:
        assert tables.jobs.get(job.id) == job
        assert tables.jobs.get("unknown") is None
        assert tables.jobs.of_event(job.event_id) == [job]
        assert tables.jobs.of_event("unknown") == []


def test_a_claimed_job_is_not_claimed_again_until_its_lease_ends(store: Store, add: Add) -> None:
    job = add()

    first = claimed(store, "anna")

    assert first == replace(
        job, state=JobState.DOING, attempts=1, worker="anna", lease_until=START + LEASE
    )
    assert kept(store, job) == first
    for now in (START, START + LEASE / 2, START + LEASE):
        assert claim(store, "bert", now=now) is None
    second = claimed(store, "bert", now=START + LEASE + SECOND)
    assert (second.id, second.attempts, second.worker) == (job.id, 2, "bert")


def test_a_held_job_is_left_to_its_worker_until_the_renewed_lease_ends(
    store: Store, add: Add
) -> None:
    add()
    job = claimed(store)
    later = START + 3 * LEASE

    assert hold(store, job, until=later)

    assert kept(store, job) == replace(job, lease_until=later, payload={"extracted": 50})
    assert claim(store, "bert", now=later) is None
    assert claim(store, "bert", now=later + SECOND) is not None


def test_jobs_come_in_the_order_in_which_they_fall_due_then_by_id(store: Store, add: Add) -> None:
    last, third, second, first = (
        add(number, run_at=START - timedelta(minutes=minutes))
        for number, minutes in enumerate([0, 1, 1, 2])
    )
    not_yet = add(9, run_at=START + SECOND)

    order = [job.id for job in iter(lambda: claim(store), None)]

    # Of one moment, the one made first comes first.
    assert order == [first.id, third.id, second.id, last.id]
    assert claimed(store, now=START + SECOND).id == not_yet.id


def test_a_job_that_lost_its_worker_keeps_its_place_in_the_queue(store: Store, add: Add) -> None:
    old = add(1, run_at=START - timedelta(minutes=1))
    claimed(store)
    new = add(0, run_at=START)
    after = START + LEASE + SECOND

    assert [claimed(store, now=after).id, claimed(store, now=after).id] == [old.id, new.id]


def test_a_job_claimed_under_a_wrong_clock_is_reclaimed(store: Store, add: Add) -> None:
    add(0)
    years_ahead = START + timedelta(days=3_650)
    first = claimed(store, "ahead", now=years_ahead)

    with store.read() as tables:
        assert tables.jobs.count_due(START) == 1
        assert tables.jobs.count_expired_leases(START) == 1
    second = claimed(store, "right", now=START)
    assert second.id == first.id
    assert claim(store, "third", now=START + SECOND) is None  # the new lease is an ordinary one
    until = years_ahead + LEASE
    renewed = store.write(
        lambda tables: tables.jobs.renew_lease(first, lease_until=until, payload={})
    )
    assert not renewed  # the worker that was ahead writes nothing any more


def test_a_job_that_a_wrong_clock_put_off_is_due_at_once(store: Store, add: Add) -> None:
    hours_ahead = START + timedelta(hours=2)
    add(0, run_at=hours_ahead, created_at=hours_ahead, updated_at=hours_ahead)
    add(1, run_at=hours_ahead)  # put off by a right clock: it waits

    with store.read() as tables:
        assert tables.jobs.count_due(START) == 1
    assert claimed(store).id == derived_id(add(2).event_id, "extract", 0)


def test_a_server_cannot_put_a_job_off_for_longer_than_a_day(store: Store, add: Add) -> None:
    job = replace(add(0), attempts=1)

    assert next_attempt_at(job, START, at_least_s=1e12) == START + timedelta(days=1)


def test_what_is_due_and_when_the_next_job_is_can_be_asked(store: Store, add: Add) -> None:
    with store.read() as tables:
        assert tables.jobs.next_run_at() is None
        assert tables.jobs.count_open() == {}
        assert tables.jobs.count_due(START) == 0
    add(0)
    add(1, run_at=START + timedelta(hours=1))
    add(2, state=JobState.DONE)
    add(3, state=JobState.PARKED)
    claimed(store)

    with store.read() as tables:
        assert tables.jobs.count_by_state() == {"doing": 1, "todo": 1, "done": 1, "parked": 1}
        assert tables.jobs.count_open() == {"doing": 1, "todo": 1, "parked": 1}
        assert tables.jobs.next_run_at() == START + timedelta(hours=1)
        assert tables.jobs.count_due(START) == 0
        assert tables.jobs.count_due(START + LEASE) == 0
        assert tables.jobs.count_due(START + LEASE + SECOND) == 1
        assert tables.jobs.count_due(START + timedelta(hours=1)) == 2


def test_jobs_of_some_states_are_listed_those_due_first_first(store: Store, add: Add) -> None:
    later, sooner = add(0, run_at=START + SECOND), add(1)
    done = add(2, state=JobState.DONE)

    with store.read() as tables:
        assert tables.jobs.in_states([JobState.TODO], 10) == [sooner, later]
        assert tables.jobs.in_states([JobState.TODO], 1) == [sooner]
        assert tables.jobs.in_states([JobState.DONE, JobState.PARKED], 10) == [done]
        assert tables.jobs.in_states([], 10) == []


def test_a_job_let_go_is_nobodys_and_stands_where_it_was_put(store: Store, add: Add) -> None:
    add()
    job = claimed(store)
    later = START + timedelta(minutes=5)

    assert let_go(store, job, JobState.TODO, run_at=later, attempts=0, error="no luck")

    assert kept(store, job) == replace(
        job,
        state=JobState.TODO,
        run_at=later,
        attempts=0,
        error="no luck",
        worker="",
        lease_until=None,
    )
    assert claim(store, now=START + LEASE + SECOND) is None
    assert claim(store, now=later) is not None


@pytest.mark.parametrize("state", [JobState.DONE, JobState.PARKED])
def test_a_job_that_is_done_or_parked_is_never_claimed(
    store: Store, add: Add, state: JobState
) -> None:
    add()
    let_go(store, claimed(store), state)

    assert claim(store, now=START + timedelta(days=1000)) is None


@pytest.mark.parametrize(
    "not_the_holder",
    [
        lambda job: replace(job, worker="bert"),  # another worker
        lambda job: replace(job, attempts=job.attempts - 1),  # the same, before it was taken over
        lambda job: replace(job, id="unknown"),
    ],
    ids=["another worker", "an earlier try of the same worker", "no such job"],
)
def test_who_does_not_hold_a_job_can_neither_hold_it_nor_let_it_go(
    store: Store, add: Add, not_the_holder: Callable[[Job], Job]
) -> None:
    add()
    claimed(store, "anna")
    job = claimed(store, "anna", now=START + LEASE + SECOND)

    assert not hold(store, not_the_holder(job))
    for state in JobState:
        assert not let_go(store, not_the_holder(job), state, error="changed")

    assert kept(store, job) == job
    assert hold(store, job)


def test_who_has_let_a_job_go_holds_it_no_more(store: Store, add: Add) -> None:
    add()
    job = claimed(store)
    assert let_go(store, job, JobState.DONE)
    after = kept(store, job)

    assert not hold(store, job)
    assert not let_go(store, job, JobState.TODO)

    assert kept(store, job) == after


@pytest.mark.parametrize("state", [JobState.PARKED, JobState.TODO])
def test_a_parked_or_waiting_job_is_put_back_with_all_its_tries(
    store: Store, add: Add, state: JobState
) -> None:
    job = add(state=state, attempts=MAX_ATTEMPTS, run_at=START + timedelta(days=1), error="no")

    assert requeue(store, job)

    after = kept(store, job)
    assert (after.state, after.attempts, after.run_at) == (JobState.TODO, 0, START)
    assert claimed(store).attempts == 1


@pytest.mark.parametrize("state", [JobState.DOING, JobState.DONE])
def test_a_job_under_way_or_done_is_not_put_back(store: Store, add: Add, state: JobState) -> None:
    job = add(state=state, attempts=1, lease_until=START + LEASE, worker="anna")

    assert not requeue(store, job)
    assert not requeue(store, replace(job, id="unknown"))

    assert kept(store, job) == job


# ── candidates that wait, and the ledger ────────────────────────────────────────────────────────


def candidate(store: Store, clock: FakeClock, content: str) -> Memory:
    made = Memory(
        id=clock.new_id(),
        type=MemoryType.PROFILE,
        scope=Scope.GLOBAL,
        status=Status.INBOX,
        content=content,
        observed_at=START,
        confirmed_at=START,
        created_at=START,
        updated_at=START,
    )
    store.write(lambda tables: tables.memories.add(made))
    return made


def test_candidates_wait_in_the_order_of_their_ids_and_go_with_their_memory(
    store: Store, clock: FakeClock, event: Event
) -> None:
    ids = [candidate(store, clock, f"candidate {number}").id for number in range(4)]

    def wait(tables: Tables) -> None:
        for memory_id in (*reversed(ids), ids[0]):  # said twice is said once
            tables.jobs.add_unconsolidated(event.id, memory_id)

    store.write(wait)
    with store.read() as tables:
        assert list(tables.jobs.unconsolidated(event.id, 10)) == ids
        assert list(tables.jobs.unconsolidated(event.id, 2)) == ids[:2]
        assert list(tables.jobs.unconsolidated("another event", 10)) == []
        assert tables.jobs.unconsolidated_among([ids[1], "unknown"]) == {ids[1]}

    store.write(lambda tables: tables.jobs.mark_consolidated(ids[0]))
    store.write(lambda tables: tables.memories.delete(ids[1]))

    with store.read() as tables:
        assert list(tables.jobs.unconsolidated(event.id, 10)) == ids[2:]
        assert tables.jobs.unconsolidated_among(ids) == set(ids[2:])
    assert store.row_counts()["unsettled"] == 2
    assert store.check()[1] == []


def test_the_ledger_adds_up_by_day(store: Store, clock: FakeClock, event: Event) -> None:
    yesterday, today = START - timedelta(days=1), start_of_day(START)
    costs = [(yesterday, 1, 2), (today - SECOND, 10, 20), (today, 100, 200), (START, 1000, 2000)]
    calls = [
        ModelCall(
            id=clock.new_id(),
            event_id=event.id,
            model="m",
            purpose="extract",
            input_tokens=asked,
            output_tokens=answered,
            error="it failed" if at == today else "",
            asked_at=at,
        )
        for at, asked, answered in costs
    ]

    def write(tables: Tables) -> None:
        for call in calls:
            tables.jobs.add_call(call)

    store.write(write)

    with store.read() as tables:
        assert tables.jobs.spent_since(today) == ModelUsage(calls=2, tokens=3300)
        assert tables.jobs.spent_since(yesterday) == ModelUsage(calls=4, tokens=3333)
        assert tables.jobs.spent_since(start_of_next_day(START)) == ModelUsage()
        assert tables.jobs.calls(10) == calls[::-1]
        assert tables.jobs.calls(1) == calls[-1:]


# ── the rules, as tables of numbers ─────────────────────────────────────────────────────────────


def failed(attempts: int, job_id: str = "a job") -> Job:
    return Job(
        id=job_id,
        event_id="e",
        kind=JobKind.ASK,
        attempts=attempts,
        run_at=START,
        created_at=START,
        updated_at=START,
    )


@each_row(
    ("attempts", "shortest_s", "longest_s"),
    [(1, 3.75, 6.25), (2, 15, 25), (3, 60, 100), (4, 240, 400)],
)
def test_the_wait_grows_fourfold_with_each_try_within_a_quarter_to_either_side(
    attempts: int, shortest_s: float, longest_s: float
) -> None:
    waits = []
    for number in range(500):
        again_at = next_attempt_at(failed(attempts, f"job {number}"), START)
        assert again_at is not None
        waits.append((again_at - START).total_seconds())

    assert shortest_s <= min(waits) < max(waits) <= longest_s
    spread = JITTER * (longest_s - shortest_s)  # jobs that failed together come back apart
    assert max(waits) - min(waits) > spread
    assert next_attempt_at(failed(attempts, "job 7"), START) == START + timedelta(seconds=waits[7])


@each_row("attempts", [MAX_ATTEMPTS, MAX_ATTEMPTS + 1])
@each_row("at_least_s", [0.0, 3600.0])
def test_after_the_last_try_there_is_no_next(attempts: int, at_least_s: float) -> None:
    assert next_attempt_at(failed(attempts), START, at_least_s=at_least_s) is None


@each_row(("at_least_s", "waits_s"), [(3600.0, 3600.0), (6.25, 6.25)])
def test_a_server_that_wants_more_time_gets_it(at_least_s: float, waits_s: float) -> None:
    assert next_attempt_at(failed(1), START, at_least_s=at_least_s) == START + timedelta(
        seconds=waits_s
    )


def test_a_server_that_wants_less_time_does_not_shorten_the_wait() -> None:
    assert next_attempt_at(failed(4), START, at_least_s=1.0) == next_attempt_at(failed(4), START)


@each_row(
    ("moment", "began", "next_began"),
    [
        ("2026-05-08T00:00:00", "2026-05-08", "2026-05-09"),
        ("2026-05-08T23:59:59.999999", "2026-05-08", "2026-05-09"),
        ("2026-12-31T12:00:00", "2026-12-31", "2027-01-01"),
        ("2028-02-28T12:00:00", "2028-02-28", "2028-02-29"),
    ],
)
def test_a_day_begins_at_midnight_utc(moment: str, began: str, next_began: str) -> None:
    def utc(text: str) -> datetime:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)

    assert (start_of_day(utc(moment)), start_of_next_day(utc(moment))) == (
        utc(began),
        utc(next_began),
    )


@each_row(
    ("calls", "tokens", "refusal"),
    [
        (0, 0, ""),
        (9, 999, ""),
        (10, 0, "10 of 10 model calls a day are spent"),
        (11, 5000, "11 of 10 model calls a day are spent"),
        (1, 1000, "1,000 of 1,000 model tokens a day are spent"),
        (1, 1234, "1,234 of 1,000 model tokens a day are spent"),
    ],
)
def test_a_budget_is_spent_when_its_calls_or_its_tokens_are(
    calls: int, tokens: int, refusal: str
) -> None:
    budget = ModelBudget(calls_per_day=10, tokens_per_day=1000)

    assert budget.refusal(ModelUsage(calls=calls, tokens=tokens)) == refusal


def test_a_budget_of_nothing_allows_nothing() -> None:
    assert ModelBudget(0, 1000).refusal(ModelUsage())
    assert ModelBudget(10, 0).refusal(ModelUsage())


# ── jobs that run ───────────────────────────────────────────────────────────────────────────────

SAID = [{"role": "user", "content": "I prefer tabs over spaces in Go code."}]


def with_chat(path: Path, clock: FakeClock, chat: ChatModel, **settings: Any) -> LocalRecollect:
    """Open a memory that works by words and has *chat* read its sources."""
    wanted = Settings(db=str(path), embedding_backend="none", **settings)
    return LocalRecollect(wanted, clock=clock, chat=chat)


def failing(*errors: Exception) -> ScriptedChatModel:
    return ScriptedChatModel([*errors])


def job_of(rec: LocalRecollect, kind: JobKind) -> Job:
    return next(job for job in rec.jobs.list(states=EVERY_STATE) if job.kind is kind)


def test_a_job_that_fails_waits_longer_each_time_and_is_parked_with_its_error(
    path: Path, clock: FakeClock
) -> None:
    errors = [ModelUnavailable(f"no luck {number}") for number in range(1, 6)]
    with with_chat(path, clock, failing(*errors)) as memory:
        event = memory.capture_session(SAID)
        seen = []
        for _ in range(MAX_ATTEMPTS):
            memory.drain()
            job = job_of(memory, JobKind.ASK)
            seen.append((job.state, job.attempts, job.error, memory.captures.get(event.id).state))
            wait = (job.run_at - clock.now()).total_seconds()
            assert job.state == "parked" or 3.75 <= wait / 4 ** (job.attempts - 1) <= 6.25
            clock.moment = max(job.run_at, clock.now())
        clock.advance(days=365)
        left = memory.drain()
        after = memory.captures.get(event.id)

    assert seen == [
        ("todo", 1, "no luck 1", "working"),
        ("todo", 2, "no luck 2", "working"),
        ("todo", 3, "no luck 3", "working"),
        ("todo", 4, "no luck 4", "working"),
        ("parked", 5, "no luck 5", "failed"),
    ]
    assert left == 0
    assert (after.state, after.error, after.retries) == ("failed", "no luck 5", 5)


def test_a_failed_job_is_not_tried_before_its_time(path: Path, clock: FakeClock) -> None:
    with with_chat(path, clock, failing(ModelUnavailable("no"), ModelUnavailable("no"))) as memory:
        memory.capture_session(SAID)
        memory.drain()
        job = job_of(memory, JobKind.ASK)
        clock.moment = job.run_at - timedelta(microseconds=1)
        early = memory.drain()
        clock.moment = job.run_at
        in_time = memory.drain()

    assert (early, in_time) == (0, 1)


def test_whatever_a_stage_raises_is_told_in_short_and_stops_no_other_job(
    path: Path, clock: FakeClock
) -> None:
    chat = failing(RecursionError("x" * 5_000), ModelUnavailable("y" * 5_000))
    with with_chat(path, clock, chat) as memory:
        memory.capture_session(SAID)
        memory.capture_session([{"role": "user", "content": "I live in Lisbon."}])
        memory.drain()
        jobs = memory.jobs.list(states=EVERY_STATE)
        events = memory.captures.list()

    asked = [job for job in jobs if job.kind is JobKind.ASK]
    assert {job.error[:17] for job in asked} == {"RecursionError: x", "y" * 17}
    assert {len(job.error) for job in asked} == {1000}
    assert {job.state for job in jobs if job.kind is not JobKind.ASK} == {"done"}
    assert [event.state for event in events] == ["working", "working"]


def test_retry_makes_a_parked_job_due_with_all_its_tries(path: Path, clock: FakeClock) -> None:
    errors = [ModelUnavailable("no") for _ in range(2 * MAX_ATTEMPTS)]
    chat = failing(*errors)
    with with_chat(path, clock, chat) as memory:
        memory.capture_session(SAID)
        for _ in range(MAX_ATTEMPTS):
            memory.drain()
            clock.advance(hours=1)
        parked = job_of(memory, JobKind.ASK)
        put = memory.jobs.retry(parked.id)
        for _ in range(MAX_ATTEMPTS):
            memory.drain()
            clock.advance(hours=1)
        again = job_of(memory, JobKind.ASK)

    assert parked.state == "parked"
    assert (put.state, put.attempts) == ("todo", 0)
    assert (again.state, again.attempts) == ("parked", MAX_ATTEMPTS)
    assert len(chat.prompts) == 2 * MAX_ATTEMPTS


def test_only_a_parked_or_waiting_job_can_be_retried(rec: LocalRecollect) -> None:
    rec.capture_session(SAID)
    rec.drain()
    done = job_of(rec, JobKind.EXTRACT)

    with pytest.raises(IllegalTransition, match="is done; only a parked or waiting one"):
        rec.jobs.retry(done.id)
    with pytest.raises(NotFound, match="recollect jobs list"):
        rec.jobs.retry("unknown")
    assert rec.jobs.get(done.id) == done


def die(path: Path, clock: FakeClock, *, times: int) -> None:
    """Claim the next job and never come back, again and again."""
    for _ in range(times):
        with_a_lease = SqliteStore(path, clock)
        claimed(with_a_lease, now=clock.now())
        with_a_lease.close()
        clock.advance(seconds=LEASE_S + 1)


def test_workers_that_were_killed_are_no_failures_of_their_job(
    path: Path, clock: FakeClock
) -> None:
    chat = failing(*(ModelUnavailable("no luck") for _ in range(MAX_ATTEMPTS)))
    with with_chat(path, clock, chat) as memory:
        event = memory.capture_session(SAID)
        memory.drain()  # to the first failure of the job that asks the model
        clock.moment = job_of(memory, JobKind.ASK).run_at
        die(path, clock, times=MAX_ATTEMPTS + 2)
        memory.drain()
        job = job_of(memory, JobKind.ASK)
        waiting = memory.captures.get(event.id)

    assert (job.state, job.failures, job.crashes) == ("todo", 2, MAX_ATTEMPTS + 2)
    assert (waiting.state, waiting.retries) == ("working", 2)


def test_a_job_that_is_handed_back_is_due_again_and_done_once(path: Path, clock: FakeClock) -> None:
    asked, answer = threading.Event(), threading.Event()

    class WaitingChatModel(ScriptedChatModel):
        def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
            asked.set()
            assert answer.wait(60)
            return super().complete(system, prompt, max_tokens=max_tokens)

    with with_chat(path, clock, WaitingChatModel(["[]", "[]"])) as memory:
        event = memory.capture_session(SAID)
        thread = threading.Thread(target=lambda: list(memory.engine.run_jobs_in_steps()))
        thread.start()
        assert asked.wait(60)
        handed_back = memory.engine.hand_back_jobs()
        waiting = job_of(memory, JobKind.ASK)
        answer.set()
        thread.join(60)
        memory.drain()
        done = memory.captures.get(event.id)
        contents = [item.memory.content for item in memory.inbox.list()]

    assert handed_back == 1
    assert (waiting.state, waiting.attempts, waiting.worker) == ("todo", 0, "")
    assert (done.state, done.retries) == ("done", 0)
    assert len(contents) == len(set(contents))


def test_a_job_whose_workers_died_is_parked_before_it_kills_another(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, words_only=True) as rec:
        event = rec.capture_session(SAID)
        die(path, clock, times=MAX_CRASHES + 1)
        rec.drain()
        parked = job_of(rec, JobKind.EXTRACT)
        told = rec.captures.get(event.id)
        rec.jobs.retry(parked.id)
        rec.drain()
        after = rec.captures.get(event.id)

    assert parked.state == "parked"
    assert parked.error == f"WorkerCrashed: its worker ended without a word {MAX_CRASHES + 1} times"
    assert (told.state, told.error) == ("failed", parked.error)
    assert (after.state, after.error) == ("done", "")


def test_a_job_that_must_wait_for_another_day_uses_up_no_try(path: Path, clock: FakeClock) -> None:
    chat = ScriptedChatModel(["[]"])
    with with_chat(path, clock, chat, chat_calls_per_day=0) as memory:
        event = memory.capture_session(SAID)
        seen = set()
        for _ in range(2 * MAX_ATTEMPTS):
            memory.drain()
            job = job_of(memory, JobKind.ASK)
            assert job.run_at == start_of_next_day(clock.now())
            seen.add((job.state, job.attempts, job.error))
            clock.moment = job.run_at
        waiting = memory.captures.get(event.id)
    with with_chat(path, clock, chat) as memory:
        memory.drain()
        after = memory.captures.get(event.id)

    assert seen == {("todo", 0, "0 of 0 model calls a day are spent; it goes on tomorrow")}
    assert waiting.state == "working"
    assert (after.state, after.error) == ("done", "")
    assert len(chat.prompts) == 1


# ── work that two do at once ────────────────────────────────────────────────────────────────────


class Interrupted(ScriptedEmbedder):
    """An embedder during whose work something else happens, once."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self._meanwhile: list[Callable[[], object]] = [meanwhile]

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self._meanwhile:
            self._meanwhile.pop()()
        return super().embed(texts)


def changes(path: Path, clock: FakeClock) -> list[tuple[str | None, str]]:
    """Return every change of the profile memories in a store."""
    with open_memory(path, clock=clock) as rec:
        found = rec.memories.list(everywhere=True, types=["profile"], statuses=list(Status))
        return [
            (change.before, change.after)
            for one in found
            for change in rec.explain(one.id).changes  # type: ignore[union-attr]
        ]


def test_a_candidate_that_another_settles_meanwhile_is_settled_once(
    path: Path, clock: FakeClock
) -> None:
    def consolidate() -> None:
        with open_memory(path, clock=clock) as other:
            other.consolidate()

    with open_memory(path, clock=clock, embedder=Interrupted(consolidate)) as rec:
        event = rec.capture_session(SAID)
        rec.drain()
        outcome = rec.captures.get(event.id).outcome

    assert changes(path, clock) == [(None, "inbox"), ("inbox", "inbox")]  # extracted, held
    assert "held" not in outcome  # it was the other who held it


def test_what_many_sessions_say_is_one_memory_also_when_all_are_captured_first(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    for number in range(20):
        more = {"role": "user", "content": f"Look at ticket {number} please."}
        words_only.capture_session([*SAID, more], session=f"day {number}")
        clock.advance(hours=1)
    words_only.drain()
    found = words_only.memories.list(everywhere=True, types=["profile"], statuses=PROPOSED)

    assert [(one.content, one.status) for one in found] == [(SAID[0]["content"], "active")]


def test_a_correction_does_not_take_the_place_of_the_record_of_a_session(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    for said in (
        "Please set up the Grafana dashboard for Berlin.",
        "No, the Grafana dashboard for Berlin is not needed.",
    ):
        words_only.capture_session([{"role": "user", "content": said}], project="site")
        words_only.drain()
        clock.advance(hours=1)
    found = words_only.memories.list(everywhere=True, statuses=list(Status))

    assert Counter((one.type, one.status) for one in found) == {
        ("episode", "active"): 2,
        ("project", "inbox"): 1,  # it was said once, and puts right nothing that is active
        ("project", "stated"): 1,
    }


# ── a worker that is interrupted ────────────────────────────────────────────────────────────────

PROPOSED = [status for status in Status if status is not Status.STATED]
SERVICES = [f"The {name} service listens on port 80." for name in map("s{:03}".format, range(70))]


class Killed(BaseException):
    """What stands for a kill: nothing of ours may catch it."""


def interrupted_at(write: int, path: Path, clock: FakeClock) -> None:
    """Work on a store until a person presses Ctrl-C at its *write*th write."""

    class Impatient(SqliteStore):
        writes = 0

        def write(self, work: Callable[[SqliteTables], T]) -> T:
            self.writes += 1
            if self.writes == write:
                raise Killed
            return super().write(work)

    opened = Impatient(path, clock)
    desk = EngineContext(
        opened, clock, indexer=lambda: None, chat=lambda: None, budget=ModelBudget(0, 0)
    )
    worker = Worker(desk)
    with pytest.raises(Killed):
        list(iter(worker.step, None))
    opened.close()


def found_by_rules(rec: LocalRecollect) -> list[str]:
    every = rec.memories.list(everywhere=True, types=["project"], statuses=PROPOSED, limit=500)
    return sorted(one.content for one in every)


@pytest.mark.parametrize("write", [2, 3, 5, 6, 7])  # the first and the fourth claim a job
def test_a_job_that_was_interrupted_goes_on_after_its_lease(
    path: Path, clock: FakeClock, write: int
) -> None:
    with open_memory(path, clock=clock, words_only=True) as rec:
        event = rec.capture_session(
            [{"role": "user", "content": line} for line in SERVICES], project="site"
        )
        interrupted_at(write, path, clock)
        early = rec.drain()
        clock.advance(seconds=LEASE_S + 1)
        rec.drain()
        after = rec.captures.get(event.id)

        assert early == 0
        assert (after.state, after.error) == ("done", "")
        assert "71 extracted" in after.outcome
        assert found_by_rules(rec) == sorted(SERVICES)


def test_forgetting_a_candidate_of_an_interrupted_job_costs_no_other_and_doubles_none(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, words_only=True) as rec:
        told = [{"role": "user", "content": f"Let us go on. {line}"} for line in SERVICES]
        rec.capture_session(told, project="site")
        interrupted_at(3, path, clock)
        gone = next(one for one in candidates(rec) if one.content == SERVICES[5])
        rec.forget(gone.id)
        clock.advance(seconds=LEASE_S + 1)
        rec.drain()

        assert found_by_rules(rec) == sorted(set(SERVICES) - {SERVICES[5]})


# ── carried to another store ────────────────────────────────────────────────────────────────────


def half_done(path: Path, clock: FakeClock, exported: Path) -> None:
    """Export a store with jobs in every state, candidates that wait, and a ledger."""
    chat = failing(*(ModelUnavailable("no luck") for _ in range(MAX_ATTEMPTS)))
    with with_chat(path, clock, chat) as memory:
        memory.capture_session(SAID)
        for _ in range(MAX_ATTEMPTS):
            memory.drain()
            clock.advance(hours=1)
        memory.capture_session(
            [{"role": "user", "content": "I live in Lisbon. My favourite editor is Helix."}],
            project="site",
        )
        next(memory.engine.run_jobs_in_steps())
        memory.capture_session([{"role": "user", "content": "I work as a nurse."}])
        half = SqliteStore(path, clock)
        claimed(half, now=clock.now())
        half.close()
        memory.export(exported)


def test_jobs_candidates_that_wait_and_the_ledger_are_carried_to_another_store(
    path: Path, clock: FakeClock, tmp_path: Path
) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    half_done(path, clock, first)
    with open_memory(tmp_path / "other.db", clock=clock, words_only=True) as other:
        imported = other.import_(first, trust=True)
        other.export(second)
        states = {job.state for job in other.jobs.list(states=EVERY_STATE)}
        ledger = other.models.calls()
        clock.advance(seconds=LEASE_S + 1)
        other.drain()
        after = other.jobs.list()
        counts = other.maintenance.status().counts
        verified = other.maintenance.verify()

    assert first.read_bytes() == second.read_bytes()
    assert imported.conflicts == ()
    assert states == set(JobState)
    assert [call.error for call in ledger] == ["no luck"] * MAX_ATTEMPTS
    assert [(job.kind, job.state) for job in after] == [("ask", "parked")]
    assert counts["unsettled"] == 0
    assert verified.ok, verified.problems


def test_a_job_of_an_unknown_kind_is_refused(path: Path, clock: FakeClock, tmp_path: Path) -> None:
    exported = tmp_path / "e.jsonl"
    half_done(path, clock, exported)
    rows = exported.read_text().replace('"kind":"consolidate"', '"kind":"dream"').splitlines()[:-1]
    digest = hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest()
    end = json.dumps({"end": len(rows) - 1, "sha256": digest})
    exported.write_text("".join(f"{row}\n" for row in [*rows, end]))

    with open_memory(tmp_path / "other.db", words_only=True) as other:
        with pytest.raises(ImportRefused, match=r"row \d+ of the import .*'dream'"):
            other.import_(exported, trust=True)

        assert set(other.maintenance.status().counts.values()) == {0}


def test_a_job_carried_to_a_store_that_knows_the_project_goes_on_there(
    path: Path, clock: FakeClock, tmp_path: Path
) -> None:
    exported = tmp_path / "e.jsonl"
    with open_memory(path, clock=clock, words_only=True) as rec:
        rec.capture_session(
            [{"role": "user", "content": "The staging server runs on port 8080."}], project="site"
        )
        rec.export(exported)
    clock.issued = 1_000  # as if it were another machine
    with open_memory(tmp_path / "other.db", clock=clock, words_only=True) as other:
        other.ingest("The production server runs on port 80.", project="site")
        other.import_(exported, trust=True)
        other.drain()
        [waiting] = candidates(other)
        [event] = [one for one in other.captures.list() if one.trigger == "session"]

    assert (event.state, event.error) == ("done", "")
    assert waiting.content == "The staging server runs on port 8080."
