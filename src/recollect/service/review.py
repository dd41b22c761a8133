"""
Review candidates: decide, promote, reject, undo, one or many at once, and consolidate on request.

`decide` is what a reviewer does with a line of the inbox: the candidate and those folded into it
are settled together, and undoing it brings all of them back. The other verbs touch what they name.

A bulk change is one transaction, all or none, and a snapshot of the store is taken before it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from recollect.clock import derived_id
from recollect.domain.block import By
from recollect.domain.link import Relation
from recollect.domain.memory import Change, ChangeEffects, Memory, Status
from recollect.domain.scope import Scope
from recollect.domain.source import SourceKind
from recollect.domain.maintenance import ReviewVerdict
from recollect.engine.audited_writer import ENGINE, AuditedWriter, describe_replaced
from recollect.errors import IllegalTransition, InvalidInput
from recollect.service import inputs
from recollect.service.inbox import twins_of
from recollect.service.services import Services
from recollect.service.write import known
from recollect.store.protocol import Tables
from recollect.text.redact import redact

BULK = 20  # from here on a snapshot is taken first
MOST_AT_ONCE = 10_000
USER = "user"

Review = Callable[[AuditedWriter, Memory], Memory]


def decide(
    services: Services,
    memory_ids: object,
    verdict: object,
    *,
    reason: object = "",
    by: object = By.USER,
) -> list[Memory]:
    """Keep, replace with, or reject candidates and what is folded into them; all or none."""
    chosen = inputs.one_of("verdict", ReviewVerdict, verdict)
    writer = inputs.one_of("by", By, by)
    why = _reason(reason)
    listed = _listed(memory_ids)
    with services.store.read() as tables:
        named = [known(tables, memory_id) for memory_id in listed]
    # Read before the write lock is taken. Whoever is decided meanwhile is left as it is.
    twins = twins_of(services, named)
    if sum(1 + len(twins[one.id]) for one in named) >= BULK:
        services.store.snapshot("bulk")

    def write(tables: Tables) -> list[Memory]:
        records = AuditedWriter(tables, services.clock, writer)
        changed: dict[str, None] = {}
        for memory in (known(tables, one.id) for one in named):
            if memory.id in changed:
                continue  # it was folded into another one that is named
            _still_waits(memory)
            settled = _settled(records, memory, chosen, why)
            for twin in tables.memories.get_many(twins[memory.id]):
                if twin.status is Status.INBOX:
                    settled += _filed_away(records, settled[0], twin, chosen, why)
            changed |= dict.fromkeys(one.id for one in settled)
        return tables.memories.get_many(list(changed))

    return services.store.write(write)


def duplicates(services: Services, memory_id: object) -> list[Memory]:
    """Return what `decide` would settle along with a candidate."""
    with services.store.read() as tables:
        memory = known(tables, memory_id)
    ids = twins_of(services, [memory])[memory.id]
    with services.store.read() as tables:
        return tables.memories.get_many(ids)


def _settled(
    records: AuditedWriter, memory: Memory, verdict: ReviewVerdict, why: str
) -> list[Memory]:
    """Do with one candidate as decided; return it, and what it took the place of."""
    if verdict is ReviewVerdict.REJECT:
        return [records.change_status(memory, Status.ARCHIVED, why or "rejected")]
    return _promoted(records, memory, why, replaces=verdict is ReviewVerdict.REPLACE)


def _filed_away(
    records: AuditedWriter, lead: Memory, twin: Memory, verdict: ReviewVerdict, why: str
) -> list[Memory]:
    """File a candidate away that says the same as one that was decided; what it rests on stays."""
    records.link(twin.id, Relation.SUPPORTS, lead.id)
    effects = ChangeEffects(duplicate_of=lead.id)
    reason = f"says the same as {lead.id}, which was"
    if verdict is ReviewVerdict.REJECT:
        reason += " rejected" + (f": {why}" if why else "")
        return [records.change_status(twin, Status.ARCHIVED, reason, effects=effects)]
    # As in `consolidate`.
    from recollect.engine.consolidate_stage import copy_evidence

    before = known(records.tables, lead.id)
    grown = copy_evidence(records, before, twin)
    if grown.confidence > before.confidence:
        effects = replace(effects, confidence_before=before.confidence)
    # Nobody turned it down, so it does not count as such: the engine files it away.
    filing = AuditedWriter(records.tables, records.clock, ENGINE)
    return [filing.change_status(twin, Status.ARCHIVED, f"{reason} kept", effects=effects)]


def promote(
    services: Services,
    memory_ids: object,
    *,
    reason: object = "",
    replaces: bool = False,
    scope: object = None,
    by: str = USER,
) -> list[Memory]:
    """
    Make candidates active; *replaces*: what they speak against is superseded by them.

    A memory stays in its scope. *scope* "global" makes an active global copy that replaces it.
    """
    why = _reason(reason)
    if scope is not None and inputs.one_of("scope", Scope, scope) is not Scope.GLOBAL:
        raise InvalidInput("a memory can be promoted to scope global only; leave scope out")
    globally = scope is not None

    def one(records: AuditedWriter, memory: Memory) -> Memory:
        return _promoted(records, memory, why, replaces=replaces, globally=globally)[0]

    return _each(services, memory_ids, one, by=by)


def reject(
    services: Services, memory_ids: object, *, reason: object = "", by: str = USER
) -> list[Memory]:
    """Turn candidates down: they are archived with the reason, not deleted."""
    why = _reason(reason) or "rejected"

    def one(records: AuditedWriter, memory: Memory) -> Memory:
        _still_waits(memory)
        return records.change_status(memory, Status.ARCHIVED, why)

    return _each(services, memory_ids, one, by=by)


def undo(services: Services, memory_ids: object, *, by: str = USER) -> list[Memory]:
    """Take back the last change of status of each, and what it changed along with it."""
    back: set[str] = set()  # brought back along with another one that is named

    def one(records: AuditedWriter, memory: Memory) -> Memory:
        if memory.id in back:
            return memory  # to undo that too would file it away again
        moves = _moves(records.tables, memory)
        last = moves[-1] if moves else None
        if last is None or last.before is None:
            raise IllegalTransition(f"memory {memory.id} has not changed since it was written")
        twins: list[Memory] = []
        for replaced_id in last.effects.superseded:
            _restore(records, replaced_id, memory.id)
        for link in records.tables.links.of_memory(memory.id):
            if link.relation is Relation.SUPPORTS and last.before is Status.INBOX:
                twins += _brought_back(records, link.from_id, memory)
        back.update(twin.id for twin in twins)
        was = f"{last.after}: {last.reason}" if last.reason else f"{last.after}"
        # Read again: the quotes of its twins are no longer among its own.
        stood = _as_sure_as_before(records.tables, known(records.tables, memory.id), twins)
        confirmed_at = _confirmed_before(records.tables, stood, moves)
        return records.change_status(
            stood, last.before, f"undone: was {was}", confirmed_at=confirmed_at
        )

    return _each(services, memory_ids, one, by=by)


def consolidate(services: Services, memory_ids: object = None) -> Mapping[str, int]:
    """Compare candidates with what is known and apply policy; all of the inbox where None."""
    # As in jobs.py: loaded by those who consolidate, not by everybody.
    from recollect.engine.consolidate_stage import embed_memories, consolidate_memories

    with services.store.read() as tables:
        if memory_ids is None:
            ids = tables.memories.ids_with_status(Status.INBOX)
        else:
            ids = [known(tables, one).id for one in _listed(memory_ids)]
    counts: dict[str, int] = {}
    for start in range(0, len(ids), BULK):
        batch = ids[start : start + BULK]
        work = partial(consolidate_memories, services.clock, batch, embed_memories(services.engine, batch))
        done = services.store.write(work)
        for name, count in done.items():
            counts[name] = counts.get(name, 0) + count
    return counts


def _each(services: Services, memory_ids: object, one: Review, *, by: str) -> list[Memory]:
    listed = _listed(memory_ids)
    if len(listed) >= BULK:
        services.store.snapshot("bulk")

    def write(tables: Tables) -> list[Memory]:
        records = AuditedWriter(tables, services.clock, by)
        return [one(records, known(tables, memory_id)) for memory_id in listed]

    return services.store.write(write)


def _still_waits(memory: Memory) -> None:
    if memory.status is not Status.INBOX:
        raise IllegalTransition(
            f"memory {memory.id} is {memory.status}; only a candidate in the inbox can be "
            "decided. `undo` takes its last change back; `forget` removes it"
        )


def _promoted(
    records: AuditedWriter, memory: Memory, why: str, *, replaces: bool, globally: bool = False
) -> list[Memory]:
    """Make a candidate, or a global copy of it, active; return it, and what it superseded."""
    rivals = _rivals(records.tables, memory) if replaces else []
    if globally and memory.scope is not Scope.GLOBAL:
        rivals.insert(0, memory)
        memory = _add_global_copy(records, memory)
    replaced = tuple(other.id for other in rivals)
    reason = "; ".join(text for text in (why, describe_replaced(replaced)) if text)
    effects = ChangeEffects(superseded=replaced)
    changed = [records.change_status(memory, Status.ACTIVE, reason, effects=effects)]
    for other in rivals:
        records.link(memory.id, Relation.SUPERSEDES, other.id)
        changed.append(records.change_status(other, Status.SUPERSEDED, f"replaced by {memory.id}"))
    return changed


def _add_global_copy(records: AuditedWriter, memory: Memory) -> Memory:
    """Add a candidate of scope global with the content and the evidence of *memory*."""
    now, copy_id = records.clock.now(), records.clock.new_id()
    evidence = tuple(
        replace(piece, id=derived_id(copy_id, "evidence", number), memory_id=copy_id)
        for number, piece in enumerate(memory.evidence)
    )
    copy = replace(
        memory,
        id=copy_id,
        scope=Scope.GLOBAL,
        project_id=None,
        repo_id=None,
        agent_id=None,
        session_id=None,
        status=Status.INBOX,
        created_at=now,
        updated_at=now,
        evidence=evidence,
    )
    records.create(copy, f"copied from {memory.id}")
    return copy


def _rivals(tables: Tables, memory: Memory) -> list[Memory]:
    return tables.memories.get_many(tables.links.conflicts([memory.id]).get(memory.id, ()))


def _restore(records: AuditedWriter, memory_id: str, replaced_by: str) -> None:
    """Bring back what was superseded by a memory whose promotion is undone."""
    other = records.tables.memories.get(memory_id)
    if other is None or other.status is not Status.SUPERSEDED:
        return
    moves = _moves(records.tables, other)
    if moves and moves[-1].before is not None:
        why = f"{replaced_by} was undone"
        records.change_status(other, moves[-1].before, why, confirmed_at=other.confirmed_at)


def _brought_back(records: AuditedWriter, memory_id: str, lead: Memory) -> list[Memory]:
    """Return to the inbox what was filed away along with a lead whose decision is undone."""
    twin = records.tables.memories.get(memory_id)
    if twin is None or twin.id == lead.id or twin.status is not Status.ARCHIVED:
        return []
    moves = _moves(records.tables, twin)
    if not moves or moves[-1].effects.duplicate_of != lead.id:
        return []
    # As in `consolidate`.
    from recollect.engine.consolidate_stage import remove_copied_evidence

    remove_copied_evidence(records, lead, twin)
    return [records.change_status(twin, Status.INBOX, f"{lead.id} was undone")]


def _as_sure_as_before(tables: Tables, lead: Memory, twins: Sequence[Memory]) -> Memory:
    """Return a lead with the confidence it had before its *twins* made it surer."""
    noted = {
        twin.confidence: before
        for twin in twins
        if (before := _moves(tables, twin)[-2].effects.confidence_before) is not None
    }
    # What made it surer still since then stays, as does the confidence it brought.
    if lead.confidence != max(noted, default=None):
        return lead
    return replace(lead, confidence=min(noted.values()))


def _confirmed_before(tables: Tables, memory: Memory, moves: Sequence[Change]) -> datetime:
    """
    Return when a memory was confirmed before the last of its *moves*.

    Only becoming active confirms, and the log says when that was. A candidate that nobody has
    confirmed was last confirmed when it was last said.
    """
    *earlier, last = moves
    stood = memory.confirmed_at
    if last.after is Status.ACTIVE and stood >= last.at:
        stood = _last_said(tables, memory)
        if last.before is Status.INBOX:
            return stood
    elif (last.before, last.after) != (Status.ACTIVE, Status.INBOX):
        return stood
    return max([stood, *(one.at for one in earlier if one.after is Status.ACTIVE)])


def _last_said(tables: Tables, memory: Memory) -> datetime:
    by_hand = memory.source_kind is SourceKind.MANUAL
    first = memory.created_at if by_hand else memory.observed_at
    others = list(dict.fromkeys(piece.source_id for piece in memory.evidence))[1:]
    sources = [source for one in others if (source := tables.sources.get(one)) is not None]
    return max([first, *(source.observed_at for source in sources)])


def _moves(tables: Tables, memory: Memory) -> list[Change]:
    """Return the changes of a memory's status, oldest first."""
    changes = tables.memories.changes(memory.id)
    return [one for one in changes if one.before != one.after]


def _listed(memory_ids: object) -> list[str]:
    if isinstance(memory_ids, str | Memory):
        memory_ids = [memory_ids]
    if not isinstance(memory_ids, Sequence) or len(memory_ids) > MOST_AT_ONCE:
        raise InvalidInput(f"name a memory by its id, or up to {MOST_AT_ONCE:,} in a list")
    ids = [one.id if isinstance(one, Memory) else one for one in memory_ids]
    if not all(isinstance(one, str) for one in ids):
        raise InvalidInput("name memories by their ids: a list of texts")
    return list(dict.fromkeys(ids))


def _reason(reason: object) -> str:
    return redact(inputs.text_of("reason", reason, most=inputs.MAX_SUMMARY)).text
