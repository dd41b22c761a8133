"""
What active memories add to the blocks that are always in context, without a model.

Pure. Facts about the user belong to the block `human`, decisions and facts of a project to
`project`. A line is the memory in the words in which it was learnt. A line is added, or takes the
place of the line of a memory that it superseded; no other line changes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from recollect.domain.block import Edit
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass

HUMAN, PROJECT = "human", "project"
MAX_LINE_CHARS = 300  # longer memories are found by search
MAX_LINES = 12  # that one run adds to a block
_OF_PROJECT = frozenset({MemoryType.DECISION, MemoryType.PROJECT})
_NEVER = frozenset({StatementFlag.INSTRUCTION, StatementFlag.BY_AGENT, StatementFlag.CONFIDENTIAL})


@dataclass(frozen=True)
class BlockLine:
    """A line for a block, and the lines that it takes the place of."""

    label: str
    text: str
    replaces: tuple[str, ...] = ()


def lines_of(
    memories: Iterable[Memory],
    *,
    serves_owner: bool,
    superseded: Mapping[str, Sequence[str]],
) -> list[BlockLine]:
    """
    Return the lines that *memories* add; *superseded* are texts that a memory replaced, by its id.

    If the agent does not serve the owner of the store, what it learnt about its user is for that
    agent alone, and not for the block `human`, which every agent is shown.
    """
    lines = []
    for memory in memories:
        label = _label(memory, serves_owner=serves_owner)
        text = " ".join(memory.content.split())
        if label and text and len(text) <= MAX_LINE_CHARS:
            lines.append(BlockLine(label, text, tuple(superseded.get(memory.id, ()))))
    return lines


def _label(memory: Memory, *, serves_owner: bool) -> str:
    provenance = memory.provenance
    if memory.status is not Status.ACTIVE or provenance.voice is not Voice.USER:
        return ""
    if _NEVER & {*provenance.flags}:
        return ""
    if memory.scope is Scope.PROJECT:
        return PROJECT if memory.type in _OF_PROJECT else ""
    if memory.type is not MemoryType.PROFILE or not serves_owner:
        return ""
    return HUMAN


def with_lines(lines: Sequence[BlockLine], *, besides: Collection[str] = ()) -> Edit:
    """Return the edit that adds *lines*; texts in *besides* were rejected and are left out."""
    refused = {_key(text) for text in besides}

    def edit(value: str) -> str:
        rows = value.split("\n") if value else []
        for line in lines[:MAX_LINES]:
            present = {_key(row) for row in rows}
            if _key(line.text) in present or _key(line.text) in refused:
                continue
            outdated = {_key(text) for text in line.replaces}
            at = next((n for n, row in enumerate(rows) if _key(row) in outdated), None)
            if at is None:
                rows.append(line.text)
            else:
                rows[at] = line.text
        return "\n".join(rows)

    return edit


def adds_only(before: str, after: str) -> bool:
    """Return whether every line of *before* is in *after*, in the same order."""
    rows = iter(after.split("\n"))
    return all(line in rows for line in before.split("\n")) if before else True


def _key(line: str) -> str:
    return " ".join(line.casefold().split()).strip(" .!-*•")
