"""
Correct a memory: its wording, title, type, tags, rationale, date or scope.

The content of a stored memory never changes. A correction is a new memory with the quotes of the
original; it is active, and the original becomes superseded. It is stored as archived first, so that
`undo` archives it again and restores the original.
"""

from dataclasses import replace
from typing import Any

from recollect.domain.block import BlockAuthor
from recollect.domain.change import ChangeEffects, ChangeKind
from recollect.domain.memory import Memory, Status
from recollect.domain.source import Redaction
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import IllegalTransition, InvalidInput
from recollect.service.keep_candidate import copy_links, with_scope_when_kept
from recollect.service.place_lookup import ensure_place, place_of
from recollect.service.services import Services
from recollect.service.write_memory import require_memory, scope_of
from recollect.store.protocol import Tables
from recollect.text.redact import redact
from recollect.wire.requests.memories import EditMemoryRequest

EDITABLE = frozenset({Status.ACTIVE, Status.STATED, Status.INBOX, Status.CONTRADICTED})
TEXT_FIELDS = ("content", "title", "rationale")


def edit_memory(services: Services, request: EditMemoryRequest) -> Memory:
    """Replace a memory by a corrected one with the same quotes."""
    changes, redactions = _text_changes(request)
    place, why = place_of(request), redact(request.reason).text
    moves = request.scope is not None or any(vars(place).values())

    def write(tables: Tables) -> Memory:
        memory = require_memory(tables, request.memory_id)
        if memory.status not in EDITABLE:
            raise IllegalTransition(
                f"memory {memory.id} is {memory.status} by now and cannot be edited; "
                "`explain` shows what replaced it"
            )
        if moves:
            changes["scope"] = scope_of(request.scope, place)
            changes.update(vars(ensure_place(tables, place, services.clock)))
        else:
            narrowed = with_scope_when_kept(
                tables, memory, single_user=services.settings.single_user
            )
            changes.update(
                scope=narrowed.scope, project_id=narrowed.project_id, repo_id=narrowed.repo_id
            )
        kept_redactions = [mark for mark in memory.redactions if mark.field not in changes]
        corrected = replace(memory, **changes)
        if corrected == memory:
            raise InvalidInput(
                "nothing is different; change the wording, type, tags, date or scope"
            )
        corrected = replace(corrected, redactions=(*kept_redactions, *redactions))
        return _replace_memory(services, tables, memory, corrected, why)

    return services.store.write(write)


def _text_changes(request: EditMemoryRequest) -> tuple[dict[str, Any], list[Redaction]]:
    """Return the fields of a memory that a request changes, redacted, without its place."""
    changes: dict[str, Any] = {}
    redactions: list[Redaction] = []
    for field in TEXT_FIELDS:
        text = getattr(request, field)
        if text is not None:
            redacted = redact(text)
            changes[field] = redacted.text
            redactions += [replace(mark, field=field) for mark in redacted.redactions]
    if request.tags is not None:
        changes["tags"] = tuple(sorted({redact(tag).text for tag in request.tags}))
    if request.type is not None:
        changes["type"] = request.type
    if request.observed_at is not None:
        changes["observed_at"] = request.observed_at
    if "content" in changes and not changes["content"].strip():
        raise InvalidInput("the content is empty; use `forget` to remove a memory")
    return changes, redactions


def _replace_memory(
    services: Services, tables: Tables, memory: Memory, corrected: Memory, why: str
) -> Memory:
    writer = AuditedWriter(tables, services.clock, BlockAuthor.USER)
    corrected = writer.create_copy(corrected, "edited", status=Status.ARCHIVED)
    copy_links(writer, memory, corrected)
    # The original first: of two facts with one key only one can be active.
    writer.supersede(memory, corrected, why)
    effects = ChangeEffects(superseded=(memory.id,))
    return writer.change_status(
        corrected, Status.ACTIVE, ChangeKind.PROMOTED, why or "edited", effects=effects
    )
