"""
A queue of transcripts to capture: one small file each, written before any work starts.

The queue survives a capture process that is killed and a client that never reports the end of its
session: the next capture processes what is left. A process that is killed, by a shutdown for
example, is not a failure of the capture; only a transcript that is there at many kills in a row is
believed to cause them. A client may report every turn, and its transcript
must not be read at every turn. So a transcript is due at once only if it has grown enough or if its
session ends; otherwise its capture is deferred.
"""

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from recollect.hooks import event_names, state_files
from recollect.hooks.client_events import HookEvent
from recollect.hooks.injected_memories import session_file

FIRST_CAPTURE_BYTES = 16_000  # for a session that was never captured
MIN_GROWTH_BYTES = 64_000
MIN_GROWTH_RATIO = 0.5  # of the captured bytes: all captures together read three times the last one
# A session that is idle for so long has ended, even if its client does not say so.
DEFER_S = 1_800.0
MAX_FAILURES = 3  # unexpected errors; expected ones reject the transcript or are retried for ever
MAX_KILLS = 20

NOW = "now"
LATER = "later"
NOT_NEEDED = "not needed"
# Two files per transcript, so that a deferred capture does not replace one that is due.
NOW_SUFFIX, LATER_SUFFIX = QUEUE_SUFFIXES = ("wanted", "later")


class PendingCapture(NamedTuple):
    """A transcript that waits to be captured into one store."""

    path: str  # of the queue file
    db: str
    client: str
    session: str
    project: str
    transcript_path: str
    due_at: float
    failures: int = 0
    kills: int = 0  # attempts that were begun and did not end


def when_to_capture(kind: str, *, size: int, captured: int) -> str:
    """Return when to capture a transcript of *size* bytes, *captured* of which were captured."""
    if size <= captured:
        return NOT_NEEDED
    if kind != event_names.STOP:
        return NOW
    growth = max(MIN_GROWTH_BYTES, MIN_GROWTH_RATIO * captured) if captured else FIRST_CAPTURE_BYTES
    return NOW if size - captured >= growth else LATER


def schedule_capture(folder: str, event: HookEvent, *, db: str, project: str, size: int) -> str:
    """Queue the transcript of *event* if it needs a capture, and return when that is due."""
    captured = captured_bytes(folder, db, event.transcript_path)
    when = when_to_capture(event.kind, size=size, captured=captured)
    if when == NOW:
        _enqueue(folder, event, db=db, project=project, suffix=NOW_SUFFIX, delay_s=0.0)
    elif when == LATER:
        defer_capture(folder, event, db=db, project=project)
    return when


def defer_capture(folder: str, event: HookEvent, *, db: str, project: str) -> None:
    """Queue the transcript of *event*, whose session goes on, for a later capture."""
    _enqueue(folder, event, db=db, project=project, suffix=LATER_SUFFIX, delay_s=DEFER_S)


def due_captures(folder: str, db: str, now: float) -> Iterator[PendingCapture]:
    """Yield the captures for the store *db* that are due, oldest first."""
    try:
        with os.scandir(folder) as entries:
            paths = [entry.path for entry in entries if entry.name.endswith(QUEUE_SUFFIXES)]
    except OSError:
        return
    captures = [capture for path in paths if (capture := _load(path)) is not None]
    for capture in sorted(captures, key=lambda capture: (capture.due_at, capture.path)):
        if capture.db == db and capture.due_at <= now:
            yield capture


def reason_to_give_up(capture: PendingCapture) -> str:
    """Return why *capture* is not tried again, '' if it is."""
    if capture.failures >= MAX_FAILURES:
        return f"it failed {capture.failures} times with an unexpected error"
    if capture.kills >= MAX_KILLS:
        return f"the capture process was killed {capture.kills} times while it read it"
    return ""


def begin_attempt(capture: PendingCapture) -> None:
    """Count a kill until the attempt has ended; the end of it saves or removes *capture*."""
    save(capture._replace(kills=capture.kills + 1))


def record_failure(capture: PendingCapture, *, due_at: float) -> None:
    """Count a failure of an attempt that has ended."""
    save(capture._replace(failures=capture.failures + 1, due_at=due_at))


def give_up(folder: str, capture: PendingCapture) -> None:
    """Remove *capture*; its transcript is queued again only if it grows as after a capture."""
    try:
        mark_done(folder, capture, os.stat(capture.transcript_path).st_size)
    except (OSError, ValueError):  # ValueError: not a possible file name
        state_files.remove(capture.path)


def mark_done(folder: str, capture: PendingCapture, size: int) -> None:
    """Record that *size* bytes were captured, and dequeue what that covers."""
    db, transcript_path = capture.db, capture.transcript_path
    path = session_file(folder, db, transcript_path, suffix="captured")
    state_files.write_json(path, {"bytes": size})
    if not _has_grown(transcript_path, size):
        state_files.remove(session_file(folder, db, transcript_path, suffix=LATER_SUFFIX))
    discard(capture)


def discard(capture: PendingCapture) -> None:
    """Remove *capture* from the queue, unless it was queued again meanwhile."""
    current = _load(capture.path)
    if current is None:
        return
    if current.due_at == capture.due_at:
        state_files.remove(capture.path)
    else:
        save(current._replace(failures=0, kills=0))  # what was counted has ended well


def save(capture: PendingCapture) -> None:
    """Write the queue file of *capture*. The keys are the file format and must not change."""
    content: dict[str, object] = {
        "db": capture.db,
        "client": capture.client,
        "session": capture.session,
        "place": capture.project,
        "transcript": capture.transcript_path,
        "ripe_at": capture.due_at,
        "tries": capture.failures,
        "kills": capture.kills,
    }
    state_files.write_json(capture.path, content)


def captured_bytes(folder: str, db: str, transcript_path: str) -> int:
    """Return how many bytes of a transcript were captured."""
    path = session_file(folder, db, transcript_path, suffix="captured")
    size = state_files.read_json(path).get("bytes")
    return size if isinstance(size, int) else 0


def _enqueue(
    folder: str, event: HookEvent, *, db: str, project: str, suffix: str, delay_s: float
) -> None:
    transcript_path = event.transcript_path
    path = session_file(folder, db, transcript_path, suffix=suffix)
    due_at = time.time() + delay_s
    # A transcript that kills its process does so again when it is longer.
    previous = _load(path)
    counts = (previous.failures, previous.kills) if previous else (0, 0)
    place = (db, event.client, event.session, project, transcript_path)
    save(PendingCapture(path, *place, due_at, *counts))


def _has_grown(transcript_path: str, size: int) -> bool:
    """Return whether the transcript is longer than *size*: a deferred capture may cover that."""
    try:
        return os.stat(transcript_path).st_size > size
    except OSError:
        return False


def _load(path: str) -> PendingCapture | None:
    content = state_files.read_json(path)
    values = [content.get(key) for key in ("db", "client", "session", "place", "transcript")]
    due_at, failures, kills = content.get("ripe_at"), content.get("tries", 0), content.get("kills")
    if not isinstance(due_at, int | float) or not isinstance(failures, int):
        return None
    if not isinstance(kills, int):
        failures, kills = 0, failures  # written when only kills were counted
    db, client, session, project, transcript = (str(value or "") for value in values)
    place = (db, client, session, project, transcript)
    return PendingCapture(path, *place, float(due_at), failures, kills)
