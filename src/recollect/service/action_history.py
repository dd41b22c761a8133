"""
Answer questions about recorded actions: who changed a file, what helped against an error, how a
program is run.

The answer quotes tool calls of captured sessions, with their dates and sources, and memories that a
search finds for the file, the error or the program.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from recollect.domain.memory import Memory, MemoryType
from recollect.domain.scope import Owner, visible_owners
from recollect.domain.tool_call import (
    ActionKind,
    CommandHistory,
    ErrorHistory,
    FileHistory,
    Outcome,
    RecordedCall,
    RecordedFailure,
    SessionFiles,
)
from recollect.engine.learn.recorded_calls import read_unread_sources
from recollect.engine.learn.shell_commands import (
    RUNNERS,
    is_same_task,
    program_name,
    without_runner,
)
from recollect.engine.learn.similar_errors import error_similarity
from recollect.engine.learn.tool_actions import find_error_line
from recollect.errors import InvalidInput, NotFound
from recollect.service.conflicts import CURRENT
from recollect.service.disk.same_file import FileMatcher
from recollect.service.memory_query import MemoryQuery
from recollect.service.place_lookup import find_viewer, place_of
from recollect.service.search_memories import search_memories
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests import captures as requests
from recollect.wire.requests.shared import PlaceFields

MAX_UNREAD = 20  # sources that a question reads first; the background worker reads the others
MAX_CALLS = 400  # that are compared
MIN_SIMILARITY = 0.5  # of two errors
SEARCH_LIMIT = 20


def file_history(services: Services, request: requests.GetFileHistoryRequest) -> FileHistory:
    """Return the changes of a file, the memories that name it, and decisions made then."""
    read_unread_sources(services.store, limit=MAX_UNREAD)
    memories = _memories_naming(services, request, request.file)
    with services.store.read() as tables:
        owners = _owners(tables, request)
        edits = edits_of(tables, request.file, owners)
        sessions = dict.fromkeys(edit.session for edit in edits)
        decisions = _decisions(tables, [*sessions], owners)
    named = {memory.id for memory in memories}
    others = [memory for memory in decisions if memory.id not in named]
    return FileHistory(
        path=request.file,
        edits=tuple(edits[: request.limit]),
        memories=tuple(memories[: request.limit]),
        decisions=tuple(others[: request.limit]),
    )


def error_history(services: Services, request: requests.GetErrorHistoryRequest) -> ErrorHistory:
    """Return the commands that failed with a similar error, and what worked afterwards."""
    error = find_error_line(request.error)
    if not error:
        raise InvalidInput("the error is empty; give the message that the command printed")
    read_unread_sources(services.store, limit=MAX_UNREAD)
    with services.store.read() as tables:
        owners = _owners(tables, request)
        calls = tables.tool_calls.failures(owners, limit=MAX_CALLS)
        scored = [(error_similarity(request.error, call.error), call) for call in calls]
        similar = [pair for pair in scored if pair[0] >= MIN_SIMILARITY]
        similar.sort(key=lambda pair: -pair[0])  # stable: of equal ones the latest first
        failures = failures_of(tables, [call for _, call in similar], owners)
    memories = _search(services, request, error)
    return ErrorHistory(
        failures=tuple(failures[: request.limit]), memories=tuple(memories[: request.limit])
    )


def command_history(
    services: Services, request: requests.GetCommandHistoryRequest
) -> CommandHistory:
    """Return how a program was run, what worked and what failed."""
    program = program_name(without_runner(request.program)) or program_name(request.program)
    if not program:
        raise InvalidInput("the program is empty; name a command such as `pnpm` or `docker build`")
    read_unread_sources(services.store, limit=MAX_UNREAD)
    with services.store.read() as tables:
        owners = _owners(tables, request)
        calls = _calls_of_program(tables, program, owners)
        if request.program.strip() != program:
            calls = [call for call in calls if is_same_task(call.subject, request.program)]
        failed = [call for call in calls if call.outcome is Outcome.FAILED]
        failures = failures_of(tables, _distinct(failed), owners)
    worked = _distinct(call for call in calls if call.outcome is Outcome.SUCCEEDED)
    return CommandHistory(
        worked=tuple(worked[: request.limit]),
        failures=tuple(failures[: request.limit]),
        memories=tuple(_memories_naming(services, request, program)[: request.limit]),
    )


def session_files(services: Services, request: requests.GetSessionFilesRequest) -> SessionFiles:
    """Return the files that a session changed, and what was decided in it."""
    read_unread_sources(services.store, limit=MAX_UNREAD)
    with services.store.read() as tables:
        owners = _owners(tables, request)
        session = request.session or tables.tool_calls.latest_session(owners)
        source_ids = tables.tool_calls.sources_of_sessions([session or ""], owners)
        if session is None or not source_ids:
            what = f"no session {session!r}" if session else "no session with recorded actions"
            raise NotFound(f"{what} was captured here; `recollect capture FILE` captures one")
        calls = tables.tool_calls.of_sources(source_ids)
        decisions = _decisions(tables, [session], owners)
    edits: dict[str, list[RecordedCall]] = {}
    for call in calls:
        if call.kind is ActionKind.CHANGE:
            edits.setdefault(call.subject, []).append(call)
    files = [
        FileHistory(
            path=path,
            edits=tuple(reversed(file_edits)),
            memories=tuple(_memories_naming(services, request, path)),
        )
        for path, file_edits in list(edits.items())[: request.limit]
    ]
    return SessionFiles(session=session, files=tuple(files), decisions=tuple(decisions))


def edits_of(tables: Tables, path: str, owners: Sequence[Owner]) -> list[RecordedCall]:
    """Return the changes of the file *path*, latest first; either path may be relative."""
    name, file = PurePath(path).name, FileMatcher(path)
    calls = tables.tool_calls.calls_named(ActionKind.CHANGE, [name], owners, limit=MAX_CALLS)
    return [call for call in calls if file.matches(call.subject)]


def failures_of(
    tables: Tables, calls: Sequence[RecordedCall], owners: Sequence[Owner]
) -> list[RecordedFailure]:
    """Return failed commands, each with the next attempt in its session that worked."""
    sessions = [*dict.fromkeys(call.session for call in calls if call.session)]
    source_ids = tables.tool_calls.sources_of_sessions(sessions, owners)
    source_ids += [call.source_id for call in calls if not call.session]
    session_calls = tables.tool_calls.of_sources(source_ids)
    return [RecordedFailure(call=call, worked=_next_success(call, session_calls)) for call in calls]


def _calls_of_program(tables: Tables, program: str, owners: Sequence[Owner]) -> list[RecordedCall]:
    """Return the runs of a program, latest first, also those by `uv run` and the like."""
    kind = ActionKind.RUN
    calls = tables.tool_calls.calls_named(kind, [program], owners, limit=MAX_CALLS)
    if program not in RUNNERS:
        by_runner = tables.tool_calls.calls_named(kind, RUNNERS, owners, limit=MAX_CALLS)
        calls += [
            call for call in by_runner if program_name(without_runner(call.subject)) == program
        ]
    return sorted(calls, key=lambda call: call.called_at, reverse=True)


def _next_success(failed: RecordedCall, calls: Iterable[RecordedCall]) -> RecordedCall | None:
    for call in calls:
        is_later = (call.called_at, call.start) > (failed.called_at, failed.start)
        is_success = call.kind is ActionKind.RUN and call.outcome is Outcome.SUCCEEDED
        is_here = call.session == failed.session and (
            bool(call.session) or call.source_id == failed.source_id
        )
        if is_later and is_success and is_here and is_same_task(failed.subject, call.subject):
            return call
    return None


def _owners(tables: Tables, request: PlaceFields) -> tuple[Owner, ...]:
    return visible_owners(find_viewer(tables, place_of(request)))


def _decisions(tables: Tables, sessions: Sequence[str], owners: Sequence[Owner]) -> list[Memory]:
    """Return the decisions whose evidence is in one of *sessions*, latest first."""
    source_ids = tables.tool_calls.sources_of_sessions(sessions, owners)
    ids = [piece.memory_id for id in source_ids for piece in tables.sources.evidence_in(id)]
    decisions = [
        memory
        for memory in tables.memories.get_many([*dict.fromkeys(ids)])
        if memory.type is MemoryType.DECISION
        and memory.owner in owners
        and memory.status in CURRENT
    ]
    return sorted(decisions, key=lambda memory: memory.observed_at, reverse=True)


def _memories_naming(services: Services, request: PlaceFields, name: str) -> list[Memory]:
    """Return the memories that contain the name of a file or program as a word, best first."""
    word = PurePath(name).name
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])", re.IGNORECASE)
    memories = _search(services, request, word, below_threshold=True)
    return [memory for memory in memories if pattern.search(memory.content)]


def _search(
    services: Services, request: PlaceFields, query: str, *, below_threshold: bool = False
) -> list[Memory]:
    memory_query = MemoryQuery(
        query=query,
        place=place_of(request),
        limit=SEARCH_LIMIT,
        unreviewed=True,
        session_records=False,
        below_threshold=below_threshold,
    )
    hits = search_memories(services, memory_query)
    return [hit.memory for hit in hits if below_threshold or not hit.is_weak]


def _distinct(calls: Iterable[RecordedCall]) -> list[RecordedCall]:
    """Return the latest call of each command."""
    latest: dict[str, RecordedCall] = {}
    for call in calls:
        latest.setdefault(call.subject, call)
    return list(latest.values())
