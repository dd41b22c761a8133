"""
A block: labelled text that is always in context, and the edits of its value.

An edit is a pure function from the old value to the new one; it raises if it does not apply.
`edit_block` checks the limit and the read-only flag. Storage and visibility are elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.scope import Owner, Scope
from recollect.errors import BlockReadOnly, InvalidInput, TooLarge

DEFAULT_LIMIT = 20_000  # characters


class BlockAuthor(StrEnum):
    """Who changed a block."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Block:
    """Labelled text. `version` increases by one with every change of value or settings."""

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
    created_at: datetime
    updated_at: datetime

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


def edit_block(block: Block, edit: Edit, *, by: BlockAuthor, at: datetime) -> Block:
    """Return *block* with the edited value and the next version, or raise if not allowed."""
    if block.read_only and by is not BlockAuthor.SYSTEM:
        raise BlockReadOnly(
            f"the block {block.label!r} is read-only and cannot be edited; "
            "make it writable first if you may"
        )
    value = edit(block.value)
    check_limit(value, block.limit)
    return replace(block, value=value, version=block.version + 1, updated_at=at)


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
