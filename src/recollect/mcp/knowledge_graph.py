"""
A knowledge graph of entities, observations and relations, kept as memories.

Each is one memory with the tag `graph`, and no table of its own:

    what         tag                content                 title        summary
    ───────────  ─────────────────  ──────────────────────  ───────────  ─────────────
    entity       graph-entity       NAME: TYPE              its name     its type
    observation  graph-observation  the observation         its entity
    relation     graph-relation     FROM RELATION TO        from         to

The texts are stored unchanged, except that secrets are removed as from every memory. Memories of an
untrusted caller wait in the inbox. They are already part of the graph for the caller that wrote
them, so that a client reads back what it wrote; others see them after the user keeps them. Deleting
archives the memories, so that a user can restore them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.memory import Memory, Status
from recollect.errors import TooLarge
from recollect.lazy_dataclass import dataclass
from recollect.mcp.caller_scope import Caller, owners_of_candidates
from recollect.mcp.tools.remember import initial_status

GRAPH_TAG = "graph"
ENTITY_TAG, OBSERVATION_TAG, RELATION_TAG = "graph-entity", "graph-observation", "graph-relation"
STATUSES = (Status.INBOX, Status.ACTIVE, Status.CONTRADICTED)
PAGE_SIZE = 1_000  # the maximum of one list operation

MemoryDraft = Mapping[str, Any]


@dataclass
class GraphEntity:
    """An entity and its memories: several, if two clients wrote it at the same time."""

    name: str
    kind: str
    memories: list[Memory] = field(default_factory=list)
    observations: dict[str, list[Memory]] = field(default_factory=dict)

    @property
    def last_written(self) -> tuple[datetime, str]:
        """Time and id of the newest memory about it."""
        parts = [*self.memories, *(part for same in self.observations.values() for part in same)]
        return max((part.observed_at, part.id) for part in parts)

    def as_json(self) -> dict[str, Any]:
        """Return it in the format of the graph tools."""
        observations = list(self.observations)
        return {"name": self.name, "entityType": self.kind, "observations": observations}


@dataclass(frozen=True)
class GraphRelation:
    """A relation between two entities, by their names."""

    start: str
    end: str
    kind: str

    def as_json(self) -> dict[str, Any]:
        """Return it in the format of the graph tools."""
        return {"from": self.start, "to": self.end, "relationType": self.kind}


@dataclass
class KnowledgeGraph:
    """All entities and relations, in the order in which they were written."""

    entities: dict[str, GraphEntity] = field(default_factory=dict)
    relations: dict[GraphRelation, list[Memory]] = field(default_factory=dict)

    def neighbourhood(self, is_selected: Callable[[GraphEntity], bool]) -> "KnowledgeGraph":
        """Return the selected entities and every relation that touches one."""
        chosen = {name: entity for name, entity in self.entities.items() if is_selected(entity)}
        touching = {
            relation: memories
            for relation, memories in self.relations.items()
            if relation.start in chosen or relation.end in chosen
        }
        return KnowledgeGraph(chosen, touching)

    def names_newest_first(self) -> list[str]:
        """Return the names of the entities, the most recently changed first."""
        entities = self.entities
        return sorted(entities, key=lambda name: entities[name].last_written, reverse=True)

    def as_json(self) -> dict[str, Any]:
        """Return the graph in the format of the graph tools."""
        return {
            "entities": [entity.as_json() for entity in self.entities.values()],
            "relations": [relation.as_json() for relation in self.relations],
        }


def read(rec: LocalRecollect, caller: Caller) -> KnowledgeGraph:
    """Return the graph that *caller* sees, including its own candidates."""
    graph = KnowledgeGraph()
    observations: list[Memory] = []
    candidate_owners = owners_of_candidates(rec, caller)
    for part in _all_memories(rec, caller):
        author = part.provenance.author or caller.author  # an imported part has none
        is_foreign = part.owner not in candidate_owners or author != caller.author
        if part.status is Status.INBOX and is_foreign:
            continue
        if ENTITY_TAG in part.tags:
            entity = GraphEntity(part.title, part.summary)
            graph.entities.setdefault(part.title, entity).memories.append(part)
        elif OBSERVATION_TAG in part.tags:
            observations.append(part)
        elif RELATION_TAG in part.tags:
            graph.relations.setdefault(_parse_relation(part), []).append(part)
    for part in observations:
        if part.title in graph.entities:
            graph.entities[part.title].observations.setdefault(part.content, []).append(part)
    return graph


def write(rec: LocalRecollect, caller: Caller, drafts: Iterable[MemoryDraft]) -> None:
    """Store drafts of the three kinds, all or none."""
    status = initial_status(caller)
    common: dict[str, Any] = {**caller.write_scope, "type": "artifact", "status": status}
    common |= {"by": "agent", "author": caller.author}
    items = [{**common, **draft} for draft in drafts]
    if items:
        rec.memories.ingest_many(items)


def entity_draft(name: str, kind: str) -> MemoryDraft:
    """Return the draft of an entity."""
    content = f"{name}: {kind}"
    return {"content": content, "title": name, "summary": kind, "tags": [GRAPH_TAG, ENTITY_TAG]}


def observation_draft(name: str, content: str) -> MemoryDraft:
    """Return the draft of an observation about an entity."""
    return {"content": content, "title": name, "tags": [GRAPH_TAG, OBSERVATION_TAG]}


def relation_draft(relation: GraphRelation) -> MemoryDraft:
    """Return the draft of a relation."""
    return {
        "content": f"{relation.start} {relation.kind} {relation.end}",
        "title": relation.start,
        "summary": relation.end,
        "tags": [GRAPH_TAG, RELATION_TAG],
    }


def archive(rec: LocalRecollect, memories: Sequence[Memory]) -> None:
    """Archive memories, which removes them from the graph."""
    reason = "deleted with a graph tool"
    for part in memories:
        rec.memories.set_status(part.id, Status.ARCHIVED, reason=reason, by="agent")


def _parse_relation(part: Memory) -> GraphRelation:
    kind = part.content.removeprefix(f"{part.title} ").removesuffix(f" {part.summary}")
    return GraphRelation(part.title, part.summary, kind)


def _all_memories(rec: LocalRecollect, caller: Caller) -> list[Memory]:
    """Return every memory of the graph, oldest first."""
    memories: dict[str, Memory] = {}
    until = None
    while True:
        page = rec.memories.list(
            **caller.read_scope, tags=[GRAPH_TAG], statuses=STATUSES, until=until, limit=PAGE_SIZE
        )
        new = [part for part in page if part.id not in memories]
        memories |= {part.id: part for part in new}
        if len(page) < PAGE_SIZE:
            return sorted(memories.values(), key=lambda part: (part.observed_at, part.id))
        if not new:
            raise TooLarge(f"more than {PAGE_SIZE:,} parts of the graph were written at one moment")
        until = page[-1].observed_at
