"""
Claim a run of sleeptime with a lease, and record why an attempt failed.

A worker claims a run before it reads or asks a model, so two workers never pay for the same run. A
worker that was killed keeps the run until its lease ends; then another one takes it over.
"""

import logging
from dataclasses import replace

from recollect.domain.sleeptime import LEASE, SleeptimeRun, is_leased, retry_delay
from recollect.service.services import Services
from recollect.store.protocol import Tables

log = logging.getLogger(__name__)


def claim_run(services: Services, run: SleeptimeRun) -> SleeptimeRun | None:
    """Return *run* under a lease; None if another worker has it or has finished this step."""

    def write(tables: Tables) -> SleeptimeRun | None:
        current, now = tables.sleeptime_runs.get(run.id), services.clock.now()
        if current is None or current.state is not run.state or is_leased(current, now):
            return None
        claimed = replace(current, attempts=current.attempts + 1, lease_until=now + LEASE)
        tables.sleeptime_runs.set(claimed)
        return claimed

    return services.store.write(write)


def holds_lease(tables: Tables, run: SleeptimeRun) -> bool:
    """Return whether *run*, as it was claimed, was not taken over by another worker."""
    current = tables.sleeptime_runs.get(run.id)
    return current is not None and (current.state, current.attempts) == (run.state, run.attempts)


def release_run(services: Services, run: SleeptimeRun) -> None:
    """Make a run due again at once: the program ends, which is no failure."""

    def write(tables: Tables) -> None:
        if holds_lease(tables, run):
            released = replace(run, attempts=run.attempts - 1, lease_until=None)
            tables.sleeptime_runs.set(released)

    services.store.write(write)


def record_failure(services: Services, run: SleeptimeRun, error: Exception) -> None:
    """Record on the run that an attempt failed, and when the next one is due."""
    again_at = services.clock.now() + retry_delay(run.attempts)
    log.warning("sleeptime run %s failed", run.id, exc_info=error)
    # Not the error itself: it may repeat words of the conversation, and `forget` would miss them.
    note = (
        f"attempt {run.attempts} failed with {type(error).__name__}, see the log; the next one is "
        f"due at {again_at:%Y-%m-%d %H:%M} UTC"
    )

    def write(tables: Tables) -> None:
        if holds_lease(tables, run):
            tables.sleeptime_runs.set(replace(run, note=note, lease_until=again_at))

    services.store.write(write)
