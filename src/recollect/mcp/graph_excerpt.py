"""
Select the part of a graph that fits into the token limit, and describe what is left out.

The official tools have no pages: what does not fit is left out, and a note says how to get it.
First the entities are added in the order of preference, with their observations, then the newest
relations of these entities. The result keeps the order in which the parts were written. All
functions are pure: the caller passes the order of preference and the token counter.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from recollect.mcp.knowledge_graph import GraphEntity, GraphRelation, KnowledgeGraph
from recollect.mcp.pagination import one_line

MAX_GRAPH_TOKENS = 10_000  # of one result
_NOTE = 200  # reserved for the note and the brackets
_FOR_ENTITIES = 0.75  # of the rest, if the relations do not fit as well
_NAME = 80  # characters of an entity's name in the note

Count = Callable[[str], int]


def format_json(value: object) -> str:
    """Return *value* as JSON, formatted like the official server."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def graph_excerpt(
    graph: KnowledgeGraph,
    *,
    names: Iterable[str],
    count: Count,
    preferred: Callable[[str], bool] = lambda observation: False,
) -> dict[str, Any]:
    """
    Return *graph* in the format of the graph tools, with a `note` if it does not fit.

    *names* are its entities in the order of preference. Of an entity's observations, the
    *preferred* ones are added first, then the newest.
    """
    budget, order = MAX_GRAPH_TOKENS - _NOTE, list(names)
    for share in (1.0, _FOR_ENTITIES):
        entities, tokens = _select_entities(graph, order, preferred, count, int(budget * share))
        relations = _select_relations(graph, entities, count, budget - tokens)
        excerpt = KnowledgeGraph(
            {name: entities[name] for name in graph.entities if name in entities},
            {key: memories for key, memories in graph.relations.items() if key in relations},
        )
        if excerpt == graph:
            return graph.as_json()
    return excerpt.as_json() | {"note": _note(graph, excerpt)}


def _select_entities(
    graph: KnowledgeGraph,
    names: Sequence[str],
    preferred: Callable[[str], bool],
    count: Count,
    budget: int,
) -> tuple[dict[str, GraphEntity], int]:
    """Return the entities that fit, and how many tokens they take."""
    selected: dict[str, GraphEntity] = {}
    left = budget
    for name in names:
        whole = graph.entities[name]
        left -= count(format_json([[replace(whole, observations={}).as_json()]]))
        if left < 0:
            break
        fitting: set[str] = set()
        newest = list(whole.observations)[::-1]
        for observation in sorted(newest, key=lambda text: not preferred(text)):
            tokens = count(f"\n        {format_json(observation)},")
            if tokens <= left:
                fitting.add(observation)
                left -= tokens
        selection = {text: parts for text, parts in whole.observations.items() if text in fitting}
        selected[name] = replace(whole, observations=selection)
        if len(fitting) < len(whole.observations):
            break
    return selected, budget - max(left, 0)


def _select_relations(
    graph: KnowledgeGraph, entities: dict[str, GraphEntity], count: Count, budget: int
) -> set[GraphRelation]:
    fitting: set[GraphRelation] = set()
    has_all = len(entities) == len(graph.entities)
    for relation in reversed(graph.relations):
        if has_all or relation.start in entities or relation.end in entities:
            budget -= count(format_json([[relation.as_json()]]))
            if budget < 0:
                break
            fitting.add(relation)
    return fitting


def _note(graph: KnowledgeGraph, excerpt: KnowledgeGraph) -> str:
    parts = [
        f"{len(excerpt.entities):,} of {len(graph.entities):,} entities",
        f"{len(excerpt.relations):,} of {len(graph.relations):,} relations",
    ]
    for name, entity in excerpt.entities.items():
        total = len(graph.entities[name].observations)
        if len(entity.observations) < total:
            label = one_line(name, _NAME)
            parts.append(f"{len(entity.observations):,} of {total:,} observations of “{label}”")
    return (
        f"Truncated because the graph is too long: {', '.join(parts)}. Use search_nodes to get "
        "entities by words, and open_nodes to get them by name."
    )
