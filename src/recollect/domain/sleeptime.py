"""
Sleeptime: a background job reads what was said in a conversation and proposes edits of memory.

Rules read it, and at most one call of a model proposes edits of blocks.

A run reads the messages that no earlier run read. What it learns becomes candidates, as from any
captured session; its edits of blocks are proposals, or versions if the policy allows them. It never
deletes, and everything it did is recorded with it, so that it can be undone.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import RUNTIME
from recollect.lazy_dataclass import dataclass

# In the metadata of an agent, under `RUNTIME`: after how many turns. The name is Letta's.
FREQUENCY = "sleeptime_agent_frequency"
MAX_FREQUENCY = 10_000


class SleeptimeState(StrEnum):
    """How far a run is."""

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
    note: str = ""  # why no model was asked, or what was refused of its reply
    requested_at: datetime
    ended_at: datetime | None = None
    edits: tuple[SleeptimeEdit, ...] = ()
    memory_ids: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()


def sleeptime_frequency(agent: Agent) -> int:
    """Return after how many turns of a conversation *agent* has a run; 0: never."""
    own = agent.metadata.get(RUNTIME)
    value = own.get(FREQUENCY) if isinstance(own, Mapping) else None
    return value if type(value) is int and 1 <= value <= MAX_FREQUENCY else 0
