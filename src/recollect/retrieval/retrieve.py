"""
The pipeline: a question in, ranked and explained hits out.

filters → words → meaning → other projects' doors → fuse → bar → rank → time → renew → explain

Everything here reads; writing the log is the service's work. The same store and the same question
give the same hits in the same order.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.domain.retrieval import Asking, Hit
from recollect.domain.scope import ItemKind
from recollect.retrieval.bar import Bar, Refused
from recollect.retrieval.candidates import Candidate, Meaning, gather
from recollect.retrieval.crossing import linked_candidates, relevant_candidates
from recollect.retrieval.explain import explain
from recollect.retrieval.fuse import fuse
from recollect.retrieval.past import past_of
from recollect.retrieval.rank import Ranked, rank
from recollect.retrieval.renew import renew
from recollect.store.protocol import Tables
from recollect.store.values import Shelf, Standing
from recollect.text.whose import whose_words

A_QUESTION = 25  # words at most: what is longer tells something, and asks in passing


@dataclass(frozen=True)
class Found:
    """The hits to return, how many passed the bar, and what came nearest if none did."""

    hits: tuple[Hit, ...]
    weighed: int
    refused: Refused | None = None


@dataclass(frozen=True)
class Weighed:
    """Every candidate above the bar, best first; if there is none, what came nearest to it."""

    ranked: list[Ranked]
    bar: Bar
    refused: Refused | None = None


def retrieve(tables: Tables, asking: Asking, meaning: Meaning | None) -> Found:
    """Answer *asking* from *tables*; by words alone where *meaning* is None."""
    weighed = weigh(tables, asking, meaning)
    ranked = weighed.ranked
    best = ranked[: asking.limit]
    ids = [one.candidate.standing.id for one in best]
    memories = {memory.id: memory for memory in tables.memories.get_many(ids)}
    conflicts = _visible_conflicts(tables, asking, ids)
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
    return Found(hits, len(ranked), weighed.refused)


def _visible_conflicts(
    tables: Tables, asking: Asking, ids: list[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return who contradicts whom, without naming what stands behind a wall."""
    found = tables.links.conflicts(ids)
    if asking.owners is None or not found:
        return found
    others = tables.memories.get_many(sorted({one for many in found.values() for one in many}))
    seen = {other.id for other in others if other.owner in asking.owners} | set(ids)
    kept = {one: tuple(other for other in many if other in seen) for one, many in found.items()}
    return {one: many for one, many in kept.items() if many}


def visible_shelves(tables: Tables, asking: Asking) -> list[Shelf]:
    """Return the shelves *asking* may read."""
    shelves = tables.words.shelves(ItemKind.MEMORY, asking.owners)
    return [shelf for shelf in shelves if shelf.owner.scope in asking.scopes]


def weigh(tables: Tables, asking: Asking, meaning: Meaning | None) -> Weighed:
    """Return every candidate above the bar, best first."""
    shelves = visible_shelves(tables, asking)
    past = past_of(tables, asking, shelves)
    gathered = gather(
        tables,
        asking.query,
        shelves,
        lambda seqs: tables.memories.standings(seqs, asking.filters),
        meaning,
        limit=asking.limit,
        before=None if _about_oneself(asking.query) else tables.memories.before,
    )
    candidates = gathered.candidates
    if asking.owners is not None:
        known = {candidate.standing.seq for candidate in candidates}
        for candidate in (
            *linked_candidates(tables, asking, shelves, meaning),
            *relevant_candidates(tables, asking, meaning),
        ):
            if candidate.standing.seq not in known:
                known.add(candidate.standing.seq)
                candidates.append(candidate)
    candidates += past.more(meaning, candidates)
    relevances = fuse(candidates, gathered.backdrop)
    bar = Bar.over(gathered, asking.query, documents=True)

    def admits(candidate: Candidate[Standing]) -> bool:
        return bar.admits(candidate) or past.speaks_for(candidate)

    ranked = past.preferred(rank(candidates, relevances, asking.asked_at, admits=admits))
    if not ranked:
        return Weighed([], bar, bar.refused(candidates))
    return Weighed(renew(tables, ranked, asking.query, meaning), bar)


def _about_oneself(query: str) -> bool:
    """Who asks what they said themselves is answered by it, not by the reply to it."""
    return bool(whose_words(query)) and len(query.split()) <= A_QUESTION
