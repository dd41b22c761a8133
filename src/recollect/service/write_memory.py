"""Store memories directly: redacted, with evidence, in one transaction."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.calling_client import LIBRARY, calling_client
from recollect.domain.block import BlockAuthor
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.change import ChangeEffects, ChangeKind
from recollect.domain.lifecycle import kind_of_move
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import NO_PROVENANCE, agent_provenance
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Evidence, Redaction, Source, SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.service.keep_candidate import activate
from recollect.service.place_lookup import RequestPlace, ensure_place, find_viewer, place_of
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact
from recollect.wire.requests.recollect import IngestRequest, LinkRequest, UpsertProfileFactRequest

if TYPE_CHECKING:
    # For the type checker only: most programs send none of these requests.
    from recollect.wire.requests.memories import IngestManyRequest, SetStatusRequest

MAX_QUOTE = 1_000
MAX_STATEMENT_CHARS = 2_000
# Others are notes, passages of an archive and records of sessions.
STATEMENT_TYPES = frozenset({MemoryType.PROFILE, MemoryType.PROJECT, MemoryType.DECISION})
INITIAL_STATUSES = frozenset({Status.ACTIVE, Status.INBOX})
WRITERS = frozenset({BlockAuthor.USER, BlockAuthor.AGENT})

_DEFAULT_TYPE = {
    Scope.GLOBAL: MemoryType.PROFILE,
    Scope.PROJECT: MemoryType.PROJECT,
    Scope.REPO: MemoryType.PROJECT,
    Scope.AGENT: MemoryType.ARTIFACT,
    Scope.SESSION: MemoryType.EPISODE,
}


@dataclass(frozen=True)
class MemoryDraft:
    """A memory that is not stored yet: its request, redacted, with what was redacted."""

    request: IngestRequest
    place: RequestPlace
    scope: Scope
    redactions: tuple[Redaction, ...]
    key: str = ""


def draft_memory(request: IngestRequest, *, key: str = "") -> MemoryDraft:
    """Return the memory a request describes, redacted."""
    redactions: list[Redaction] = []

    def redact_field(field: str, value: str) -> str:
        redacted = redact(value)
        redactions.extend(replace(redaction, field=field) for redaction in redacted.redactions)
        return redacted.text

    redacted_fields = {
        "content": redact_field("content", request.content),
        "title": redact_field("title", request.title),
        "summary": redact_field("summary", request.summary),
        "tags": tuple(sorted({redact_field("tags", tag) for tag in request.tags})),
        "rationale": redact_field("rationale", request.rationale),
        "alternatives": tuple(redact_field("alternatives", text) for text in request.alternatives),
    }
    request = request.model_copy(update=redacted_fields)
    if not request.content.strip():
        raise InvalidInput(
            "there is nothing to remember: the content is empty"
            + (", or private as a whole" if redactions else "")
        )
    if request.status not in INITIAL_STATUSES:
        raise InvalidInput(f"a new memory is active or inbox, not {request.status}")
    if request.by not in WRITERS:
        raise InvalidInput(f"a memory is written by user or agent, not by {request.by}")
    place = place_of(request)
    return MemoryDraft(request, place, scope_of(request.scope, place), tuple(redactions), key)


def ingest(services: Services, request: IngestRequest) -> Memory:
    """Store one memory with its source, evidence and event, in one transaction."""
    return store_draft(services, draft_memory(request))


def store_draft(services: Services, draft: MemoryDraft, *, by: str = "") -> Memory:
    """Store one draft; *by* names the writer in its history."""
    return services.store.write(lambda tables: _store(services, tables, draft, by))


def ingest_many(services: Services, request: "IngestManyRequest") -> list[Memory]:
    """Store several memories in one transaction: all or none."""
    drafts = [draft_memory(IngestRequest.of(_item(item))) for item in request.items]
    return services.store.write(
        lambda tables: [_store(services, tables, draft) for draft in drafts]
    )


def _item(item: object) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise InvalidInput("each item must be a dict of what `ingest` takes")
    return item


def upsert_profile_fact(services: Services, request: UpsertProfileFactRequest) -> Memory:
    """Set a named fact about the user; its earlier value stays readable as superseded."""
    name = request.key.strip()
    if not name or redact(name).redactions:
        raise InvalidInput("the key of a profile fact is empty or holds a secret; name the fact")
    fact = draft_memory(
        IngestRequest(content=request.value, type=MemoryType.PROFILE, scope=Scope.GLOBAL), key=name
    )

    def write(tables: Tables) -> Memory:
        earlier = tables.memories.with_key(name, Owner(Scope.GLOBAL, ""))
        if earlier is not None and earlier.content == fact.request.content:
            now = services.clock.now()
            confirmed = replace(earlier, confirmed_at=now, updated_at=now)
            tables.memories.update_mutable_fields(confirmed)
            return confirmed
        writer = AuditedWriter(tables, services.clock, BlockAuthor.USER)
        memory_id = services.clock.new_id()
        if earlier is not None:
            effects = ChangeEffects(caused_by=memory_id)
            kind, reason = ChangeKind.SUPERSEDED, "the fact has a new value"
            writer.change_status(earlier, Status.SUPERSEDED, kind, reason, effects=effects)
        memory = _store(services, tables, fact, memory_id=memory_id)
        if earlier is not None:
            writer.link(memory.id, Relation.SUPERSEDES, earlier.id)
        return memory

    return services.store.write(write)


def set_status(services: Services, request: "SetStatusRequest") -> Memory:
    """Change a memory's status along the lifecycle."""
    reason = redact(request.reason).text

    def write(tables: Tables) -> Memory:
        memory = require_memory(tables, request.memory_id)
        writer = AuditedWriter(tables, services.clock, request.by)
        kind = kind_of_move(memory.status, request.status)
        if kind is ChangeKind.PROMOTED:
            return activate(writer, memory, reason, single_user=services.settings.single_user)[0]
        return writer.change_status(memory, request.status, kind, reason)

    return services.store.write(write)


def link(services: Services, request: LinkRequest) -> Link:
    """Link a memory to another, or to a project written as `project:NAME`."""
    relation, note = request.relation, redact(request.note).text

    def write(tables: Tables) -> Link:
        memory = require_memory(tables, request.a)
        writer = AuditedWriter(tables, services.clock, "user")
        if request.b.startswith("project:"):
            name = request.b.removeprefix("project:")
            viewer = find_viewer(tables, RequestPlace.of(name))
            project = tables.projects.project(viewer.project_id or "")
            if project is None:
                raise NotFound(f"there is no project {name!r} in this store")
            return writer.link(memory.id, relation, project.id, to_kind=LinkEnd.PROJECT, note=note)
        other = require_memory(tables, request.b)
        if other.id == memory.id:
            raise InvalidInput("a memory cannot be linked to itself")
        if relation is Relation.SUPERSEDES and other.status is Status.ACTIVE:
            writer.supersede(other, memory)
        return writer.link(memory.id, relation, other.id, note=note)

    return services.store.write(write)


def require_memory(tables: Tables, memory_id: str) -> Memory:
    """Return the memory with that id, or raise `NotFound`."""
    memory = tables.memories.get(memory_id)
    if memory is None:
        raise NotFound(
            f"there is no memory {memory_id!r} in this store; ids are shown by `recollect search` "
            "and `recollect inbox`"
        )
    return memory


def scope_of(scope: Scope | None, place: RequestPlace) -> Scope:
    """Return *scope* if it has the place it needs; if it is None, the narrowest scope given."""
    names = {
        Scope.SESSION: place.session,
        Scope.REPO: place.repo,
        Scope.PROJECT: place.project,
        Scope.AGENT: place.agent,
    }
    if scope is None:
        return next((scope for scope, name in names.items() if name is not None), Scope.GLOBAL)
    if scope is Scope.PROJECT and place.repo is not None:
        return scope  # a repo belongs to a project
    if scope is not Scope.GLOBAL and names[scope] is None:
        raise InvalidInput(f"scope {scope} needs the {scope} it belongs to: pass {scope}=…")
    return scope


def _store(
    services: Services, tables: Tables, draft: MemoryDraft, by: str = "", *, memory_id: str = ""
) -> Memory:
    request, now = draft.request, services.clock.now()
    observed_at = request.observed_at or now
    source = add_source(
        services, tables, request.content, now, kind=SourceKind.MANUAL, observed_at=observed_at
    )
    memory_id = memory_id or services.clock.new_id()
    by_agent = request.by is BlockAuthor.AGENT
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
        type=request.type or _DEFAULT_TYPE[draft.scope],
        scope=draft.scope,
        status=request.status,
        content=request.content,
        title=request.title,
        summary=request.summary,
        key=draft.key,
        **vars(ensure_place(tables, draft.place, services.clock)),
        confidence=request.confidence,
        observed_at=observed_at,
        confirmed_at=now,
        created_at=now,
        updated_at=now,
        tags=request.tags,
        rationale=request.rationale,
        alternatives=request.alternatives,
        # The promotion policy reads this: what an agent writes is never a statement of the user.
        provenance=agent_provenance(request.author) if by_agent else NO_PROVENANCE,
        evidence=(evidence,),
        redactions=draft.redactions,
    )
    AuditedWriter(tables, services.clock, by or request.by).create(
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
    if _is_statement(memory):
        tables.jobs.add_unconsolidated(event.id, memory.id)
    tables.clients.count_write(calling_client() or LIBRARY, at=now)
    return memory


def _is_statement(memory: Memory) -> bool:
    """Return whether a written memory is to be compared with others later, in the background."""
    is_short = len(memory.content) <= MAX_STATEMENT_CHARS
    return memory.type in STATEMENT_TYPES and is_short and memory.status is Status.ACTIVE


def add_source(
    services: Services,
    tables: Tables,
    content: str,
    now: datetime,
    *,
    kind: SourceKind,
    title: str = "",
    observed_at: datetime | None = None,
) -> Source:
    """Store redacted text as a source, or return the source that has it."""
    digest = sha256_hex(content)
    stored = tables.sources.with_hash(digest, kind)
    if stored is not None:
        return stored
    source = Source(
        id=services.clock.new_id(),
        kind=kind,
        content=content,
        sha256=digest,
        title=title,
        captured_at=now,
        observed_at=observed_at or now,
    )
    tables.sources.add(source)
    return source
