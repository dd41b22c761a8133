"""The queue through the door: what waits, what failed and why, and how it is tried again."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from recollect import (
    EventState,
    IllegalTransition,
    InvalidInput,
    JobState,
    LocalRecollect,
    ModelUnavailable,
    NotFound,
    Status,
)
from recollect.config import Settings
from recollect.domain.job import LEASE_S, MAX_ATTEMPTS
from recollect.models.scripted_models import ScriptedChatModel
from support import START, FakeClock, candidates

AWAY = ModelUnavailable("the model is away; start it")
NOTHING = '{"memories": []}'
TALK = "Good morning, how are you today? We use pnpm for builds."

Reads = Callable[..., LocalRecollect]


@pytest.fixture
def reads(path: Path, clock: FakeClock) -> Iterator[Reads]:
    """Open a memory whose sources a scripted model reads too."""
    with ExitStack() as stack:

        def opened(*answers: str | Exception, **settings: Any) -> LocalRecollect:
            given = Settings(db=str(path), embedding_backend="none", **settings)
            model = ScriptedChatModel(answers)
            return stack.enter_context(LocalRecollect(given, clock=clock, chat=model))

        yield opened


def parked(rec: LocalRecollect, clock: FakeClock) -> str:
    """Let the only open job fail until it is parked; return its id."""
    for _ in range(MAX_ATTEMPTS):
        rec.drain()
        clock.advance(hours=1)
    [job] = rec.jobs.list()
    assert job.state is JobState.PARKED
    return job.id


def test_a_capture_is_one_job_and_then_one_step_after_the_other(rec: LocalRecollect) -> None:
    event = rec.capture_session(TALK, project="site")
    [job] = rec.jobs.list()
    steps = list(rec.engine.run_jobs_in_steps())

    assert (job.event_id, job.kind, job.state) == (event.id, "extract", JobState.TODO)
    assert (job.attempts, job.error, job.run_at) == (0, "", START)
    assert rec.jobs.get(job.id).state is JobState.DONE
    assert [step.kind.value for step in steps] == ["extract", "consolidate"]
    assert {(step.state, step.event_id) for step in steps} == {(JobState.DOING, event.id)}
    assert rec.jobs.list() == []


def test_steps_are_worked_off_one_at_a_time(rec: LocalRecollect) -> None:
    event = rec.capture_session(TALK, project="site")
    steps = rec.engine.run_jobs_in_steps()

    first = next(steps)
    between = rec.captures.get(event.id)
    waiting = [job.kind.value for job in rec.jobs.list()]
    rest = [step.kind.value for step in steps]

    assert rec.jobs.get(first.id).state is JobState.DONE
    assert between.state is EventState.WORKING
    assert between.outcome == "2 extracted"
    assert waiting == ["consolidate"]
    assert rest == ["consolidate"]
    assert rec.captures.get(event.id).state is EventState.DONE
    assert rec.captures.get(event.id).outcome == "2 extracted, 1 active, 1 held"


def test_drain_does_everything_that_is_due_and_says_how_much(rec: LocalRecollect) -> None:
    rec.capture_session(TALK, project="site")
    rec.capture_session("I live in Porto.", project="shop")
    rec.ingest("written by hand")

    done = rec.drain()

    assert done >= 4
    assert rec.drain() == 0
    assert rec.maintenance.status().waiting == 0
    assert rec.maintenance.status().jobs == {"done": 4}


def test_draining_in_steps_is_draining(rec: LocalRecollect) -> None:
    rec.capture_session(TALK, project="site")

    steps = list(rec.engine.drain_in_steps())

    assert steps[:2] == [1, 1]
    assert rec.drain() == 0


def test_a_job_that_fails_costs_the_others_nothing_and_is_tried_again_later(
    reads: Reads, clock: FakeClock
) -> None:
    rec = reads(AWAY, NOTHING)
    event = rec.capture_session(TALK, project="site")
    rec.drain()
    [waiting] = rec.jobs.list()
    [candidate] = candidates(rec)
    between = rec.captures.get(event.id)
    clock.advance(minutes=1)
    rec.drain()

    assert (waiting.kind, waiting.state, waiting.attempts) == ("ask", JobState.TODO, 1)
    assert waiting.error == str(AWAY)
    assert START < waiting.run_at < START + timedelta(seconds=10)
    assert candidate.content == "We use pnpm for builds."
    assert (between.state, between.error, between.retries) == (EventState.WORKING, str(AWAY), 1)
    assert rec.jobs.list() == []
    assert rec.captures.get(event.id).state is EventState.DONE
    assert rec.captures.get(event.id).error == ""


def test_after_its_last_try_a_job_is_parked_with_its_error_until_somebody_retries_it(
    reads: Reads, clock: FakeClock
) -> None:
    rec = reads(*[AWAY] * MAX_ATTEMPTS, NOTHING)
    event = rec.capture_session(TALK, project="site")
    job_id = parked(rec, clock)
    failed = rec.captures.get(event.id)
    idle = rec.drain()
    not_done = rec.engine.check_health().jobs
    requeue = rec.jobs.retry(job_id)
    rec.drain()

    assert (failed.state, failed.error) == (EventState.FAILED, str(AWAY))
    assert failed.retries == MAX_ATTEMPTS
    assert not_done == {"parked": 1}
    assert idle == 0
    assert (requeue.state, requeue.attempts) == (JobState.TODO, 0)
    assert requeue.run_at == clock.now()
    assert rec.jobs.get(job_id).state is JobState.DONE
    assert rec.captures.get(event.id).state is EventState.DONE
    assert rec.engine.check_health().jobs == {}


def test_the_event_of_a_job_that_is_retried_is_no_longer_failed(
    reads: Reads, clock: FakeClock
) -> None:
    rec = reads(*[AWAY] * MAX_ATTEMPTS)
    event = rec.capture_session(TALK, project="site")

    rec.jobs.retry(parked(rec, clock))

    assert rec.captures.get(event.id).state is EventState.WORKING


def test_a_waiting_job_can_be_made_due_now(reads: Reads) -> None:
    rec = reads(AWAY, NOTHING)
    rec.capture_session(TALK, project="site")
    rec.drain()
    [waiting] = rec.jobs.list()

    rec.jobs.retry(waiting.id)

    assert rec.drain() > 0
    assert rec.jobs.list() == []


def test_a_job_that_is_done_or_under_way_is_not_retried(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    rec.capture_session(TALK, project="site")
    [job] = rec.jobs.list()
    lease_until = clock.now() + timedelta(seconds=LEASE_S)
    rec._store.write(
        lambda tables: tables.jobs.claim("somebody", now=clock.now(), lease_until=lease_until)
    )

    with pytest.raises(IllegalTransition, match="is doing; only a parked or waiting one"):
        rec.jobs.retry(job.id)
    clock.advance(seconds=LEASE_S + 1)
    rec.drain()
    with pytest.raises(IllegalTransition, match="is done; only a parked or waiting one"):
        rec.jobs.retry(job.id)


def test_jobs_are_listed_by_state_those_due_first_first(reads: Reads, clock: FakeClock) -> None:
    rec = reads(*[AWAY] * MAX_ATTEMPTS)
    rec.capture_session(TALK, project="site")
    failed = parked(rec, clock)
    second = rec.capture_session("I live in Porto.", project="shop")
    clock.advance(hours=1)
    third = rec.capture_session("I prefer tea.", project="shop")

    assert [job.event_id for job in rec.jobs.list()[1:]] == [second.id, third.id]
    assert [job.id for job in rec.jobs.list(states="parked")] == [failed]
    assert [job.id for job in rec.jobs.list(states=["parked"])] == [failed]
    assert len(rec.jobs.list(states=["todo", "parked"])) == 3
    assert {job.state for job in rec.jobs.list(states=["done"])} == {JobState.DONE}
    assert len(rec.jobs.list(limit=1)) == 1
    assert rec.jobs.list(states=[]) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"states": ["asleep"]}, "state 'asleep' is not known; use one of todo, doing, done"),
        ({"states": 3}, "must be a text or a list"),
        ({"limit": 0}, "limit must be a whole number from 1 to 1000"),
        ({"limit": 1_001}, "limit"),
        ({"limit": "all"}, "limit"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_of_the_queue_is_refused(
    rec: LocalRecollect, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        rec.jobs.list(**arguments)


@pytest.mark.parametrize("verb", ["jobs.get", "jobs.retry", "captures.get"])
@pytest.mark.parametrize("nobody", ["nope", "", "\x00"], ids=ascii)
def test_an_unknown_job_or_event_is_not_found(rec: LocalRecollect, verb: str, nobody: Any) -> None:
    with pytest.raises(NotFound, match="there is no "):
        attrgetter(verb)(rec)(nobody)


@pytest.mark.parametrize(
    ("verb", "name"), [("jobs.get", "job"), ("jobs.retry", "job"), ("captures.get", "event")]
)
@pytest.mark.parametrize("value", [None, 3])
def test_an_id_that_is_not_text_is_refused(
    rec: LocalRecollect, verb: str, name: str, value: Any
) -> None:
    with pytest.raises(InvalidInput, match=f"name the {name} by its name or id, not by "):
        attrgetter(verb)(rec)(value)


def test_the_ledger_tells_what_was_asked_last_first_failures_too(
    reads: Reads, clock: FakeClock
) -> None:
    rec = reads(AWAY, NOTHING)
    event = rec.capture_session(TALK, project="site")
    rec.drain()
    clock.advance(minutes=1)
    rec.drain()

    answered, failed = rec.models.calls()
    assert (answered.event_id, answered.model, answered.purpose) == (
        event.id,
        "scripted",
        "extract",
    )
    assert answered.input_tokens > 100 > answered.output_tokens > 0
    assert (failed.error, failed.input_tokens) == (str(AWAY), 0)
    assert answered.asked_at == clock.now()
    assert failed.asked_at == START
    assert rec.models.calls(limit=1) == [answered]
    with pytest.raises(InvalidInput, match="limit"):
        rec.models.calls(limit=0)


def test_without_a_model_nothing_is_asked(rec: LocalRecollect) -> None:
    rec.capture_session(TALK, project="site")
    rec.drain()

    assert rec.models.calls() == []
    assert {job.kind.value for job in rec.jobs.list(states="done")} == {"extract", "consolidate"}


def test_when_the_days_budget_is_spent_the_job_waits_for_tomorrow_and_uses_up_no_try(
    reads: Reads, clock: FakeClock
) -> None:
    rec = reads(NOTHING, NOTHING, chat_calls_per_day=1)
    rec.capture_session(TALK, project="site")
    rec.capture_session("I live in Porto.", project="site")
    rec.drain()
    [waiting] = rec.jobs.list()
    clock.advance(hours=13)
    rec.drain()

    assert waiting.attempts == 0
    assert "1 of 1 model calls a day are spent" in waiting.error
    assert waiting.run_at == START.replace(hour=0) + timedelta(days=1)
    assert rec.jobs.list() == []
    assert len(rec.models.calls()) == 2


def test_what_a_model_finds_stays_within_an_explicit_scope(reads: Reads) -> None:
    claim = {
        "type": "profile",
        "content": "The user's office hours follow Lisbon.",
        "quote": "My office hours follow Lisbon time",
    }
    rec = reads(json.dumps({"memories": [claim]}))
    rec.capture_session(
        "Good morning, how are you today? My office hours follow Lisbon time",
        project="client",
        scope="project",
    )
    rec.drain()

    memories = rec.memories.list(everywhere=True, types=["profile"], statuses=list(Status))
    assert {memory.scope.value for memory in memories} == {"project"}
    assert "model" in {memory.provenance.rule for memory in memories}


def test_the_queue_survives_closing_and_opening(path: Path, clock: FakeClock) -> None:
    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings, clock=clock) as rec:
        event = rec.capture_session(TALK, project="site")
    with LocalRecollect(settings, clock=clock) as rec:
        assert [job.event_id for job in rec.jobs.list()] == [event.id]
        assert rec.drain() == 2
        assert rec.captures.get(event.id).state is EventState.DONE
