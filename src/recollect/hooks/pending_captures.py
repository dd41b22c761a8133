"""
A queue of transcripts to capture: one small file each, written before any work starts.

The queue survives a capture process that is killed and a client that never reports the end of its
session: the next capture processes what is left. A client may report every turn, and its transcript
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
MAX_ATTEMPTS = 3

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
    attempts: int = 0


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


def begin_attempt(capture: PendingCapture) -> bool:
    """Count an attempt and return True, or remove *capture* if it has no attempts left."""
    if capture.attempts >= MAX_ATTEMPTS:
        state_files.remove(capture.path)
        return False
    save(capture._replace(attempts=capture.attempts + 1))
    return True


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
    if current is not None and current.due_at == capture.due_at:
        state_files.remove(capture.path)


def save(capture: PendingCapture) -> None:
    """Write the queue file of *capture*. The keys are the file format and must not change."""
    content: dict[str, object] = {
        "db": capture.db,
        "client": capture.client,
        "session": capture.session,
        "place": capture.project,
        "transcript": capture.transcript_path,
        "ripe_at": capture.due_at,
        "tries": capture.attempts,
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
    save(PendingCapture(path, db, event.client, event.session, project, transcript_path, due_at))


def _has_grown(transcript_path: str, size: int) -> bool:
    """Return whether the transcript is longer than *size*: a deferred capture may cover that."""
    try:
        return os.stat(transcript_path).st_size > size
    except OSError:
        return False


def _load(path: str) -> PendingCapture | None:
    content = state_files.read_json(path)
    values = [content.get(key) for key in ("db", "client", "session", "place", "transcript")]
    due_at, attempts = content.get("ripe_at"), content.get("tries", 0)
    if not isinstance(due_at, int | float) or not isinstance(attempts, int):
        return None
    db, client, session, project, transcript = (str(value or "") for value in values)
    return PendingCapture(path, db, client, session, project, transcript, float(due_at), attempts)
