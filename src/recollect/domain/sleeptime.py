"""
Sleeptime: a background job reads what was said in a conversation and proposes edits of memory.

Rules read it, and at most one call of a model proposes edits of blocks.

A run reads the messages that no earlier run read. What it learns becomes candidates, as from any
captured session; its edits of blocks are proposals, or versions if the policy allows them. It never
deletes, and everything it did is recorded with it, so that it can be undone.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import RUNTIME
from recollect.lazy_dataclass import dataclass

# In the metadata of an agent, under `RUNTIME`: after how many turns. The name is Letta's.
FREQUENCY = "sleeptime_agent_frequency"
MAX_FREQUENCY = 10_000

LEASE = timedelta(minutes=10)  # longer than a model takes to answer
FIRST_RETRY_DELAY = timedelta(minutes=1)
RETRY_FACTOR = 4.0
MAX_RETRY_DELAY = timedelta(days=1)


class SleeptimeState(StrEnum):
    """The state of a run."""

    DUE = "due"
    READING = "reading"  # the engine extracts memories from the messages
    DONE = "done"
    UNDONE = "undone"


class SleeptimeTrigger(StrEnum):
    """Why a run was started."""

    TURNS = "turns"
    END = "end"  # of the conversation
    REQUEST = "request"


@dataclass(frozen=True, kw_only=True)
class SleeptimeEdit:
    """One edit of a block: applied as a version, or waiting as a proposal."""

    run_id: str
    place: int
    block_id: str
    label: str
    version_before: int
    version_after: int | None = None  # None: it is a proposal
    proposal_id: str = ""
    replaced_proposal_id: str = ""  # an earlier pending proposal, which this one contains


@dataclass(frozen=True, kw_only=True)
class SleeptimeRun:
    """
    One run. `memory_ids` are what it learnt, in whatever status it is now.

    `remaining` says, after an undo, what stays because a person decided on it or changed it since.
    """

    id: str
    agent_id: str
    conversation_id: str
    state: SleeptimeState = SleeptimeState.DUE
    trigger: SleeptimeTrigger
    event_id: str | None = None  # of the capture that it read
    first_position: int = 0  # of the messages that it read
    last_position: int = -1
    made_by: str = ""  # "rules", or the name of the model that proposed edits of blocks
    note: str = ""  # why no model was asked, what was refused of its reply, or why it failed
    requested_at: datetime
    ended_at: datetime | None = None
    attempts: int = 0  # of the current step
    lease_until: datetime | None = None  # a worker has it, or it failed and waits, until then
    edits: tuple[SleeptimeEdit, ...] = ()
    memory_ids: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()


def is_leased(run: SleeptimeRun, now: datetime) -> bool:
    """Return whether a worker has *run* or it waits; a lease of a wrong clock does not count."""
    return run.lease_until is not None and now < run.lease_until <= now + MAX_RETRY_DELAY


def retry_delay(attempts: int) -> timedelta:
    """Return how long a run waits after so many failed attempts."""
    factor = RETRY_FACTOR ** min(attempts - 1, 10)  # beyond that it is the longest delay
    return min(FIRST_RETRY_DELAY * factor, MAX_RETRY_DELAY)


def sleeptime_frequency(agent: Agent) -> int:
    """Return after how many turns of a conversation *agent* has a run; 0: never."""
    own = agent.metadata.get(RUNTIME)
    value = own.get(FREQUENCY) if isinstance(own, Mapping) else None
    return value if type(value) is int and 1 <= value <= MAX_FREQUENCY else 0
