"""
Import the history of other programs: file by file, so that it can be stopped at any time.

Conversations are stored in batches, each with its source, its event and its first job in one
transaction, like any capture. When a file is imported completely, a mark is stored: an event whose
`uri` names the file with its size and time. A file with that mark is skipped without being opened.
A file that was imported partly (a kill, a limit, a date) is read again, and the conversations that
are stored already are recognised. A session that has grown is stored again as the longer one.
Nothing becomes active here: `domain/promotion_policy.py` keeps imported memories in the inbox.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from recollect.domain import limits
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.import_progress import FileOutcome, ImportStep
from recollect.domain.scope import Owner, Scope, owner_of
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Transcript
from recollect.errors import InvalidInput, RecollectError, StoreError
from recollect.lazy_dataclass import dataclass
from recollect.service.capture import Capture, continues, prepare_capture, store_capture
from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    checked_file_size,
)
from recollect.service.imports.import_place import place_for
from recollect.service.imports.source_table import SOURCES
from recollect.service.place_lookup import RequestPlace, ensure_place
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.fingerprint import sha256_hex
from recollect.wire.fields import parse_count, parse_moment

READER_VERSION = 1  # raised when a reader reads more than before: then every file is read again
BATCH_ITEMS, BATCH_CHARS = 16, 2_000_000  # stored in one transaction
MAX_CONVERSATIONS = 1_000_000
_CAPTURED_KINDS = (SourceKind.IMPORT, SourceKind.RUN, SourceKind.CONVERSATION)


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What is imported, and from where."""

    source: HistorySource
    roots: tuple[Path, ...]
    are_roots_required: bool  # a missing path is an error only if the caller named it
    environment: UserEnvironment
    since: datetime | None
    project: str | None
    limit: int
    dry_run: bool


def import_options(
    source: str,
    paths: Sequence[Path],
    environment: UserEnvironment,
    *,
    since: object = None,
    project: str | None = None,
    limit: object = None,
    dry_run: bool = False,
) -> ImportOptions:
    """Return the validated options of an import."""
    chosen = SOURCES.get(source) if isinstance(source, str) else None
    if chosen is None:
        raise InvalidInput(f"there is nothing to import from {source!r}; use {', '.join(SOURCES)}")
    roots = tuple(paths) or tuple(chosen.roots(environment))
    if not roots and chosen.needs_path:
        raise InvalidInput(f"name the path of the downloaded export of {chosen.name}")
    if limit is None:
        limit = MAX_CONVERSATIONS
    return ImportOptions(
        source=chosen,
        roots=roots,
        are_roots_required=bool(paths),
        environment=environment,
        since=None if since is None else parse_moment("since", since),
        project=RequestPlace.of(project).project,
        limit=parse_count("limit", limit, maximum=MAX_CONVERSATIONS),
        dry_run=dry_run,
    )


def import_in_steps(services: Services, options: ImportOptions) -> Iterator[ImportStep]:
    """Import the history, yielding the progress; a file's last step comes after its commit."""
    files, missing = _files(options)
    total = len(files) + len(missing)
    with services.store.read() as tables:
        marks = tables.sources.uris_without_source(Trigger.MANUAL)
    remaining = options.limit
    for number, path in enumerate(missing, start=1):
        yield ImportStep(
            path=str(path),
            number=number,
            of=total,
            outcome=FileOutcome.REFUSED,
            reason=f"there is nothing at {path}",
        )
    for number, path in enumerate(files, start=len(missing) + 1):
        if remaining <= 0:
            return
        first_step = ImportStep(path=str(path), number=number, of=total)
        for step in _import_file(services, options, first_step, marks, remaining):
            yield step
        remaining -= step.conversations


def _files(options: ImportOptions) -> tuple[list[Path], list[Path]]:
    """Return the files to read, each once, and the named paths that do not exist."""
    files: dict[Path, None] = {}
    missing = []
    for root in options.roots:
        if root.is_dir():
            files |= dict.fromkeys(path.absolute() for path in options.source.files(root))
        elif root.exists():
            files[root.absolute()] = None
        elif options.are_roots_required:
            missing.append(root)
    return list(files), missing


def _import_file(
    services: Services, options: ImportOptions, step: ImportStep, marks: set[str], limit: int
) -> Iterator[ImportStep]:
    """Import one file, yielding the progress. A problem with the file ends only this file."""
    path = Path(step.path)
    try:
        size, modified_ns = checked_file_size(path), path.stat().st_mtime_ns
        mark = _file_mark(options, path, size, modified_ns)
        modified_at = datetime.fromtimestamp(modified_ns / 1e9, UTC)
        if mark in marks:
            yield replace(step, outcome=FileOutcome.UNCHANGED)
            return
        if options.since is not None and modified_at < options.since:
            yield replace(step, outcome=FileOutcome.OLDER)
            return
        for batch in _batches(options.source.read(path, options.environment)):
            step = _import_batch(services, options, batch, step, modified_at, limit)
            yield step
            if step.outcome is not None:
                return
        if not options.dry_run and not (step.left_out and options.since):
            services.store.write(lambda tables: _mark_imported(services, tables, mark, step))
        yield replace(step, outcome=FileOutcome.TAKEN)
    except StoreError:
        raise  # not a problem of the file
    except (RecollectError, OSError) as error:
        yield replace(step, outcome=FileOutcome.REFUSED, reason=str(error))


def _import_batch(
    services: Services,
    options: ImportOptions,
    batch: Sequence[ImportedConversation],
    step: ImportStep,
    modified_at: datetime,
    limit: int,
) -> ImportStep:
    """Store a batch, or only count it in a dry run; return the progress of the file."""
    captures = []
    with services.store.read() as tables:
        for conversation in batch:
            place = place_for(tables, conversation, options.project)
            transcript = conversation.transcript
            if place is None or _is_too_old(transcript, options.since, modified_at):
                continue
            capture = prepare_capture(
                # A conversation without a date gets that of its file.
                transcript
                if transcript.started_at
                else replace(transcript, started_at=modified_at),
                place=place,
                trigger=Trigger.CONVERSATION,
                mode=conversation.mode,
                uri=Path(step.path).as_uri(),
                imported=True,
            )
            captures.append(capture)
    step = replace(step, left_out=step.left_out + len(batch) - len(captures))

    def import_new(tables: Tables) -> ImportStep:
        progress = step
        for capture in captures:
            if not capture.material.turns:
                continue
            owner = None
            if not options.dry_run:
                place_ids = ensure_place(tables, capture.place, services.clock)
                owner = owner_of(capture.scope, **asdict(place_ids))
            if _is_known(tables, capture, owner):
                progress = replace(progress, known=progress.known + 1)
                continue
            if progress.conversations == limit:
                return replace(progress, outcome=FileOutcome.PARTLY)
            if not options.dry_run:
                store_capture(services, tables, capture)
            progress = replace(progress, conversations=progress.conversations + 1)
        return progress

    if options.dry_run:
        with services.store.read() as tables:
            return import_new(tables)
    return services.store.write(import_new)


def _is_known(tables: Tables, capture: Capture, owner: Owner | None) -> bool:
    """Return whether the same, or more of it, was captured for *owner*, or for anyone if None."""
    digest = sha256_hex(capture.material.content)
    for kind in _CAPTURED_KINDS:
        source = tables.sources.with_hash(digest, kind)
        events = tables.sources.events_of(source.id) if source else []
        if any(owner in (None, event.owner) for event in events):
            return True
    session = capture.transcript.session
    stored = tables.sources.with_session_prefix(session) if session else []
    return any(
        name == session and continues(capture.material.content, content) for name, content in stored
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


def _file_mark(options: ImportOptions, path: Path, size: int, modified_ns: int) -> str:
    """Return the mark of a file: its name, size and time, and the options that select from it."""
    project = f"-{quote(options.project, safe='')}" if options.project else ""
    version = f"{options.source.name}-{READER_VERSION}"
    return f"{path.as_uri()}#{version}-{size}-{modified_ns}{project}"


def _batches(
    conversations: Iterator[ImportedConversation],
) -> Iterator[list[ImportedConversation]]:
    """Yield batches; if the file turns out to be broken, first those that were read before."""
    batch: list[ImportedConversation] = []
    chars = 0
    failure: RecollectError | OSError | None = None
    try:
        for conversation in conversations:
            batch.append(conversation)
            chars += sum(len(message.text) for message in conversation.transcript.messages)
            if len(batch) == BATCH_ITEMS or chars >= BATCH_CHARS:
                yield batch
                batch, chars = [], 0
    except (RecollectError, OSError) as error:
        failure = error
    if batch:
        yield batch
    if failure is not None:
        raise failure


def _is_too_old(transcript: Transcript, since: datetime | None, modified_at: datetime) -> bool:
    if since is None:
        return False
    times = [transcript.started_at, *(message.at for message in transcript.messages)]
    return max((time for time in times if time), default=modified_at) < since
