"""The results of exporting, importing and merging an agent."""

from collections.abc import Mapping
from enum import StrEnum

from recollect.domain.agent import Agent
from recollect.lazy_dataclass import dataclass

# Metadata keys: the last block values an agent had in common with another agent.
BRANCHED_FROM = "branched_from"
MERGED = "merged"
LETTA = "letta"  # fields of a Letta agent file that have no counterpart here
SHARED_ARCHIVES = "archives"  # of LETTA: agents whose archives this one searches too
RUNTIME = "runtime"  # how an agent runs (runtime/agent_settings.py)
APPROVED = "approved_tools"  # of RUNTIME: tools that need no approval any more
EDITS_SHARED = "edits_shared_blocks"  # of RUNTIME: without a person's confirmation
APPROVAL_S = "approval_s"  # of RUNTIME: how long a call waits for a decision


class AgentFormat(StrEnum):
    """The file format of an exported agent."""

    RECOLLECT = "recollect"  # everything
    AF = "af"  # Letta's agent file: no archive, no history


@dataclass(frozen=True, kw_only=True)
class AgentExport:
    """The result of an export: counts by kind, and notes on what the format leaves out."""

    agent: Agent
    path: str
    format: AgentFormat
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AgentImport:
    """
    The result of an import.

    `conflicts` has a sentence for each item that was changed because it clashed with the store;
    `notes` has those due to the file format. `others` are further agents of the same file.
    """

    agent: Agent
    others: tuple[Agent, ...] = ()
    counts: Mapping[str, int]
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BlockMergeConflict:
    """A block that both sides changed. `base` is None if no common value is known."""

    label: str
    base: str | None
    ours: str | None  # None if that side does not have the block
    theirs: str | None


@dataclass(frozen=True, kw_only=True)
class AgentMerge:
    """
    The result of a merge, or of its dry run.

    `merged` are the labels that got a new value. Blocks in `conflicts` were not written.
    """

    agent: Agent
    merged: tuple[str, ...]
    conflicts: tuple[BlockMergeConflict, ...]
    passages_added: int
    notes: tuple[str, ...] = ()
