"""
As much of a graph as a model can read at once, and what is missing from it.

The official tools know no pages: what does not fit is left out, and a note says so and how to get
at it. The most wanted entities come in, of one that is too long the most wanted observations, then
the newest relations of those. What is shown keeps the order in which it was written. Pure: what is
wanted most is the tools' to say, and how many tokens a text has the caller's.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.mcp.graph import Entity, Graph, Relation
from recollect.mcp.pages import line

MOST_TOKENS = 10_000  # of one answer
_NOTE = 200  # of them kept free for the note and the brackets
_FOR_ENTITIES = 0.75  # of the rest, where the relations do not fit too
_NAME = 80  # characters of a name in the note

Count = Callable[[str], int]


@dataclass(frozen=True)
class _Taken:
    entities: dict[str, Entity]
    tokens: int


def pretty(value: object) -> str:
    """Return *value* as JSON, as the official server writes it."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def page_of(
    found: Graph,
    *,
    names: Iterable[str],
    count: Count,
    wanted: Callable[[str], bool] = lambda said: False,
    most_tokens: int = MOST_TOKENS,
) -> dict[str, Any]:
    """
    Return *found* as graph tools write it, with a `note` where it has to be cut.

    *names* are its entities, the most wanted first. Of an entity's observations those that are
    *wanted* come first, then the newest.
    """
    room = most_tokens - _NOTE
    chosen = list(names)
    for share in (1.0, _FOR_ENTITIES):
        taken = _entities(found, chosen, wanted, count, int(room * share))
        relations = _relations(found, taken, count, room - taken.tokens)
        shown = Graph(
            {name: taken.entities[name] for name in found.entities if name in taken.entities},
            {one: found.relations[one] for one in found.relations if one in relations},
        )
        if shown == found:
            return found.as_json()
    return shown.as_json() | {"note": _note(found, shown)}


def _entities(
    found: Graph, names: Sequence[str], wanted: Callable[[str], bool], count: Count, room: int
) -> _Taken:
    taken: dict[str, Entity] = {}
    left = room
    for name in names:
        whole = found.entities[name]
        head = replace(whole, observations={})
        left -= count(pretty([[head.as_json()]]))
        if left < 0:
            break
        kept: set[str] = set()
        newest = list(whole.observations)[::-1]
        for said in sorted(newest, key=lambda one: not wanted(one)):
            tokens = count(f"\n        {pretty(said)},")
            if tokens <= left:
                kept.add(said)
                left -= tokens
        told = {said: whole.observations[said] for said in whole.observations if said in kept}
        taken[name] = replace(whole, observations=told)
        if len(kept) < len(whole.observations):
            break
    return _Taken(taken, room - max(left, 0))


def _relations(found: Graph, taken: _Taken, count: Count, room: int) -> set[Relation]:
    kept: set[Relation] = set()
    every = len(taken.entities) == len(found.entities)
    for one in reversed(found.relations):
        if every or one.start in taken.entities or one.end in taken.entities:
            room -= count(pretty([[one.as_json()]]))
            if room < 0:
                break
            kept.add(one)
    return kept


def _note(found: Graph, shown: Graph) -> str:
    told = [
        f"{len(shown.entities):,} of {len(found.entities):,} entities",
        f"{len(shown.relations):,} of {len(found.relations):,} relations",
    ]
    for name, one in shown.entities.items():
        every = len(found.entities[name].observations)
        if len(one.observations) < every:
            about = line(name, _NAME)
            told.append(f"{len(one.observations):,} of {every:,} observations of “{about}”")
    return (
        f"This is not all, it would be too long: {', '.join(told)}. search_nodes brings what holds "
        "some words first, open_nodes what has some names."
    )
