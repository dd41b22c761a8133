"""What moving an agent answers with: exports, imports and merges of one agent. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from recollect.domain.agent import Agent

# Metadata by which an agent remembers where its blocks had a value in common with another's.
BRANCHED_FROM = "branched_from"
MERGED = "merged"
LETTA = "letta"  # what an agent file of Letta held that we do not model


class AgentFormat(StrEnum):
    """How an agent is written to a file."""

    RECOLLECT = "recollect"  # everything
    AF = "af"  # Letta's agent file: no archive, no history


@dataclass(frozen=True, kw_only=True)
class AgentExport:
    """What `export_agent` wrote, kind by kind; the notes say what the format leaves out."""

    agent: Agent
    path: str
    format: AgentFormat
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AgentImport:
    """
    What `import_agent` made.

    `conflicts` says, a sentence each, what could not come as it was because something else is here
    already; `notes` what the file's format made necessary. `others` are the further agents of a
    file that holds several.
    """

    agent: Agent
    others: tuple[Agent, ...] = ()
    counts: Mapping[str, int]
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BlockMergeConflict:
    """A block that both sides changed. `base` is None where no common value is known."""

    label: str
    base: str | None
    ours: str | None  # None where that side has no such block
    theirs: str | None


@dataclass(frozen=True, kw_only=True)
class Merge:
    """
    What `merge_agents` did, or would do.

    `merged` are the labels that took a new value; `conflicts` those nobody decided: nothing was
    written for them.
    """

    agent: Agent
    merged: tuple[str, ...]
    conflicts: tuple[BlockMergeConflict, ...]
    passages_added: int
    notes: tuple[str, ...] = ()
