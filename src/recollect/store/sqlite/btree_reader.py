"""
Read the rows of a table from raw pages, around whatever is damaged.

A tree is walked from its root. A page whose cells do not decode is searched byte by byte for cells
that do; a page that no tree leads to any more is given to the tree that lost a page and whose rows
have its shape. A row is taken if its record has the types that the table's columns demand. What
cannot be read is listed as page numbers; nothing here knows what the rows mean.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import Enum

from recollect.lazy_dataclass import dataclass
from recollect.store.sqlite.database_image import HEADER_SIZE, PAGE_SIZE, DatabaseImage

TABLE_LEAF, TABLE_INTERIOR, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x05, 0x0A, 0x02
MAX_DEPTH = 40
_MISSING_BYTE = b"?"  # fills what a lost overflow page held


class StorageType(Enum):
    """What a column may hold."""

    TEXT = "TEXT"
    INTEGER = "INTEGER"
    REAL = "REAL"
    BLOB = "BLOB"


@dataclass(frozen=True)
class StoredColumn:
    """A column in the order in which records hold it."""

    type: StorageType | None  # None: any, in an index over an expression
    nullable: bool
    optional: bool = False  # records written before it was added end before it


@dataclass(frozen=True)
class TreeShape:
    """What the records of a tree look like."""

    is_index: bool  # records are keys: of an index, or of a table WITHOUT ROWID
    columns: tuple[StoredColumn, ...]


Value = bytes | int | float | None  # text as its bytes, which may be damaged


@dataclass(frozen=True)
class RawRow:
    """A record as stored. *is_cut* if a part of it was on a page that is lost."""

    rowid: int
    values: tuple[Value, ...]
    page: int
    is_cut: bool = False
    overflow: tuple[int, ...] = ()  # the pages with the rest of a long record


@dataclass
class _Page:
    kind: int
    rows: list[RawRow] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    bad_cells: int = 0
    cells: int = 0  # as the header says
    used_bytes: int = 0


class BtreeReader:
    """Reads trees of one image; a page belongs to the first tree that can read it."""

    def __init__(
        self, image: DatabaseImage, *, other_tree_pages: frozenset[int] = frozenset()
    ) -> None:
        self._image = image
        self._other_tree_pages = other_tree_pages  # that cannot continue a long record
        self.tree_pages: set[int] = set()
        self.overflow_pages: set[int] = set()
        self.damaged_pages: dict[int, list[int]] = {}  # by root: pages that do not decode fully
        self.lost_pages: dict[int, int] = {}  # by root: pages that are not reached or lack rows

    def rows(self, root: int, shape: TreeShape) -> Iterator[RawRow]:
        """Yield the rows of the tree at *root*."""
        self.damaged_pages[root] = []
        self.lost_pages[root] = 0
        stack = [(root, 0)]
        while stack:
            number, depth = stack.pop()
            page = self._claim(number, shape) if depth < MAX_DEPTH else None
            if page is None:
                self.lost_pages[root] += 1
                continue
            if page.bad_cells:
                self.damaged_pages[root].append(number)
                # A damaged page may have led to others that are not reached any more.
                is_interior = page.kind in (TABLE_INTERIOR, INDEX_INTERIOR)
                self.lost_pages[root] += is_interior or len(page.rows) < page.cells
            yield from page.rows
            stack += [(child, depth + 1) for child in reversed(page.children)]

    def orphans(self, shape: TreeShape) -> Iterator[RawRow]:
        """Yield the rows on pages that no tree read so far, if they have this shape."""
        for number in range(2, self._image.page_count + 1):
            if number in self.tree_pages or number in self.overflow_pages:
                continue
            kind = self._image.page(number)[0]
            page = self._decode(number, kind, shape) if kind in _page_kinds(shape) else None
            if page is not None and page.rows and _score(page) > 0:
                self._add(number, page)
                yield from page.rows

    def _claim(self, number: int, shape: TreeShape) -> _Page | None:
        """Read a page for a tree; None if it cannot be a page of it."""
        if not 1 <= number <= self._image.page_count or number in self.tree_pages:
            return None
        page = self._read_page(number, shape)
        if page is not None:
            self._add(number, page)
        return page

    def _add(self, number: int, page: _Page) -> None:
        self.tree_pages.add(number)
        self.overflow_pages.update(*(row.overflow for row in page.rows))

    def _read_page(self, number: int, shape: TreeShape) -> _Page | None:
        kind = self._image.page(number)[HEADER_SIZE if number == 1 else 0]
        kinds = _page_kinds(shape)
        stated = self._decode(number, kind, shape) if kind in kinds else None
        if stated is not None and not stated.bad_cells:
            return stated
        others = [self._decode(number, other, shape) for other in kinds if other != kind]
        best = max([stated, *others] if stated else others, key=_score)
        self._search(number, best, shape)
        best.bad_cells = max(best.bad_cells, 1)  # if not a cell, then its header is damaged
        if best.rows or (best.children and (stated is not None or _score(best) >= 0)):
            return best
        is_empty = stated is not None and not any(self._image.page(number)[HEADER_SIZE + 12 :])
        return stated if is_empty else None

    def _decode(self, number: int, kind: int, shape: TreeShape) -> _Page:
        """Read the cells of a page as the cell pointers of a page of that kind say."""
        raw = self._image.page(number)
        start = HEADER_SIZE if number == 1 else 0
        is_leaf = kind in (TABLE_LEAF, INDEX_LEAF)
        count = int.from_bytes(raw[start + 3 : start + 5])
        pointers = start + (8 if is_leaf else 12)
        page = _Page(kind, cells=count, used_bytes=pointers + 2 * count)
        count = min(count, (self._image.usable_bytes - pointers) // 2)
        for at in range(pointers, pointers + 2 * count, 2):
            offset = int.from_bytes(raw[at : at + 2])
            if not self._read_cell(number, offset, kind, shape, page):
                page.bad_cells += 1
        if not is_leaf:
            self._add_child(int.from_bytes(raw[start + 8 : start + 12]), page)
        is_complete = page.used_bytes + _free_bytes(raw, start) == self._image.usable_bytes
        if raw[start] != kind or not is_complete:
            page.bad_cells += 1  # its header is damaged, or cells are not counted
        return page

    def _add_child(self, child: int, page: _Page) -> None:
        if 2 <= child <= self._image.page_count:
            page.children.append(child)
        else:
            page.bad_cells += 1

    def _read_cell(self, number: int, offset: int, kind: int, shape: TreeShape, page: _Page) -> int:
        """Add the cell at *offset* to *page*; return where it ends, 0 if it is not a cell."""
        raw = self._image.page(number)
        first = HEADER_SIZE + 8 if number == 1 else 8
        if not first <= offset < self._image.usable_bytes - 3:
            return 0
        at = offset
        child = 0
        if kind in (TABLE_INTERIOR, INDEX_INTERIOR):
            child, at = int.from_bytes(raw[at : at + 4]), at + 4
            if not 2 <= child <= self._image.page_count:
                return 0
            if kind == TABLE_INTERIOR:
                page.children.append(child)
                end = _varint(raw, at)[1]
                page.used_bytes += max(4, end - offset)
                return end
        size, at = _varint(raw, at)
        rowid = 0
        if kind == TABLE_LEAF:
            rowid, at = _varint(raw, at)
        local = _local_size(size, self._image.usable_bytes, is_index=shape.is_index)
        if (
            size < 2
            or at + local > self._image.usable_bytes
            or size > PAGE_SIZE * self._image.page_count
        ):
            return 0
        payload, end = bytes(raw[at : at + local]), at + local
        layout = _record_layout(payload, size, shape)
        if layout is None:
            return 0
        chain: list[int] = []
        is_cut = False
        if local < size:
            rest, chain, is_cut = self._overflow(raw, end, size - local)
            payload += rest
            end += 4
        if child:
            page.children.append(child)
        values = _record_values(payload, layout)
        page.rows.append(RawRow(rowid, values, number, is_cut, tuple(chain)))
        page.used_bytes += max(4, end - offset)
        return end

    def _overflow(self, raw: memoryview, at: int, size: int) -> tuple[bytes, list[int], bool]:
        """Return what a chain of overflow pages holds, its pages, and whether a part is lost."""
        parts: list[bytes] = []
        chain: list[int] = []
        number = int.from_bytes(raw[at : at + 4])
        left = size
        while left > 0:
            is_page = 2 <= number <= self._image.page_count and number not in chain
            if not is_page or number in self._other_tree_pages or number in self.overflow_pages:
                parts.append(_MISSING_BYTE * left)
                return b"".join(parts), chain, True
            chain.append(number)
            page = self._image.page(number)
            part = bytes(page[4 : 4 + min(left, self._image.usable_bytes - 4)])
            parts.append(part)
            left -= len(part)
            number = int.from_bytes(page[:4])
        return b"".join(parts), chain, number != 0

    def _search(self, number: int, page: _Page, shape: TreeShape) -> None:
        """Look at every byte of a damaged page for rows that its cell pointers do not lead to."""
        leaf, interior = _page_kinds(shape)
        known_rows = {(row.rowid, row.values) for row in page.rows}
        kinds = (leaf, interior) if shape.is_index else (leaf,)
        offset = 8
        while offset < self._image.usable_bytes - 3:
            end = 0
            for kind in kinds:
                attempt = _Page(kind)
                end = self._read_cell(number, offset, kind, shape, attempt)
                if end and _looks_like_a_row(attempt.rows[0], shape):
                    row = attempt.rows[0]
                    if (row.rowid, row.values) not in known_rows:
                        page.rows.append(row)
                    break
                end = 0
            offset = end or offset + 1


def _score(page: _Page) -> int:
    return len(page.rows) + len(page.children) - page.bad_cells


def _free_bytes(raw: memoryview, start: int) -> int:
    """Return how many bytes of a page hold nothing, as its header and free blocks say."""
    count = int.from_bytes(raw[start + 3 : start + 5])
    pointers = start + (8 if raw[start] in (TABLE_LEAF, INDEX_LEAF) else 12)
    content = int.from_bytes(raw[start + 5 : start + 7]) or 65536
    free = content - (pointers + 2 * count) + raw[start + 7]
    block = int.from_bytes(raw[start + 1 : start + 3])
    while block and free <= PAGE_SIZE and block <= PAGE_SIZE - 4:
        free += max(1, int.from_bytes(raw[block + 2 : block + 4]))
        block = int.from_bytes(raw[block : block + 2])
    return free


def _page_kinds(shape: TreeShape) -> tuple[int, int]:
    return (INDEX_LEAF, INDEX_INTERIOR) if shape.is_index else (TABLE_LEAF, TABLE_INTERIOR)


def _looks_like_a_row(row: RawRow, shape: TreeShape) -> bool:
    """Return whether bytes at a guessed place are a row, not a coincidence."""
    texts = [value for value in row.values if isinstance(value, bytes) and value]
    is_text = all(
        _is_utf8(value)
        for value, column in zip(row.values, shape.columns, strict=False)
        if isinstance(value, bytes) and column.type is StorageType.TEXT
    )
    return is_text and (len(row.values) >= 4 or bool(texts))


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _local_size(size: int, usable: int, *, is_index: bool) -> int:
    """Return how many bytes of a payload of *size* are on the page itself."""
    most = (usable - 12) * 64 // 255 - 23 if is_index else usable - 35
    if size <= most:
        return size
    least = (usable - 12) * 32 // 255 - 23
    wanted_size = least + (size - least) % (usable - 4)
    return wanted_size if wanted_size <= most else least


def _varint(raw: memoryview | bytes, at: int) -> tuple[int, int]:
    """Return the number at *at* and where it ends."""
    number = 0
    for position in range(at, min(at + 8, len(raw))):
        byte = raw[position]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, position + 1
    if at + 8 < len(raw):
        number = number << 8 | raw[at + 8]
    return (number - (1 << 64) if number >= 1 << 63 else number), at + 9


def _record_layout(payload: bytes, size: int, shape: TreeShape) -> list[tuple[int, int]] | None:
    """Return the serial type and length of each value, or None if it is not such a record."""
    header_size, at = _varint(payload, 0)
    if not 2 <= header_size <= min(len(payload), 9 * len(shape.columns) + 9):
        return None
    layout: list[tuple[int, int]] = []
    total = header_size
    while at < header_size:
        serial = payload[at]
        if serial < 0x80:
            at += 1
        else:
            serial, at = _varint(payload, at)
        if len(layout) == len(shape.columns) or not _fits(serial, shape.columns[len(layout)]):
            return None
        length = _serial_length(serial)
        layout.append((serial, length))
        total += length
    if at != header_size or total != size:
        return None
    return layout if all(column.optional for column in shape.columns[len(layout) :]) else None


def _fits(serial: int, column: StoredColumn) -> bool:
    if serial == 0:
        return column.nullable
    match column.type:
        case StorageType.TEXT:
            return serial >= 13 and serial % 2 == 1
        case StorageType.BLOB:
            return serial >= 12 and serial % 2 == 0
        case StorageType.INTEGER:
            return serial in (1, 2, 3, 4, 5, 6, 8, 9)
        case StorageType.REAL:
            return 1 <= serial <= 9
    return serial not in (10, 11)


def _serial_length(serial: int) -> int:
    if serial >= 12:
        return (serial - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[serial]


def _record_values(payload: bytes, layout: Sequence[tuple[int, int]]) -> tuple[Value, ...]:
    at = _varint(payload, 0)[0]
    values: list[Value] = []
    for serial, length in layout:
        part = payload[at : at + length]
        at += length
        if serial == 0:
            values.append(None)
        elif serial >= 12:
            values.append(part)
        elif serial == 7:
            values.append(struct.unpack(">d", part)[0])
        elif serial in (8, 9):
            values.append(serial - 8)
        else:
            values.append(int.from_bytes(part, signed=True))
    return tuple(values)
