"""
The consolidate stage: compare each candidate with what is known, apply the decision, then policy.

Candidates are settled one after another in the order in which they were said, some in each
transaction: the neighbours are read in the same transaction in which the decision is written, so
that two workers with the same news make one memory of it, not two.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from recollect.clock import Clock, derived_id
from recollect.domain.link import Relation
from recollect.domain.memory import ChangeEffects, Memory, MemoryType, Status
from recollect.domain.promotion import Never, Promote, Standing, judge
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind
from recollect.domain.source import Evidence, SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.consolidate import (
    Contradicts,
    Duplicate,
    Merge,
    Neighbour,
    New,
    consolidate,
    prepare,
)
from recollect.engine.desk import Desk, Held
from recollect.engine.records import ENGINE, Records, in_place_of
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 10  # so that the write lock is never held for long
MOST_NEIGHBOURS = 12  # of each leg
WIDER = 100  # of each leg, where too few of the nearest have been decided
COPIED = 1_000  # where the numbers of evidence begin that came from another memory
_EVERY_STATUS = Filters(statuses=frozenset(Status))


def settle_event(desk: Desk, held: Held) -> None:
    """Settle every candidate of the held job's event that waits."""
    event_id = held.job.event_id
    while True:
        with desk.store.read() as tables:
            waiting = tables.jobs.unconsolidated(event_id, BATCH)
        if not waiting:
            break
        model_id = embedded(desk, waiting)
        with desk.store.read() as tables:
            for memory in tables.memories.get_many(waiting):
                prepare(memory.content)  # before the write lock is taken, not under it
        held.write(partial(_settle_waiting, desk.clock, waiting, model_id))
    held.finish()


def embedded(desk: Desk, memory_ids: Sequence[str]) -> int | None:
    """Embed some memories; return the model's id, or None where meaning cannot be compared."""
    indexer = desk.indexer()
    return None if indexer is None else indexer.embed_items(memory_ids)


def settle(
    clock: Clock, memory_ids: Sequence[str], model_id: int | None, tables: Tables
) -> Counter[str]:
    """Decide over some candidates, in order; return what became of how many."""
    records = Records(tables, clock, ENGINE)
    counts: Counter[str] = Counter()
    for memory_id in memory_ids:
        candidate = tables.memories.get(memory_id)
        if candidate is not None and candidate.status is Status.INBOX:
            counts[_settle(records, candidate, model_id)] += 1
        tables.jobs.mark_consolidated(memory_id)
    return counts


def _settle_waiting(
    clock: Clock, memory_ids: Sequence[str], model_id: int | None, tables: Tables
) -> Counter[str]:
    """Decide over those of some candidates that nobody has settled meanwhile."""
    waiting = tables.jobs.unconsolidated_among(memory_ids)
    return settle(clock, [one for one in memory_ids if one in waiting], model_id, tables)


def _settle(records: Records, candidate: Memory, model_id: int | None) -> str:
    near = neighbours(records.tables, candidate, model_id)
    if candidate.type is MemoryType.EPISODE:
        return _settle_episode(records, candidate, near)
    match consolidate(candidate, near):
        case New():
            return _judged(records, candidate, Standing(sessions=1))
        case Duplicate(of):
            return _repeated(records, candidate, of)
        case Merge(into, says_more):
            return _merged(records, candidate, into, says_more=says_more)
        case Contradicts() as found:
            return _contradicted(records, candidate, found)


def neighbours(tables: Tables, candidate: Memory, model_id: int | None) -> list[Neighbour]:
    """Return the settled memories of the candidate's owner that are nearest in words or meaning."""
    similar = _nearest(tables, candidate, model_id, MOST_NEIGHBOURS)
    found = _settled(tables, candidate, similar)
    if len(found) < MOST_NEIGHBOURS <= len(similar):
        # Candidates that wait, and episodes, must not crowd out what is known.
        similar = _nearest(tables, candidate, model_id, WIDER)
        found = _settled(tables, candidate, similar)
    sources = {piece.source_id for piece in candidate.evidence}
    near = [
        Neighbour(
            memory,
            similar[memory.id],
            heard=_heard_before(tables, candidate, memory),
            together=any(piece.source_id in sources for piece in memory.evidence),
        )
        for memory in found
    ]
    return sorted(near, key=lambda one: (-(one.similarity or 0.0), one.memory.id))


def _nearest(
    tables: Tables, candidate: Memory, model_id: int | None, limit: int
) -> dict[str, float | None]:
    """Return the nearest memories by id, each with its similarity; those of the same words too."""
    partitions = tables.word_index.partitions(ItemKind.MEMORY, [candidate.owner])
    told = tables.word_index.match(candidate.content, partitions, limit=limit)
    item_ids = {match.item_id for match in told.matches}
    item_ids.update(tables.memories.with_fingerprint(fingerprint(candidate.content), candidate.owner))
    vector = _vector(tables, candidate, model_id)
    similar: dict[int, float] = {}
    if model_id is not None and vector is not None:
        near = dict(tables.embeddings.nearest(model_id, vector, partitions, limit=limit))
        near |= dict(tables.embeddings.similarities(model_id, vector, sorted(item_ids)))
        similar = {item_id: one.similarity for item_id, one in near.items()}
    candidate_rows = tables.memories.candidate_rows({*item_ids, *similar}, _EVERY_STATUS)
    return {one.id: similar.get(one.item_id) for one in candidate_rows if one.id != candidate.id}


def _settled(tables: Tables, candidate: Memory, ids: Mapping[str, float | None]) -> list[Memory]:
    """Return those that have been decided and are of a kind to compare: episodes with episodes."""
    waiting = tables.jobs.unconsolidated_among(ids)
    episode = candidate.type is MemoryType.EPISODE
    found = tables.memories.get_many([one for one in ids if one not in waiting])
    return [
        one
        for one in found
        if (one.type is MemoryType.EPISODE) is episode and not _filed_away(tables, one)
    ]


def _filed_away(tables: Tables, memory: Memory) -> bool:
    """
    Say whether the engine put it away because another one says the same.

    Nobody turned it down, and what it rests on stands in the other one. Were it compared with, the
    last of several that say the same would be filed away beside the first, and none would be left.
    """
    if memory.status is not Status.ARCHIVED:
        return False
    moves = [one for one in tables.memories.changes(memory.id) if one.before != one.after]
    return bool(moves) and moves[-1].by == ENGINE


def _heard_before(tables: Tables, candidate: Memory, memory: Memory) -> bool:
    """Say whether the same words of the same session were captured before, in another source."""
    sources = {piece.source_id for piece in candidate.evidence}
    quotes = {fingerprint(piece.quote) for piece in candidate.evidence}
    # Few neighbours share a quote; only theirs are worth asking for their session.
    earlier = [
        piece
        for piece in memory.evidence
        if piece.source_id not in sources and fingerprint(piece.quote) in quotes
    ]
    heard = _heard(tables, candidate) if earlier else set()
    return not heard.isdisjoint(_heard(tables, replace(memory, evidence=tuple(earlier))))


def _vector(
    tables: Tables, candidate: Memory, model_id: int | None
) -> "NDArray[np.float32] | None":
    item_id = tables.memories.item_id_of(candidate.id)
    if model_id is None or item_id is None:
        return None
    return tables.embeddings.first_vectors(model_id, [item_id]).get(item_id)


def _settle_episode(records: Records, candidate: Memory, near: Sequence[Neighbour]) -> str:
    """A session told again, longer: the new telling takes the place of the old one."""
    session = candidate.metadata.get("session")
    told_before = [
        one.memory
        for one in near
        if session
        and one.memory.type is MemoryType.EPISODE
        and one.memory.status in (Status.ACTIVE, Status.INBOX)
        and one.memory.metadata.get("session") == session
    ]
    active = next((one for one in told_before if one.status is Status.ACTIVE), None)
    if active is not None and _imported(candidate):
        # An import takes nothing away from what is known already.
        records.link(candidate.id, Relation.SUPPORTS, active.id)
        records.move(candidate, Status.ARCHIVED, f"the session is known from {active.id}")
        return "repeated"
    for other in told_before:
        records.move(other, Status.SUPERSEDED, "the session was captured again")
        records.link(candidate.id, Relation.SUPERSEDES, other.id)
    return _judged(records, candidate, Standing(sessions=1))


def _repeated(records: Records, candidate: Memory, of: Memory) -> str:
    grown = with_evidence_of(records, of, candidate)
    if candidate.source_kind is SourceKind.MANUAL:
        records.link(candidate.id, Relation.SUPPORTS, of.id)
        records.move(candidate, Status.ARCHIVED, f"merged into {of.id}, which says the same")
    else:
        # All the candidate knew now stands in *of*; a second record would only be in the way.
        records.tables.memories.delete(candidate.id)
    _judged_again(records, grown, candidate)
    return "repeated"


def _merged(records: Records, candidate: Memory, into: Memory, *, says_more: bool) -> str:
    if not says_more:
        grown = with_evidence_of(records, into, candidate)
        records.link(candidate.id, Relation.SUPPORTS, into.id)
        records.move(candidate, Status.ARCHIVED, f"merged into {into.id}, which says more")
        _judged_again(records, grown, candidate)
        return "merged"
    if into.status is not Status.INBOX:
        records.link(candidate.id, Relation.RELATED_TO, into.id, note="says more of the same")
        records.held(candidate, f"it says more than {into.id}, which is {into.status}")
        return "held"
    grown = with_evidence_of(records, candidate, into)
    records.link(candidate.id, Relation.SUPERSEDES, into.id)
    records.move(into, Status.SUPERSEDED, f"merged into {candidate.id}, which says more")
    standing = _standing(records.tables, grown)
    if _imported(candidate):
        standing = replace(standing, said_here=False)  # what confirms it was said before
    _judged(records, grown, standing)
    return "merged"


def _contradicted(records: Records, candidate: Memory, found: Contradicts) -> str:
    rivals = (found.other, *found.others)
    known = records.tables.links.conflicts([candidate.id]).get(candidate.id, ())
    for other in rivals:
        if other.id not in known:
            records.link(candidate.id, Relation.CONTRADICTS, other.id, note=found.why)
    by_user = candidate.metadata.get("voice") == Voice.USER
    active = any(other.status is Status.ACTIVE for other in rivals)
    standing = Standing(sessions=1, corrects_active=active)
    verdict = judge(candidate, standing)
    allowed = isinstance(verdict, Promote) if active else not isinstance(verdict, Never)
    if not (found.corrects and by_user and allowed):
        _judged(records, candidate, Standing(sessions=1, contradicts=True))
        return "contradicting"
    for other in rivals:
        records.link(candidate.id, Relation.SUPERSEDES, other.id)
        records.move(other, Status.SUPERSEDED, f"corrected by {candidate.id}")
    _judged(records, candidate, standing, superseded=[other.id for other in rivals])
    return "corrections"


def _judged_again(records: Records, memory: Memory, by: Memory) -> None:
    """Ask the policy anew about a candidate that has gained evidence, unless an import gave it."""
    if memory.status is Status.INBOX and not _imported(by):
        _judged(records, memory, _standing(records.tables, memory), again=True)


def _standing(tables: Tables, memory: Memory) -> Standing:
    """Return what the policy needs to know of a candidate with a past."""
    return Standing(
        sessions=_sessions(tables, memory),
        contradicts=bool(tables.links.conflicts([memory.id])),
        said_here=_said_here(tables, memory),
    )


def _said_here(tables: Tables, memory: Memory) -> bool:
    """Say whether the user said so in a session that was captured as it was held."""
    return any(
        piece.voice == Voice.USER
        and tables.sources.kind_of(piece.source_id) is not SourceKind.IMPORT
        for piece in memory.evidence
    )


def _imported(memory: Memory) -> bool:
    return memory.source_kind is SourceKind.IMPORT


def _judged(
    records: Records,
    candidate: Memory,
    standing: Standing,
    *,
    again: bool = False,
    superseded: Sequence[str] = (),
) -> str:
    match judge(candidate, standing):
        case Promote(why):
            reason = f"{why}; {in_place_of(superseded)}" if superseded else why
            effects = ChangeEffects(superseded=tuple(superseded))
            records.move(candidate, Status.ACTIVE, reason, effects=effects)
            return "active"
        case Never(why):
            reason = f"{why}; only a person can promote it"
        case hold:
            reason = hold.why
    if not again:
        records.held(candidate, reason)
    return "held"


def with_evidence_of(records: Records, memory: Memory, other: Memory) -> Memory:
    """Give *memory* the quotes of *other* too, what was said once only once."""
    tables = records.tables
    known = _heard(tables, memory)
    added = []
    for number, piece in enumerate(other.evidence):
        if not known.isdisjoint(_marks(tables, piece)):
            continue
        copy = replace(
            piece,
            id=_copied_id(memory, other, number),
            memory_id=memory.id,
        )
        tables.memories.add_evidence(copy)
        added.append(copy)
    confirmed_at = max(memory.confirmed_at, other.observed_at)
    grown = replace(
        memory,
        evidence=(*memory.evidence, *added),
        confidence=max(memory.confidence, other.confidence),
        confirmed_at=confirmed_at,
        updated_at=records.clock.now(),
    )
    tables.memories.update_status(grown)
    return grown


def without_evidence_of(records: Records, memory: Memory, other: Memory) -> None:
    """Take back what `with_evidence_of` gave: those quotes are the other one's alone again."""
    numbers = range(len(other.evidence))
    records.tables.memories.drop_evidence([_copied_id(memory, other, one) for one in numbers])


def _copied_id(memory: Memory, other: Memory, number: int) -> str:
    # After the memory's own, which say it best.
    return derived_id(memory.id, f"evidence of {other.id}", COPIED + number)


def _heard(tables: Tables, memory: Memory) -> set[tuple[str, str]]:
    """Return what was said in which session, in a form that knows it again."""
    return {mark for one in memory.evidence for mark in _marks(tables, one)}


def _marks(tables: Tables, piece: Evidence) -> Iterator[tuple[str, str]]:
    """
    Yield what knows the words of *piece* again: their session, and the very moment they were said.

    A client that lets a session branch off copies what was said before into the new one. Nobody
    said it twice, and so it must not count as said in two sessions.
    """
    words = fingerprint(piece.quote)
    yield _session(tables, piece), words
    at = tables.sources.said_at(piece.source_id, piece.start)
    if at is not None:
        yield f"at {at}", words


def _sessions(tables: Tables, memory: Memory) -> int:
    """Return in how many separate sessions the user said so."""
    return len({_session(tables, one) for one in memory.evidence if one.voice == Voice.USER})


def _session(tables: Tables, piece: Evidence) -> str:
    return tables.sources.session_of(piece.source_id)
