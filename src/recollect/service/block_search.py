"""Search the blocks that are seen from a place, by words and by meaning."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.domain.block import Block, BlockHit
from recollect.domain.scope import ItemKind
from recollect.retrieval.rank_text_items import rank_text_items
from recollect.service import validate
from recollect.service.block_lookup import resolve_place, visible_blocks
from recollect.service.read import log_items, query_vector, refresh_query_vector
from recollect.service.services import Services
from recollect.wire.requests.blocks import SearchBlocksRequest


@dataclass(frozen=True)
class _IndexedBlock:
    """A block with its id in the indexes."""

    item_id: int
    block: Block


def search_blocks(services: Services, request: SearchBlocksRequest) -> list[BlockHit]:
    """Return the blocks seen from a place that match a query, best first."""
    query = validate.query_of(request.query)
    if not query.strip():
        return []
    meaning, _ = query_vector(services, query)
    with services.store.read() as tables:
        meaning = refresh_query_vector(services, tables, query, meaning)
        blocks = visible_blocks(tables, resolve_place(tables, request))
        indexed = {
            item_id: _IndexedBlock(item_id, block)
            for block in blocks
            if block.value and (item_id := tables.memories.item_id_of(block.id)) is not None
        }

        def admit(item_ids: Iterable[int]) -> Sequence[_IndexedBlock]:
            return [indexed[item_id] for item_id in item_ids if item_id in indexed]

        owners = sorted({block.owner for block in blocks})
        partitions = tables.word_index.partitions(ItemKind.BLOCK, owners)
        ranked = rank_text_items(tables, query, partitions, admit, meaning, limit=request.limit)
    scores = {candidate.item.block.id: score for score, candidate in ranked}
    log_items(services, "search_blocks", query, "block", scores)
    return [
        BlockHit(
            block=candidate.item.block,
            score=score,
            matched_words=candidate.word_match.words if candidate.word_match else (),
        )
        for score, candidate in ranked
    ]
