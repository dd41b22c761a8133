"""Write memories by hand: synchronous, redacted, with evidence, found by words at once."""

from dataclasses import dataclass, replace
from datetime import datetime

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
from recollect.wire.requests.recollect import IngestRequest

MAX_QUOTE = 1_000
BORN = frozenset({Status.ACTIVE, Status.INBOX})
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


def draft(
    content: object,
    *,
    where: Where,
    type: object = None,
    scope: object = None,
    status: object = Status.ACTIVE,
    key: str = "",
    title: object = "",
    summary: object = "",
    tags: object = (),
    confidence: object = 1.0,
    observed_at: object = None,
    rationale: object = "",
    alternatives: object = (),
    by: object = By.USER,
) -> Draft:
    """Check and redact what a caller wants remembered; *by* whose hand it is written."""
    taken: list[Redaction] = []

    def kept(field: str, value: object, most: int) -> str:
        cleaned = redact(inputs.text_of(field, value, most=most))
        taken.extend(replace(piece, field=field) for piece in cleaned.redactions)
        return cleaned.text

    text = kept("content", content, inputs.MAX_CONTENT)
    if not text.strip():
        raise InvalidInput(
            "there is nothing to remember: the content is empty"
            + (", or private as a whole" if taken else "")
        )
    chosen_scope = scope_of(scope, where)
    if isinstance(alternatives, str):
        alternatives = (alternatives,)
    if not isinstance(alternatives, list | tuple) or len(alternatives) > inputs.MAX_ALTERNATIVES:
        raise InvalidInput(
            f"alternatives must be a list of at most {inputs.MAX_ALTERNATIVES} texts"
        )
    chosen_status = inputs.one_of("status", Status, status)
    if chosen_status not in BORN:
        raise InvalidInput(f"a memory is born active or inbox, not {chosen_status}")
    writer = inputs.one_of("by", By, by)
    if writer not in WRITERS:
        raise InvalidInput(f"a memory is written by user or agent, not by {writer}")
    return Draft(
        content=text,
        where=where,
        type=_DEFAULT_TYPE[chosen_scope]
        if type is None
        else inputs.one_of("type", MemoryType, type),
        scope=chosen_scope,
        status=chosen_status,
        key=key,
        title=kept("title", title, inputs.MAX_TITLE),
        summary=kept("summary", summary, inputs.MAX_SUMMARY),
        tags=tuple(sorted({kept("tags", tag, inputs.MAX_TAG) for tag in inputs.tags_of(tags)})),
        confidence=inputs.share_of("confidence", confidence),
        observed_at=inputs.moment_of("observed_at", observed_at),
        rationale=kept("rationale", rationale, inputs.MAX_SUMMARY),
        alternatives=tuple(kept("alternatives", one, inputs.MAX_SUMMARY) for one in alternatives),
        redactions=tuple(taken),
        by=writer,
    )


def draft_of(request: IngestRequest) -> Draft:
    """Return the memory a request describes, checked and redacted."""
    return draft(
        request.content,
        where=where_of(request),
        type=request.type,
        scope=request.scope,
        status=request.status,
        title=request.title,
        summary=request.summary,
        tags=request.tags,
        confidence=request.confidence,
        observed_at=request.observed_at,
        rationale=request.rationale,
        alternatives=request.alternatives,
        by=request.by,
    )


def ingest(services: Services, wanted: Draft, *, by: str = "") -> Memory:
    """Store one memory with its source, evidence and event, in one transaction."""
    return services.store.write(lambda tables: _store(services, tables, wanted, by or wanted.by))


def ingest_many(services: Services, wanted: list[Draft]) -> list[Memory]:
    """Store several memories in one transaction: all or none."""
    return services.store.write(
        lambda tables: [_store(services, tables, one, one.by) for one in wanted]
    )


def upsert_profile_fact(
    services: Services, key: object, value: object, *, by: str = "user"
) -> Memory:
    """Set a named fact about the user; a former value stays readable as superseded."""
    name = inputs.text_of("key", key, most=inputs.MAX_NAME).strip()
    if not name or redact(name).redactions:
        raise InvalidInput("the key of a profile fact is empty or holds a secret; name the fact")
    wanted = draft(value, where=Where(), type=MemoryType.PROFILE, scope=Scope.GLOBAL, key=name)

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


def move(
    services: Services, memory_id: object, to: Status, *, by: str = "user", reason: object = ""
) -> Memory:
    """Change a memory's status along the lifecycle."""
    why = redact(inputs.text_of("reason", reason, most=inputs.MAX_SUMMARY)).text

    def write(tables: Tables) -> Memory:
        memory = known(tables, memory_id)
        return AuditedWriter(tables, services.clock, by).change_status(memory, to, why)

    return services.store.write(write)


def link(
    services: Services, from_id: object, relation: object, to: object, *, note: object = ""
) -> Link:
    """Link a memory to another, or to a project written as `project:NAME`."""
    kind = inputs.one_of("relation", Relation, relation)
    said = redact(inputs.text_of("note", note, most=inputs.MAX_SUMMARY)).text

    def write(tables: Tables) -> Link:
        one = known(tables, from_id)
        records = AuditedWriter(tables, services.clock, "user")
        if isinstance(to, str) and to.startswith("project:"):
            viewer = find(tables, Where.of(to.removeprefix("project:"), None, None, None))
            project = tables.projects.project(viewer.project_id or "")
            if project is None:
                raise NotFound(f"there is no project {to.removeprefix('project:')!r} in this store")
            return records.link(one.id, kind, project.id, to_kind=LinkEnd.PROJECT, note=said)
        other = known(tables, to)
        if other.id == one.id:
            raise InvalidInput("a memory cannot be linked to itself")
        if kind is Relation.SUPERSEDES and other.status is Status.ACTIVE:
            records.change_status(other, Status.SUPERSEDED, "linked so")
        return records.link(one.id, kind, other.id, note=said)

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
