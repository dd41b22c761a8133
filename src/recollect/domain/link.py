"""Links from a memory to another memory, or to a project that it applies to."""

from datetime import datetime
from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class Relation(StrEnum):
    """The relation of the first end of a link to the second."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    APPLIES_TO = "applies_to"
    DERIVED_FROM = "derived_from"
    RELATED_TO = "related_to"


class LinkEnd(StrEnum):
    """The kind of the second end of a link."""

    MEMORY = "memory"
    PROJECT = "project"


@dataclass(frozen=True)
class LinkedMemory:
    """A memory that is linked to another one, seen from that one."""

    id: str
    relation: Relation
    is_target: bool  # the link points to it


@dataclass(frozen=True, kw_only=True)
class Link:
    """*from_id* (a memory) *relation* *to_id* (a memory, or a project)."""

    id: str
    from_id: str
    relation: Relation
    to_kind: LinkEnd
    to_id: str
    note: str = ""
    created_at: datetime
