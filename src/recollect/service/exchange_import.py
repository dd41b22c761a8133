"""
Take over a memory exchange (wire/memory_exchange.py) and return a receipt for each part of it.

A transcript or an artifact becomes a source, an assertion or a derived object a memory. What was
derived quotes the turn or the span of its source that it names. The id of a revision here follows
from its id there, so importing twice changes nothing, and a deletion is recognised before its
object arrives. From a file that the caller does not trust, memories become candidates, and
deletions are not carried out.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Literal

from recollect.domain.change import ChangeKind
from recollect.domain.link import Relation
from recollect.domain.memory import Memory, Status
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.domain.transcript import Voice
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import IllegalTransition
from recollect.service.exchange_mapping import (
    ENFORCED_ACTIONS,
    METADATA,
    SOURCE_KINDS,
    STATE_NAMES,
    SUPPORTED_EXTENSIONS,
    is_past,
    local_id,
    origin_fields,
    own_fields,
    parse_time,
    quoted_spans,
    refusal,
    stored_text,
)
from recollect.service.forget import forget
from recollect.service.outside_candidates import add_outside_source
from recollect.service.place_lookup import RequestPlace, ensure_place
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact
from recollect.text.sentence_classifier import is_prompt_injection, normalize_sentence
from recollect.wire.memory_exchange import (
    ExchangeEvent,
    ExchangeObject,
    ExchangeReceipt,
    ExchangeRole,
    LifecycleKind,
    MemoryExchange,
    ReceiptEntry,
    ReceiptStatus,
)
from recollect.wire.requests.recollect import ForgetRequest

WRITER = "exchange"
Mode = Literal["preserve", "re_derive"]


def import_exchange(
    services: Services,
    exchange: MemoryExchange,
    *,
    trust: bool = False,
    principals: Mapping[str, str] | None = None,
    mode: Mode = "preserve",
) -> ExchangeReceipt:
    """Take over an exchange; *principals* maps names of its policies to names here."""
    importer = ExchangeImport(
        services, exchange, trust=trust, principals=principals or {}, mode=mode
    )
    return importer.run()


class ExchangeImport:
    """The import of one exchange."""

    def __init__(
        self,
        services: Services,
        exchange: MemoryExchange,
        *,
        trust: bool,
        principals: Mapping[str, str],
        mode: Mode,
    ) -> None:
        self._services = services
        self._exchange = exchange
        self._trust = trust
        self._principals = principals
        self._mode = mode
        self._digests: dict[str, str] = {}
        with services.store.read() as tables:
            self._deleted = {tombstone.id for tombstone in tables.tombstones.all()}
        self._receipt = ExchangeReceipt(exchange_id=exchange.manifest.exchange_id, mode=mode)

    def run(self) -> ExchangeReceipt:
        """Import what can be, and return what became of each object and event."""
        manifest = self._exchange.manifest
        if reason := refusal(manifest):
            for item in self._exchange.objects:
                self._add_receipt(item.revision_id, ReceiptStatus.REJECTED, reason=reason)
            return self._receipt
        for item in self._exchange.objects:
            self._services.store.write(partial(self._import, item=item))
        for event in self._exchange.events:
            self._apply(event)
        if manifest.transfer_intent == "move":
            landed = (ReceiptStatus.ACCEPTED, ReceiptStatus.TRANSFORMED)
            entries = [entry for entry in self._receipt.entries if entry.kind == "object"]
            self._receipt.move_complete = all(entry.status in landed for entry in entries)
        return self._receipt

    def _add_receipt(
        self,
        target: str,
        status: ReceiptStatus,
        *,
        kind: Literal["object", "event"] = "object",
        reason: str | None = None,
        local: str | None = None,
        transformations: list[str] | None = None,
    ) -> None:
        entry = ReceiptEntry(
            target=target,
            kind=kind,
            status=status,
            reason=reason,
            local_id=local,
            transformations=transformations or [],
        )
        self._receipt.entries.append(entry)
        if status is ReceiptStatus.UNRESOLVED:
            self._receipt.retry.append(target)

    def _import(self, tables: Tables, item: ExchangeObject) -> None:
        revision = item.revision_id
        local = local_id(revision)
        if reason := self._rejection(tables, item):
            self._add_receipt(revision, ReceiptStatus.REJECTED, reason=reason)
            return
        if reason := self._policy_problem(item):
            self._add_receipt(revision, ReceiptStatus.UNRESOLVED, reason=reason)
            return
        self._digests[revision] = item.digest
        if stored_text(tables, local) is not None:
            reason = "already imported"
            self._add_receipt(revision, ReceiptStatus.ACCEPTED, local=local, reason=reason)
            return
        transformations = list(self._transformations(tables, item))
        if item.role in SOURCE_KINDS:
            local = self._add_source(tables, item, local, transformations)
        else:
            self._add_memory(tables, item, local)
        status = ReceiptStatus.TRANSFORMED if transformations else ReceiptStatus.ACCEPTED
        self._add_receipt(revision, status, local=local, transformations=transformations)

    def _rejection(self, tables: Tables, item: ExchangeObject) -> str:
        """Return why an object is not taken, '' if it is."""
        inputs = item.derivation.used if item.derivation else []
        if local_id(item.revision_id) in self._deleted:
            return "this revision was deleted here; it does not come back"
        if item.predecessor and local_id(item.predecessor) in self._deleted:
            return "its predecessor was deleted here; it does not come back"
        if inputs and all(local_id(revision) in self._deleted for revision in inputs):
            return "everything it was derived from was deleted here"
        if not item.text:
            return "it has no text, and Recollect stores text only"
        if redact(item.text).redactions:
            return "its text holds a credential"
        digest = self._digests.get(item.revision_id)
        content = stored_text(tables, local_id(item.revision_id))
        if (digest and digest != item.digest) or (content is not None and content != item.text):
            self._receipt.conflicts.append(f"revision {item.revision_id}: its content differs")
            return "the revision is here with other content"
        return ""

    def _policy_problem(self, item: ExchangeObject) -> str:
        if not item.policy.required:
            return ""
        for rule in item.policy.rules:
            unknown = [name for name in rule.principals if name not in (*self._principals, "*")]
            actions = [action for action in rule.actions if action not in ENFORCED_ACTIONS]
            if unknown or actions or rule.constraints:
                return (
                    f"its policy cannot be kept: principals {unknown}, actions {actions}, "
                    f"constraints {sorted(rule.constraints)}. Map principals with --map"
                )
        return ""

    def _transformations(self, tables: Tables, item: ExchangeObject) -> Iterator[str]:
        """Yield what is not as it was there."""
        if self._mode == "re_derive" and item.role in SOURCE_KINDS:
            yield "derived anew"
        if item.media:
            yield "its media are not stored"
        if item.expires_at and not is_past(item.expires_at, self._services.clock.now()):
            yield "its expiry is kept and not enforced"
        for name in sorted(item.extensions.keys() - SUPPORTED_EXTENSIONS):
            yield f"extension {name} is kept and not interpreted"
        if item.role is ExchangeRole.MACHINE_DERIVED and item.derivation is None:
            yield "its provenance is unknown"
        revisions = {other.revision_id for other in self._exchange.objects}
        missing = [
            revision
            for revision in (item.derivation.used if item.derivation else ())
            if revision not in revisions and stored_text(tables, local_id(revision)) is None
        ]
        if missing:
            yield f"evidence is not available: {', '.join(missing)}"

    def _add_source(
        self, tables: Tables, item: ExchangeObject, local: str, transformations: list[str]
    ) -> str:
        assert item.text is not None  # or it was rejected
        kind = SOURCE_KINDS[item.role]
        stored = tables.sources.with_hash(sha256_hex(item.text), kind)
        if stored is not None:
            transformations.append(f"the same text is stored once, as {stored.id}")
            return stored.id
        now = self._services.clock.now()
        is_new_identity = self._mode == "re_derive"
        source = Source(
            id=self._services.clock.new_id() if is_new_identity else local,
            kind=kind,
            content=item.text,
            sha256=sha256_hex(item.text),
            captured_at=now,
            observed_at=parse_time(item.recorded_at) or now,
            metadata={METADATA: origin_fields(item, keeps_identity=not is_new_identity)},
        )
        tables.sources.add(source)
        return source.id

    def _add_memory(self, tables: Tables, item: ExchangeObject, local: str) -> None:
        assert item.text is not None  # or it was rejected
        now = self._services.clock.now()
        ours = own_fields(item)
        project = item.scope.context.get("project")
        place = ensure_place(tables, RequestPlace(project=project), self._services.clock)
        evidence = tuple(self._evidence(tables, item, local, now))
        has_expired = bool(item.expires_at) and is_past(item.expires_at, now)
        flags = (
            (StatementFlag.INSTRUCTION,)
            if is_prompt_injection(normalize_sentence(item.text))
            else ()
        )
        metadata = origin_fields(item, keeps_identity=True)
        if has_expired:
            metadata["state"] = STATE_NAMES[LifecycleKind.EXPIRE]
        memory = Memory(
            id=local,
            type=ours["type"],
            scope=Scope.PROJECT if project else Scope.GLOBAL,
            status=self._status(has_expired=has_expired),
            source_kind=SourceKind.IMPORT,
            content=item.text,
            title=ours["title"],
            rationale=ours["rationale"],
            tags=ours["tags"],
            observed_at=parse_time(item.applies_from) or parse_time(item.recorded_at) or now,
            confirmed_at=now,
            created_at=now,
            updated_at=now,
            provenance=Provenance(voice=Voice.OTHER, flags=flags),
            evidence=evidence,
            metadata={METADATA: metadata},
            **vars(place),
        )
        AuditedWriter(tables, self._services.clock, WRITER).create(memory, "from an exchange")
        self._link_inputs(tables, item, local)

    def _status(self, *, has_expired: bool) -> Status:
        if has_expired:
            return Status.ARCHIVED
        return Status.ACTIVE if self._trust else Status.INBOX

    def _evidence(
        self, tables: Tables, item: ExchangeObject, memory_id: str, now: datetime
    ) -> Iterator[Evidence]:
        """Yield the spans of stored sources that the derivation names, or the text itself."""
        quotes = list(quoted_spans(tables, item))
        if not quotes:
            source = add_outside_source(self._services, tables, item.text or "", now)
            quotes = [(source, 0, len(source.content))]
        for source, start, end in quotes:
            yield Evidence(
                id=self._services.clock.new_id(),
                memory_id=memory_id,
                source_id=source.id,
                start=start,
                end=end,
                quote=source.content[start:end],
                voice=Voice.OTHER,
                created_at=now,
            )

    def _link_inputs(self, tables: Tables, item: ExchangeObject, memory_id: str) -> None:
        writer = AuditedWriter(tables, self._services.clock, WRITER)
        for revision in item.derivation.used if item.derivation else ():
            if tables.memories.get(local_id(revision)) is not None:
                writer.link(memory_id, Relation.DERIVED_FROM, local_id(revision))

    def _apply(self, event: ExchangeEvent) -> None:
        if event.kind in (LifecycleKind.DELETE, LifecycleKind.TOMBSTONE):
            status, reason = self._delete(event)
        else:
            status, reason = self._services.store.write(lambda tables: self._change(tables, event))
        self._add_receipt(event.event_id, status, kind="event", reason=reason)

    def _delete(self, event: ExchangeEvent) -> tuple[ReceiptStatus, str | None]:
        if not self._trust:
            return ReceiptStatus.UNRESOLVED, "a deletion needs --trust"
        target = local_id(event.target)
        with self._services.store.read() as tables:
            memory, source = tables.memories.get(target), tables.sources.get(target)
            quoting = {} if source is None else tables.sources.evidence_in(target)
            memory_ids = [target] if memory else [quote.memory_id for quote in quoting]
        for memory_id in dict.fromkeys(memory_ids):
            forget(self._services, ForgetRequest.of({"memory_id": memory_id}))
        self._services.store.write(lambda tables: self._add_tombstone(tables, target))
        return ReceiptStatus.ACCEPTED, None

    def _add_tombstone(self, tables: Tables, target: str) -> None:
        now = self._services.clock.now()
        if tables.sources.get(target) is not None:
            tables.sources.delete(target)
        tables.tombstones.add(
            Tombstone(kind=DeletedKind.MEMORY, id=target, deleted_at=now),
            Tombstone(kind=DeletedKind.SOURCE, id=target, deleted_at=now),
        )

    def _change(self, tables: Tables, event: ExchangeEvent) -> tuple[ReceiptStatus, str | None]:
        memory = tables.memories.get(local_id(event.target))
        if memory is None:
            return ReceiptStatus.UNRESOLVED, f"{event.target} is not here"
        writer = AuditedWriter(tables, self._services.clock, WRITER)
        if event.kind is LifecycleKind.SUPERSEDE:
            return self._supersede(tables, writer, memory, event)
        if memory.status is Status.ARCHIVED:
            return ReceiptStatus.ACCEPTED, None
        kind = ChangeKind.REJECTED if memory.status is Status.INBOX else ChangeKind.ARCHIVED
        with suppress(IllegalTransition):  # superseded before: it is not current either
            writer.change_status(memory, Status.ARCHIVED, kind, STATE_NAMES[event.kind])
        return ReceiptStatus.ACCEPTED, None

    def _supersede(
        self, tables: Tables, writer: AuditedWriter, memory: Memory, event: ExchangeEvent
    ) -> tuple[ReceiptStatus, str | None]:
        replacement = tables.memories.get(local_id(event.replacement or ""))
        if replacement is None:
            return ReceiptStatus.UNRESOLVED, f"the replacement {event.replacement} is not here"
        earlier = [
            link.from_id
            for link in tables.links.of_memory(memory.id)
            if link.relation is Relation.SUPERSEDES and link.to_id == memory.id
        ]
        if replacement.id in earlier:
            return ReceiptStatus.ACCEPTED, None
        for other in earlier:
            self._receipt.conflicts.append(
                f"{event.target} is superseded by two revisions; both stay, linked as a conflict"
            )
            writer.link(replacement.id, Relation.CONTRADICTS, other)
        if memory.status is Status.ACTIVE:
            writer.supersede(memory, replacement, event.reason or "")
        else:
            writer.link(replacement.id, Relation.SUPERSEDES, memory.id)
        return ReceiptStatus.ACCEPTED, None
