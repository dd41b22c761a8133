"""
The memories that are linked to the hits of a search, returned after the hits if a caller asks.

A link says that two memories belong together; it does not say that the other one answers the query.
So they have no score, and follow all hits. Only what the query may see is returned.
"""

from collections.abc import Mapping, Sequence

from recollect.domain.link import LinkedMemory, Relation
from recollect.domain.memory import Memory
from recollect.domain.retrieval import RELATED, Hit, Parts, ResolvedQuery
from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants

_VERBS = {
    Relation.APPLIES_TO: "applies to",
    Relation.DERIVED_FROM: "is derived from",
    Relation.RELATED_TO: "is related to",
}


@dataclass(frozen=True, kw_only=True)
class RelatedMemories:
    """The links of the best memories of a search, and the memories at their other ends."""

    query: ResolvedQuery
    links: Mapping[str, tuple[LinkedMemory, ...]]
    memories: Mapping[str, Memory]

    def of(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return what is linked to *hits* and not among them, that of the best hit first."""
        known_ids = {hit.memory.id for hit in hits}
        related: list[Hit] = []
        for hit in hits:
            for linked in self.links.get(hit.memory.id, ()):
                memory = self.memories.get(linked.id)
                if memory is None or linked.id in known_ids or not self._is_visible(memory):
                    continue
                known_ids.add(linked.id)
                related.append(_hit(memory, linked, hit))
        return related[: constants.MAX_RELATED]

    def _is_visible(self, memory: Memory) -> bool:
        query = self.query
        if query.owners is not None and memory.owner not in query.owners:
            return False
        return memory.scope in query.scopes and query.filters.violation(memory) is None


def _hit(memory: Memory, linked: LinkedMemory, hit: Hit) -> Hit:
    verb = _VERBS.get(linked.relation, linked.relation.value)
    first, second = (hit.memory.id, "it") if linked.is_target else ("it", hit.memory.id)
    return Hit(
        memory=memory,
        score=0.0,
        parts=Parts(confidence=memory.confidence),
        explanation=f"Linked to a hit: {first} {verb} {second}.",
        reached=RELATED,
        is_weak=hit.is_weak,
    )
