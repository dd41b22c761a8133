"""
The import: file by file, conversation by conversation, so that it can be stopped at any time.

Conversations are stored a few at a time, each with its source, its event and its first job in one
transaction, as any capture is. When all of a file is in, a mark is left: an event of its own, whose
`uri` names the file with its size and time. So a file that was taken in and not touched since is
passed over without being opened; one that was cut short by a kill, a limit or a day is read again,
and what of it is in the store already is recognised; one that has grown is taken in as the longer.
Nothing becomes active here: `domain/promotion_policy.py` holds what was imported.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from recollect.domain import limits
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.import_progress import FileOutcome, ImportStep
from recollect.domain.scope import Owner, Scope, owner_of
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Transcript
from recollect.errors import InvalidInput, RecollectError, StoreError
from recollect.service import validate
from recollect.service.capture import Capture, continues, prepare_capture, store_capture
from recollect.service.imports.import_place import place_for
from recollect.service.imports.history_source import ImportedConversation, UserEnvironment, HistorySource, checked_file_size
from recollect.service.imports.source_table import SOURCES
from recollect.service.place_lookup import RequestPlace, ensure_place
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.fingerprint import sha256_hex
from recollect.wire.fields import parse_moment

READER_VERSION = 1  # counted up when a reader learns more: then every file is read once more
BATCH_ITEMS, BATCH_CHARS = 16, 2_000_000  # stored in one transaction
MOST_CONVERSATIONS = 1_000_000
_CAPTURED_KINDS = (SourceKind.IMPORT, SourceKind.RUN, SourceKind.CONVERSATION)


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What is to be brought in."""

    source: HistorySource
    paths: tuple[Path, ...]
    since: datetime | None
    project: str | None
    limit: int
    dry_run: bool


def import_options(
    source: object,
    paths: Sequence[Path],
    *,
    since: object = None,
    project: str | None = None,
    limit: object = None,
    dry_run: bool = False,
) -> ImportOptions:
    """Check what a caller wants brought in."""
    chosen = SOURCES.get(source) if isinstance(source, str) else None
    if chosen is None:
        raise InvalidInput(f"there is nothing to import from {source!r}; use {', '.join(SOURCES)}")
    return ImportOptions(
        source=chosen,
        paths=tuple(paths),
        since=None if since is None else parse_moment("since", since),
        project=RequestPlace.of(project).project,
        limit=MOST_CONVERSATIONS
        if limit is None
        else validate.count_of("limit", limit, most=MOST_CONVERSATIONS),
        dry_run=dry_run,
    )


def import_roots(wanted: ImportOptions, machine: UserEnvironment) -> list[Path]:
    """Return where is looked: the paths that were given, or where the program keeps its files."""
    roots = list(wanted.paths) or list(wanted.source.roots(machine))
    if not roots and wanted.source.needs_path:
        raise InvalidInput(
            f"an export of {wanted.source.name} lies where it was downloaded to; name its path"
        )
    return roots


def import_in_steps(services: Services, wanted: ImportOptions, machine: UserEnvironment) -> Iterator[ImportStep]:
    """Bring the past in, yielding how far it is; what a file's last step says is on disk."""
    files, missing = _files(wanted, machine)
    of = len(files) + len(missing)
    with services.store.read() as tables:
        marks = tables.sources.uris_without_source(Trigger.MANUAL)
    room = wanted.limit
    for number, path in enumerate(missing, start=1):
        reason = f"there is nothing at {path}"
        yield ImportStep(
            path=str(path), number=number, of=of, outcome=FileOutcome.REFUSED, reason=reason
        )
    for number, path in enumerate(files, start=len(missing) + 1):
        if room <= 0:
            return
        begun = ImportStep(path=str(path), number=number, of=of)
        for step in _import_file(services, wanted, machine, begun, marks, room):
            yield step
        room -= step.conversations


def _files(wanted: ImportOptions, machine: UserEnvironment) -> tuple[list[Path], list[Path]]:
    """Return the files to look at, each once, and the named paths at which there is nothing."""
    found: dict[Path, None] = {}
    missing = []
    for root in import_roots(wanted, machine):
        if root.is_dir():
            found |= dict.fromkeys(path.absolute() for path in wanted.source.files(root))
        elif root.exists():
            found[root.absolute()] = None
        elif wanted.paths:
            missing.append(root)
    return list(found), missing


def _import_file(
    services: Services,
    wanted: ImportOptions,
    machine: UserEnvironment,
    begun: ImportStep,
    marks: set[str],
    room: int,
) -> Iterator[ImportStep]:
    """Take one file in; whatever is wrong with it stays with it, and the next one comes."""
    path = Path(begun.path)
    step = begun
    try:
        size, touched = checked_file_size(path), path.stat().st_mtime_ns
        mark = _file_mark(wanted, path, size, touched)
        if mark in marks:
            yield replace(step, outcome=FileOutcome.UNCHANGED)
            return
        touched_at = datetime.fromtimestamp(touched / 1e9, UTC)
        if wanted.since is not None and touched_at < wanted.since:
            yield replace(step, outcome=FileOutcome.OLDER)
            return
        for batch in _batches(wanted.source.read(path, machine)):
            step = _import_batch(services, wanted, batch, step, touched_at, room)
            if step.outcome is not None:
                yield step
                return
            yield step
        whole = not (wanted.dry_run or (step.left_out and wanted.since))
        if whole:
            services.store.write(lambda tables: _mark_imported(services, tables, mark, step))
        yield replace(step, outcome=FileOutcome.TAKEN)
    except StoreError:
        raise  # nothing to do with the file
    except (RecollectError, OSError) as error:
        yield replace(step, outcome=FileOutcome.REFUSED, reason=str(error))


def _import_batch(
    services: Services,
    wanted: ImportOptions,
    batch: Sequence[ImportedConversation],
    step: ImportStep,
    at: datetime,
    room: int,
) -> ImportStep:
    """Store a batch, or for a dry run count it; return how far the file is then."""
    with services.store.read() as tables:
        placed = [(item, place_for(tables, item, wanted.project)) for item in batch]
    uri = Path(step.path).as_uri()
    captures = [
        prepare_capture(
            _with_date(item.transcript, at),
            place=where,
            trigger=Trigger.CONVERSATION,
            mode=item.mode,
            uri=uri,
            imported=True,
        )
        for item, where in placed
        if where is not None and not _is_too_old(item.transcript, wanted.since, at)
    ]
    kept = [one for one in captures if one.material.turns]
    step = replace(step, left_out=step.left_out + len(batch) - len(captures))
    left = room - step.conversations
    if wanted.dry_run:
        with services.store.read() as tables:
            new, known, through = _count_new(tables, kept, left)
    else:
        new, known, through = services.store.write(
            lambda tables: _store_new(services, tables, kept, left)
        )
    step = replace(step, conversations=step.conversations + new, known=step.known + known)
    return step if through else replace(step, outcome=FileOutcome.PARTLY)


def _store_new(
    services: Services, tables: Tables, captures: Iterable[Capture], room: int
) -> tuple[int, int, bool]:
    """Store what is new; return how much that was, how much was known, and whether all fitted."""
    new = known = 0
    for one in captures:
        owner = owner_of(one.scope, **asdict(ensure_place(tables, one.place, services.clock)))
        if _is_known(tables, one, owner):
            known += 1
        elif new == room:
            return new, known, False
        else:
            store_capture(services, tables, one)
            new += 1
    return new, known, True


def _count_new(tables: Tables, captures: Iterable[Capture], room: int) -> tuple[int, int, bool]:
    """Return what `_stored` would, as far as can be told without writing."""
    new = known = 0
    for one in captures:
        if _is_known(tables, one, None):
            known += 1
        elif new == room:
            return new, known, False
        else:
            new += 1
    return new, known, True


def _is_known(tables: Tables, one: Capture, owner: Owner | None) -> bool:
    """Say whether the same was captured for the same owner, by whatever way, or more of it."""
    digest = sha256_hex(one.material.content)
    for kind in _CAPTURED_KINDS:
        source = tables.sources.with_hash(digest, kind)
        events = tables.sources.events_of(source.id) if source else []
        if any(owner in (None, event.owner) for event in events):
            return True
    session = one.transcript.session
    longer = tables.sources.with_session_prefix(session) if session else []
    return any(
        name == session and continues(one.material.content, content) for name, content in longer
    )


def _mark_imported(services: Services, tables: Tables, mark: str, step: ImportStep) -> None:
    now = services.clock.now()
    tables.sources.add_event(
        Event(
            id=services.clock.new_id(),
            trigger=Trigger.MANUAL,
            source_id=None,
            owner=Owner(Scope.GLOBAL, ""),
            state=EventState.DONE,
            outcome=f"{step.conversations} conversations imported, {step.known} known",
            title=clean(f"import of {Path(step.path).name}")[: limits.MAX_TITLE],
            uri=mark,
            created_at=now,
            updated_at=now,
        )
    )


def _file_mark(wanted: ImportOptions, path: Path, size: int, touched: int) -> str:
    """Return what is known of a file without opening it, and for what it was taken in."""
    only = f"-{quote(wanted.project, safe='')}" if wanted.project else ""
    return f"{path.as_uri()}#{wanted.source.name}-{READER_VERSION}-{size}-{touched}{only}"


def _batches(items: Iterator[ImportedConversation]) -> Iterator[list[ImportedConversation]]:
    """Yield a few at a time; what was read before a file turned out to be broken comes first."""
    batch: list[ImportedConversation] = []
    chars = 0
    broken: RecollectError | OSError | None = None
    try:
        for item in items:
            batch.append(item)
            chars += sum(len(said.text) for said in item.transcript.messages)
            if len(batch) == BATCH_ITEMS or chars >= BATCH_CHARS:
                yield batch
                batch, chars = [], 0
    except (RecollectError, OSError) as error:
        broken = error
    if batch:
        yield batch
    if broken is not None:
        raise broken


def _with_date(told: Transcript, touched_at: datetime) -> Transcript:
    """Return a conversation that tells no time with that of its file."""
    return told if told.started_at else replace(told, started_at=touched_at)


def _is_too_old(told: Transcript, since: datetime | None, touched_at: datetime) -> bool:
    if since is None:
        return False
    times = chain((said.at for said in told.messages), [told.started_at])
    return max((at for at in times if at), default=touched_at) < since
