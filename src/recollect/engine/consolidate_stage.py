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
from recollect.domain.promotion_policy import NeverPromote, Promote, PromotionFacts, judge
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind
from recollect.domain.source import Evidence, SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.consolidate import (
    Contradicts,
    Duplicate,
    MergeInto,
    NearMemory,
    New,
    consolidate,
    parse_ahead,
)
from recollect.engine.engine_context import EngineContext
from recollect.engine.leased_job import LeasedJob
from recollect.engine.audited_writer import ENGINE, AuditedWriter, describe_replaced
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CANDIDATES_PER_BATCH = 10  # so that the write lock is never held for long
MAX_NEIGHBOURS = 12  # of each leg
MAX_NEIGHBOURS_WIDE = 100  # of each leg, where too few of the nearest have been decided
COPIED_EVIDENCE_START = 1_000  # where the numbers of evidence begin that came from another memory
_EVERY_STATUS = Filters(statuses=frozenset(Status))


def consolidate_event(desk: EngineContext, held: LeasedJob) -> None:
    """Settle every candidate of the held job's event that waits."""
    event_id = held.job.event_id
    while True:
        with desk.store.read() as tables:
            waiting = tables.jobs.unconsolidated(event_id, CANDIDATES_PER_BATCH)
        if not waiting:
            break
        model_id = embed_memories(desk, waiting)
        with desk.store.read() as tables:
            for memory in tables.memories.get_many(waiting):
                parse_ahead(memory.content)  # before the write lock is taken, not under it
        held.write(partial(_consolidate_pending, desk.clock, waiting, model_id))
    held.finish()


def embed_memories(desk: EngineContext, memory_ids: Sequence[str]) -> int | None:
    """Embed some memories; return the model's id, or None where meaning cannot be compared."""
    indexer = desk.indexer()
    return None if indexer is None else indexer.embed_items(memory_ids)


def consolidate_memories(
    clock: Clock, memory_ids: Sequence[str], model_id: int | None, tables: Tables
) -> Counter[str]:
    """Decide over some candidates, in order; return what became of how many."""
    records = AuditedWriter(tables, clock, ENGINE)
    counts: Counter[str] = Counter()
    for memory_id in memory_ids:
        candidate = tables.memories.get(memory_id)
        if candidate is not None and candidate.status is Status.INBOX:
            counts[_consolidate_candidate(records, candidate, model_id)] += 1
        tables.jobs.mark_consolidated(memory_id)
    return counts


def _consolidate_pending(
    clock: Clock, memory_ids: Sequence[str], model_id: int | None, tables: Tables
) -> Counter[str]:
    """Decide over those of some candidates that nobody has settled meanwhile."""
    waiting = tables.jobs.unconsolidated_among(memory_ids)
    return consolidate_memories(clock, [one for one in memory_ids if one in waiting], model_id, tables)


def _consolidate_candidate(records: AuditedWriter, candidate: Memory, model_id: int | None) -> str:
    near = neighbours(records.tables, candidate, model_id)
    if candidate.type is MemoryType.EPISODE:
        return _consolidate_episode(records, candidate, near)
    match consolidate(candidate, near):
        case New():
            return _apply_policy(records, candidate, PromotionFacts(sessions=1))
        case Duplicate(of):
            return _apply_duplicate(records, candidate, of)
        case MergeInto(into, says_more):
            return _apply_merge(records, candidate, into, says_more=says_more)
        case Contradicts() as found:
            return _apply_contradiction(records, candidate, found)


def neighbours(tables: Tables, candidate: Memory, model_id: int | None) -> list[NearMemory]:
    """Return the settled memories of the candidate's owner that are nearest in words or meaning."""
    similar = _nearest_ids(tables, candidate, model_id, MAX_NEIGHBOURS)
    found = _comparable_memories(tables, candidate, similar)
    if len(found) < MAX_NEIGHBOURS <= len(similar):
        # Candidates that wait, and episodes, must not crowd out what is known.
        similar = _nearest_ids(tables, candidate, model_id, MAX_NEIGHBOURS_WIDE)
        found = _comparable_memories(tables, candidate, similar)
    sources = {piece.source_id for piece in candidate.evidence}
    near = [
        NearMemory(
            memory,
            similar[memory.id],
            is_same_utterance=_is_same_utterance(tables, candidate, memory),
            is_same_source=any(piece.source_id in sources for piece in memory.evidence),
        )
        for memory in found
    ]
    return sorted(near, key=lambda one: (-(one.similarity or 0.0), one.memory.id))


def _nearest_ids(
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


def _comparable_memories(tables: Tables, candidate: Memory, ids: Mapping[str, float | None]) -> list[Memory]:
    """Return those that have been decided and are of a kind to compare: episodes with episodes."""
    waiting = tables.jobs.unconsolidated_among(ids)
    episode = candidate.type is MemoryType.EPISODE
    found = tables.memories.get_many([one for one in ids if one not in waiting])
    return [
        one
        for one in found
        if (one.type is MemoryType.EPISODE) is episode and not _is_archived_duplicate(tables, one)
    ]


def _is_archived_duplicate(tables: Tables, memory: Memory) -> bool:
    """
    Say whether the engine put it away because another one says the same.

    Nobody turned it down, and what it rests on stands in the other one. Were it compared with, the
    last of several that say the same would be filed away beside the first, and none would be left.
    """
    if memory.status is not Status.ARCHIVED:
        return False
    moves = [one for one in tables.memories.changes(memory.id) if one.before != one.after]
    return bool(moves) and moves[-1].by == ENGINE


def _is_same_utterance(tables: Tables, candidate: Memory, memory: Memory) -> bool:
    """Say whether the same words of the same session were captured before, in another source."""
    sources = {piece.source_id for piece in candidate.evidence}
    quotes = {fingerprint(piece.quote) for piece in candidate.evidence}
    # Few neighbours share a quote; only theirs are worth asking for their session.
    earlier = [
        piece
        for piece in memory.evidence
        if piece.source_id not in sources and fingerprint(piece.quote) in quotes
    ]
    heard = _utterances(tables, candidate) if earlier else set()
    return not heard.isdisjoint(_utterances(tables, replace(memory, evidence=tuple(earlier))))


def _vector(
    tables: Tables, candidate: Memory, model_id: int | None
) -> "NDArray[np.float32] | None":
    item_id = tables.memories.item_id_of(candidate.id)
    if model_id is None or item_id is None:
        return None
    return tables.embeddings.first_vectors(model_id, [item_id]).get(item_id)


def _consolidate_episode(records: AuditedWriter, candidate: Memory, near: Sequence[NearMemory]) -> str:
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
    if active is not None and _is_imported(candidate):
        # An import takes nothing away from what is known already.
        records.link(candidate.id, Relation.SUPPORTS, active.id)
        records.change_status(candidate, Status.ARCHIVED, f"the session is known from {active.id}")
        return "repeated"
    for other in told_before:
        records.change_status(other, Status.SUPERSEDED, "the session was captured again")
        records.link(candidate.id, Relation.SUPERSEDES, other.id)
    return _apply_policy(records, candidate, PromotionFacts(sessions=1))


def _apply_duplicate(records: AuditedWriter, candidate: Memory, of: Memory) -> str:
    grown = copy_evidence(records, of, candidate)
    if candidate.source_kind is SourceKind.MANUAL:
        records.link(candidate.id, Relation.SUPPORTS, of.id)
        records.change_status(candidate, Status.ARCHIVED, f"merged into {of.id}, which says the same")
    else:
        # All the candidate knew now stands in *of*; a second record would only be in the way.
        records.tables.memories.delete(candidate.id)
    _apply_policy_again(records, grown, candidate)
    return "repeated"


def _apply_merge(records: AuditedWriter, candidate: Memory, into: Memory, *, says_more: bool) -> str:
    if not says_more:
        grown = copy_evidence(records, into, candidate)
        records.link(candidate.id, Relation.SUPPORTS, into.id)
        records.change_status(candidate, Status.ARCHIVED, f"merged into {into.id}, which says more")
        _apply_policy_again(records, grown, candidate)
        return "merged"
    if into.status is not Status.INBOX:
        records.link(candidate.id, Relation.RELATED_TO, into.id, note="says more of the same")
        records.note_hold(candidate, f"it says more than {into.id}, which is {into.status}")
        return "held"
    grown = copy_evidence(records, candidate, into)
    records.link(candidate.id, Relation.SUPERSEDES, into.id)
    records.change_status(into, Status.SUPERSEDED, f"merged into {candidate.id}, which says more")
    standing = _promotion_facts(records.tables, grown)
    if _is_imported(candidate):
        standing = replace(standing, said_here=False)  # what confirms it was said before
    _apply_policy(records, grown, standing)
    return "merged"


def _apply_contradiction(records: AuditedWriter, candidate: Memory, found: Contradicts) -> str:
    rivals = (found.other, *found.others)
    known = records.tables.links.conflicts([candidate.id]).get(candidate.id, ())
    for other in rivals:
        if other.id not in known:
            records.link(candidate.id, Relation.CONTRADICTS, other.id, note=found.why)
    by_user = candidate.metadata.get("voice") == Voice.USER
    active = any(other.status is Status.ACTIVE for other in rivals)
    standing = PromotionFacts(sessions=1, corrects_active=active)
    verdict = judge(candidate, standing)
    allowed = isinstance(verdict, Promote) if active else not isinstance(verdict, NeverPromote)
    if not (found.is_correction and by_user and allowed):
        _apply_policy(records, candidate, PromotionFacts(sessions=1, has_conflict=True))
        return "contradicting"
    for other in rivals:
        records.link(candidate.id, Relation.SUPERSEDES, other.id)
        records.change_status(other, Status.SUPERSEDED, f"corrected by {candidate.id}")
    _apply_policy(records, candidate, standing, superseded=[other.id for other in rivals])
    return "corrections"


def _apply_policy_again(records: AuditedWriter, memory: Memory, by: Memory) -> None:
    """Ask the policy anew about a candidate that has gained evidence, unless an import gave it."""
    if memory.status is Status.INBOX and not _is_imported(by):
        _apply_policy(records, memory, _promotion_facts(records.tables, memory), again=True)


def _promotion_facts(tables: Tables, memory: Memory) -> PromotionFacts:
    """Return what the policy needs to know of a candidate with a past."""
    return PromotionFacts(
        sessions=_session_count(tables, memory),
        has_conflict=bool(tables.links.conflicts([memory.id])),
        is_said_in_session=_is_said_in_captured_session(tables, memory),
    )


def _is_said_in_captured_session(tables: Tables, memory: Memory) -> bool:
    """Say whether the user said so in a session that was captured as it was held."""
    return any(
        piece.voice == Voice.USER
        and tables.sources.kind_of(piece.source_id) is not SourceKind.IMPORT
        for piece in memory.evidence
    )


def _is_imported(memory: Memory) -> bool:
    return memory.source_kind is SourceKind.IMPORT


def _apply_policy(
    records: AuditedWriter,
    candidate: Memory,
    standing: PromotionFacts,
    *,
    again: bool = False,
    superseded: Sequence[str] = (),
) -> str:
    match judge(candidate, standing):
        case Promote(why):
            reason = f"{why}; {describe_replaced(superseded)}" if superseded else why
            effects = ChangeEffects(superseded=tuple(superseded))
            records.change_status(candidate, Status.ACTIVE, reason, effects=effects)
            return "active"
        case NeverPromote(why):
            reason = f"{why}; only a person can promote it"
        case hold:
            reason = hold.why
    if not again:
        records.note_hold(candidate, reason)
    return "held"


def copy_evidence(records: AuditedWriter, memory: Memory, other: Memory) -> Memory:
    """Give *memory* the quotes of *other* too, what was said once only once."""
    tables = records.tables
    known = _utterances(tables, memory)
    added = []
    for number, piece in enumerate(other.evidence):
        if not known.isdisjoint(_utterance_keys(tables, piece)):
            continue
        copy = replace(
            piece,
            id=_copied_evidence_id(memory, other, number),
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


def remove_copied_evidence(records: AuditedWriter, memory: Memory, other: Memory) -> None:
    """Take back what `with_evidence_of` gave: those quotes are the other one's alone again."""
    numbers = range(len(other.evidence))
    records.tables.memories.drop_evidence([_copied_evidence_id(memory, other, one) for one in numbers])


def _copied_evidence_id(memory: Memory, other: Memory, number: int) -> str:
    # After the memory's own, which say it best.
    return derived_id(memory.id, f"evidence of {other.id}", COPIED_EVIDENCE_START + number)


def _utterances(tables: Tables, memory: Memory) -> set[tuple[str, str]]:
    """Return what was said in which session, in a form that knows it again."""
    return {mark for one in memory.evidence for mark in _utterance_keys(tables, one)}


def _utterance_keys(tables: Tables, piece: Evidence) -> Iterator[tuple[str, str]]:
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


def _session_count(tables: Tables, memory: Memory) -> int:
    """Return in how many separate sessions the user said so."""
    return len({_session(tables, one) for one in memory.evidence if one.voice == Voice.USER})


def _session(tables: Tables, piece: Evidence) -> str:
    return tables.sources.session_of(piece.source_id)
