"""Write memories by hand: synchronous, redacted, with evidence, found by words at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.block import By
from recollect.domain.candidate import BY_AGENT_FLAG
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Evidence, Redaction, Source, SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.places import Where, find, settle, where_of
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact
from recollect.wire.requests.memories import IngestManyRequest, SetStatusRequest
from recollect.wire.requests.recollect import IngestRequest, LinkRequest, UpsertProfileFactRequest

MAX_QUOTE = 1_000
INITIAL_STATUSES = frozenset({Status.ACTIVE, Status.INBOX})
WRITERS = frozenset({By.USER, By.AGENT})

_DEFAULT_TYPE = {
    Scope.GLOBAL: MemoryType.PROFILE,
    Scope.PROJECT: MemoryType.PROJECT,
    Scope.REPO: MemoryType.PROJECT,
    Scope.AGENT: MemoryType.ARTIFACT,
    Scope.SESSION: MemoryType.EPISODE,
}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A memory as its writer gave it: checked and redacted, not yet placed or stored."""

    content: str
    where: Where
    type: MemoryType
    scope: Scope
    status: Status
    key: str
    title: str
    summary: str
    tags: tuple[str, ...]
    confidence: float
    observed_at: datetime | None
    rationale: str
    alternatives: tuple[str, ...]
    redactions: tuple[Redaction, ...]
    by: By


def draft(request: IngestRequest, *, key: str = "") -> Draft:
    """Return the memory a request describes, checked and redacted."""
    redactions: list[Redaction] = []

    def store_text(field: str, value: str, most: int) -> str:
        redacted = redact(inputs.text_of(field, value, most=most))
        redactions.extend(replace(redaction, field=field) for redaction in redacted.redactions)
        return redacted.text

    content = store_text("content", request.content, inputs.MAX_CONTENT)
    if not content.strip():
        raise InvalidInput(
            "there is nothing to remember: the content is empty"
            + (", or private as a whole" if redactions else "")
        )
    where = where_of(request)
    scope = scope_of(request.scope, where)
    if len(request.alternatives) > inputs.MAX_ALTERNATIVES:
        raise InvalidInput(
            f"alternatives must be a list of at most {inputs.MAX_ALTERNATIVES} texts"
        )
    if request.status not in INITIAL_STATUSES:
        raise InvalidInput(f"a new memory is active or inbox, not {request.status}")
    if request.by not in WRITERS:
        raise InvalidInput(f"a memory is written by user or agent, not by {request.by}")
    tags = {store_text("tags", tag, inputs.MAX_TAG) for tag in inputs.tags_of(request.tags)}
    return Draft(
        content=content,
        where=where,
        type=request.type or _DEFAULT_TYPE[scope],
        scope=scope,
        status=request.status,
        key=key,
        title=store_text("title", request.title, inputs.MAX_TITLE),
        summary=store_text("summary", request.summary, inputs.MAX_SUMMARY),
        tags=tuple(sorted(tags)),
        confidence=inputs.share_of("confidence", request.confidence),
        observed_at=request.observed_at,
        rationale=store_text("rationale", request.rationale, inputs.MAX_SUMMARY),
        alternatives=tuple(
            store_text("alternatives", text, inputs.MAX_SUMMARY) for text in request.alternatives
        ),
        redactions=tuple(redactions),
        by=request.by,
    )


def ingest(services: Services, request: IngestRequest) -> Memory:
    """Store one memory with its source, evidence and event, in one transaction."""
    return store_draft(services, draft(request))


def store_draft(services: Services, memory: Draft, *, by: str = "") -> Memory:
    """Store one memory that was checked before; *by* names the writer in its history."""
    return services.store.write(lambda tables: _store(services, tables, memory, by or memory.by))


def ingest_many(services: Services, request: IngestManyRequest) -> list[Memory]:
    """Store several memories in one transaction: all or none."""
    drafts = [draft(IngestRequest.of(_item(item))) for item in request.items]
    return services.store.write(
        lambda tables: [_store(services, tables, memory, memory.by) for memory in drafts]
    )


def _item(item: object) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise InvalidInput("each item must be a dict of what `ingest` takes")
    return item


def upsert_profile_fact(services: Services, request: UpsertProfileFactRequest) -> Memory:
    """Set a named fact about the user; a former value stays readable as superseded."""
    name = inputs.text_of("key", request.key, most=inputs.MAX_NAME).strip()
    if not name or redact(name).redactions:
        raise InvalidInput("the key of a profile fact is empty or holds a secret; name the fact")
    fact = IngestRequest(
        content=request.value, type=MemoryType.PROFILE, scope=Scope.GLOBAL, by=By.USER
    )
    wanted, by = draft(fact, key=name), By.USER

    def write(tables: Tables) -> Memory:
        former = tables.memories.with_key(name, Owner(Scope.GLOBAL, ""))
        if former is not None and former.content == wanted.content:
            now = services.clock.now()
            confirmed = replace(former, confirmed_at=now, updated_at=now)
            tables.memories.update_status(confirmed)
            return confirmed
        records = AuditedWriter(tables, services.clock, by)
        if former is not None:
            records.change_status(former, Status.SUPERSEDED, f"new value of {name}")
        memory = _store(services, tables, wanted, by)
        if former is not None:
            records.link(memory.id, Relation.SUPERSEDES, former.id)
        return memory

    return services.store.write(write)


def set_status(services: Services, request: SetStatusRequest) -> Memory:
    """Change a memory's status along the lifecycle."""
    reason = redact(inputs.text_of("reason", request.reason, most=inputs.MAX_SUMMARY)).text

    def write(tables: Tables) -> Memory:
        memory = known(tables, request.memory_id)
        writer = AuditedWriter(tables, services.clock, request.by)
        return writer.change_status(memory, request.status, reason)

    return services.store.write(write)


def link(services: Services, request: LinkRequest) -> Link:
    """Link a memory to another, or to a project written as `project:NAME`."""
    relation = inputs.one_of("relation", Relation, request.relation)
    note = redact(inputs.text_of("note", request.note, most=inputs.MAX_SUMMARY)).text

    def write(tables: Tables) -> Link:
        memory = known(tables, request.a)
        writer = AuditedWriter(tables, services.clock, "user")
        if request.b.startswith("project:"):
            name = request.b.removeprefix("project:")
            viewer = find(tables, Where.of(name, None, None, None))
            project = tables.projects.project(viewer.project_id or "")
            if project is None:
                raise NotFound(f"there is no project {name!r} in this store")
            return writer.link(memory.id, relation, project.id, to_kind=LinkEnd.PROJECT, note=note)
        other = known(tables, request.b)
        if other.id == memory.id:
            raise InvalidInput("a memory cannot be linked to itself")
        if relation is Relation.SUPERSEDES and other.status is Status.ACTIVE:
            writer.change_status(other, Status.SUPERSEDED, "linked so")
        return writer.link(memory.id, relation, other.id, note=note)

    return services.store.write(write)


def known(tables: Tables, memory_id: object) -> Memory:
    """Return the memory with that id, or raise `NotFound`."""
    if isinstance(memory_id, Memory):
        memory_id = memory_id.id
    memory = tables.memories.get(clean(memory_id)) if isinstance(memory_id, str) else None
    if memory is None:
        raise NotFound(
            f"there is no memory {memory_id!r} in this store; ids are shown by `recollect search` "
            "and `recollect inbox`"
        )
    return memory


def scope_of(scope: object, where: Where) -> Scope:
    """Return the scope a caller chose, or the narrowest of the places given."""
    given = {
        Scope.SESSION: where.session,
        Scope.AGENT: where.agent,
        Scope.REPO: where.repo,
        Scope.PROJECT: where.project,
    }
    if scope is None:
        order = (Scope.SESSION, Scope.REPO, Scope.PROJECT, Scope.AGENT)
        return next((one for one in order if given[one] is not None), Scope.GLOBAL)
    chosen = inputs.one_of("scope", Scope, scope)
    if chosen is Scope.PROJECT and where.repo is not None:
        return chosen  # a repo belongs to a project
    if chosen is not Scope.GLOBAL and given[chosen] is None:
        raise InvalidInput(f"scope {chosen} needs the {chosen} it belongs to: pass {chosen}=…")
    return chosen


def _store(services: Services, tables: Tables, wanted: Draft, by: str) -> Memory:
    now = services.clock.now()
    places = settle(tables, wanted.where, services.clock)
    observed_at = wanted.observed_at or now
    source = _source(services, tables, wanted, observed_at, now)
    memory_id = services.clock.new_id()
    by_agent = wanted.by is By.AGENT
    quote = source.content[:MAX_QUOTE]
    evidence = Evidence(
        id=services.clock.new_id(),
        memory_id=memory_id,
        source_id=source.id,
        start=0,
        end=len(quote),
        quote=quote,
        voice=Voice.ASSISTANT if by_agent else "",
        created_at=now,
    )
    memory = Memory(
        id=memory_id,
        type=wanted.type,
        scope=wanted.scope,
        status=wanted.status,
        content=wanted.content,
        title=wanted.title,
        summary=wanted.summary,
        key=wanted.key,
        project_id=places.project_id,
        repo_id=places.repo_id,
        agent_id=places.agent_id,
        session_id=places.session_id,
        confidence=wanted.confidence,
        observed_at=observed_at,
        confirmed_at=now,
        created_at=now,
        updated_at=now,
        tags=wanted.tags,
        rationale=wanted.rationale,
        alternatives=wanted.alternatives,
        # What the policy goes by: an agent's own word is never the user's hand.
        metadata={"voice": Voice.ASSISTANT.value, "flags": [BY_AGENT_FLAG]} if by_agent else {},
        evidence=(evidence,),
        redactions=wanted.redactions,
    )
    AuditedWriter(tables, services.clock, by).create(
        memory, "written by an agent" if by_agent else "written by hand"
    )
    event = Event(
        id=services.clock.new_id(),
        trigger=Trigger.MANUAL,
        source_id=source.id,
        owner=memory.owner,
        state=EventState.DONE,
        outcome=f"1 memory {memory.status}",
        created_at=now,
        updated_at=now,
    )
    tables.sources.add_event(event)
    return memory


def _source(
    services: Services, tables: Tables, wanted: Draft, observed_at: datetime, now: datetime
) -> Source:
    digest = sha256_hex(wanted.content)
    known_source = tables.sources.with_hash(digest, SourceKind.MANUAL)
    if known_source is not None:
        return known_source
    source = Source(
        id=services.clock.new_id(),
        kind=SourceKind.MANUAL,
        content=wanted.content,
        sha256=digest,
        captured_at=now,
        observed_at=observed_at,
    )
    tables.sources.add(source)
    return source
