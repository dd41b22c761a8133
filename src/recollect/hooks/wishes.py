"""
Which transcripts are to be captured: a small file for each, written before anybody works on it.

A wish outlives whoever was to fulfil it: a capture that was killed, or a client that never said
that its session ended, is made up for by the next capture. So that a client which tells of every
turn does not have its transcript read at every turn, a transcript is wanted at once only when it
has grown by enough, or when its session ends; in between the wish is written down for later.
"""

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from recollect.hooks import names, state
from recollect.hooks.events import HookEvent
from recollect.hooks.given import session_file

FIRST_BYTES = 16_000  # of a session that was never captured
MORE_BYTES = 64_000
MORE_SHARE = 0.5  # of what was captured: all captures together read three times the last one
LATER_S = 1_800.0  # a session that was silent for so long is over, whatever its client says
MOST_TRIES = 3

NOW = "now"
LATER = "later"
NOT_NEEDED = "not needed"
WISHES = ("wanted", "later")  # how the names of their files end


class Wish(NamedTuple):
    """One transcript that is to be captured, for one store."""

    path: str  # of the wish
    db: str
    client: str
    session: str
    place: str
    transcript: str
    ripe_at: float
    tries: int = 0


def when(kind: str, *, size: int, captured: int) -> str:
    """Return when a transcript of *size* bytes, of which so many were captured, is wanted."""
    if size <= captured:
        return NOT_NEEDED
    if kind != names.STOP:
        return NOW
    needed = max(MORE_BYTES, MORE_SHARE * captured) if captured else FIRST_BYTES
    return NOW if size - captured >= needed else LATER


def wish_for(folder: str, event: HookEvent, *, db: str, place: str, size: int) -> str:
    """Write down that the transcript of *event* is wanted, and return when."""
    wanted = when(event.kind, size=size, captured=captured_bytes(folder, db, event.transcript))
    if wanted != NOT_NEEDED:
        _write(folder, event, db=db, place=place, wanted=wanted)
    return wanted


def wish_later(folder: str, event: HookEvent, *, db: str, place: str) -> None:
    """Write down that the transcript of *event*, which is only being written, is wanted later."""
    _write(folder, event, db=db, place=place, wanted=LATER)


def _write(folder: str, event: HookEvent, *, db: str, place: str, wanted: str) -> None:
    # In files of their own: what may wait must not put off what may not.
    ending = WISHES[0] if wanted == NOW else WISHES[1]
    state.write_small(
        session_file(folder, db, event.transcript, ending=ending),
        {
            "db": db,
            "client": event.client,
            "session": event.session,
            "place": place,
            "transcript": event.transcript,
            "ripe_at": time.time() + (LATER_S if wanted == LATER else 0.0),
        },
    )


def ripe(folder: str, db: str, now: float) -> Iterator[Wish]:
    """Yield the wishes for the store *db* whose time has come, those wished first first."""
    try:
        with os.scandir(folder) as found:
            paths = [one.path for one in found if one.name.endswith(WISHES)]
    except OSError:
        return
    wishes = [one for path in paths if (one := _read(path)) is not None]
    for wish in sorted(wishes, key=lambda one: (one.ripe_at, one.path)):
        if wish.db == db and wish.ripe_at <= now:
            yield wish


def try_once_more(wish: Wish) -> bool:
    """Count one more try of *wish*; say whether it may be made. One that kills is given up."""
    if wish.tries >= MOST_TRIES:
        state.remove(wish.path)
        return False
    told: dict[str, object] = wish._replace(tries=wish.tries + 1)._asdict()
    state.write_small(wish.path, told)
    return True


def fulfilled(folder: str, wish: Wish, size: int) -> None:
    """Note that *size* bytes of a transcript are captured; a wish made meanwhile stays."""
    path = session_file(folder, wish.db, wish.transcript, ending="captured")
    state.write_small(path, {"bytes": size})
    if not _has_grown(wish.transcript, size):
        state.remove(session_file(folder, wish.db, wish.transcript, ending=WISHES[1]))
    dropped(wish)


def dropped(wish: Wish) -> None:
    """Remove a wish, unless it was made again meanwhile."""
    again = _read(wish.path)
    if again is not None and again.ripe_at == wish.ripe_at:
        state.remove(wish.path)


def _has_grown(transcript: str, size: int) -> bool:
    """Say whether more was said meanwhile; a wish for later may be about that."""
    try:
        return os.stat(transcript).st_size > size
    except OSError:
        return False


def captured_bytes(folder: str, db: str, transcript: str) -> int:
    """Return how much of a transcript was captured so far."""
    found = state.read_small(session_file(folder, db, transcript, ending="captured")).get("bytes")
    return found if isinstance(found, int) else 0


def _read(path: str) -> Wish | None:
    told = state.read_small(path)
    texts = [told.get(name) for name in ("db", "client", "session", "place", "transcript")]
    ripe_at, tries = told.get("ripe_at"), told.get("tries", 0)
    if not isinstance(ripe_at, int | float) or not isinstance(tries, int):
        return None
    db, client, session, place, transcript = (str(one or "") for one in texts)
    return Wish(path, db, client, session, place, transcript, float(ripe_at), tries)
