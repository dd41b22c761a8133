"""
A block: labelled text that is always in context, and the edits it knows.

An edit is a pure function from the old value to the new one, or an error that says why not. Limits
and read-only marks are checked in `changed`, which every edit passes through. This file knows
nothing of storage or of who may see a block.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.scope import Owner, Scope
from recollect.errors import BlockReadOnly, InvalidInput, TooLarge

DEFAULT_LIMIT = 20_000  # characters


class By(StrEnum):
    """Who changes a block."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Block:
    """Labelled text. `version` grows by one with every change of value or settings."""

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
        """Whose block it is; a global one is shared."""
        return Owner(self.scope, self.owner_id)


@dataclass(frozen=True, kw_only=True)
class BlockVersion:
    """One value a block has had: who set it, when, why."""

    block_id: str
    version: int
    value: str
    by: By
    reason: str
    changed_at: datetime


@dataclass(frozen=True, kw_only=True)
class BlockChange:
    """What listeners are told: prompts compiled from an older version of the block are stale."""

    block_id: str
    label: str
    version: int
    by: By
    changed_at: datetime


@dataclass(frozen=True, kw_only=True)
class BlockHit:
    """One block found, and how well it answers."""

    block: Block
    score: float
    matched_words: tuple[str, ...] = ()


Edit = Callable[[str], str]


def edit_block(block: Block, edit: Edit, *, by: By, at: datetime) -> Block:
    """Return *block* with its value edited and its version grown, or say why that cannot be."""
    if block.read_only and by is not By.SYSTEM:
        raise BlockReadOnly(
            f"the block {block.label!r} is read-only and cannot be edited; "
            "make it writable first if you may"
        )
    value = edit(block.value)
    check_limit(value, block.limit)
    return replace(block, value=value, version=block.version + 1, updated_at=at)


def check_limit(value: str, limit: int | None) -> None:
    """Refuse a value longer than its block's limit."""
    if limit is not None and len(value) > limit:
        raise TooLarge(
            f"Edit failed: Exceeds {limit} character limit (requested {len(value)}). "
            "Shorten the text, or raise the block's limit"
        )


def replace_all(new: str) -> Edit:
    """Put *new* in place of the whole value."""
    return lambda _: new


def append(text: str) -> Edit:
    """Add *text* as further lines."""
    return lambda value: f"{value}\n{text}" if value else text


def replace_once(old: str, new: str) -> Edit:
    """Put *new* in place of *old*, which must occur exactly once."""
    if not old:
        raise InvalidInput("the text to replace is empty; to write at a place, insert at a line")

    def edit(value: str) -> str:
        times = _occurrences(value, old)
        if times == 1:
            return value.replace(old, new)
        shown = old if len(old) <= 80 else old[:79] + "…"
        if times == 0:
            raise InvalidInput(
                f"{shown!r} does not occur in the block; "
                "give the text exactly as it stands, without line numbers"
            )
        lines = ", ".join(str(line) for line in _lines_containing(value, old))
        raise InvalidInput(
            f"{shown!r} occurs {times} times (lines {lines}); give more of its surroundings"
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
    """Count where *old* stands, overlapping places too: each of them could be meant."""
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
