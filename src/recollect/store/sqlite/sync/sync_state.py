"""
What a store knows about its syncing: its device, revisions, unsent changes and files.

All of it is in tables of the store, so it commits together with the rows it describes.
"""

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

import apsw

from recollect.domain.version_vector import with_next_revision
from recollect.lazy_dataclass import dataclass
from recollect.store.transfer.record_kinds import KINDS, ORDER


@dataclass(frozen=True)
class Device:
    """This store as a device of a shared folder."""

    device: str
    store_fingerprint: str  # the column `place`
    folder: str
    key_id: str
    clock: int = 0
    number: int = 0
    head: str = ""
    writing: int = 0
    synced_at: int = 0
    must_resend_all: bool = (
        False  # it was another device, and has not marked everything as unsent yet
    )
    former_devices: str = (
        ""  # the devices that it was and whose files it deletes, separated by spaces
    )
    replaced_key_ids: str = ""  # ids of keys of the folder that were replaced, separated by spaces


@dataclass(frozen=True)
class KnownRevision:
    """The revision of a record that is in the store."""

    vector: Mapping[str, int]
    clock: int
    origin: str


@dataclass(frozen=True)
class UnsentChange:
    """A record that changed here since it was published."""

    kind: str
    id: str
    times: int  # how often since it was published


class SyncState:
    """The tables of sync, within the transaction of a connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def device(self) -> Device | None:
        """Return this device, None if sync is not set up."""
        sql = """SELECT device, place, folder, key_id, clock, number, head, writing, synced_at,
                        must_resend_all, former_devices, replaced_key_ids
                   FROM sync_device"""
        row = self._db.execute(sql).fetchone()
        return None if row is None else Device(*row)

    def set_device(self, device: Device) -> None:
        """Store this device."""
        sql = """INSERT OR REPLACE INTO sync_device
                 (id, device, place, folder, key_id, clock, number, head, writing, synced_at,
                  must_resend_all, former_devices, replaced_key_ids)
                 VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
        self._db.execute(
            sql,
            (
                *(device.device, device.store_fingerprint, device.folder, device.key_id),
                *(device.clock, device.number, device.head, device.writing, device.synced_at),
                *(int(device.must_resend_all), device.former_devices, device.replaced_key_ids),
            ),
        )

    def replace_device(self, device: Device) -> None:
        """Store that this store is another device now, which has written no files yet."""
        self.set_device(device)
        self._db.execute("DELETE FROM sync_contents")  # they are those of the former device id

    def forget_former_device(self, name: str) -> None:
        """Record that the files of a former device id were deleted."""
        device = self.device()
        assert device is not None
        others = [device_id for device_id in device.former_devices.split() if device_id != name]
        self.set_device(replace(device, former_devices=" ".join(others)))

    def tick(self, now: int) -> int:
        """Return the next time of the hybrid logical clock: later than any that was seen."""
        sql = "UPDATE sync_device SET clock = max(:now, clock + 1) RETURNING clock"
        return int(self._db.execute(sql, {"now": now}).get)

    def see_clock(self, clock: int) -> None:
        """Take note of a time of another device."""
        self._db.execute("UPDATE sync_device SET clock = max(clock, ?)", (clock,))

    def begin_file(self, number: int) -> None:
        """Record that a file is being written: if this process is killed, it is still ours."""
        self._db.execute("UPDATE sync_device SET writing = ?", (number,))

    def end_file(self, number: int, sha256: str) -> None:
        """Record that a file was written."""
        sql = "UPDATE sync_device SET number = ?, head = ?, writing = 0"
        self._db.execute(sql, (number, sha256))

    def set_synced(self, at: int, problems: Iterable[str]) -> None:
        """Record when the last sync ended, and what it could not read or store."""
        self._db.execute("UPDATE sync_device SET synced_at = ?", (at,))
        self.set_problems(problems)

    def set_problems(self, problems: Iterable[str]) -> None:
        """Record what the last sync could not do; this replaces what an earlier one recorded."""
        self._db.execute("DELETE FROM sync_problems")
        sql = "INSERT INTO sync_problems (problem) VALUES (?)"
        self._db.executemany(sql, [(problem,) for problem in problems])

    def problems(self) -> list[str]:
        """Return what the last sync could not read or store."""
        sql = "SELECT problem FROM sync_problems ORDER BY position"
        return [str(problem) for (problem,) in self._db.execute(sql)]

    def reset_sent_and_read(self) -> None:
        """Mark every record as unsent, and forget which files were read and written."""
        self._db.execute("UPDATE sync_device SET must_resend_all = 0")
        for table in ("sync_files", "sync_contents"):
            self._db.execute(f"DELETE FROM {table}")
        for kind, layout in KINDS.items():
            listed = " || ' ' || ".join(f'"{column}"' for column in layout.keys)
            self._db.execute(
                f"""INSERT OR IGNORE INTO sync_changes (kind, id, times, redacted)
                    SELECT '{kind}', {listed}, 1, 0 FROM {kind}"""
            )
        self._db.execute(
            """INSERT OR IGNORE INTO sync_changes (kind, id, times, redacted)
               SELECT 'aliases', kind || ' ' || id, 1, 0 FROM sync_aliases"""
        )

    def revision(self, kind: str, record_id: str) -> KnownRevision | None:
        """Return the revision of a record that is here."""
        sql = "SELECT vector, clock, origin FROM sync_records WHERE kind = ? AND id = ?"
        row = self._db.execute(sql, (kind, record_id)).fetchone()
        return None if row is None else KnownRevision(json.loads(row[0]), row[1], row[2])

    def set_revision(self, kind: str, record_id: str, revision: KnownRevision) -> None:
        """Store which revision of a record is here."""
        vector = json.dumps(revision.vector, separators=(",", ":"))
        sql = "INSERT OR REPLACE INTO sync_records VALUES (?, ?, ?, ?, ?)"
        self._db.execute(sql, (kind, record_id, vector, revision.clock, revision.origin))

    def next_revision(self, kind: str, record_id: str, device: str, now: int) -> KnownRevision:
        """
        Store and return the next revision of a record by this device.

        It has a new time, unless it is a merge: that has the time of the later revision.
        """
        stored = self.revision(kind, record_id) or KnownRevision({}, 0, device)
        vector = with_next_revision(stored.vector, device)
        clock = stored.clock if self._is_merge(kind, record_id) else self.tick(now)
        revision = replace(stored, vector=vector, clock=clock)
        self.set_revision(kind, record_id, revision)
        return revision

    def is_changed(self, kind: str, record_id: str) -> bool:
        """Return whether a record has a change that was not published."""
        sql = "SELECT 1 FROM sync_changes WHERE kind = ? AND id = ? AND times > 0"
        return self._db.execute(sql, (kind, record_id)).get is not None

    def unsent(self, limit: int) -> list[UnsentChange]:
        """Return changes that were not published, parents before children."""
        changes: list[UnsentChange] = []
        for kind in ORDER:
            sql = """SELECT kind, id, times FROM sync_changes
                      WHERE kind = ? AND times > 0 ORDER BY id LIMIT ?"""
            rows = self._db.execute(sql, (kind, limit - len(changes)))
            changes += [UnsentChange(*row) for row in rows]
            if len(changes) == limit:
                break
        return changes

    def count_unsent(self) -> int:
        """Return how many records have changes that were not published."""
        return int(self._db.execute("SELECT count(*) FROM sync_changes WHERE times > 0").get)

    def mark_unsent(self, kind: str, record_id: str) -> None:
        """Mark a record as changed here."""
        self._db.execute(
            """INSERT INTO sync_changes (kind, id, times, redacted) VALUES (?, ?, 1, 0)
               ON CONFLICT (kind, id) DO UPDATE SET times = times + 1""",
            (kind, record_id),
        )

    def mark_merged(self, kind: str, record_id: str) -> None:
        """Mark a record as changed here by a merge, which every change before is part of."""
        self._db.execute(
            """INSERT INTO sync_changes (kind, id, times, redacted, merged) VALUES (?, ?, 1, 0, 1)
               ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, merged = times + 1""",
            (kind, record_id),
        )

    def _is_merge(self, kind: str, record_id: str) -> bool:
        """Return whether a record was changed here by a merge, and by nothing since."""
        sql = (
            "SELECT 1 FROM sync_changes WHERE kind = ? AND id = ? AND times > 0 AND merged = times"
        )
        return self._db.execute(sql, (kind, record_id)).get is not None

    def mark_redacted(self, kind: str, record_id: str) -> None:
        """Mark a changed record: files that hold its old text must be rewritten."""
        sql = "UPDATE sync_changes SET redacted = 1 WHERE kind = ? AND id = ?"
        self._db.execute(sql, (kind, record_id))

    def clear_change(self, kind: str, record_id: str) -> None:
        """
        Note that a record need not be published, because another device did.

        If text of it was deleted here, it is published all the same: the files of this device that
        hold the text are rewritten, and must hold the record as it is now.
        """
        sql = "DELETE FROM sync_changes WHERE kind = ? AND id = ? AND NOT redacted"
        self._db.execute(sql, (kind, record_id))

    def clear_sent(self, changes: Iterable[UnsentChange]) -> None:
        """Mark changes as published that were not made again since."""
        sql = """UPDATE sync_changes SET times = 0, merged = 0
                  WHERE kind = ? AND id = ? AND times = ?"""
        self._db.executemany(sql, [(change.kind, change.id, change.times) for change in changes])
        self._delete_settled()

    def redacted(self) -> list[tuple[str, str]]:
        """Return the records whose old text must be removed from the files of this device."""
        sql = "SELECT kind, id FROM sync_changes WHERE redacted AND times = 0 ORDER BY kind, id"
        return [(str(kind), str(record_id)) for kind, record_id in self._db.execute(sql)]

    def clear_redacted(self, records: Iterable[tuple[str, str]]) -> None:
        """Record that no file holds the old text of some records any more."""
        sql = "UPDATE sync_changes SET redacted = 0 WHERE kind = ? AND id = ? AND times = 0"
        self._db.executemany(sql, records)
        self._delete_settled()

    def _delete_settled(self) -> None:
        self._db.execute("DELETE FROM sync_changes WHERE times = 0 AND NOT redacted")

    def aliases(self) -> dict[str, str]:
        """Return the ids that are replaced by others."""
        rows = self._db.execute("SELECT id, main_id FROM sync_aliases")
        main_ids = {str(old): str(new) for old, new in rows}
        for old in main_ids:
            while main_ids[old] in main_ids:
                main_ids[old] = main_ids[main_ids[old]]
        return main_ids

    def add_alias(self, kind: str, record_id: str, main_id: str) -> bool:
        """
        Store that a record has a smaller id on another device; the smallest counts.

        Return whether that is new.
        """
        sql = """INSERT INTO sync_aliases VALUES (?, ?, ?)
                 ON CONFLICT (kind, id) DO UPDATE SET main_id = excluded.main_id
                  WHERE excluded.main_id < main_id"""
        self._db.execute(sql, (kind, record_id, main_id))
        return self._db.changes() > 0

    def alias(self, kind: str, record_id: str) -> str | None:
        """Return the id by which a record is known, None if it has no other."""
        sql = "SELECT main_id FROM sync_aliases WHERE kind = ? AND id = ?"
        return self._db.execute(sql, (kind, record_id)).get  # type: ignore[no-any-return]

    def files(self, device: str) -> dict[int, str]:
        """Return the hashes of a device's files that were read or written here, by number."""
        sql = "SELECT number, sha256 FROM sync_files WHERE device = ? ORDER BY number"
        return dict(self._db.execute(sql, (device,)))

    def add_file(self, device: str, number: int, sha256: str) -> None:
        """Record that a file was read or written completely."""
        sql = "INSERT OR REPLACE INTO sync_files VALUES (?, ?, ?)"
        self._db.execute(sql, (device, number, sha256))

    def add_contents(self, number: int, records: Iterable[tuple[str, str]]) -> None:
        """Record which records a file of this device holds."""
        sql = "INSERT OR IGNORE INTO sync_contents (kind, id, number) VALUES (?, ?, ?)"
        self._db.executemany(sql, [(kind, record_id, number) for kind, record_id in records])

    def files_with(self, kind: str, record_id: str) -> list[int]:
        """Return the files of this device that hold a record."""
        sql = "SELECT number FROM sync_contents WHERE kind = ? AND id = ?"
        return [row[0] for row in self._db.execute(sql, (kind, record_id))]

    def has_contents(self, number: int) -> bool:
        """Return whether a file of this device holds records."""
        sql = "SELECT 1 FROM sync_contents WHERE number = ? LIMIT 1"
        return self._db.execute(sql, (number,)).get is not None

    def numbers_with_contents(self) -> set[int]:
        """Return the files of this device that hold records."""
        return {row[0] for row in self._db.execute("SELECT DISTINCT number FROM sync_contents")}

    def records_in(self, numbers: Set[int]) -> list[tuple[str, str]]:
        """Return the records that some files of this device hold, parents first."""
        sql = """SELECT DISTINCT kind, id FROM sync_contents
                  WHERE number IN (SELECT value FROM json_each(?)) ORDER BY kind, id"""
        rows = self._db.execute(sql, (json.dumps(sorted(numbers)),))
        records = [(str(kind), str(record_id)) for kind, record_id in rows]
        return sorted(records, key=lambda record: ORDER[record[0]])

    def remove_contents(self, number: int) -> None:
        """Forget what a file of this device held, which is gone."""
        self._db.execute("DELETE FROM sync_contents WHERE number = ?", (number,))

    def rename(self, kind: str, record_id: str, main_id: str) -> None:
        """Keep the notes about a record under another id."""
        for table in ("sync_records", "sync_changes", "sync_contents"):
            sql = f"UPDATE OR IGNORE {table} SET id = ? WHERE kind = ? AND id = ?"
            self._db.execute(sql, (main_id, kind, record_id))
            sql = f"DELETE FROM {table} WHERE kind = ? AND id = ?"
            self._db.execute(sql, (kind, record_id))
        # The id of what an agent has contains the id of the agent.
        for table in ("sync_records", "sync_changes", "sync_contents"):
            sql = f"""UPDATE OR IGNORE {table} SET id = replace(id, :old, :new)
                       WHERE kind IN ('agent_blocks', 'agent_skills') AND instr(id, :old)"""
            self._db.execute(sql, {"old": record_id, "new": main_id})

    def is_deleted(self, kind: str, record_id: str) -> bool:
        """Return whether a person deleted this record on any device."""
        deleted_as = KINDS[kind].deleted_as
        if deleted_as is None:
            return False
        sql = "SELECT 1 FROM tombstones WHERE kind = ? AND id = ?"
        return self._db.execute(sql, (deleted_as.value, record_id)).get is not None
