"""The neighbourhood of one memory as a picture: where to draw what it is linked to."""

import math
from collections.abc import Mapping, Sequence

from recollect.domain.link import Link
from recollect.domain.memory import Memory
from recollect.lazy_dataclass import dataclass

MAX_NODES = 12
WIDTH, HEIGHT = 640, 320
NODE_WIDTH, NODE_HEIGHT = 150, 40


@dataclass(frozen=True, kw_only=True)
class GraphNode:
    """A memory or project in the picture; *x* and *y* are its centre."""

    label: str
    relation: str
    href: str
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class MemoryLinkGraph:
    """What is linked to a memory, around its centre."""

    width: int
    height: int
    node_width: int
    node_height: int
    nodes: tuple[GraphNode, ...]
    left_out: int


def link_graph(
    memory: Memory,
    links: Sequence[Link],
    others: Mapping[str, Memory],
    projects: Mapping[str, str],
) -> MemoryLinkGraph:
    """Return the picture of what a memory is linked to."""
    ends: dict[str, str] = {}
    for link in links:
        is_outgoing = link.from_id == memory.id
        relation = link.relation.replace("_", " ")
        name = f"{relation} →" if is_outgoing else f"← {relation}"
        ends.setdefault(link.to_id if is_outgoing else link.from_id, name)
    nodes = []
    drawn = list(ends.items())[:MAX_NODES]
    for number, (end, relation) in enumerate(drawn):
        angle = 2 * math.pi * number / len(drawn) - math.pi / 2
        other = others.get(end)
        label = other.labelled_content if other else f"project {projects.get(end, end)}"
        nodes.append(
            GraphNode(
                label=label,
                relation=relation,
                href=f"/ui/memories/{end}" if other else "",
                x=WIDTH / 2 + math.cos(angle) * (WIDTH - NODE_WIDTH - 10) / 2,
                y=HEIGHT / 2 + math.sin(angle) * (HEIGHT - NODE_HEIGHT - 10) / 2,
            )
        )
    return MemoryLinkGraph(
        width=WIDTH,
        height=HEIGHT,
        node_width=NODE_WIDTH,
        node_height=NODE_HEIGHT,
        nodes=tuple(nodes),
        left_out=len(ends) - len(drawn),
    )
