"""
The process that captures, started by a hook and on its own: wishes in, sources and memories out.

One at a time for each store. It takes every ripe wish, also those that others left behind, hands
the transcripts over, and works off what is due, unless a server does that. Killed at any moment it
leaves whole files, a store that is whole, and wishes for the next one.
"""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any

import recollect
from recollect.errors import InvalidInput, RecollectError
from recollect.hooks import names, state
from recollect.hooks.given import session_file
from recollect.hooks.lock import locked
from recollect.hooks.whose import Whose, served_at, whose
from recollect.hooks.wishes import Wish, dropped, fulfilled, ripe, try_once_more

MOST_BYTES = 64_000_000
ENDINGS = (".jsonl", ".json")
AGAIN_S = 60.0
WAIT_S = 120.0  # for another one to finish; it takes what waits
NICE = 10


def main() -> None:
    """Capture what is wished for the store named in the arguments."""
    environ = dict(os.environ)
    folder = state.state_folder(environ)
    begun = time.monotonic()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)  # somebody is at work on this machine
    try:
        db, server_url = sys.argv[1:3]
        told = whose(environ, "" if server_url else db)
        outcome = capture_all(folder, told)
    except Exception as error:  # the process's boundary: there is nobody to raise it to
        outcome = f"failed: {type(error).__name__}"
    state.log(folder, f"- capture {(time.monotonic() - begun) * 1000:.0f}ms {outcome}")


def capture_all(folder: str, wanted: Whose) -> str:
    """Capture every transcript that is wished for; return what came of it, for the log."""
    files = state.session_folder(folder)
    key = wanted.server_url if wanted.elsewhere else wanted.db
    with locked(session_file(files, key, ending="lock"), within_s=WAIT_S) as mine:
        if not mine:
            return "another one is at work; it or the next takes what is wished"
        done = steps = 0
        with _door(wanted) as memory:
            waits = True
            while waits:
                while found := list(ripe(files, key, time.time())):
                    done += sum(_tried(folder, files, memory, wish) for wish in found)
                worked = wanted.elsewhere or served_at(folder, wanted.db) is not None
                steps += 0 if worked else sum(memory.drain_in_steps())
                # That may take longer than another one waits for the lock.
                waits = any(ripe(files, key, time.time()))
        state.remove_old(files, time.time())
        return f"captured {done}, worked off {steps}"


@contextlib.contextmanager
def _door(wanted: Whose) -> Iterator[Any]:
    """Yield the memory that is meant: the file's, or the one behind the server that was named."""
    if wanted.elsewhere:
        with recollect.connect(wanted.server_url, token=wanted.token or None) as remote:
            yield remote
    else:
        with recollect.open(wanted.db) as memory:
            yield memory


def _tried(folder: str, files: str, memory: Any, wish: Wish) -> bool:
    """Capture one transcript; say whether that went well. Only what may go better later stays."""
    mark = f"{wish.client} capture of {os.path.basename(wish.path)[:8]}"
    if not try_once_more(wish):
        state.log(folder, f"{mark} given up after its last try")
        return False
    try:
        size = _checked(wish.transcript)
        session = {"session": wish.session} if wish.client == names.CURSOR and wish.session else {}
        memory.capture_file(wish.transcript, project=wish.place or None, **session)
    except InvalidInput as error:
        dropped(wish)
        why = str(error) if isinstance(error, Refused) else type(error).__name__
        state.log(folder, f"{mark} refused: {why}")
        return False
    except (RecollectError, OSError) as error:
        state.log(folder, f"{mark} put off: {type(error).__name__}")
        _put_off(wish)
        return False
    fulfilled(files, wish, size)
    return True


def _put_off(wish: Wish) -> None:
    """Leave a wish to a later capture, as if it had not been tried: it was not at fault."""
    told: dict[str, object] = wish._replace(ripe_at=time.time() + AGAIN_S)._asdict()
    state.write_small(wish.path, told)


class Refused(InvalidInput):
    """A transcript that is not read; the reason says nothing of what is in it."""


def _checked(path: str) -> int:
    """Return the size of a transcript, or refuse it."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError) as error:  # a name no file could have is the latter
        raise Refused("there is no such file") from error
    if not stat.S_ISREG(seen.st_mode):
        raise Refused("it is no regular file")
    if os.name == "posix" and seen.st_uid != os.getuid():
        raise Refused("it is somebody else's file")
    if not path.endswith(ENDINGS):
        raise Refused("it is no JSON by its name")
    if seen.st_size > MOST_BYTES:
        raise Refused(f"it is larger than {MOST_BYTES // 1_000_000} MB")
    try:
        with open(path, "rb") as file:
            begin = file.read(100).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError as error:
        raise Refused("it may not be read") from error
    if not begin.startswith((b"{", b"[")):
        raise Refused("it is no JSON")
    return seen.st_size
