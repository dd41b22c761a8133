"""
The JSON of a memory exchange: the semantic-core draft of the Open Memory Protocol.

Field names are those of format version `cognee-draft-0.1`. An exchange has a manifest, objects and
lifecycle events; a receipt says what became of each. Unknown fields are ignored.
"""

import hashlib
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT_VERSION = "cognee-draft-0.1"
MAX_OBJECTS = 1_000_000


class ExchangeRole(StrEnum):
    """What kind of evidence an object is."""

    SOURCE_ARTIFACT = "source_artifact"
    TRANSCRIPT = "transcript"
    HUMAN_ASSERTION = "human_assertion"
    MACHINE_DERIVED = "machine_derived"


class LifecycleKind(StrEnum):
    """What happened to an object."""

    SUPERSEDE = "supersede"
    RETRACT = "retract"
    INVALIDATE = "invalidate"
    EXPIRE = "expire"
    DELETE = "delete"
    TOMBSTONE = "tombstone"


class ReceiptStatus(StrEnum):
    """What became of an object or an event."""

    ACCEPTED = "accepted"
    TRANSFORMED = "transformed"
    OMITTED = "omitted"
    UNRESOLVED = "unresolved"
    REJECTED = "rejected"


class _ExchangePart(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ObjectReference(_ExchangePart):
    """The identity of an object, qualified by who gave it."""

    authority: str = Field(min_length=1, max_length=500)
    namespace: str = "memory"
    local_id: str = Field(min_length=1, max_length=500)


class ExchangeScope(_ExchangePart):
    """Whom an object is about, whose it is, and where it applies."""

    subject: str | None = None
    owner: str | None = None
    author: str | None = None
    agent: str | None = None
    origin_system: str
    context: dict[str, str] = Field(default_factory=dict)


class ExchangePolicyRule(_ExchangePart):
    """Who may do what with an object."""

    principals: list[str]
    actions: list[str]
    resources: list[str] = Field(default_factory=lambda: ["*"])
    constraints: dict[str, Any] = Field(default_factory=dict)


class ExchangePolicy(_ExchangePart):
    """The rules of an object; if they are required, a receiver enforces all of them or none."""

    rules: list[ExchangePolicyRule] = Field(default_factory=list)
    required: bool = True


class ExchangeDerivation(_ExchangePart):
    """What an object was derived from."""

    activity: str
    used: list[str] = Field(default_factory=list)  # revision ids
    spans: list[str] = Field(default_factory=list)  # `<revision>#turn:3`, `<revision>#chars:0-9`
    agent: str | None = None
    at: str | None = None
    config_id: str | None = None
    unknown: bool = False


class ExchangeObject(_ExchangePart):
    """One revision of an object."""

    ref: ObjectReference
    revision_id: str = Field(min_length=1, max_length=500)
    predecessor: str | None = None
    role: ExchangeRole
    text: str | None = None
    media: dict[str, Any] | None = None
    scope: ExchangeScope
    policy: ExchangePolicy = Field(default_factory=ExchangePolicy)
    derivation: ExchangeDerivation | None = None
    recorded_at: str
    applies_from: str | None = None
    applies_until: str | None = None
    expires_at: str | None = None
    extensions: dict[str, Any] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The hash of the content, without who said it when."""
        return hashlib.sha256(f"{self.text or ''}|{self.media}".encode()).hexdigest()


class ExchangeEvent(_ExchangePart):
    """Something that happened to a revision."""

    event_id: str
    kind: LifecycleKind
    target: str
    actor: str
    effective_at: str
    reason: str | None = None
    replacement: str | None = None
    coverage: list[str] = Field(default_factory=list)


class ExchangeProfile(_ExchangePart):
    """A profile of the format."""

    name: str
    version: str
    required: bool = False


class ExchangeManifest(_ExchangePart):
    """What an exchange holds and what a receiver must support."""

    format_version: str = FORMAT_VERSION
    source_system: str
    exported_at: str
    exchange_id: str
    profiles: list[ExchangeProfile] = Field(default_factory=list)
    object_kinds: list[str] = Field(default_factory=list)
    scope_coverage: list[str] = Field(default_factory=list)
    complete_snapshot: bool = False
    required_extensions: list[str] = Field(default_factory=list)
    transfer_intent: Literal["copy", "move", "federate"] = "copy"
    notes: list[str] = Field(default_factory=list)


class MemoryExchange(_ExchangePart):
    """A manifest, objects and events."""

    manifest: ExchangeManifest
    objects: list[ExchangeObject] = Field(default_factory=list, max_length=MAX_OBJECTS)
    events: list[ExchangeEvent] = Field(default_factory=list, max_length=MAX_OBJECTS)


class ReceiptEntry(BaseModel):
    """What became of one object or event."""

    target: str
    kind: Literal["object", "event"] = "object"
    status: ReceiptStatus
    local_id: str | None = None
    reason: str | None = None
    transformations: list[str] = Field(default_factory=list)


class ExchangeReceipt(BaseModel):
    """What became of an exchange."""

    exchange_id: str
    receiver: str = "recollect"
    mode: Literal["preserve", "re_derive"] = "preserve"
    entries: list[ReceiptEntry] = Field(default_factory=list)
    conflicts: list[str] = Field(default_factory=list)
    retry: list[str] = Field(default_factory=list)  # what may be imported again later
    move_complete: bool | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many objects and events have each status."""
        counted: dict[str, int] = {}
        for entry in self.entries:
            counted[entry.status.value] = counted.get(entry.status.value, 0) + 1
        return counted
