"""
The pipeline: a question in, ranked and explained hits out.

filters → words → meaning → other projects' doors → fuse → bar → rank → renew → explain

Everything here reads; writing the log is the service's work. The same store and the same question
give the same hits in the same order.
"""

from dataclasses import dataclass

from recollect.domain.retrieval import Asking, Hit
from recollect.domain.scope import ItemKind
from recollect.retrieval.candidates import Meaning, gather
from recollect.retrieval.crossing import linked_candidates, relevant_candidates
from recollect.retrieval.explain import explain
from recollect.retrieval.fuse import fuse
from recollect.retrieval.rank import Ranked, rank
from recollect.retrieval.renew import renew
from recollect.store.protocol import Tables


@dataclass(frozen=True)
class Found:
    """The hits to return, and how many candidates were weighed for them."""

    hits: tuple[Hit, ...]
    weighed: int


def retrieve(tables: Tables, asking: Asking, meaning: Meaning | None) -> Found:
    """Answer *asking* from *tables*; by words alone where *meaning* is None."""
    ranked = rank_all(tables, asking, meaning)
    best = ranked[: asking.limit]
    ids = [one.candidate.standing.id for one in best]
    memories = {memory.id: memory for memory in tables.memories.get_many(ids)}
    conflicts = tables.links.conflicts(ids)
    hits = tuple(
        Hit(
            memory=memories[one.candidate.standing.id],
            score=one.score,
            parts=one.parts,
            explanation=explain(
                one,
                asked_at=asking.asked_at,
                conflicts=len(conflicts.get(one.candidate.standing.id, ())),
            ),
            matched_words=one.candidate.words.words if one.candidate.words else (),
            reached=one.candidate.reached,
            conflicts=conflicts.get(one.candidate.standing.id, ()),
        )
        for one in best
    )
    return Found(hits, len(ranked))


def rank_all(tables: Tables, asking: Asking, meaning: Meaning | None) -> list[Ranked]:
    """Return every candidate above the bar, best first."""
    shelves = tables.words.shelves(ItemKind.MEMORY, asking.owners)
    candidates = gather(tables, asking.query, shelves, asking.filters, meaning, limit=asking.limit)
    if asking.owners is not None:
        known = {candidate.standing.seq for candidate in candidates}
        for candidate in (
            *linked_candidates(tables, asking, shelves, meaning),
            *relevant_candidates(tables, asking, meaning),
        ):
            if candidate.standing.seq not in known:
                known.add(candidate.standing.seq)
                candidates.append(candidate)
    ranked = rank(candidates, fuse(candidates), asking.asked_at)
    return renew(tables, ranked, asking.query, meaning)
