"""
Jobs: the retryable steps of a capture event, and the delay before each retry.

    todo ──claim──► doing ──► done
     ▲                │
     └── backoff ─────┤ failed, or its lease ran out
                      └──► parked   after the last attempt; `retry` puts it back

A job is claimed with a lease: only the worker that holds the lease may finish the job. The store
keeps the rows, and the worker runs them.

If the clock was wrong, a lease or a waiting time may end far in the future. A lease that is longer
than any worker takes, and a waiting job that was written in the future, are not waited for.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from recollect.lazy_dataclass import dataclass

MAX_ATTEMPTS = 5  # that failed
MAX_CRASHES = 20  # attempts whose worker was killed; a job that kills its worker ends here
FIRST_RETRY_S = 5.0
RETRY_FACTOR = 4.0  # 5 s, 20 s, 80 s, 320 s: about seven minutes in all
JITTER = 0.25  # of the delay, plus or minus
MAX_RETRY_S = 86_400.0  # a server's Retry-After is not followed further than that
LEASE_S = 120.0  # longer than any step between two renewals
CLOCK_TOLERANCE = timedelta(minutes=5)  # a row written later than that was written by a wrong clock


class JobState(StrEnum):
    """The state of a job."""

    TODO = "todo"
    DOING = "doing"
    DONE = "done"
    PARKED = "parked"


class JobKind(StrEnum):
    """The steps of an event."""

    EXTRACT = "extract"  # extract candidates from a source by rules
    ASK = "ask"  # extract with a language model, if one is configured
    CONSOLIDATE = "consolidate"  # compare with existing memories; promote by policy


@dataclass(frozen=True, kw_only=True)
class Job:
    """One step of an event."""

    id: str
    event_id: str
    kind: JobKind
    payload: Mapping[str, Any] = field(default_factory=dict)
    state: JobState = JobState.TODO
    attempts: int = 0
    crashes: int = 0  # attempts that ended without a word
    run_at: datetime
    lease_until: datetime | None = None
    worker: str = ""
    error: str = ""
    created_at: datetime
    updated_at: datetime

    @property
    def failures(self) -> int:
        """How many attempts failed, the current one included."""
        return self.attempts - self.crashes


def next_attempt_at(job: Job, now: datetime, *, at_least_s: float = 0.0) -> datetime | None:
    """Return the time of the next attempt after a failure, or None to park the job."""
    if job.failures >= MAX_ATTEMPTS:
        return None
    wait_s = FIRST_RETRY_S * RETRY_FACTOR ** (job.failures - 1) * _jitter(job)
    return now + timedelta(seconds=min(max(wait_s, at_least_s), MAX_RETRY_S))


def _jitter(job: Job) -> float:
    """Return a factor around 1 that is the same for the same attempt of the same job."""
    digest = hashlib.blake2b(f"{job.id} {job.attempts}".encode(), digest_size=4).digest()
    return 1 + JITTER * (2 * int.from_bytes(digest) / 0xFFFFFFFF - 1)
