"""
The background process that captures queued transcripts. A hook starts it and does not wait.

One runs at a time per store. It captures every transcript that is due, including those that an
earlier process left, and then runs the store's jobs, unless a server does that. It may be killed at
any moment: files and store stay consistent, and the next process continues with the queue.
"""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any

import recollect
from recollect.calling_client import use_client
from recollect.errors import InvalidInput, RecollectError
from recollect.hooks import event_names, pending_captures, state_files
from recollect.hooks.injected_memories import session_file
from recollect.hooks.pending_captures import PendingCapture, due_captures
from recollect.hooks.target_store import TargetStore, find_target_store, local_server_address
from recollect.store.file_lock import hold_lock

MAX_TRANSCRIPT_BYTES = 64_000_000
TRANSCRIPT_SUFFIXES = (".jsonl", ".json")
RETRY_DELAY_S = 60.0
LOCK_TIMEOUT_S = 120.0  # for another process, which also captures what is queued meanwhile
NICE = 10


def main() -> None:
    """Capture the queued transcripts of the store named in the arguments."""
    environ = dict(os.environ)
    folder = state_files.state_folder(environ)
    begun = time.monotonic()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)  # the user is working on this machine
    try:
        db, server_url = sys.argv[1:3]
        target = find_target_store(environ, "" if server_url else db)
        outcome = capture_due_transcripts(folder, target)
    except Exception as error:  # process boundary: there is no caller to raise it to
        outcome = f"failed: {type(error).__name__}"
    state_files.append_log(folder, f"- capture {(time.monotonic() - begun) * 1000:.0f}ms {outcome}")


def capture_due_transcripts(folder: str, target: TargetStore) -> str:
    """Capture every transcript that is due, and return the outcome for the log."""
    files = state_files.session_folder(folder)
    key = target.server_url if target.is_remote else target.db
    with hold_lock(session_file(files, key, suffix="lock"), timeout_s=LOCK_TIMEOUT_S) as acquired:
        if not acquired:
            return "skipped: another capture process is running"
        captured = jobs = 0
        with _open_memory(target) as memory:
            is_queued = True
            while is_queued:
                while due := list(due_captures(files, key, time.time())):
                    captured += sum(_try_capture(folder, files, memory, item) for item in due)
                has_server = target.is_remote or local_server_address(folder, target.db) is not None
                jobs += 0 if has_server else sum(memory.engine.drain_in_steps())
                # The jobs may take longer than another process waits for the lock.
                is_queued = any(due_captures(files, key, time.time()))
        state_files.remove_old(files, time.time())
        return f"captured {captured}, ran {jobs} jobs"


@contextlib.contextmanager
def _open_memory(target: TargetStore) -> Iterator[Any]:
    """Yield the memory of the store file, or of the configured server."""
    if target.is_remote:
        with recollect.connect(target.server_url, token=target.token or None) as remote:
            yield remote
    else:
        with recollect.open(target.db) as rec:
            yield rec


def _try_capture(folder: str, files: str, memory: Any, capture: PendingCapture) -> bool:
    """Capture one transcript and return whether it succeeded; requeue it if a retry may help."""
    label = f"{capture.client} capture of {os.path.basename(capture.path)[:8]}"
    if reason := pending_captures.reason_to_give_up(capture):
        path = capture.transcript_path
        hint = f"capture it yourself with: recollect capture {path}"
        state_files.append_log(folder, f"{label} failed: {reason}; {hint}")
        pending_captures.give_up(files, capture)
        return False
    pending_captures.begin_attempt(capture)
    try:
        path, project = capture.transcript_path, capture.project or None
        size = _validate_transcript(path)
        is_cursor = capture.client == event_names.CURSOR
        session = {"session": capture.session} if is_cursor and capture.session else {}
        with use_client(capture.client):
            memory.captures.add_file(path, project=project, **session)
    except InvalidInput as error:
        pending_captures.discard(capture)
        reason = str(error) if isinstance(error, TranscriptRejected) else type(error).__name__
        state_files.append_log(folder, f"{label} rejected: {reason}")
        return False
    except (RecollectError, OSError) as error:
        state_files.append_log(folder, f"{label} postponed: {type(error).__name__}")
        # Without counting it: the transcript did not cause the failure.
        pending_captures.save(capture._replace(due_at=time.time() + RETRY_DELAY_S))
        return False
    except Exception as error:  # one transcript must not keep the others from being captured
        state_files.append_log(folder, f"{label} failed: unexpected {type(error).__name__}")
        pending_captures.record_failure(capture, due_at=time.time() + RETRY_DELAY_S)
        return False
    pending_captures.mark_done(files, capture, size)
    return True


class TranscriptRejected(InvalidInput):
    """A transcript is not captured; the message does not reveal its content."""


def _validate_transcript(path: str) -> int:
    """Return the size of a transcript, or raise `TranscriptRejected`."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:  # ValueError: not a possible file name
        raise TranscriptRejected("the file does not exist") from error
    if not stat.S_ISREG(status.st_mode):
        raise TranscriptRejected("not a regular file")
    if os.name == "posix" and status.st_uid != os.getuid():
        raise TranscriptRejected("the file belongs to another user")
    if not path.endswith(TRANSCRIPT_SUFFIXES):
        raise TranscriptRejected("the file name does not end in .json or .jsonl")
    if status.st_size > MAX_TRANSCRIPT_BYTES:
        raise TranscriptRejected(f"the file is larger than {MAX_TRANSCRIPT_BYTES // 1_000_000} MB")
    try:
        with open(path, "rb") as file:
            start = file.read(100).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError as error:
        raise TranscriptRejected("the file cannot be read") from error
    if not start.startswith((b"{", b"[")):
        raise TranscriptRejected("the file is not JSON")
    return status.st_size
