"""A store with rows of every kind, and copies of its files with one bit flipped."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from populated_memory import populate_memory
from recollect.store.sqlite.repair import DERIVED
from support import file_store, open_memory

PAGE = 4096
WAL_HEADER, FRAME = 32, 24 + PAGE
QUERY = "which port does service 7 use?"


@dataclass(frozen=True)
class StoreFiles:
    """The bytes of a store: its file, and its write-ahead log with the last writes."""

    database: bytes
    log: bytes
    rows: dict[str, frozenset[tuple[object, ...]]]  # of the canonical tables
    memory_id: str  # what QUERY finds

    def write(self, path: Path, flip: "BitFlip") -> None:
        """Write both files with one bit flipped, in place of those that are there."""
        database, log = bytearray(self.database), bytearray(self.log)
        (log if flip.in_log else database)[flip.at] ^= 1 << flip.bit
        for other in path.parent.iterdir():
            other.unlink()
        path.write_bytes(bytes(database))
        path.with_name(f"{path.name}-wal").write_bytes(bytes(log))


@dataclass(frozen=True)
class BitFlip:
    """Which bit of which file is flipped."""

    at: int
    bit: int
    in_log: bool = False

    def __str__(self) -> str:
        if self.in_log:
            return f"bit {self.bit} of byte {self.at} of the log"
        return f"bit {self.bit} of byte {self.at % PAGE} of page {self.at // PAGE + 1}"


def make_store(folder: Path) -> StoreFiles:
    """Make a store of which a part is in the file and the rest in the log."""
    path = folder / "memory.db"
    with open_memory(path, words_only=True) as rec:
        populate_memory(rec)
        for number in range(24):
            memory = rec.ingest(f"Service {number} uses port {8000 + number}.", project="site")
            if number == 7:
                memory_id = memory.id
        rec.ingest("A long note. " + "word " * 1_200, project="site")
        rec.drain()
    with open_memory(path, words_only=True) as rec:
        file_store(rec)._tables.connection.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        rec.ingest("Written to the log.", project="site")
        rec.search(QUERY, project="site")
    database, frames = path.read_bytes(), path.with_name("memory.db-wal").read_bytes()
    return StoreFiles(database, frames, canonical_rows(path), memory_id)


def flips(files: StoreFiles, count: int, seed: int = 16) -> Iterator[BitFlip]:
    """Yield bits anywhere: half in pages, the rest where a bit does most harm, and in the log."""
    rng = random.Random(seed)
    pages = len(files.database) // PAGE
    for number in range(count):
        bit, page = rng.randrange(8), rng.randrange(pages) * PAGE
        match number % 8:
            case 0:
                yield BitFlip(rng.randrange(100), bit)  # the header of the file
            case 1:
                yield BitFlip(100 + rng.randrange(12), bit)  # the root of the schema
            case 2:
                yield BitFlip(page + rng.randrange(12), bit)  # the header of a page
            case 3:
                yield BitFlip(page + rng.randrange(8, 40), bit)  # cell pointers
            case 4:
                yield BitFlip(rng.randrange(len(files.log)), bit, in_log=True)
            case _:
                yield BitFlip(page + rng.randrange(PAGE), bit)


def canonical_rows(path: Path) -> dict[str, frozenset[tuple[object, ...]]]:
    """Return the rows of every table that is not made from others."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        names = [
            str(row[0])
            for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if row[0] not in DERIVED and not str(row[0]).startswith("sqlite_")
        ]
        return {name: frozenset(db.execute(f"SELECT * FROM {name}")) for name in names}
    finally:
        db.close()


def page_of(path: Path, name: str) -> int:
    """Return where the root page of a table or index starts in the file."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    try:
        return (int(str(db.execute(sql, (name,)).get)) - 1) * PAGE
    finally:
        db.close()
