"""Search the blocks that are seen from a place, by words and by meaning."""

from recollect.domain.block import BlockHit
from recollect.domain.scope import ItemKind
from recollect.retrieval.text_search import rank_texts
from recollect.service import validate
from recollect.service.block_lookup import resolve_place, visible_blocks
from recollect.service.query_snapshot import query_snapshot
from recollect.service.retrieval_log import log_items
from recollect.service.services import Services
from recollect.store.search_index import IndexQuery
from recollect.wire.requests.blocks import SearchBlocksRequest


def search_blocks(services: Services, request: SearchBlocksRequest) -> list[BlockHit]:
    """Return the blocks seen from a place that match a query, best first."""
    query = validate.query_of(request.query)
    if not query.strip():
        return []
    with query_snapshot(services, query) as snapshot:
        tables = snapshot.tables
        visible = visible_blocks(tables, resolve_place(tables, request))
        blocks = {block.id: block for block in visible if block.value}
        index_query = IndexQuery(
            kind=ItemKind.BLOCK,
            text=query,
            vector=snapshot.vector,
            owners=sorted({block.owner for block in visible}),
            ids=blocks.keys(),
            limit=request.limit,
        )
        ranked = rank_texts(tables, index_query)
    log_items(services, "search_blocks", query, "block", {hit.id: hit.score for hit in ranked})
    return [
        BlockHit(block=blocks[hit.id], score=hit.score, matched_words=hit.words) for hit in ranked
    ]
