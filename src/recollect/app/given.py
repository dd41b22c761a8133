"""
What callers of the Python door may give, and the ground of its verbs.

The verbs are in one file per kind of use; each hands over to one function of the service. This file
knows the forms in which a caller may name places, times and filters, and refuses unknown ones.
"""

import inspect
from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from recollect.domain.agent import Agent
from recollect.domain.conversation import Conversation
from recollect.domain.memory import Memory
from recollect.errors import InvalidInput
from recollect.service import read, write
from recollect.service.deps import Deps
from recollect.service.places import Where

Texts = str | Sequence[str]
Moment = str | datetime | None
Place = str | PathLike[str] | None
Material = str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | PathLike[str]

PLACES = ("project", "repo", "agent", "session")


class Asked(TypedDict, total=False):
    """From where a question comes, and what its answers must satisfy."""

    project: Place
    repo: Place
    agent: Agent | str | None
    session: str | None
    scopes: Texts | None
    types: Texts | None
    statuses: Texts | None
    tags: Texts
    since: Moment
    until: Moment
    asked_at: Moment
    everywhere: bool


class Asking(Asked, total=False):
    """The same, and how many answers at most."""

    limit: int


class Told(TypedDict, total=False):
    """What a caller may tell about material that is handed over."""

    project: Place
    repo: Place
    agent: Agent | str | None
    session: str | None
    scope: str | None
    title: str
    user: str
    observed_at: Moment


class InPlace(TypedDict, total=False):
    """The project or conversation whose block is meant."""

    project: Place
    conversation: Conversation | str | None


class Editing(InPlace, total=False):
    """How a block is edited: by whom, why, and what version the editor had read."""

    by: str
    expected_version: int | None
    reason: str


class BlockSettings(Editing, total=False):
    """What can be changed of a block besides its value."""

    new_label: str
    description: str
    limit: int | None
    read_only: bool
    hidden: bool
    metadata: Mapping[str, Any] | None


class AgentSettings(TypedDict, total=False):
    """What can be changed of an agent."""

    name: str
    description: str
    model: str
    system_prompt: str
    metadata: Mapping[str, Any] | None


class Verbs:
    """What every group of verbs works with."""

    _deps: Deps


def one_id(memory_id: object) -> str:
    """Return the id of one memory, given as such or as the memory."""
    if isinstance(memory_id, Memory):
        return memory_id.id
    if not isinstance(memory_id, str):
        raise InvalidInput(f"name a memory by its id, not by {type(memory_id).__name__}")
    return memory_id


def path_of(place: Place) -> str | Path | None:
    """Return a place as the service takes it: a path, or text as written."""
    return Path(place) if isinstance(place, PathLike) else place


def where_of(given: dict[str, Any]) -> Where:
    """Take the four places out of *given*."""
    project, repo, agent, session = (given.pop(name, None) for name in PLACES)
    return Where.of(path_of(project), path_of(repo), agent, session)


def names_of(function: Any, *, besides: Sequence[str]) -> frozenset[str]:
    """Return what *function* takes by name, with places in place of `where`."""
    taken = frozenset(inspect.signature(function).parameters) - {*besides, "where"}
    return taken | frozenset(PLACES)


def known_names(given: Mapping[str, object], names: frozenset[str]) -> dict[str, Any]:
    """Return *given*, or say which of its names are unknown."""
    unknown = sorted(given.keys() - names)
    if unknown:
        raise InvalidInput(f"unknown: {', '.join(unknown)}; use {', '.join(sorted(names))}")
    return dict(given)


_DRAFT = names_of(write.draft, besides=["key"])
_QUESTION = names_of(read.question, besides=["query"])


def draft_of(item: Mapping[str, Any]) -> write.Draft:
    """Return one item of `ingest_many` as a draft."""
    if not isinstance(item, Mapping):
        raise InvalidInput("each item must be a dict of what `ingest` takes")
    given = known_names(item, _DRAFT)
    where = where_of(given)
    return write.draft(given.pop("content", None), where=where, **given)


def question_of(query: str, asked: Mapping[str, object]) -> read.Question:
    """Return a question from what a caller gave by name."""
    given = known_names(asked, _QUESTION)
    where = where_of(given)
    return read.question(query, where=where, **given)
