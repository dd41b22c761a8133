"""
The raw pages of a damaged database file, with its write-ahead log applied.

SQLite stops at the first damaged byte. This reader does not: it gives every page that exists, and
lists what is wrong with the header and the log. Of an encrypted file, SQLite decrypts page by page.
The format: https://sqlite.org/fileformat2.html.

A frame of the log has a checksum over itself and all frames before it, so SQLite ignores everything
after a damaged frame. The stored checksum of that frame still starts the checksum of the next one,
so the frames after it can be checked and used. The checksum is linear: one flipped bit in a frame
changes it by an amount that tells which bit it was, and the bit is flipped back.
"""

import mmap
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import apsw

from recollect.lazy_dataclass import dataclass
from recollect.store.sqlite.encryption import RESERVED_BYTES, apply_key
from recollect.store.store_key import StoreKey

MAGIC = b"SQLite format 3\x00"
PAGE_SIZE = 4096  # of every store: SQLite's default, which we never change
HEADER_SIZE = 100
WAL_HEADER_SIZE, FRAME_HEADER_SIZE = 32, 24
_WAL_MAGICS = (0x377F0682, 0x377F0683)
_FRAME_SIZE = FRAME_HEADER_SIZE + PAGE_SIZE
_WORD = 0xFFFF_FFFF

Checksum = tuple[int, int]
_KEPT_OPEN: list[mmap.mmap] = []


class DatabaseImage:
    """The pages of a database as its last readable commit left them; numbers start at 1."""

    def __init__(self, path: Path, *, key: StoreKey | None = None, is_open: bool = False) -> None:
        self._content: bytes | mmap.mmap
        if key is None:
            self._content = _read(path, keep_open=is_open)
            log = read_log(_read(path.with_name(f"{path.name}-wal")))
        else:
            self._content = _decrypt(path, key, keep_open=is_open)
            log = WriteAheadLog({})  # SQLite has applied it
        self.usable_bytes = PAGE_SIZE - (RESERVED_BYTES if key else 0)  # of each page
        self.problems: list[str] = []
        self.problems += log.problems
        self._logged = log.pages
        last_in_file = len(self._content) // PAGE_SIZE
        self.page_count = max(last_in_file, *log.pages, 0)
        if self:
            header = bytes(self.page(1)[:HEADER_SIZE])
            reserved = PAGE_SIZE - self.usable_bytes
            self.problems += header_problems(header, reserved_bytes=reserved)

    def __bool__(self) -> bool:
        return self.page_count > 0

    def page(self, number: int) -> memoryview:
        """Return a page; the part that the file lacks is zero."""
        if number in self._logged:
            return memoryview(self._logged[number])
        start = (number - 1) * PAGE_SIZE
        content = memoryview(self._content)[start : start + PAGE_SIZE]
        return content if len(content) == PAGE_SIZE else memoryview(bytes(PAGE_SIZE))


def header_problems(header: bytes, *, reserved_bytes: int = 0) -> list[str]:
    """Return what is wrong with the first 100 bytes of a database file."""
    expected = {
        "its first 16 bytes": (header[:16], MAGIC),
        "the page size": (header[16:18], PAGE_SIZE.to_bytes(2)),
        "the format version": (header[18:20], b"\2\2"),
        "the reserved space and payload fractions": (
            header[20:24],
            bytes([reserved_bytes, 64, 32, 32]),
        ),
        "the schema format": (header[44:48], b"\0\0\0\4"),
        "the text encoding": (header[56:60], b"\0\0\0\1"),
    }
    return [
        f"the file header is damaged: {name}"
        for name, (value, good) in expected.items()
        if value != good
    ]


@dataclass(frozen=True)
class WriteAheadLog:
    """The pages of a log up to its last commit, and what is damaged in it."""

    pages: Mapping[int, bytes]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Frame:
    page_number: int
    is_commit: bool
    content: bytes


def read_log(log: bytes | mmap.mmap) -> WriteAheadLog:
    """Return the pages of a write-ahead log, also those after a damaged frame."""
    if len(log) < WAL_HEADER_SIZE + _FRAME_SIZE:
        return WriteAheadLog({})
    magic, *_, first, second = struct.unpack(">8I", log[:WAL_HEADER_SIZE])
    order = ">" if magic & 1 else "<"
    problems = []
    intact_header = magic in _WAL_MAGICS and (first, second) == _checksum(
        log[: WAL_HEADER_SIZE - 8], (0, 0), order
    )
    if not intact_header:
        problems.append("the header of the write-ahead log is damaged")
        order = "<"  # as written by every machine that we support
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    pending_problems: list[str] = []
    for frame, problem in _frames(log, (first, second), order, is_seed_known=intact_header):
        pending_problems += [problem] if problem else []
        pending[frame.page_number] = frame.content
        if frame.is_commit:
            # Damage in a transaction that was never committed is what a crash leaves behind.
            problems += pending_problems
            pages |= pending
            pending.clear()
            pending_problems.clear()
    return WriteAheadLog(pages, tuple(problems))


def _frames(
    log: bytes | mmap.mmap, seed: Checksum, order: str, *, is_seed_known: bool
) -> Iterator[tuple[_Frame, str]]:
    """Yield the frames of the current log, and what was wrong with each ('' if nothing)."""
    count = (len(log) - WAL_HEADER_SIZE) // _FRAME_SIZE
    for number in range(count):
        raw = _raw_frame(log, number)
        computed = _frame_checksum(raw, seed, order)
        stored = _stored_checksum(raw)
        problem = ""
        if computed != stored:
            if not is_seed_known:
                corrected, seed = raw, stored  # the first frame after a damaged header
            elif _next_frame_matches(log, number + 1, count, computed, order):
                corrected, seed = raw, computed  # only its checksum is damaged
            else:
                bits = _suspect_bits(raw, computed, stored, order)
                if not bits and not _next_frame_matches(log, number + 1, count, stored, order):
                    return  # an earlier use of the log left the rest
                corrected, seed = _flip_back(raw, bits, order), stored
            if is_seed_known:
                outcome = "corrected" if corrected != raw or seed == computed else "kept"
                problem = f"frame {number + 1} of the write-ahead log is damaged; {outcome}"
            raw = corrected
        else:
            seed = stored
        is_seed_known = True
        page_number, size = struct.unpack(">2I", raw[:8])
        yield _Frame(page_number, size > 0, raw[FRAME_HEADER_SIZE:]), problem


def _next_frame_matches(
    log: bytes | mmap.mmap, number: int, count: int, seed: Checksum, order: str
) -> bool:
    if number >= count:
        return False
    raw = _raw_frame(log, number)
    return _frame_checksum(raw, seed, order) == _stored_checksum(raw)


def _raw_frame(log: bytes | mmap.mmap, number: int) -> bytes:
    start = WAL_HEADER_SIZE + number * _FRAME_SIZE
    return bytes(log[start : start + _FRAME_SIZE])


def _stored_checksum(raw: bytes) -> Checksum:
    first, second = struct.unpack(">2I", raw[16:24])
    return first, second


def _frame_checksum(raw: bytes, seed: Checksum, order: str) -> Checksum:
    return _checksum(raw[:8] + raw[FRAME_HEADER_SIZE:], seed, order)


def _checksum(content: bytes, seed: Checksum, order: str) -> Checksum:
    first, second = seed
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for at in range(0, len(words), 2):
        first = (first + words[at] + second) & _WORD
        second = (second + words[at + 1] + first) & _WORD
    return first, second


def _suspect_bits(
    raw: bytes, computed: Checksum, stored: Checksum, order: str
) -> list[tuple[int, int]]:
    """Return each word and bit of a frame that, flipped, would explain its wrong checksum."""
    wrong = (stored[0] - computed[0]) & _WORD, (stored[1] - computed[1]) & _WORD
    content = raw[:8] + raw[FRAME_HEADER_SIZE:]
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    suspects: list[tuple[int, int]] = []
    # How a change of 1 in the first or second word of a pair changes the checksum in the end.
    of_first, of_second = (1, 1), (0, 1)
    for pair in range(len(words) - 2, -1, -2):
        for at, (first, second) in ((pair, of_first), (pair + 1, of_second)):
            for bit in range(32):
                change = -(1 << bit) if words[at] >> bit & 1 else 1 << bit
                if (first * change & _WORD, second * change & _WORD) == wrong:
                    suspects.append((at, bit))
        of_first, of_second = _one_pair_later(of_first), _one_pair_later(of_second)
    return suspects


def _flip_back(raw: bytes, bits: list[tuple[int, int]], order: str) -> bytes:
    """Return the frame with its flipped bit corrected, or as it is if several may be meant."""
    if len(bits) != 1:
        return raw
    [(at, bit)] = bits
    content = bytearray(raw[:8] + raw[FRAME_HEADER_SIZE:])
    [word] = struct.unpack_from(f"{order}I", content, at * 4)
    struct.pack_into(f"{order}I", content, at * 4, word ^ 1 << bit)
    return bytes(content[:8]) + raw[8:FRAME_HEADER_SIZE] + bytes(content[8:])


def _one_pair_later(change: Checksum) -> Checksum:
    first = (change[0] + change[1]) & _WORD
    return first, (change[1] + first) & _WORD


def has_lost_commits(path: Path, valid_frames: int) -> bool:
    """
    Return whether the log of *path* holds commits that SQLite does not read, because of damage.

    *valid_frames* is how many frames SQLite reads. Frames after them are common: of an earlier use
    of the log, and of a write that was never committed.
    """
    log = _read(path.with_name(f"{path.name}-wal"))
    count = (len(log) - WAL_HEADER_SIZE) // _FRAME_SIZE
    if count <= valid_frames:
        return False
    salts = log[16:24]
    starts = range(WAL_HEADER_SIZE + valid_frames * _FRAME_SIZE, len(log) - 24, _FRAME_SIZE)
    is_suspect = any(log[at + 8 : at + 16] == salts and any(log[at + 4 : at + 8]) for at in starts)
    if not is_suspect and valid_frames:
        return False
    return bool(read_log(log).problems)


def _decrypt(path: Path, key: StoreKey, *, keep_open: bool) -> bytes:
    """
    Return the pages of an encrypted database with its log applied; a damaged page is zero.

    The log is applied to a private copy, which is encrypted too: the damaged file is only read.
    """
    pages: list[bytes] = []
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        copy = Path(folder) / "copy"
        copy.write_bytes(_read(path, keep_open=keep_open))
        copy.with_name("copy-wal").write_bytes(_read(path.with_name(f"{path.name}-wal")))
        db = None
        try:
            db = _open_decrypted(copy, key)  # first: the log may make the file longer
            for start in range(0, copy.stat().st_size, PAGE_SIZE):
                db = db or _open_decrypted(copy, key)
                try:
                    pages.append(db.read("main", 0, start, PAGE_SIZE)[1])
                except apsw.Error:
                    pages.append(bytes(PAGE_SIZE))
                    db.close()  # the cipher refuses every page after one that is damaged
                    db = None
        except apsw.Error:
            return b""  # the first page is damaged, without which no other is decrypted
        finally:
            if db is not None:
                db.close()
    return b"".join(pages)


def _open_decrypted(path: Path, key: StoreKey) -> apsw.Connection:
    db = apsw.Connection(str(path))
    apply_key(db, key)
    # This reads the first page and opens the log. The PRAGMA of the checkpoint would read the whole
    # schema first, a page of which may be the damaged one.
    db.execute("PRAGMA schema_version").fetchall()
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return db


def _read(path: Path, *, keep_open: bool = False) -> bytes | mmap.mmap:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    try:
        if not os.fstat(descriptor).st_size:
            return b""  # which cannot be mapped
        content = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        if not keep_open:
            os.close(descriptor)
    if keep_open:
        # Closing it would release the locks of this process's connections to the file.
        _KEPT_OPEN.append(content)
    return content
