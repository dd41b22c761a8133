"""
Read the files of other devices into the store, in short transactions.

Deletions come first, from all files: what a person deleted is never stored, not even for a moment.
A record that does not fit into this store is reported, and the others of its file are stored. The
file stays unread, so the record is tried again with every sync until it fits, or a later revision
of it has arrived.
"""

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import field
from itertools import chain

import apsw

from recollect.clock import Clock
from recollect.errors import ImportRefused
from recollect.lazy_dataclass import dataclass
from recollect.store.bounded_steps import StepBudget, run_in_steps
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from recollect.store.sqlite.sync.apply_revision import Revision, RevisionApplier, RevisionOutcome
from recollect.store.sqlite.sync.sync_folder import (
    FolderFile,
    SharedFolder,
    parse_head,
    parse_revision,
)
from recollect.store.sqlite.sync.sync_state import SyncState
from recollect.store.transfer.record_kinds import FIRST_KINDS

RECORDS_AT_ONCE = 50  # then the budget of the step is asked
MAX_REFUSED = 20  # records of a file; with more, the rest of the file waits
_MISFITS = (LookupError, TypeError, ValueError)  # of a record that lacks something


class _RecordRefused(Exception):
    """A record does not fit into this store; what it changed is rolled back."""

    def __init__(self, revision: Revision, error: Exception) -> None:
        # Messages of other errors may quote the record; this one is stored.
        is_safe = isinstance(error, (apsw.Error, KeyError))
        reason = str(error) if is_safe else type(error).__name__
        super().__init__(f"{revision.kind} {revision.id} does not fit into this store: {reason}")
        self.record = (revision.kind, revision.id)


@dataclass
class Received:
    """What arrived."""

    changed: Counter[str] = field(default_factory=Counter)
    files: int = 0
    waiting: dict[str, str] = field(default_factory=dict)  # file: what it waits for
    conflicts: list[str] = field(default_factory=list)
    to_forget: list[str] = field(default_factory=list)


class Receiver:
    """Reads the unread files of a shared folder."""

    def __init__(self, store: SqliteStore, folder: SharedFolder, clock: Clock) -> None:
        self._store = store
        self._folder = folder
        self._clock = clock
        self._settles_names = False
        self.received = Received()

    def unread(self) -> list[FolderFile]:
        """Return the files of other devices that were not read completely, the oldest first."""
        with self._store.read() as tables:
            state = SyncState(tables.connection.db)
            own = state.device()
            devices = [name for name in self._folder.devices() if own and name != own.device]
            files = []
            for device in devices:
                hashes = state.files(device)
                files += [file for file in self._folder.files(device) if file.number not in hashes]
        return files

    def read_deletions(self) -> None:
        """Store the deletions of all unread files."""
        for file in self.unread():
            self._read(file, only_first=True)

    def read_records(self) -> None:
        """
        Store the records of all unread files; what waits for another file is tried again.

        If nothing arrives any more, two records that got one name are settled.
        """
        waiting = -1
        while files := self.unread():
            self.received.waiting.clear()
            left = sum(not self._read(file) for file in files)
            if not left or (left == waiting and self._settles_names):
                break
            self._settles_names = left == waiting
            waiting = left
        self._report_gaps()

    def _report_gaps(self) -> None:
        """Name the files that are not in the folder, though files after them were read."""
        with self._store.read() as tables:
            state = SyncState(tables.connection.db)
            own = state.device()
            devices = [name for name in self._folder.devices() if own and name != own.device]
            read = {device: state.files(device) for device in devices}
        for device, hashes in read.items():
            present = {file.number for file in self._folder.files(device)}
            gaps = set(range(1, max(hashes, default=0))) - set(hashes) - present
            if gaps:
                path = self._folder.path_of(device, min(gaps))
                count = "1 file is missing" if len(gaps) == 1 else f"{len(gaps)} files are missing"
                self.received.waiting[str(path)] = (
                    f"device {device}: {count}, the first is {path}. If nothing is being "
                    "transferred any more, run `recollect sync` on that device: it sends the "
                    "records again. If that device is not used any more, delete its folder"
                )

    def _read(self, file: FolderFile, *, only_first: bool = False) -> bool:
        """Read a file; return whether everything in it is settled."""
        refused: dict[tuple[str, str], str] = {}
        try:
            while True:
                lines = self._folder.read(file)
                head = parse_head(next(lines, b""), file, self._store.schema_version())
                self._check_chain(file, head.previous)
                revisions = (parse_revision(line, file) for line in lines)
                fitting = _without_refused(revisions, refused)
                try:
                    missing = self._apply(_first_kinds(fitting) if only_first else fitting)
                    is_settled = not (only_first or missing or refused)
                    sha256 = file.sha256() if is_settled else ""
                    break
                except _RecordRefused as error:  # the file is read again without it
                    refused[error.record] = str(error)
                    if len(refused) > MAX_REFUSED:
                        raise ImportRefused(
                            f"{file.path}: more than {MAX_REFUSED} records do not fit into this "
                            f"store, among them {error.record[0]} {error.record[1]}; use the same "
                            "version of Recollect on all devices"
                        ) from error
        except (ImportRefused, OSError) as error:
            self.received.waiting[str(file.path)] = str(error)
            return False
        if refused:
            self.received.waiting[str(file.path)] = _describe_refused(file, list(refused.values()))
            return False
        if only_first:
            return True
        if missing:
            self.received.waiting[str(file.path)] = (
                f"{file.path}: {missing} records refer to others that have not arrived"
            )
            return False

        def note(tables: SqliteTables) -> None:
            state = SyncState(tables.connection.db)
            for number, replaced in head.replaces.items():
                state.add_file(file.device, number, replaced)
            state.add_file(file.device, file.number, sha256)

        self._store.write(note)
        self.received.files += 1
        return True

    def _check_chain(self, file: FolderFile, previous: str) -> None:
        with self._store.read() as tables:
            sha256 = SyncState(tables.connection.db).files(file.device).get(file.number - 1)
        if sha256 is not None and sha256 != previous:
            raise ImportRefused(f"{file.path} does not follow the file before it; was it altered?")

    def _apply(self, revisions: Iterator[Revision]) -> int:
        """Apply revisions in short transactions; return how many wait."""
        first = next(revisions, None)
        if first is None:
            return 0
        remaining = chain([first], revisions)
        missing = 0

        def step(tables: SqliteTables, budget: StepBudget) -> bool:
            nonlocal missing
            applier = RevisionApplier(tables, self._clock, settles_names=self._settles_names)
            is_last = False
            while not is_last and not budget.is_exhausted:
                for _ in range(RECORDS_AT_ONCE):
                    revision = next(remaining, None)
                    if revision is None:
                        is_last = True
                        break
                    missing += _apply_one(tables, applier, revision) is RevisionOutcome.WAITING
                    budget.spend()
            applier.finish()
            self.received.changed.update(applier.received)
            self.received.conflicts += applier.conflicts
            self.received.to_forget += applier.to_forget
            return not is_last

        run_in_steps(self._store, step)  # type: ignore[arg-type]  # its tables are those of SQLite
        return missing


def _apply_one(
    tables: SqliteTables, applier: RevisionApplier, revision: Revision
) -> RevisionOutcome:
    outcome = RevisionOutcome.UNCHANGED
    try:
        with tables.connection.db:  # a savepoint: a record is stored as a whole or not at all
            outcome = applier.apply(revision)
    except (*_MISFITS, apsw.ConstraintError, apsw.SQLError) as error:
        raise _RecordRefused(revision, error) from error
    return outcome


def _describe_refused(file: FolderFile, refused: list[str]) -> str:
    return (
        f"device {file.device}, {file.path}: {'; '.join(refused)}. Everything else in the file is "
        "stored. Use the same version of Recollect on both devices; if that does not help, change "
        "or forget the record on a device that has it, and sync both"
    )


def _without_refused(
    revisions: Iterator[Revision], refused: Container[tuple[str, str]]
) -> Iterator[Revision]:
    for revision in revisions:
        if (revision.kind, revision.id) not in refused:
            yield revision


def _first_kinds(revisions: Iterator[Revision]) -> Iterator[Revision]:
    for revision in revisions:
        if revision.kind not in FIRST_KINDS:
            return
        yield revision
