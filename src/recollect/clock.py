"""
The current time and new identifiers.

Code that needs either takes a `Clock`, so that a test can pass a fixed one. Times are aware UTC
datetimes with microseconds; the store saves them as integers of microseconds since 1970.
"""

import hashlib
import os
import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """A source of times and identifiers."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def new_id(self) -> str:
        """Return a new identifier: UUIDv7 text, which sorts by time of creation."""
        ...


class SystemClock:
    """The system clock. Identifiers of one process strictly increase."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)

    def new_id(self) -> str:
        """Return a UUIDv7 that is greater than the previous one."""
        with self._lock:
            # 48 bits of milliseconds and 12 of their fraction, increasing within a process.
            ticks = to_micros(datetime.now(UTC)) * 4096 // 1000
            self._last = max(ticks, self._last + 1)
            ticks = self._last
        return uuid7_text(ticks, int.from_bytes(os.urandom(8)))


def uuid7_text(ticks: int, entropy: int) -> str:
    """Return *ticks* (milliseconds × 4096) and 62 bits of *entropy* as a version-7 UUID."""
    value = (ticks >> 12) << 80 | 7 << 76 | (ticks & 0xFFF) << 64 | 2 << 62
    digits = f"{value | (entropy & ((1 << 62) - 1)):032x}"  # a uuid.UUID would take twice as long
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def derived_id(parent_id: str, kind: str, number: int) -> str:
    """
    Return the id of the *number*th item of *kind* that is derived from *parent_id*.

    The result is deterministic, so that repeated work finds its earlier results. It contains the
    parent's time; items of one parent and kind sort by their number.
    """
    parent = uuid.UUID(parent_id).int
    ticks = (parent >> 80) << 12 | (parent >> 64) & 0xFFF
    digest = hashlib.blake2b(f"{parent_id} {kind} {number}".encode(), digest_size=5).digest()
    return uuid7_text(ticks, number << 40 | int.from_bytes(digest))


def successor_id(earlier_id: str, kind: str) -> str:
    """Return an id that sorts after *earlier_id*, the same for the same *kind* on every machine."""
    earlier = uuid.UUID(earlier_id).int
    ticks = (earlier >> 80) << 12 | (earlier >> 64) & 0xFFF
    digest = hashlib.blake2b(f"{earlier_id} {kind}".encode(), digest_size=7).digest()
    return uuid7_text(ticks + 1, int.from_bytes(digest))


def to_micros(moment: datetime) -> int:
    """Return *moment* as microseconds since 1970, without rounding."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the UTC time of *micros* since 1970, without rounding."""
    return _EPOCH + timedelta(microseconds=micros)
