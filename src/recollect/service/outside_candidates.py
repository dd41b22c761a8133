"""
Store what a file from outside says as candidates: an export, an assistant's answer, a vault page.

Such a file may say anything, so its voice is `other`, whoever wrote it: only a person makes what it
says active. Each candidate quotes a source.
"""

from datetime import datetime

from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import owner_of
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.audited_writer import AuditedWriter
from recollect.service.place_lookup import PlaceIds, ensure_place
from recollect.service.services import Services
from recollect.service.write_memory import MAX_QUOTE, MemoryDraft, add_source
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint
from recollect.text.sentence_classifier import is_prompt_injection, normalize_sentence

VAULT_WRITER = "vault"  # the author of what the pages of a vault say


def add_candidate(
    services: Services,
    tables: Tables,
    draft: MemoryDraft,
    *,
    memory_id: str,
    by: str,
    reason: str,
    source: Source | None = None,
    span: tuple[int, int] | None = None,
    place: PlaceIds | None = None,
) -> Memory | None:
    """
    Store a candidate unless a memory of the same words and place is here already.

    It quotes *span* of *source*; without one, a source of its own words. It belongs to *place*;
    without one, to the place that the draft names.
    """
    now = services.clock.now()
    request = draft.request
    ids = vars(place or ensure_place(tables, draft.place, services.clock))
    owner = owner_of(draft.scope, **ids)
    [same] = tables.memories.with_fingerprints([(fingerprint(request.content), owner)])
    if same:
        return None
    source = source or add_outside_source(services, tables, request.content, now)
    start, end = span or (0, min(len(source.content), MAX_QUOTE))
    evidence = Evidence(
        id=services.clock.new_id(),
        memory_id=memory_id,
        source_id=source.id,
        start=start,
        end=end,
        quote=source.content[start:end],
        voice=Voice.OTHER,
        created_at=now,
    )
    is_injection = is_prompt_injection(normalize_sentence(request.content))
    memory = Memory(
        id=memory_id,
        type=request.type or MemoryType.PROJECT,
        scope=draft.scope,
        status=Status.INBOX,
        source_kind=SourceKind.IMPORT,
        content=request.content,
        title=request.title,
        summary=request.summary,
        rationale=request.rationale,
        tags=request.tags,
        observed_at=request.observed_at or now,
        confirmed_at=now,
        created_at=now,
        updated_at=now,
        # The promotion policy reads this: what a file says is never a statement of the user.
        provenance=Provenance(
            voice=Voice.OTHER, flags=(StatementFlag.INSTRUCTION,) if is_injection else ()
        ),
        evidence=(evidence,),
        redactions=draft.redactions,
        **ids,
    )
    AuditedWriter(tables, services.clock, by).create(memory, reason)
    return memory


def add_outside_source(
    services: Services, tables: Tables, content: str, now: datetime, title: str = ""
) -> Source:
    """Store redacted text from outside as a source, or return the source that has it."""
    return add_source(services, tables, content, now, kind=SourceKind.IMPORT, title=title)
