"""An agent: a persistent identity with a unique name, and the blocks of a new one."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.scope import Scope
from recollect.lazy_dataclass import dataclass


class AgentPinning(StrEnum):
    """Whether an agent is listed first: not, in one project, or everywhere."""

    NOT = ""
    LOCAL = "local"
    GLOBAL = "global"


@dataclass(frozen=True, kw_only=True)
class Agent:
    """An identity that owns memory. `model` is the language model it runs on, if known."""

    id: str
    name: str
    description: str = ""
    model: str = ""
    system_prompt: str = ""
    pinned: AgentPinning = AgentPinning.NOT
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class DefaultBlock:
    """A block that new agents have. Project and session blocks are created on the first write."""

    label: str
    scope: Scope
    description: str
    read_only: bool = False


DEFAULT_BLOCKS: tuple[DefaultBlock, ...] = (
    DefaultBlock(
        "persona", Scope.AGENT, "Who the agent is: how it behaves, what it has learnt about itself."
    ),
    DefaultBlock("human", Scope.GLOBAL, "Who the user is, and what they prefer in every project."),
    DefaultBlock("project", Scope.PROJECT, "This project: conventions, commands, how it is built."),
    DefaultBlock("skills", Scope.AGENT, "The skills that can be loaded.", read_only=True),
    DefaultBlock("loaded_skills", Scope.AGENT, "The skills in use now.", read_only=True),
    DefaultBlock("style", Scope.GLOBAL, "How the user likes code to be written."),
    DefaultBlock("ticket", Scope.SESSION, "The work item of this conversation."),
)
DEFAULT_LABELS: Mapping[str, DefaultBlock] = {block.label: block for block in DEFAULT_BLOCKS}


@dataclass(frozen=True, kw_only=True)
class AgentReceipt:
    """The result of deleting an agent: rows removed by table, and what was kept."""

    agent_id: str
    name: str
    deleted_at: datetime
    removed: Mapping[str, int]
    kept: tuple[str, ...] = ()
