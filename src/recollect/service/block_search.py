"""Find blocks by words and meaning, among those that are seen from a place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.domain.block import Block, BlockHit
from recollect.domain.scope import ItemKind
from recollect.retrieval.plain import rank_plain
from recollect.service import inputs
from recollect.service.block_target import Place, found_in, visible
from recollect.service.deps import Deps
from recollect.service.read import log_items, meaning_of, still


@dataclass(frozen=True)
class _Numbered:
    """A block with the number by which indexes know it."""

    seq: int
    block: Block


def search(deps: Deps, query: object, place: Place, *, limit: object = 10) -> list[BlockHit]:
    """Return the blocks seen from *place* that answer *query*, best first."""
    asked = inputs.query_of(query)
    most = inputs.count_of("limit", limit, most=inputs.MAX_LIMIT)
    if not asked.strip():
        return []
    meaning, _ = meaning_of(deps, asked)
    with deps.store.read() as tables:
        meaning = still(deps, tables, asked, meaning)
        seen = visible(tables, *found_in(tables, place))
        numbered = {
            seq: _Numbered(seq, block)
            for block in seen
            if block.value and (seq := tables.memories.seq_of(block.id)) is not None
        }

        def admit(seqs: Iterable[int]) -> Sequence[_Numbered]:
            return [numbered[seq] for seq in seqs if seq in numbered]

        owners = sorted({block.owner for block in seen})
        shelves = tables.words.shelves(ItemKind.BLOCK, owners)
        ranked = rank_plain(tables, asked, shelves, admit, meaning, limit=most)
    scores = {candidate.standing.block.id: score for score, candidate in ranked}
    log_items(deps, "search_blocks", asked, "block", scores)
    return [
        BlockHit(
            block=candidate.standing.block,
            score=score,
            matched_words=candidate.words.words if candidate.words else (),
        )
        for score, candidate in ranked
    ]
