"""
A skill: a SKILL.md folder that teaches an agent to do something.

This file knows what a skill is made of; reading and writing SKILL.md is text/skill_file.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class SkillOrigin(StrEnum):
    """Where a skill comes from. Later overrides earlier."""

    BUNDLED = "bundled"
    GLOBAL = "global"
    PROJECT = "project"


@dataclass(frozen=True, kw_only=True)
class Skill:
    """
    One skill as it stands in its folder.

    `content` is the whole SKILL.md; `body` what follows its front matter. `problems` says what is
    wrong with the file, in sentences; a skill with problems is still usable.
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
    """A skill an agent has in use."""

    skill: Skill
    loaded_at: datetime


@dataclass(frozen=True)
class SkillReport:
    """What discovery found: the skills by name, those hidden by others, and unreadable folders."""

    skills: tuple[Skill, ...]
    overridden: tuple[Skill, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class DraftLine:
    """One line of a drafted skill, and the positions of the messages it rests on."""

    text: str
    positions: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class SkillDraft:
    """
    A skill learnt from a conversation, before anybody has read it.

    `body` is the Markdown of the rest; `references` are the ids of the messages it rests on.
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
    """A skill drafted from a conversation, as SKILL.md, and where it was saved if it was."""

    draft: SkillDraft
    content: str
    path: str
    made_by: str  # "rules", or the name of the model that wrote it
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SkillHit:
    """A skill that answers a search, and how well."""

    skill: Skill
    score: float
    matched_words: tuple[str, ...] = ()
