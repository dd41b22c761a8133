"""
A block: labelled text that is always in context, and the edits of its value.

An edit is a pure function from the old value to the new one; it raises if it does not apply.
`edit_block` checks the limit and the read-only flag. Storage and visibility are elsewhere.

The text of a shared block is shown to other agents and clients. So an agent's edit of it is a
proposal, which a person accepts or rejects (`needs_person`). An agent edits its own block itself,
and the block is marked with its name until a person confirms the text.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.scope import Owner, Scope
from recollect.errors import BlockReadOnly, InvalidInput, TooLarge
from recollect.lazy_dataclass import dataclass

DEFAULT_LIMIT = 20_000  # characters


SHARED_SCOPES = frozenset({Scope.GLOBAL, Scope.PROJECT})
UNKNOWN_AUTHOR = "unknown"


class BlockAuthor(StrEnum):
    """Who changed a block."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


class ProposalState(StrEnum):
    """What became of a proposal; `replaced`: its author proposed more."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REPLACED = "replaced"


@dataclass(frozen=True, kw_only=True)
class Block:
    """
    Labelled text. `version` increases by one with every change of value or settings.

    `unconfirmed_author` is the agent that wrote the value or a part of it, if no person confirmed
    it. `proposal_id` is set only in the result of an edit that became a proposal: the block is
    unchanged, and the edit waits for a person.
    """

    id: str
    label: str
    value: str = ""
    description: str = ""
    limit: int | None = DEFAULT_LIMIT
    read_only: bool = False
    hidden: bool = False
    scope: Scope = Scope.AGENT
    owner_id: str = ""
    version: int = 1
    metadata: Mapping[str, Any] = field(default_factory=dict)
    unconfirmed_author: str = ""
    created_at: datetime
    updated_at: datetime
    proposal_id: str = ""

    @property
    def owner(self) -> Owner:
        """The owner of the block; global blocks are shared."""
        return Owner(self.scope, self.owner_id)


@dataclass(frozen=True, kw_only=True)
class BlockVersion:
    """A past value of a block: who set it, when and why."""

    block_id: str
    version: int
    value: str
    by: BlockAuthor
    reason: str
    changed_at: datetime
    unconfirmed_author: str = ""


@dataclass(frozen=True, kw_only=True)
class BlockProposal:
    """
    An edit of a shared block that an agent asks for, and what a person decided.

    `place` names who is shown the block ("everywhere", "project site"). `base_value` is the text
    that the agent saw, `current_value` the text now. Accepting it makes `value` the text, unless
    the text changed in the meantime.
    """

    id: str
    block_id: str
    label: str
    scope: Scope
    owner_id: str
    author: str
    base_version: int
    base_value: str
    current_value: str
    value: str
    reason: str = ""
    state: ProposalState = ProposalState.PENDING
    decision: str = ""
    accepted_version: int | None = None
    proposed_at: datetime
    decided_at: datetime | None = None
    place: str = ""
    diff: str = ""  # from the base value to the proposed one

    @property
    def is_outdated(self) -> bool:
        """Whether the block changed since the author saw it."""
        return self.current_value != self.base_value


@dataclass(frozen=True, kw_only=True)
class BlockChange:
    """A change event. Prompts compiled from an older version of the block are stale."""

    block_id: str
    label: str
    version: int
    by: BlockAuthor
    changed_at: datetime


@dataclass(frozen=True, kw_only=True)
class BlockHit:
    """A block that matches a search, with its score."""

    block: Block
    score: float
    matched_words: tuple[str, ...] = ()


Edit = Callable[[str], str]


def needs_person(block: Block, *, by: BlockAuthor, is_own: bool) -> bool:
    """Return whether an edit of *block* is only proposed; *is_own*: the block is its author's."""
    if by is not BlockAuthor.AGENT:
        return False
    return block.scope in SHARED_SCOPES or not is_own


def own_pending_proposal(
    proposals: Iterable[BlockProposal], block: Block, author: str
) -> BlockProposal | None:
    """Return the pending proposal of *author* that a further edit of *block* continues."""
    own = [
        proposal
        for proposal in proposals
        if proposal.block_id == block.id
        and proposal.author == author
        and proposal.state is ProposalState.PENDING
        and not proposal.is_outdated
    ]
    return own[-1] if own else None


def proposed_text(block: Block, edit: Edit, pending: BlockProposal | None) -> str:
    """Return the text that an agent proposes: its edit of the text it proposed before, if any."""

    def edited(value: str) -> str:
        old = replace(block, value=value)
        return edit_block(old, edit, by=BlockAuthor.AGENT, at=block.updated_at).value

    if pending is None:
        return edited(block.value)
    with suppress(InvalidInput):  # the edit may apply to the proposed text only
        if edited(block.value) == pending.value:
            return pending.value  # the same edit again
    return edited(pending.value)


def text_diff(old: str, new: str, *, from_name: str, to_name: str) -> str:
    """Return a unified diff of two texts."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), from_name, to_name, lineterm=""
    )
    return "\n".join(lines)


def authorship_note(block: Block) -> str:
    """Return how a block whose text no person confirmed is marked, '' for any other."""
    if not block.unconfirmed_author:
        return ""
    return f"written by agent {block.unconfirmed_author}, not confirmed by the user"


def proposal_note(block: Block) -> str:
    """Return the message to an agent whose edit of *block* became a proposal."""
    return (
        f"Proposed; waits for the user's confirmation, id {block.proposal_id}. The block "
        f"{block.label!r} is shared with others and stays as it is until the user accepts the "
        "proposal with `recollect inbox`."
    )


def edit_block(
    block: Block, edit: Edit, *, by: BlockAuthor, at: datetime, unconfirmed_author: str = ""
) -> Block:
    """Return *block* with the edited value and the next version, or raise if not allowed."""
    if block.read_only and by is not BlockAuthor.SYSTEM:
        raise BlockReadOnly(
            f"the block {block.label!r} is read-only and cannot be edited; "
            "make it writable first if you may"
        )
    value = edit(block.value)
    check_limit(value, block.limit)
    return replace(
        block,
        value=value,
        version=block.version + 1,
        updated_at=at,
        unconfirmed_author=unconfirmed_author if value else "",
    )


def check_limit(value: str, limit: int | None) -> None:
    """Raise `TooLarge` if *value* is longer than *limit*."""
    if limit is not None and len(value) > limit:
        raise TooLarge(
            f"Edit failed: Exceeds {limit} character limit (requested {len(value)}). "
            "Shorten the text, or raise the block's limit"
        )


def replace_all(new: str) -> Edit:
    """Replace the whole value by *new*."""
    return lambda _: new


def append(text: str) -> Edit:
    """Append *text* on a new line."""
    return lambda value: f"{value}\n{text}" if value else text


def replace_once(old: str, new: str) -> Edit:
    """Replace *old*, which must occur exactly once, by *new*."""
    if not old:
        raise InvalidInput("the text to replace is empty; to write at a place, insert at a line")

    def edit(value: str) -> str:
        times = _occurrences(value, old)
        if times == 1:
            return value.replace(old, new)
        excerpt = old if len(old) <= 80 else old[:79] + "…"
        if times == 0:
            raise InvalidInput(
                f"{excerpt!r} does not occur in the block; "
                "give the exact text, without line numbers"
            )
        lines = ", ".join(str(line) for line in _lines_containing(value, old))
        raise InvalidInput(
            f"{excerpt!r} occurs {times} times (lines {lines}); give more of its surroundings"
        )

    return edit


def insert_at(line: int, text: str) -> Edit:
    """Insert *text* after *line* lines: 0 is the beginning, -1 the end."""

    def edit(value: str) -> str:
        lines = value.split("\n") if value else []
        if line < -1 or line > len(lines):
            raise InvalidInput(
                f"the block has {len(lines)} lines; insert at 0 to {len(lines)}, or -1 for the end"
            )
        at = len(lines) if line == -1 else line
        return "\n".join([*lines[:at], text, *lines[at:]])

    return edit


def _occurrences(value: str, old: str) -> int:
    """Count occurrences of *old*, including overlapping ones, since each could be meant."""
    times, at = 0, value.find(old)
    while at >= 0:
        times, at = times + 1, value.find(old, at + 1)
    return times


def _lines_containing(value: str, old: str) -> list[int]:
    lines: list[int] = []
    at = value.find(old)
    while at >= 0 and len(lines) < 10:
        lines.append(value.count("\n", 0, at) + 1)
        at = value.find(old, at + 1)
    return lines
