"""
A skill: a SKILL.md folder with instructions for a task.

text/skill_file.py reads and writes SKILL.md.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.lazy_dataclass import dataclass


class SkillOrigin(StrEnum):
    """Where a skill is stored. Later ones override earlier ones."""

    BUNDLED = "bundled"
    GLOBAL = "global"
    PROJECT = "project"


@dataclass(frozen=True, kw_only=True)
class Skill:
    """
    One skill as read from its folder.

    `content` is the whole SKILL.md; `body` is the text after its front matter. `problems`
    describes errors in the file; a skill with problems is still usable.
    """

    name: str
    description: str
    origin: SkillOrigin
    path: str
    content: str
    body: str
    category: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # scripts, references, assets: paths below the folder
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LoadedSkill:
    """A skill that an agent has loaded."""

    skill: Skill
    loaded_at: datetime


@dataclass(frozen=True)
class SkillReport:
    """The result of discovery: skills by name, overridden ones, and unreadable folders."""

    skills: tuple[Skill, ...]
    overridden: tuple[Skill, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class DraftLine:
    """One line of a drafted skill, and the positions of the messages that support it."""

    text: str
    positions: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class SkillDraft:
    """
    A skill drafted from a conversation, not reviewed yet.

    `body` is the Markdown text; `references` are the ids of the messages that support it.
    """

    name: str
    description: str
    body: str
    goal: DraftLine
    steps: tuple[DraftLine, ...]
    commands: tuple[DraftLine, ...]
    pitfalls: tuple[DraftLine, ...]
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LearntSkill:
    """A drafted skill as SKILL.md, and its path if it was saved."""

    draft: SkillDraft
    content: str
    path: str
    made_by: str  # "rules", or the name of the model that wrote it
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SkillHit:
    """A skill that matches a search, with its score."""

    skill: Skill
    score: float
    matched_words: tuple[str, ...] = ()
