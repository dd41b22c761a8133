"""
Apply revisions of other devices to the store.

Theory of operation. A revision is the whole record with its version vector. If it includes what is
here, it replaces it. If it is included, nothing happens. Otherwise both were made without knowledge
of each other, and record_merge.py makes one of them; the result is marked as changed, so this
device publishes it as a revision that includes both. So the order, the repetition and the delay of
files do not matter: in the end every device has the same revisions, or merges the same two.

A record is left out if a person deleted it, or what it belongs to, on any device. It waits if it
refers to something that has not arrived, or if it got the name of another record that is here: that
one may get another name by a revision that follows.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from recollect.clock import Clock, to_micros
from recollect.domain.sync_report import record_name
from recollect.domain.version_vector import VersionVector, includes, join
from recollect.lazy_dataclass import dataclass
from recollect.store.open_tables import OpenTables
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.sqlite.sync.collision_rules import CollisionRules
from recollect.store.sqlite.sync.kept_versions import (
    NAMESPACE_TEXT,
    display_name,
    is_kept_version,
    version_record,
)
from recollect.store.sqlite.sync.received_deletions import request_erasure
from recollect.store.sqlite.sync.record_index import RecordIndex
from recollect.store.sqlite.sync.record_merge import loses_text, lost_values, merge_rows
from recollect.store.sqlite.sync.record_rows import RecordRows, Rows
from recollect.store.sqlite.sync.reference_check import ReferenceCheck
from recollect.store.sqlite.sync.rename_record import records_naming, rename_record
from recollect.store.sqlite.sync.sync_state import KnownRevision, SyncState
from recollect.store.transfer.record_kinds import ALIASES

Tables = OpenTables[SqliteConnection]


class RevisionOutcome(StrEnum):
    """What became of a revision."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    LEFT_OUT = "left out"  # it, or what it belongs to, was deleted
    WAITING = "waiting"  # it refers to something that is not here yet, or needs a name in use


@dataclass(frozen=True, kw_only=True)
class Revision:
    """A record as a device published it; without rows it was deleted there."""

    kind: str
    id: str
    vector: VersionVector
    clock: int
    origin: str
    rows: Rows | None


class RevisionApplier:
    """Applies revisions within one transaction."""

    def __init__(self, tables: Tables, clock: Clock, *, settles_names: bool = False) -> None:
        """*settles_names* if nothing else arrives that could free a name that is in use."""
        self._tables = tables
        self._db = tables.connection.db
        self._clock = clock
        self._settles_names = settles_names
        self._state = SyncState(self._db)
        self._rows = RecordRows(self._db)
        self._index = RecordIndex(tables)
        self._aliases = self._state.aliases()
        device = self._state.device()
        assert device is not None  # or there is nothing to apply
        self._device = device.device
        self.received: Counter[str] = Counter()
        self._conflicts: list[str] = []
        self._references = ReferenceCheck(self._db, self._rows, self._state, clock)
        self._collisions = CollisionRules(tables, self._rows, self._state)

    def apply(self, revision: Revision) -> RevisionOutcome:
        """Apply a revision, as far as it says something new."""
        self._state.see_clock(revision.clock)
        if revision.kind == ALIASES:
            return self._apply_alias(revision)
        is_alias = revision.id in self._aliases
        published, published_id = revision, revision.id
        revision = self._with_known_ids(revision)
        kind, record_id = revision.kind, revision.id
        # Other devices may know it by a third id: what was not published under this one will be.
        is_renamed = record_id != published_id
        if self._state.is_deleted(kind, record_id):
            return RevisionOutcome.LEFT_OUT
        stored = self._state.revision(kind, record_id)
        if stored and not is_alias and includes(stored.vector, revision.vector):
            return RevisionOutcome.UNCHANGED
        if revision.rows is None:
            return self._apply_removal(revision, stored)
        rows, is_missing = self._references.check(kind, revision.rows)
        if rows is None and is_missing:
            return RevisionOutcome.WAITING
        if rows is None:
            # What belongs to this record must not wait for it.
            self._store_revision(
                revision, join(stored.vector if stored else {}, revision.vector), stored
            )
            return RevisionOutcome.LEFT_OUT
        local = self._rows.read(kind, record_id)
        other_id = self._record_of_same_name(kind, rows, is_present=local is not None)
        if other_id is not None:
            if local is not None and not self._settles_names:
                return RevisionOutcome.WAITING
            if kind == "repos":
                rows = self._collisions.with_repo_name(rows, other_id)
            if _has_no_own_name(kind, rows, revision.rows):
                if local is None:
                    return self._merge_duplicate_record(replace(revision, rows=rows), other_id)
                if kind != "agents":  # two agents with a history each stay two: collision_rules.py
                    main_id, alias = sorted((record_id, other_id))
                    self._unite(kind, alias, main_id)
                    return self.apply(published)
        is_adjusted = rows != revision.rows
        is_changed = self._state.is_changed(kind, record_id)
        is_newer = stored is None or includes(revision.vector, stored.vector)
        if local is None:
            takes_over = is_newer and not is_changed and not is_renamed
            self._write(replace(revision, rows=rows), None, stored, is_unsent=not takes_over)
        elif _have_same_content(local, rows):
            vector = join(stored.vector if stored else {}, revision.vector)
            self._store_revision(revision, vector, stored)
            if not is_renamed:
                self._state.clear_change(kind, record_id)
            return RevisionOutcome.UNCHANGED
        elif is_newer and not is_changed and stored is not None:
            is_unsent = is_adjusted or is_renamed
            self._write(replace(revision, rows=rows), local, stored, is_unsent=is_unsent)
        else:
            self._merge(replace(revision, rows=rows), local, stored, is_renamed=is_renamed)
        self.received[kind] += 1
        return RevisionOutcome.CHANGED

    @property
    def to_forget(self) -> list[str]:
        """The memories whose last quote was forgotten on another device."""
        return self._references.to_forget

    @property
    def conflicts(self) -> list[str]:
        """Lines for the person: what was decided, and what waits."""
        return [*self._conflicts, *self._collisions.conflicts]

    def finish(self) -> None:
        """Index what was added."""
        self._index.add_new()

    def _apply_removal(self, revision: Revision, stored: KnownRevision | None) -> RevisionOutcome:
        kind, record_id = revision.kind, revision.id
        vector = join(stored.vector if stored else {}, revision.vector)
        if not self._rows.exists(kind, record_id):
            self._store_revision(revision, vector, stored)
            self._state.clear_change(kind, record_id)
            return RevisionOutcome.UNCHANGED
        is_newer = stored is not None and includes(revision.vector, stored.vector)
        if is_newer and not self._state.is_changed(kind, record_id):
            old = self._index.item(kind, record_id)
            self._rows.delete(kind, record_id)
            self._index.remove(record_id, old)
            self._store_revision(revision, vector, stored)
            self._state.clear_change(kind, record_id)
            self.received[kind] += 1
            return RevisionOutcome.CHANGED
        self._store_revision(revision, vector, stored)  # changed here meanwhile: it stays
        self._state.mark_unsent(kind, record_id)
        return RevisionOutcome.UNCHANGED

    def _merge(
        self,
        revision: Revision,
        local: Rows,
        stored: KnownRevision | None,
        *,
        is_renamed: bool = False,
    ) -> None:
        kind, record_id = revision.kind, revision.id
        assert revision.rows is not None
        if stored is None or self._state.is_changed(kind, record_id):
            now = to_micros(self._clock.now())
            stored = self._state.next_revision(kind, record_id, self._device, now)
        ours = (stored.clock, _canonical_text(local), local)
        theirs = (revision.clock, _canonical_text(revision.rows), revision.rows)
        earlier, later = sorted((ours, theirs), key=lambda side: side[:2])
        merged = merge_rows(kind, later[2], earlier[2])
        for clock, _, side in (later, earlier):
            self._keep_version(kind, record_id, merged, side, clock)
        if kind == "memories" and merged["memories"][0]["status"] not in (
            later[2]["memories"][0]["status"],
            earlier[2]["memories"][0]["status"],
        ):
            reason = merged["memory_changes"][-1]["reason"]
            self._conflicts.append(f"memory {record_id}: {reason}; it waits in the inbox")
        if kind == "blocks" and len(merged["block_proposals"]) > max(
            len(later[2]["block_proposals"]), len(earlier[2]["block_proposals"])
        ):
            self._conflicts.append(
                f"block {merged['blocks'][0]['label']}: edited on two devices; the other text "
                "waits as a proposal (recollect inbox)"
            )
        united = replace(
            revision,
            rows=merged,
            vector=join(stored.vector, revision.vector),
            clock=max(stored.clock, revision.clock),
        )
        is_unsent = is_renamed or not _have_same_content(merged, revision.rows)
        self._write(united, local, stored, is_unsent=is_unsent)

    def _keep_version(
        self, kind: str, record_id: str, merged: Rows, side: Rows, clock: int
    ) -> None:
        """Keep the values of one side that the merged record does not have."""
        row = merged[kind][0]
        values = lost_values(kind, merged, side)
        if not values or is_kept_version(kind, row):
            return
        version = version_record(kind, record_id, row, values, clock)
        version_id = version["documents"][0]["id"]
        if not self._state.is_deleted("documents", version_id):
            self._rows.write("documents", version)
        self._conflicts.append(
            f"{record_name(kind)} {display_name(row)}: the change that was synced later counts; "
            "the other is in `recollect sync versions`"
        )

    def _write(
        self,
        revision: Revision,
        local: Rows | None,
        stored: KnownRevision | None,
        *,
        is_unsent: bool,
    ) -> None:
        """Store the rows of a revision, and whether this device has to publish them."""
        kind, record_id = revision.kind, revision.id
        assert revision.rows is not None
        rows = self._collisions.resolve(kind, revision.rows, revision.origin)
        is_unsent = is_unsent or rows is None or not _have_same_content(rows, revision.rows)
        if rows is not None:
            old = self._index.item(kind, record_id)
            self._rows.write(kind, rows)
            self._index.update(kind, record_id, old)
            if local is not None and loses_text(kind, local, rows):
                request_erasure(self._tables, self._clock)
            if kind == "sources":
                self._references.check_quotes(record_id)
            if kind == "memory_links":
                self._collisions.note_replacement(rows[kind][0], revision.origin)
            if kind in ("memories", "memory_links"):
                self._collisions.link_rivals()
        self._store_revision(
            revision, join(stored.vector if stored else {}, revision.vector), stored
        )
        if is_unsent:
            self._state.mark_merged(kind, record_id)
        else:
            self._state.clear_change(kind, record_id)

    def _store_revision(
        self, revision: Revision, vector: VersionVector, stored: KnownRevision | None
    ) -> None:
        clock = max(revision.clock, stored.clock if stored else 0)
        noted = KnownRevision(vector, clock, revision.origin)
        self._state.set_revision(revision.kind, revision.id, noted)

    def _with_known_ids(self, revision: Revision) -> Revision:
        if not self._aliases or revision.kind == "tombstones":
            return revision  # a tombstone keeps its id: see received_deletions.py
        aliases = self._aliases
        rows = revision.rows and {
            table: [
                {
                    name: aliases.get(value, value) if _names_record(name) else value
                    for name, value in row.items()
                }
                for row in part
            ]
            for table, part in revision.rows.items()
        }
        record_id = " ".join(aliases.get(part, part) for part in revision.id.split(" "))
        return replace(revision, id=record_id, rows=rows)

    def _merge_duplicate_record(self, revision: Revision, other_id: str) -> RevisionOutcome:
        """Give the record of another device and the same one here the smaller of their ids."""
        kind = revision.kind
        main_id, alias = sorted((revision.id, other_id))
        is_renamed = main_id != revision.id
        if main_id == revision.id:
            self._rename(kind, other_id, main_id)
        else:
            self._add_alias(kind, alias, main_id)
        assert revision.rows is not None
        revision = self._with_known_ids(revision)
        local = self._rows.read(kind, main_id)
        assert local is not None
        assert revision.rows is not None
        if _have_same_content(local, revision.rows):
            stored = self._state.revision(kind, main_id)
            self._store_revision(
                revision, join(stored.vector if stored else {}, revision.vector), stored
            )
        else:
            stored = self._state.revision(kind, main_id)
            self._merge(revision, local, stored, is_renamed=is_renamed)
        self.received[kind] += 1
        return RevisionOutcome.CHANGED

    def _apply_alias(self, revision: Revision) -> RevisionOutcome:
        if revision.rows is None:
            return RevisionOutcome.UNCHANGED
        row = revision.rows[ALIASES][0]
        kind, alias = str(row["kind"]), str(row["id"])
        main_id = self._aliases.get(str(row["main_id"]), str(row["main_id"]))
        if self._aliases.get(alias) == main_id:
            return RevisionOutcome.UNCHANGED
        if self._rows.exists(kind, alias):
            self._unite(kind, alias, main_id)
        else:
            self._add_alias(kind, alias, main_id)
        return RevisionOutcome.CHANGED

    def _record_of_same_name(self, kind: str, rows: Rows, *, is_present: bool) -> str | None:
        """Return another record that is the same by its name, or has the name that this one got."""
        if kind in ("tombstones", "views") or (is_present and kind == "blocks"):
            return None  # blocks may have one label; one of them is attached
        return self._rows.with_natural_key(kind, rows[kind][0])

    def _unite(self, kind: str, alias: str, main_id: str) -> None:
        """Give a record that is here another id, under which there may be one already."""
        old = self._rows.read(kind, alias) if self._rows.exists(kind, main_id) else None
        former_clock = self._clock_of(kind, alias)
        is_main_changed = self._state.is_changed(kind, main_id)
        self._rename(kind, alias, main_id)
        if old is None:
            return
        request_erasure(self._tables, self._clock)  # its row may be the last one with these words
        if not is_main_changed:
            self._state.clear_change(kind, main_id)  # it was a change of the other one
        stored = self._state.revision(kind, main_id)
        local = self._rows.read(kind, main_id)
        assert local is not None
        other = Revision(
            kind=kind,
            id=alias,
            vector={},
            clock=former_clock,
            origin=stored.origin if stored else self._device,
            rows=old,
        )
        self._merge(self._with_known_ids(other), local, stored)
        self._state.mark_merged(kind, main_id)

    def _clock_of(self, kind: str, record_id: str) -> int:
        """Return the time of a record as it is here: of its revision, or now if it was changed."""
        stored = self._state.revision(kind, record_id)
        if stored is None or self._state.is_changed(kind, record_id):
            return self._state.tick(to_micros(self._clock.now()))
        return stored.clock

    def _rename(self, kind: str, record_id: str, main_id: str) -> None:
        self.finish()  # what is not indexed yet would be indexed under its old owner
        self._collisions.make_room(kind, record_id, main_id)
        rename_record(self._db, self._tables.word_index, kind, record_id, main_id)
        self._state.rename(kind, record_id, main_id)
        self._add_alias(kind, record_id, main_id)
        self._collisions.link_rivals()

    def _add_alias(self, kind: str, alias: str, main_id: str) -> None:
        former_id = self._aliases.get(alias)
        if not self._state.add_alias(kind, alias, main_id):
            return  # this device knows a smaller one, and has published it
        if former_id not in (None, main_id):
            # Two devices took it for two records. What belongs to it is with the former one here,
            # and with the other one elsewhere, until this device says where it is.
            for named_in, record_id in records_naming(self._db, kind, str(former_id)):
                self._state.mark_unsent(named_in, record_id)
        sql = """UPDATE documents SET body = json_set(body, '$.id', :main_id)
                  WHERE namespace = :namespace AND body ->> '$.kind' = :kind
                    AND body ->> '$.id' = :alias"""
        names = {"kind": kind, "alias": alias, "main_id": main_id, "namespace": NAMESPACE_TEXT}
        self._db.execute(sql, names)
        self._state.mark_unsent(ALIASES, f"{kind} {alias}")
        self._aliases = self._state.aliases()


def _has_no_own_name(kind: str, rows: Rows, received: Rows) -> bool:
    """Return whether a record is the same as the other one; a repo may have got another name."""
    return kind != "repos" or rows[kind][0]["name"] == received[kind][0]["name"]


def _names_record(column: str) -> bool:
    return column == "id" or column.endswith("_id")


def _have_same_content(rows: Rows, other: Rows) -> bool:
    return _canonical_text(rows) == _canonical_text(other)


def _canonical_text(rows: Rows) -> str:
    """Return the rows as text that is the same for the same content."""
    ordered = {table: sorted(map(_row_text, part)) for table, part in rows.items()}
    return json.dumps(ordered, sort_keys=True)


def _row_text(row: Mapping[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, ensure_ascii=False)
