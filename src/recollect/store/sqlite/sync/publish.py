"""
Write what changed here to the folder of this device, and rewrite files that hold forgotten text,
or that somebody deleted.

In this order, so that a kill at any moment loses nothing and repeats no number: the new revisions
are noted in the store, the file is written, the changes are noted as sent. A file that was written
before a kill is ours if its number is noted; its records are published again under later revisions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from functools import partial

from recollect.clock import Clock, to_micros
from recollect.errors import ImportRefused, InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from recollect.store.sqlite.sync.apply_revision import Revision
from recollect.store.sqlite.sync.record_merge import FORGOTTEN_MARKS
from recollect.store.sqlite.sync.record_rows import RecordRows, Rows
from recollect.store.sqlite.sync.sync_folder import (
    FileHead,
    FolderFile,
    SharedFolder,
    parse_head,
    parse_revision,
    revision_line,
)
from recollect.store.sqlite.sync.sync_state import (
    Device,
    KnownRevision,
    SyncState,
    UnsentChange,
)
from recollect.store.transfer.record_kinds import ALIASES, FIRST_KINDS, KINDS

RECORDS_PER_FILE = 2_000
_MARKS = tuple(mark.encode() for mark in FORGOTTEN_MARKS)


@dataclass
class Published:
    """What was written."""

    sent: Counter[str] = field(default_factory=Counter)
    files: int = 0
    rewritten: int = 0
    restored: int = 0  # that somebody deleted


@dataclass(frozen=True)
class _Batch:
    """The revisions of one file, noted in the store and not written yet."""

    head: FileHead
    changes: list[UnsentChange]
    lines: list[bytes] = field(default_factory=list)
    records: list[tuple[str, str]] = field(default_factory=list)


class Publisher:
    """Writes the files of this device."""

    def __init__(self, store: SqliteStore, folder: SharedFolder, clock: Clock) -> None:
        self._store = store
        self._folder = folder
        self._clock = clock
        self.published = Published()

    def adopt_own_files(self) -> bool:
        """
        Take over files of this device that were written before a kill.

        Return False if the folder has files that this store did not write: it was restored from a
        backup, or copied, and must be a device of its own.
        """
        device = self._device()
        for file in self._folder.files(device.device):
            if file.number <= device.number:
                continue
            if file.number != device.writing:
                return False
            self._adopt(file)
            device = self._device()
        present = self._folder.files(device.device)
        newest = [file for file in present if file.number == device.number]
        if device.number and not newest:
            return False  # the folder was emptied, or is another one
        if newest and newest[0].sha256() != device.head:
            return False  # another store writes as this device, or the file was damaged
        with self._store.read() as tables:
            state = SyncState(tables.connection.db)
            written = state.files(device.device)
            replaced = [
                file
                for file in present
                if file.number in written and not state.has_contents(file.number)
            ]
        for file in replaced:
            if file.number != device.number:
                self._folder.remove(file)
        return True

    def publish(self) -> None:
        """Write every unsent change, and rewrite files that hold what was deleted."""
        self._replace_lost_files()
        while (batch := self._store.write(self._prepare)).changes:
            sha256 = self._folder.write(batch.head, batch.lines) if batch.lines else ""
            self._store.write(partial(_finish, batch=batch, sha256=sha256))
            self.published.files += bool(batch.lines)
        with self._store.read() as tables:
            redacted = SyncState(tables.connection.db).redacted()
        if redacted:
            self._rewrite_redacted(redacted)
            self._store.write(
                lambda tables: SyncState(tables.connection.db).clear_redacted(redacted)
            )

    def encrypt_anew(self) -> None:
        """Rewrite all files of this device, because the folder has another key."""
        self._replace_unreadable_files(self._folder.files(self._device().device))
        device = self._device()
        self._rewrite_files(device, self._folder.files(device.device), {})

        def note(tables: SqliteTables) -> None:
            state = SyncState(tables.connection.db)
            device = _require(state)
            replaced_key_ids = f"{device.replaced_key_ids} {device.key_id}".strip()
            key_id = self._folder.key_id
            state.set_device(replace(device, key_id=key_id, replaced_key_ids=replaced_key_ids))

        self._store.write(note)

    def _replace_lost_files(self) -> None:
        """
        Write one file in place of those that somebody deleted from the folder.

        The lines carry the revisions already published, so devices that have read them change
        nothing. Records that another file also holds are included: it may hold an earlier revision.
        """
        device = self._device()
        present = {file.number for file in self._folder.files(device.device)}
        with self._store.read() as tables:
            lost = SyncState(tables.connection.db).numbers_with_contents() - present
        if not lost:
            return
        records: list[tuple[str, str]] = []

        def lines() -> Iterator[bytes]:
            with self._store.read() as tables:
                db = tables.connection.db
                state, rows = SyncState(db), RecordRows(db)
                for kind, record_id in state.records_in(lost):
                    stored = state.revision(kind, record_id)
                    is_deleted = kind != ALIASES and state.is_deleted(kind, record_id)
                    if stored is None or is_deleted or state.is_changed(kind, record_id):
                        continue  # a tombstone says so, or it is published as it is now
                    records.append((kind, record_id))
                    yield _line_of(
                        stored, kind, record_id, _read_record(state, rows, kind, record_id)
                    )

        self._write_replacement_file(lost, device, lines(), records)
        self.published.restored += len(lost)

    def _prepare(self, tables: SqliteTables) -> _Batch:
        """Give each unsent change its revision, and return the lines of a file."""
        db = tables.connection.db
        state, rows = SyncState(db), RecordRows(db)
        device = _require(state)
        batch = _Batch(self._next_head(device), state.unsent(RECORDS_PER_FILE))
        now = to_micros(self._clock.now())
        for change in batch.changes:
            is_deleted = change.kind != ALIASES and state.is_deleted(change.kind, change.id)
            record = None if is_deleted else _read_record(state, rows, change.kind, change.id)
            if is_deleted:
                state.mark_redacted(change.kind, change.id)
                continue  # its tombstone says so
            stored = state.next_revision(change.kind, change.id, device.device, now)
            line = _line_of(stored, change.kind, change.id, record)
            if any(mark in line for mark in _MARKS):
                state.mark_redacted(change.kind, change.id)
            batch.lines.append(line)
            batch.records.append((change.kind, change.id))
            self.published.sent[change.kind] += 1
        if batch.lines:
            state.begin_file(batch.head.number)
        return batch

    def _rewrite_redacted(self, redacted: Sequence[tuple[str, str]]) -> None:
        """Rewrite the files that hold old texts of some records, without these records."""
        self._replace_unreadable_files(self._files_with(redacted))
        files = self._files_with(redacted)
        with self._store.read() as tables:
            state = SyncState(tables.connection.db)
            device = _require(state)
            newest = {  # the file with a record as it is now; none, if it was deleted
                (kind, record_id): 0
                if kind != ALIASES and state.is_deleted(kind, record_id)
                else max(state.files_with(kind, record_id), default=0)
                for kind, record_id in redacted
            }
        self._rewrite_files(device, files, newest)

    def _files_with(self, records: Iterable[tuple[str, str]]) -> list[FolderFile]:
        """Return the files of this device that hold some of *records*."""
        with self._store.read() as tables:
            state = SyncState(tables.connection.db)
            device = _require(state)
            numbers = {n for kind, record_id in records for n in state.files_with(kind, record_id)}
        return [file for file in self._folder.files(device.device) if file.number in numbers]

    def _replace_unreadable_files(self, files: Iterable[FolderFile]) -> None:
        """Remove the damaged ones of some files of this device, and send again what they held."""
        for file in files:
            try:
                for _ in self._folder.read(file):
                    pass
            except ImportRefused:
                self._folder.remove(file)  # nobody else can read it either
        self._replace_lost_files()

    def _rewrite_files(
        self, device: Device, files: Sequence[FolderFile], newest: Mapping[tuple[str, str], int]
    ) -> None:
        """Write one file in place of some; of the records in *newest* only that file's text."""
        if not files:
            return
        with self._store.read() as tables:
            aliases = SyncState(tables.connection.db).aliases()
        records: list[tuple[str, str]] = []

        def lines() -> Iterator[bytes]:
            for is_first in (True, False):  # deletions before everything else
                for file in files:
                    content = self._folder.read(file)
                    next(content)  # the head
                    for line in content:
                        revision = parse_revision(line, file)
                        record = (revision.kind, _known_id(revision.id, aliases))
                        is_current = newest.get(record, file.number) == file.number
                        if is_current and is_first == (revision.kind in FIRST_KINDS):
                            records.append(record)
                            yield line

        self._write_replacement_file({file.number for file in files}, device, lines(), records)
        for file in files:
            self._folder.remove(file)
        self.published.rewritten += len(files)

    def _write_replacement_file(
        self,
        replaced: Set[int],
        device: Device,
        lines: Iterable[bytes],
        records: Sequence[tuple[str, str]],
    ) -> None:
        """Write a file that replaces some; *lines* adds to *records* what it has yielded."""
        present = {file.number for file in self._folder.files(device.device)} - replaced
        with self._store.read() as tables:
            hashes = SyncState(tables.connection.db).files(device.device)
        # All that are not in the folder: a device that joins later does not wait for any of them.
        absent = {number: sha256 for number, sha256 in hashes.items() if number not in present}
        head = replace(self._next_head(device), replaces=absent)
        self._store.write(lambda tables: SyncState(tables.connection.db).begin_file(head.number))
        sha256 = self._folder.write(head, lines)
        self._store.write(partial(_note_rewritten, head=head, sha256=sha256, records=records))

    def _adopt(self, file: FolderFile) -> None:
        """Record a file that was written before a kill; its content is published again."""
        lines = self._folder.read(file)
        head = parse_head(next(lines, b""), file, self._store.schema_version())
        revisions = (parse_revision(line, file) for line in lines)
        records = [(revision.kind, revision.id) for revision in revisions]
        self._store.write(
            partial(_note_rewritten, head=head, sha256=file.sha256(), records=records)
        )

    def _next_head(self, device: Device) -> FileHead:
        schema = self._store.schema_version()
        return FileHead(device.device, device.number + 1, device.head, schema)

    def _device(self) -> Device:
        with self._store.read() as tables:
            return _require(SyncState(tables.connection.db))


def _require(state: SyncState) -> Device:
    device = state.device()
    if device is None:
        raise InvalidInput("sync is not set up; run `recollect sync init FOLDER`")
    return device


def _finish(tables: SqliteTables, batch: _Batch, sha256: str) -> None:
    """Record that a batch was written."""
    state = SyncState(tables.connection.db)
    if sha256:
        state.end_file(batch.head.number, sha256)
        state.add_file(batch.head.device, batch.head.number, sha256)
        state.add_contents(batch.head.number, batch.records)
    state.clear_sent(batch.changes)


def _note_rewritten(
    tables: SqliteTables, head: FileHead, sha256: str, records: Sequence[tuple[str, str]]
) -> None:
    """Record a file that replaces others and has their records."""
    state = SyncState(tables.connection.db)
    state.end_file(head.number, sha256)
    state.add_file(head.device, head.number, sha256)
    for number in head.replaces:
        state.remove_contents(number)
    state.add_contents(head.number, records)


def _line_of(revision: KnownRevision, kind: str, record_id: str, rows: Rows | None) -> bytes:
    return revision_line(
        Revision(
            kind=kind,
            id=record_id,
            vector=revision.vector,
            clock=revision.clock,
            origin=revision.origin,
            rows=rows,
        )
    )


def _read_record(state: SyncState, rows: RecordRows, kind: str, record_id: str) -> Rows | None:
    if kind == ALIASES:
        named, alias = record_id.split(" ", 1)
        main_id = state.alias(named, alias)
        row = {"kind": named, "id": alias, "main_id": main_id}
        return None if main_id is None else {ALIASES: [row]}
    record = rows.read(kind, record_id)
    if record and "conversation_id" in KINDS[kind].references:
        conversation_id = record[kind][0]["conversation_id"]
        if state.is_deleted("conversations", conversation_id):
            return None  # it is being deleted
    return record


def _known_id(record_id: str, aliases: Mapping[str, str]) -> str:
    return " ".join(aliases.get(part, part) for part in record_id.split(" "))
