"""
One agent as a file of our own: everything of it, so that nothing is lost on the way.

One JSON object with sorted keys; the same agent gives the same bytes. Ids in it are those of the
store it was written from: they say what belongs to what, and are new wherever it is read. Reading
checks every field (own_fields.py, own_archive.py) before anything is stored. This
file knows no SQL and no paths.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from recollect.domain.memory import Status
from recollect.domain.scope import Scope
from recollect.service.moving import own_archive as archive
from recollect.service.moving import own_fields as read
from recollect.service.moving.given_json import Given
from recollect.service.moving.parts import AgentParts, MemoryParts

KIND = "agent"
FORMAT = 1

T = TypeVar("T")

# What a value's place in the file says already, and what belongs to the machine.
_LEFT_OUT: Mapping[str, frozenset[str]] = {
    "Agent": frozenset({"pinned"}),
    "Repo": frozenset({"root"}),
    "Block": frozenset({"owner_id"}),
    "BlockVersion": frozenset({"block_id"}),
    "Conversation": frozenset({"agent_id"}),
    "Message": frozenset({"conversation_id"}),
    "Summary": frozenset({"conversation_id"}),
    "Pin": frozenset({"conversation_id"}),
    "Evidence": frozenset({"id", "memory_id"}),
    "Change": frozenset({"id", "memory_id"}),
    "Link": frozenset({"id", "to_kind"}),
    "Source": frozenset({"sha256"}),
    "StoredSkill": frozenset({"id", "path", "sha256"}),
}


def written(parts: AgentParts) -> bytes:
    """Return an agent as the bytes of a file."""
    return as_json({"recollect": KIND, "format": FORMAT, **_plain(parts)})


def as_json(value: Mapping[str, Any]) -> bytes:
    """Return an object as a file's bytes: readable, and the same for the same value."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)
    return text.encode() + b"\n"


def is_ours(value: Any) -> bool:
    """Say whether what a file holds is an agent we wrote."""
    return isinstance(value, dict) and value.get("recollect") == KIND


def parts_of(value: Any, file: str) -> AgentParts:
    """Return the agent a file holds, checked through and through, or refuse it."""
    given = Given(value, file, slack=2)
    given.raw("recollect")
    if given.raw("format") != FORMAT:
        given.refuse(
            "format",
            f"is {given.raw('format')!r}, this version reads {FORMAT}; upgrade with "
            "pip install -U recollect",
        )
    known = read.Known()
    agent = read.agent(given.object("agent"), known)
    parts = AgentParts(
        agent=agent,
        projects=_each(given, "projects", lambda one: read.project(one, known)),
        repos=_each(given, "repos", lambda one: read.repo(one, known)),
        blocks=read.blocks(given, known, {Scope.AGENT, Scope.GLOBAL}),
        conversations=_each(given, "conversations", lambda one: read.conversation(one, known)),
        sources=_each(given, "sources", lambda one: archive.source(one, known)),
        memories=_each(given, "memories", lambda one: archive.memory(one, agent.id, known)),
        links=_each(given, "links", lambda one: archive.link(one, known)),
        skills=_each(given, "skills", lambda one: read.skill(one, known)),
    )
    _check_facts(given, parts.memories)
    given.done()
    return parts


def _each(given: Given, name: str, read_one: Callable[[Given], T]) -> tuple[T, ...]:
    found = []
    for one in given.objects(name):
        found.append(read_one(one))
        one.done()
    return tuple(found)


def _check_facts(given: Given, memories: tuple[MemoryParts, ...]) -> None:
    """Refuse two active facts of one name: which of them holds?"""
    seen = set()
    for number, kept in enumerate(memories):
        memory = kept.memory
        if not memory.key or memory.status is not Status.ACTIVE:
            continue
        if (memory.key, memory.owner) in seen:
            given.refuse(f"memories[{number}].key", "is the second active fact of that name")
        seen.add((memory.key, memory.owner))


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        left_out = _LEFT_OUT.get(type(value).__name__, frozenset())
        return {
            field.name: _plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in left_out
        }
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
