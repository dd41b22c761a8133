"""What a sync did, and the state of the devices of a shared folder."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from recollect.lazy_dataclass import dataclass

# What a person calls a record of each kind: one, and several.
_RECORD_NAMES: Mapping[str, tuple[str, str]] = {
    "aliases": ("merged duplicate", "merged duplicates"),
    "tombstones": ("deletion", "deletions"),
    "project_links": ("linked project", "linked projects"),
    "agent_blocks": ("attached block", "attached blocks"),
    "agent_skills": ("loaded skill", "loaded skills"),
    "summaries": ("summary", "summaries"),
    "memories": ("memory", "memories"),
    "memory_links": ("link", "links"),
}


def record_name(kind: str, count: int = 1) -> str:
    """Return what a person calls *count* records of a kind."""
    singular, plural = _RECORD_NAMES.get(kind, (kind.removesuffix("s"), kind))
    return singular if count == 1 else plural


@dataclass(frozen=True, kw_only=True)
class SyncSetup:
    """The result of `recollect sync init` and `recollect sync rekey`."""

    folder: str
    device: str
    key_id: str
    key_place: str
    is_new_folder: bool
    recovery_key: str = ""  # shown once, when the folder or its key is new


@dataclass(frozen=True, kw_only=True)
class SyncReport:
    """The result of one sync."""

    received: Mapping[str, int] = field(default_factory=dict)  # records that changed here, by kind
    sent: Mapping[str, int] = field(default_factory=dict)
    forgotten: int = 0  # deleted here, because another device deleted it
    files_read: int = 0
    files_written: int = 0
    files_rewritten: int = 0  # without what was forgotten
    files_resent: int = 0  # that somebody had deleted from the folder
    waiting: tuple[str, ...] = ()  # files that could not be read completely, and why
    conflicts: tuple[str, ...] = ()  # for the person: what was decided, and what waits


@dataclass(frozen=True, kw_only=True)
class SyncPeer:
    """A device of the folder."""

    device: str
    is_this: bool
    files: int
    last_number: int
    unread: int  # of its files, by this device
    bytes: int
    written_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SyncStatus:
    """The state of this store and its folder."""

    is_set_up: bool
    folder: str = ""
    device: str = ""
    key_id: str = ""
    unsent: int = 0  # records that changed here since the last sync
    versions: int = 0  # values that lost against another device; see `KeptVersion`
    synced_at: datetime | None = None
    peers: tuple[SyncPeer, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KeptVersion:
    """Values of a record that lost against those of another device."""

    id: str
    kind: str  # the table of the record
    record_id: str
    name: str
    values: Mapping[str, Any]  # by column
    current: Mapping[str, Any]  # what the record has now; empty if it was deleted
    kept_at: datetime
