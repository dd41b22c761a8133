"""
The consolidate stage: compare candidates with existing memories, then apply the promotion policy.

Candidates are processed in the order in which they were said, some in each transaction. The near
memories are read in the transaction that writes the decision, so that two workers with the same
statement make one memory of it, not two.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from recollect.clock import derived_id
from recollect.domain.candidate_scope import PLACES_OF_WORK, automatic_scope, may_change
from recollect.domain.change import NO_EFFECTS, ChangeEffects, ChangeKind
from recollect.domain.link import Relation
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.promotion_policy import (
    DEFAULT_POLICY,
    Hold,
    NeverPromote,
    PolicySettings,
    Promote,
    PromotionFacts,
    judge,
)
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Source, SourceKind
from recollect.domain.transcript import Voice
from recollect.engine import consolidate as decisions
from recollect.engine.audited_writer import ENGINE, AuditedWriter, confirmation_change
from recollect.engine.capture_owners import CaptureOwners
from recollect.engine.consolidate import Contradicts, NearMemory
from recollect.engine.engine_context import EngineContext
from recollect.engine.leased_job import LeasedJob
from recollect.engine.neighbours import NeighbourReader
from recollect.engine.quoted_utterances import utterance_keys, utterances_of
from recollect.engine.source_text import lead_in
from recollect.lazy_dataclass import dataclass
from recollect.store.protocol import Tables

CANDIDATES_PER_BATCH = 10  # so that the write lock is never held for long
COPIED_EVIDENCE_START = 1_000  # the first number of evidence copied from another memory
SAYS_MORE = "says_more"  # why a candidate is held that the promotion policy was not asked about


@dataclass(frozen=True)
class ConsolidationWriter(AuditedWriter):
    """Writes the decisions about candidates; the policy decides what becomes active."""

    policy: PolicySettings = DEFAULT_POLICY
    is_first_time: bool = False  # none of the candidates was consolidated before
    captures: CaptureOwners = field(kw_only=True)


def consolidate_event(engine: EngineContext, leased_job: LeasedJob) -> None:
    """Consolidate every pending candidate of the job's event."""
    event_id, more = leased_job.job.event_id, True
    sessions = _session_of(leased_job)
    while more:
        with engine.store.read() as tables:
            contents = tables.jobs.unconsolidated(event_id, CANDIDATES_PER_BATCH + 1)
        more = len(contents) > CANDIDATES_PER_BATCH
        pending_ids = list(contents)[:CANDIDATES_PER_BATCH]
        model_id = embed_memories(engine, pending_ids) if pending_ids else None
        for memory_id in pending_ids:
            decisions.parse_ahead(contents[memory_id])  # before the write lock is taken
        work = partial(_consolidate_pending, engine, pending_ids, model_id, sessions)
        if more:
            leased_job.write(work)
        else:
            leased_job.finish(work=work)


def embed_memories(engine: EngineContext, memory_ids: Sequence[str]) -> int | None:
    """Embed some memories; return the model's id, or None if there is no embedder."""
    indexer = engine.indexer()
    return None if indexer is None else indexer.embed_items(memory_ids)


def consolidate_memories(
    engine: EngineContext,
    memory_ids: Sequence[str],
    model_id: int | None,
    tables: Tables,
    *,
    sessions: Mapping[str, Owner] | None = None,
    is_first_time: bool = False,
) -> Counter[str]:
    """
    Consolidate candidates in order; return how many had which outcome.

    *sessions* are the owners of some events, so that they need not be read.
    """
    captures = CaptureOwners(tables, sessions)
    writer = ConsolidationWriter(
        tables,
        engine.clock,
        ENGINE,
        policy=engine.policy,
        is_first_time=is_first_time,
        captures=captures,
    )
    counts: Counter[str] = Counter()
    candidates = {memory.id: memory for memory in tables.memories.get_many(memory_ids)}
    neighbours = NeighbourReader(
        tables,
        model_id,
        writer.changed_ids,
        single_user=engine.policy.single_user,
        captures=captures,
    )
    neighbours.read_ahead([memory for memory in candidates.values() if _is_open(memory)])
    lead_ins = LeadInReader(tables)
    done: set[str] = set()
    for memory_id in memory_ids:
        # One that was consolidated before it may have changed it.
        is_changed = memory_id in writer.changed_ids
        candidate = tables.memories.get(memory_id) if is_changed else candidates.get(memory_id)
        if candidate is not None and _is_open(candidate):
            near = neighbours.of(candidate, done)
            deleted = len(writer.deleted_ids)
            counts[_consolidate_candidate(writer, candidate, near, lead_ins)] += 1
            if len(writer.deleted_ids) > deleted:
                neighbours.forget()  # it changed the weights of words
        done.add(memory_id)
    if memory_ids:
        tables.jobs.mark_consolidated(*memory_ids)
    return counts


def _session_of(leased_job: LeasedJob) -> Mapping[str, Owner]:
    """Return the owner of the job's event, by the id of the event, if the job names it."""
    scope, event_id = leased_job.payload.get("session_scope"), leased_job.job.event_id
    if scope is None or event_id is None:
        return {}
    return {event_id: Owner(Scope(scope), leased_job.payload.get("session_owner", ""))}


def _consolidate_pending(
    engine: EngineContext,
    memory_ids: Sequence[str],
    model_id: int | None,
    sessions: Mapping[str, Owner],
    tables: Tables,
) -> Counter[str]:
    """Consolidate those candidates that no other worker has consolidated meanwhile."""
    pending = tables.jobs.unconsolidated_among(memory_ids)
    pending_ids = [memory_id for memory_id in memory_ids if memory_id in pending]
    return consolidate_memories(
        engine, pending_ids, model_id, tables, sessions=sessions, is_first_time=True
    )


def _is_open(candidate: Memory) -> bool:
    return candidate.status in (Status.INBOX, Status.STATED)


class LeadInReader:
    """Reads the words that were said just before a candidate; each source is read once."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._sources: dict[str, Source | None] = {}

    def of(self, candidate: Memory) -> str:
        """Return the words that were said just before the quote of *candidate*."""
        if not candidate.evidence:
            return ""
        evidence = candidate.evidence[0]
        if evidence.source_id not in self._sources:
            self._sources[evidence.source_id] = self._tables.sources.get(evidence.source_id)
        source = self._sources[evidence.source_id]
        return lead_in(source, evidence.start) if source is not None else ""


def _consolidate_candidate(
    writer: ConsolidationWriter,
    candidate: Memory,
    near: list[NearMemory],
    lead_ins: LeadInReader,
) -> str:
    if candidate.type is MemoryType.EPISODE:
        return _consolidate_episode(writer, candidate, near)
    read_lead_in = partial(lead_ins.of, candidate)
    if candidate.status is Status.STATED:
        change = decisions.find_change(candidate, near, read_lead_in=read_lead_in)
        if change is None:
            return "unchanged"
        return _apply_contradiction(writer, _propose(writer, candidate, change.other), change)
    match decisions.consolidate(candidate, near, read_lead_in=read_lead_in):
        case decisions.New():
            return _apply_policy(writer, candidate, PromotionFacts(sessions=1))
        case decisions.Duplicate(of):
            return _apply_duplicate(writer, candidate, of)
        case decisions.MergeInto(into, says_more):
            return _apply_merge(writer, candidate, into, says_more=says_more)
        case Contradicts() as contradiction:
            return _apply_contradiction(writer, candidate, contradiction)


def _consolidate_episode(
    writer: ConsolidationWriter, candidate: Memory, near: list[NearMemory]
) -> str:
    """Replace the earlier episodes of the same session, which was captured again."""
    session = candidate.provenance.session
    earlier_episodes = [
        other.memory
        for other in near
        if session
        and other.memory.type is MemoryType.EPISODE
        and other.memory.status in (Status.ACTIVE, Status.INBOX)
        and other.memory.provenance.session == session
    ]
    active = next((other for other in earlier_episodes if other.status is Status.ACTIVE), None)
    if active is not None and _is_imported(candidate):
        # An import does not replace what a captured session said.
        _merge(writer, candidate, active, "the session is known already")
        return "repeated"
    for other in earlier_episodes:
        writer.supersede(other, candidate, "the session was captured again")
    return _apply_policy(writer, candidate, PromotionFacts(sessions=1))


def _apply_duplicate(writer: ConsolidationWriter, candidate: Memory, of: Memory) -> str:
    updated, effects = copy_evidence(writer, of, candidate)
    if candidate.source_kind is SourceKind.MANUAL:
        _merge(writer, candidate, of, "it says the same", effects)
    else:
        # *of* has all its evidence now; a second record is not needed.
        writer.delete(candidate)
    _apply_policy_again(writer, updated, candidate)
    return "repeated"


def _apply_merge(
    writer: ConsolidationWriter, candidate: Memory, into: Memory, *, says_more: bool
) -> str:
    if not says_more:
        updated, effects = copy_evidence(writer, into, candidate)
        _merge(writer, candidate, into, "it says more", effects)
        _apply_policy_again(writer, updated, candidate)
        return "merged"
    if into.status is not Status.INBOX:
        writer.link(candidate.id, Relation.RELATED_TO, into.id, note="says more of the same")
        reason = f"it says more than a memory that is {into.status}"
        writer.hold(candidate, SAYS_MORE, reason, caused_by=into.id)
        return "held"
    updated, effects = copy_evidence(writer, candidate, into)
    links = writer.add_link(candidate.id, Relation.SUPERSEDES, into.id)
    effects = replace(effects, caused_by=candidate.id, links=links)
    writer.change_status(
        into, Status.SUPERSEDED, ChangeKind.MERGED, "it says more", effects=effects
    )
    facts = _promotion_facts(writer.tables, updated)
    if _is_imported(candidate):
        # The confirmation is older than the import.
        facts = replace(facts, is_from_captured_session=False)
    _apply_policy(writer, updated, facts)
    return "merged"


def _apply_contradiction(
    writer: ConsolidationWriter, candidate: Memory, conflict: Contradicts
) -> str:
    conflict = _with_proposed_rivals(writer, candidate, conflict)
    rivals = (conflict.other, *conflict.others)
    if (
        candidate.scope is Scope.GLOBAL
        and conflict.other.scope in PLACES_OF_WORK
        and _may_change(writer, candidate, [conflict.other])
    ):
        candidate = _move_to_project(writer, candidate, conflict.other)
    linked = writer.tables.links.conflicts([candidate.id]).get(candidate.id, ())
    for other in rivals:
        if other.id not in linked:
            writer.link(candidate.id, Relation.CONTRADICTS, other.id, note=conflict.why)
    by_user = candidate.provenance.voice is Voice.USER
    active = any(other.status is Status.ACTIVE for other in rivals)
    facts = PromotionFacts(sessions=1, corrects_active=active)
    verdict = judge(candidate, facts, writer.policy)
    allowed = isinstance(verdict, Promote) if active else not isinstance(verdict, NeverPromote)
    allowed = allowed and _may_change(writer, candidate, rivals)
    if not (conflict.is_correction and by_user and allowed):
        # A likely change of a mere candidate does not hold back what the user asked to remember.
        is_of_candidate = any(other.status is Status.INBOX for other in rivals)
        holds_back = active or (conflict.is_certain and is_of_candidate)
        _apply_policy(writer, candidate, PromotionFacts(sessions=1, has_conflict=holds_back))
        return "contradicting"
    for other in rivals:
        writer.supersede(other, candidate, "it was corrected")
    _apply_policy(writer, candidate, facts, superseded=[other.id for other in rivals])
    return "corrections"


def _may_change(writer: ConsolidationWriter, candidate: Memory, others: Sequence[Memory]) -> bool:
    single_user = writer.policy.single_user
    return all(may_change(candidate, other, single_user=single_user) for other in others)


def _apply_policy_again(writer: ConsolidationWriter, memory: Memory, by: Memory) -> None:
    """Apply the policy again to a candidate with new evidence, unless an import brought it."""
    if memory.status is Status.INBOX and not _is_imported(by):
        _apply_policy(writer, memory, _promotion_facts(writer.tables, memory), again=True)


def _promotion_facts(tables: Tables, memory: Memory) -> PromotionFacts:
    """Return the facts the policy needs about a candidate that has earlier evidence."""
    by_user = [evidence for evidence in memory.evidence if evidence.voice == Voice.USER]
    source_kinds = {tables.sources.kind_of(evidence.source_id) for evidence in by_user}
    return PromotionFacts(
        sessions=len({tables.sources.session_of(evidence.source_id) for evidence in by_user}),
        has_conflict=bool(tables.links.conflicts([memory.id])),
        is_from_captured_session=bool(source_kinds - {SourceKind.IMPORT}),  # not only in an import
    )


def _is_imported(memory: Memory) -> bool:
    return memory.source_kind is SourceKind.IMPORT


def _apply_policy(
    writer: ConsolidationWriter,
    candidate: Memory,
    facts: PromotionFacts,
    *,
    again: bool = False,
    superseded: Sequence[str] = (),
) -> str:
    match judge(candidate, facts, writer.policy):
        case Promote(why, rule):
            candidate = _in_narrow_scope(writer, candidate)
            effects = ChangeEffects(superseded=tuple(superseded), policy_rule=rule)
            writer.change_status(
                candidate, Status.ACTIVE, ChangeKind.PROMOTED, why, effects=effects
            )
            return "active"
        case NeverPromote(why, rule):
            reason = f"{why}; only a person can promote it"
        case Hold(reason, rule):
            pass
    if not again:
        writer.hold(candidate, rule, reason, is_first=writer.is_first_time)
    return "held"


def _in_narrow_scope(writer: ConsolidationWriter, candidate: Memory) -> Memory:
    """
    Return *candidate* in the scope in which it may become active without a person.

    If that is narrower than the proposed one, a copy replaces it: the scope of a memory never
    changes.
    """
    if candidate.scope is not Scope.GLOBAL:
        return candidate
    owner = writer.captures.of(candidate)
    scope = automatic_scope(candidate, owner, single_user=writer.policy.single_user)
    if scope is candidate.scope:
        return candidate
    project_id, repo_id = _place_of_work(writer.tables, owner)
    reason = f"narrowed from scope {candidate.scope}: no person has decided"
    copy = writer.create_copy(
        candidate,
        reason,
        copy_id=derived_id(candidate.id, "narrowed", 0),
        scope=scope,
        project_id=project_id,
        repo_id=repo_id,
    )
    writer.delete(candidate)
    return copy


def _with_proposed_rivals(
    writer: ConsolidationWriter, candidate: Memory, conflict: Contradicts
) -> Contradicts:
    """Return *conflict* with each rival as a candidate that was not proposed before."""
    other, *others = (
        _propose(writer, rival, candidate) if rival.status is Status.STATED else rival
        for rival in (conflict.other, *conflict.others)
    )
    return replace(conflict, other=other, others=tuple(others))


def _propose(writer: AuditedWriter, statement: Memory, other: Memory) -> Memory:
    """Return a statement as a candidate: a person should see it beside *other*."""
    copy = writer.create_copy(
        statement,
        f"a later statement may change an earlier one: see memory {other.id}",
        copy_id=derived_id(statement.id, "proposed", 0),
        status=Status.INBOX,
    )
    writer.delete(statement)
    return copy


def _move_to_project(writer: AuditedWriter, candidate: Memory, other: Memory) -> Memory:
    """Return *candidate* as one of the project of *other*: what changes the work is about it."""
    is_personal = candidate.type is MemoryType.PROFILE and other.type is not MemoryType.PROFILE
    copy = writer.create_copy(
        candidate,
        f"it may change memory {other.id}, which is about the project",
        copy_id=derived_id(candidate.id, "moved", 0),
        scope=other.scope,
        project_id=other.project_id,
        repo_id=other.repo_id,
        type=MemoryType.PROJECT if is_personal else candidate.type,
    )
    writer.delete(candidate)
    return copy


def _place_of_work(tables: Tables, owner: Owner | None) -> tuple[str | None, str | None]:
    """Return the ids of the project and the repo of a session."""
    if owner is None or owner.scope not in PLACES_OF_WORK:
        return None, None
    if owner.scope is Scope.PROJECT:
        return owner.id, None
    repo = tables.projects.repo(owner.id)
    return (repo.project_id, repo.id) if repo is not None else (None, None)


def _merge(
    writer: AuditedWriter,
    memory: Memory,
    into: Memory,
    reason: str,
    effects: ChangeEffects = NO_EFFECTS,
) -> Memory:
    """Archive *memory*, which *into* makes superfluous; *effects* is what was copied."""
    links = writer.add_link(memory.id, Relation.SUPPORTS, into.id)
    effects = replace(effects, caused_by=into.id, links=links)
    return writer.change_status(memory, Status.ARCHIVED, ChangeKind.MERGED, reason, effects=effects)


def merge_duplicate(writer: AuditedWriter, duplicate: Memory, into: Memory) -> Memory:
    """Archive *duplicate*, copy its evidence to *into*, and return the updated *into*."""
    updated, effects = copy_evidence(writer, into, duplicate)
    _merge(writer, duplicate, into, "it says the same", effects)
    return updated


def copy_evidence(
    writer: AuditedWriter, memory: Memory, other: Memory
) -> tuple[Memory, ChangeEffects]:
    """
    Copy the evidence of *other* to *memory*, without repeated utterances.

    Return the updated memory, and the effects for the change of *other*.
    """
    tables = writer.tables
    utterances = utterances_of(tables, memory)
    added = []
    for number, evidence in enumerate(other.evidence):
        if not utterances.isdisjoint(utterance_keys(tables, evidence)):
            continue
        copy_id = _copied_evidence_id(memory, other, number)
        copy = replace(evidence, id=copy_id, memory_id=memory.id)
        tables.memories.add_evidence(copy)
        added.append(copy)
    updated = replace(
        memory,
        evidence=(*memory.evidence, *added),
        confidence=max(memory.confidence, other.confidence),
        confirmed_at=max(memory.confirmed_at, other.observed_at),
        updated_at=writer.clock.now(),
    )
    writer.update(updated)
    effects = ChangeEffects(
        evidence=tuple(copy.id for copy in added),
        confirmations=confirmation_change(memory, updated),
    )
    return updated, effects


def _copied_evidence_id(memory: Memory, other: Memory, number: int) -> str:
    # Sorted after the memory's own evidence.
    return derived_id(memory.id, f"evidence of {other.id}", COPIED_EVIDENCE_START + number)
