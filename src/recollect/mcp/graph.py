"""
A knowledge graph of entities, observations and relations, kept as memories.

Each is one memory with the tag `graph`, and no table of its own:

    what         tag                content                 title        summary
    ───────────  ─────────────────  ──────────────────────  ───────────  ─────────────
    entity       graph-entity       NAME: TYPE              its name     its type
    observation  graph-observation  the observation         its entity
    relation     graph-relation     FROM RELATION TO        from         to

Nothing is lost on the way but secrets, which are taken out of every memory. What an untrusted
caller wrote waits in the inbox and is part of the graph all the same: who writes here reads it back
here. Deleting archives: a person can bring it back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.app import Recollect
from recollect.domain.memory import Memory, Status
from recollect.errors import TooLarge
from recollect.mcp.caller import Caller
from recollect.mcp.tools.remember import status_for

GRAPH, ENTITY, OBSERVATION, RELATION = (
    "graph",
    "graph-entity",
    "graph-observation",
    "graph-relation",
)
READ = (Status.INBOX, Status.ACTIVE, Status.CONTRADICTED)
PAGE = 1_000  # as many as the verb lists at once

Said = Mapping[str, Any]


@dataclass
class Entity:
    """An entity, with the memories it is made of: several, where two clients wrote it at once."""

    name: str
    kind: str
    memories: list[Memory] = field(default_factory=list)
    observations: dict[str, list[Memory]] = field(default_factory=dict)

    @property
    def latest(self) -> tuple[datetime, str]:
        """When something was last written of it, and as which memory."""
        parts = [*self.memories, *(one for told in self.observations.values() for one in told)]
        return max((one.observed_at, one.id) for one in parts)

    def as_json(self) -> dict[str, Any]:
        """Return it as graph tools write it."""
        told = list(self.observations)
        return {"name": self.name, "entityType": self.kind, "observations": told}


@dataclass(frozen=True)
class Relation:
    """A relation between two entities, by their names."""

    start: str
    end: str
    kind: str

    def as_json(self) -> dict[str, Any]:
        """Return it as graph tools write it."""
        return {"from": self.start, "to": self.end, "relationType": self.kind}


@dataclass
class Graph:
    """All of it, in the order in which it was written."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[Relation, list[Memory]] = field(default_factory=dict)

    def around(self, wanted: Callable[[Entity], bool]) -> "Graph":
        """Return the entities that are *wanted* and every relation that touches one."""
        chosen = {name: one for name, one in self.entities.items() if wanted(one)}
        touching = {
            one: told
            for one, told in self.relations.items()
            if one.start in chosen or one.end in chosen
        }
        return Graph(chosen, touching)

    def newest(self) -> list[str]:
        """Return the names of its entities, those of which something was written last first."""
        return sorted(self.entities, key=lambda name: self.entities[name].latest, reverse=True)

    def as_json(self) -> dict[str, Any]:
        """Return all of it."""
        return {
            "entities": [one.as_json() for one in self.entities.values()],
            "relations": [one.as_json() for one in self.relations],
        }


def read(memory: Recollect, caller: Caller) -> Graph:
    """Return the graph that *caller* sees, candidates included."""
    graph = Graph()
    loose: list[Memory] = []
    for one in _written(memory, caller):
        if ENTITY in one.tags:
            graph.entities.setdefault(one.title, Entity(one.title, one.summary)).memories.append(
                one
            )
        elif OBSERVATION in one.tags:
            loose.append(one)
        elif RELATION in one.tags:
            graph.relations.setdefault(_relation(one), []).append(one)
    for one in loose:
        if one.title in graph.entities:
            graph.entities[one.title].observations.setdefault(one.content, []).append(one)
    return graph


def write(memory: Recollect, caller: Caller, drafts: Iterable[Said]) -> None:
    """Keep drafts of the three kinds, all or none."""
    own = {**caller.home, "type": "artifact", "status": status_for(caller), "by": "agent"}
    items = [{**own, **draft} for draft in drafts]
    if items:
        memory.ingest_many(items)


def entity(name: str, kind: str) -> Said:
    """Return the draft of an entity."""
    content = f"{name}: {kind}"
    return {"content": content, "title": name, "summary": kind, "tags": [GRAPH, ENTITY]}


def observation(name: str, content: str) -> Said:
    """Return the draft of an observation about an entity."""
    return {"content": content, "title": name, "tags": [GRAPH, OBSERVATION]}


def relation(one: Relation) -> Said:
    """Return the draft of a relation."""
    content = f"{one.start} {one.kind} {one.end}"
    return {"content": content, "title": one.start, "summary": one.end, "tags": [GRAPH, RELATION]}


def archive(memory: Recollect, memories: Sequence[Memory]) -> None:
    """Take memories out of the graph."""
    for one in memories:
        memory.set_status(one.id, Status.ARCHIVED, reason="deleted with a graph tool", by="agent")


def _relation(one: Memory) -> Relation:
    kind = one.content.removeprefix(f"{one.title} ").removesuffix(f" {one.summary}")
    return Relation(one.title, one.summary, kind)


def _written(memory: Recollect, caller: Caller) -> list[Memory]:
    """Return every memory of the graph, oldest first."""
    found: dict[str, Memory] = {}
    until = None
    while True:
        page = memory.memories(**caller.place, tags=[GRAPH], statuses=READ, until=until, limit=PAGE)
        new = [one for one in page if one.id not in found]
        found |= {one.id: one for one in new}
        if len(page) < PAGE:
            return sorted(found.values(), key=lambda one: (one.observed_at, one.id))
        if not new:
            raise TooLarge(f"more than {PAGE:,} parts of the graph were written at one moment")
        until = page[-1].observed_at
