"""
Keep a candidate in its default scope: the one it gets if the person who keeps it names none.

In a store with several agents, a candidate about the person is kept for the agent that was told,
unless the setting `single_user` is on (`domain/candidate_scope.py`). The scope of a memory never
changes, so a copy with the new scope replaces the candidate.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from recollect.domain.candidate_scope import is_of_one_user, scope_when_kept
from recollect.domain.change import ChangeEffects, ChangeKind
from recollect.domain.link import LinkEnd, Relation
from recollect.domain.memory import Memory, Status
from recollect.domain.scope import Owner, Scope
from recollect.engine.audited_writer import AuditedWriter
from recollect.engine.capture_owners import CaptureOwners
from recollect.store.protocol import Tables

COPIED_LINKS = frozenset({Relation.CONTRADICTS, Relation.APPLIES_TO, Relation.RELATED_TO})


def owners_when_kept(
    tables: Tables, candidates: Iterable[Memory], *, single_user: bool
) -> Mapping[str, Owner]:
    """Return the owner that each candidate gets when a person keeps it, by its id."""
    candidates = list(candidates)
    owners = {candidate.id: candidate.owner for candidate in candidates}
    personal = [
        candidate
        for candidate in candidates
        if candidate.scope is Scope.GLOBAL and is_of_one_user(candidate, single_user=single_user)
    ]
    if not personal or len(tables.agents.all()) < 2:
        return owners
    captures = CaptureOwners(tables)
    captures.read_ahead(personal)
    for candidate in personal:
        scope = scope_when_kept(
            candidate, captures.of(candidate), single_user=single_user, has_several_agents=True
        )
        if scope is Scope.AGENT:
            owners[candidate.id] = Owner(scope, candidate.agent_id or "")
    return owners


def with_scope_when_kept(tables: Tables, memory: Memory, *, single_user: bool) -> Memory:
    """Return *memory* with its default scope; do not store it."""
    owner = owners_when_kept(tables, [memory], single_user=single_user)[memory.id]
    if owner.scope is memory.scope:
        return memory
    return replace(memory, scope=owner.scope, project_id=None, repo_id=None)


def activate(
    writer: AuditedWriter,
    memory: Memory,
    reason: str,
    *,
    single_user: bool,
    superseded: tuple[str, ...] = (),
    merged: tuple[str, ...] = (),
) -> list[Memory]:
    """
    Make *memory* active in its default scope.

    Return it; if a copy with another scope replaced it, the copy and then the memory. *superseded*
    and *merged* are the memories that were decided with it.
    """
    narrowed = with_scope_when_kept(writer.tables, memory, single_user=single_user)
    if narrowed.scope is memory.scope:
        effects = ChangeEffects(superseded=superseded, merged=merged)
        return [_promote(writer, memory, reason, effects)]
    copy = writer.create_copy(narrowed, "kept for the agent that was told", status=Status.ARCHIVED)
    copy_links(writer, memory, copy)
    promoted = _promote(
        writer, copy, reason, ChangeEffects(superseded=superseded, merged=(memory.id,))
    )
    if memory.status is not Status.INBOX:
        return [promoted]  # it was rejected or superseded before, and stays so
    links = writer.add_link(memory.id, Relation.SUPPORTS, copy.id)
    effects = ChangeEffects(caused_by=copy.id, links=links, merged=merged)
    why = f"kept with scope {copy.scope}"
    return [
        promoted,
        writer.change_status(memory, Status.ARCHIVED, ChangeKind.MERGED, why, effects=effects),
    ]


def copy_links(writer: AuditedWriter, memory: Memory, copy: Memory) -> None:
    """Give *copy* the conflicts and relations of *memory*."""
    for link in writer.tables.links.of_memory(memory.id):
        if link.relation in COPIED_LINKS:
            to_id = link.to_id if link.from_id == memory.id else link.from_id
            to_kind = link.to_kind if link.from_id == memory.id else LinkEnd.MEMORY
            writer.link(copy.id, link.relation, to_id, to_kind=to_kind, note=link.note)


def _promote(writer: AuditedWriter, memory: Memory, why: str, effects: ChangeEffects) -> Memory:
    return writer.change_status(memory, Status.ACTIVE, ChangeKind.PROMOTED, why, effects=effects)
