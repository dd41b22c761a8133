"""Find blocks by words and meaning, among those that are seen from a place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.domain.block import Block, BlockHit
from recollect.domain.scope import ItemKind
from recollect.retrieval.rank_text_items import rank_text_items
from recollect.service import inputs
from recollect.service.block_target import Place, found_in, visible
from recollect.service.read import log_items, meaning_of, still
from recollect.service.services import Services


@dataclass(frozen=True)
class _Numbered:
    """A block with the number by which indexes know it."""

    item_id: int
    block: Block


def search(
    services: Services, query: object, place: Place, *, limit: object = 10
) -> list[BlockHit]:
    """Return the blocks seen from *place* that answer *query*, best first."""
    asked = inputs.query_of(query)
    most = inputs.count_of("limit", limit, most=inputs.MAX_LIMIT)
    if not asked.strip():
        return []
    meaning, _ = meaning_of(services, asked)
    with services.store.read() as tables:
        meaning = still(services, tables, asked, meaning)
        seen = visible(tables, *found_in(tables, place))
        numbered = {
            item_id: _Numbered(item_id, block)
            for block in seen
            if block.value and (item_id := tables.memories.item_id_of(block.id)) is not None
        }

        def admit(item_ids: Iterable[int]) -> Sequence[_Numbered]:
            return [numbered[item_id] for item_id in item_ids if item_id in numbered]

        owners = sorted({block.owner for block in seen})
        partitions = tables.word_index.partitions(ItemKind.BLOCK, owners)
        ranked = rank_text_items(tables, asked, partitions, admit, meaning, limit=most)
    scores = {candidate.item.block.id: score for score, candidate in ranked}
    log_items(services, "search_blocks", asked, "block", scores)
    return [
        BlockHit(
            block=candidate.item.block,
            score=score,
            matched_words=candidate.word_match.words if candidate.word_match else (),
        )
        for score, candidate in ranked
    ]
