"""Memories and blocks of one store in the bundle of another: what a project's members share."""

import heapq
from collections.abc import Sequence
from dataclasses import replace

from recollect.context.bundle import BundleInput
from recollect.domain.block import Block
from recollect.domain.retrieval import Hit
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True)
class SharedMaterial:
    """The hits, best first, and the blocks that a store has for a request."""

    hits: tuple[Hit, ...] = ()
    blocks: tuple[Block, ...] = ()


def add_shared(inputs: BundleInput, shared: Sequence[SharedMaterial]) -> BundleInput:
    """Return *inputs* with the hits and blocks of other stores; each store's order is kept."""
    if not shared:
        return inputs
    lists = (inputs.hits, *(material.hits for material in shared))
    hits = tuple(heapq.merge(*lists, key=lambda hit: -hit.score))
    # A block of the user's own comes before one of the project with the same label.
    blocks = {block.label: block for block in inputs.blocks}
    for material in shared:
        for block in material.blocks:
            blocks.setdefault(block.label, block)
    return replace(inputs, hits=hits, blocks=tuple(blocks.values()))
