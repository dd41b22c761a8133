"""
Jobs: the retryable steps of an event, and when a failed one is tried again.

    todo ──claim──► doing ──► done
     ▲                │
     └── backoff ─────┤ failed, or its lease ran out
                      └──► parked   after the last try; `retry` puts it back

A job is claimed with a lease: whoever holds it may work until the lease ends, and only the holder
may finish it. This file is the rule; the store keeps the rows and the worker runs them.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

MAX_ATTEMPTS = 5
FIRST_RETRY_S = 5.0
RETRY_FACTOR = 4.0  # 5 s, 20 s, 80 s, 320 s: about seven minutes in all
JITTER = 0.25  # of the wait, to either side
LEASE_S = 120.0  # longer than any one step between two renewals may take


class JobState(StrEnum):
    """Where a job stands."""

    TODO = "todo"
    DOING = "doing"
    DONE = "done"
    PARKED = "parked"


class JobKind(StrEnum):
    """The steps there are."""

    EXTRACT = "extract"  # read a source by rules, write candidates
    ASK = "ask"  # have a language model read it, where one is configured
    CONSOLIDATE = "consolidate"  # compare candidates with what is known; promote what policy allows


@dataclass(frozen=True, kw_only=True)
class Job:
    """One step of one event."""

    id: str
    event_id: str
    kind: JobKind
    payload: Mapping[str, Any] = field(default_factory=dict)
    state: JobState = JobState.TODO
    attempts: int = 0
    run_at: datetime
    lease_until: datetime | None = None
    worker: str = ""
    error: str = ""
    created_at: datetime
    updated_at: datetime


def next_attempt_at(job: Job, now: datetime, *, at_least_s: float = 0.0) -> datetime | None:
    """Return when a job that has just failed is tried again, or None when it is to be parked."""
    if job.attempts >= MAX_ATTEMPTS:
        return None
    wait_s = FIRST_RETRY_S * RETRY_FACTOR ** (job.attempts - 1) * _jitter(job)
    return now + timedelta(seconds=max(wait_s, at_least_s))


def _jitter(job: Job) -> float:
    """Return a factor around 1, the same for the same try of the same job."""
    digest = hashlib.blake2b(f"{job.id} {job.attempts}".encode(), digest_size=4).digest()
    return 1 + JITTER * (2 * int.from_bytes(digest) / 0xFFFFFFFF - 1)
