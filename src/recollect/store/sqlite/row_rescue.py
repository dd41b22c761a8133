"""
Make the rows of a damaged file valid again, one by one.

What a hash or a rule proves wrong is corrected if one flipped bit explains it; otherwise the value
is replaced by one that readers accept, and the row is listed as altered. A row that no table would
accept is lost.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import apsw

from recollect.clock import from_micros
from recollect.domain.provenance import StatementFlag
from recollect.domain.transcript import Voice
from recollect.store.repositories.retrieval_packing import PackedRetrieval, unpack
from recollect.store.row_conversion import parse_dates, parse_effects, parse_flags
from recollect.store.sqlite.btree_reader import RawRow, StorageType
from recollect.store.sqlite.table_layout import TableLayout
from recollect.store.transfer.export_import import JSON_TYPES, check_row
from recollect.text.fingerprint import fingerprint, sha256_hex

HASHED_TABLES = frozenset({"sources", "files", "skills"})  # with the SHA-256 of their content
MAX_CORRECTED_BYTES = 8_192  # trying every bit of a longer content takes too long
_EMPTY_JSON: Mapping[type, str] = {dict: "{}", list: "[]"}

# What stands in for a value that no reader understands; of provenance the least trusted one.
_REPLACEMENTS: Mapping[tuple[str, str], tuple[Callable[[str], object], str]] = {
    ("memories", "voice"): (lambda voice: voice and Voice(voice), Voice.OTHER.value),
    ("memories", "flags"): (parse_flags, f'["{StatementFlag.INSTRUCTION}"]'),
    ("memories", "dates"): (parse_dates, "[]"),
    ("memory_changes", "effects"): (parse_effects, "{}"),
}

RowMap = dict[str, Any]
Changes = list[str]


def decode_row(layout: TableLayout, raw: RawRow) -> tuple[RowMap, Changes]:
    """Return a record as a row with text, and what is wrong with it."""
    changes = ["a part of it is lost"] if raw.is_cut else []
    row: RowMap = dict(layout.defaults)
    for name, column, value in zip(layout.columns, layout.shape.columns, raw.values, strict=False):
        if name == layout.rowid_column:
            row[name] = raw.rowid
        elif isinstance(value, bytes) and column.type is not StorageType.BLOB:
            try:
                row[name] = value.decode()
            except UnicodeDecodeError:
                row[name] = value.decode(errors="replace")
                changes.append(f"{name} is damaged text")
                if name == "content" and layout.name in HASHED_TABLES:
                    row["content"] = value  # its hash may tell what it was
        else:
            row[name] = value
    return {name: row.get(name) for name in layout.columns}, changes


def make_valid(
    table: str, row: RowMap, changes: Changes, quotes: Sequence[str] = ()
) -> tuple[RowMap, Changes]:
    """Return *row* as its readers expect it, and what was changed; *quotes* are a memory's."""
    if table in HASHED_TABLES:
        _check_content(row, changes)
    if table == "memories":
        _check_fingerprint(row, changes, quotes)
    for name, value in row.items():
        expected_type = JSON_TYPES.get(f"{table}.{name}")
        if expected_type and value is not None and not _is_json(value, expected_type):
            row[name] = _EMPTY_JSON[expected_type]
            changes.append(f"{name} was not readable")
        if name.endswith("_at") and isinstance(value, int) and not _is_moment(value):
            row[name] = next((moment for moment in _other_moments(row, name)), 0)
            changes.append(f"{name} was not a time")
    for (name_of_table, name), (parse, replacement) in _REPLACEMENTS.items():
        if table == name_of_table and name in row and not _is_readable(parse, row[name]):
            row[name] = replacement
            changes.append(f"{name} was not readable")
    if table == "retrievals" and isinstance(row.get("content"), bytes):
        unpack(
            PackedRetrieval(**{field.name: row[field.name] for field in fields(PackedRetrieval)})
        )
    check_row(table, row)  # raises ValueError for what is still wrong
    return row, changes


def _is_readable(parse: Callable[[str], object], value: Any) -> bool:
    try:
        parse(value)
    except (TypeError, ValueError, AttributeError):
        return False
    return True


def _check_content(row: RowMap, changes: Changes) -> None:
    """Correct content that does not match its hash, if one flipped bit explains it."""
    content, digest = row["content"], row["sha256"]
    raw = content if isinstance(content, bytes) else content.encode()
    if hashlib.sha256(raw).hexdigest() == digest and isinstance(content, str):
        return
    actual = hashlib.sha256(raw).hexdigest()
    if _differ_by_one_byte(actual, digest):
        row["sha256"] = actual  # the hash itself is damaged
        return
    corrected = _flip_one_bit_back(raw, digest) if len(raw) <= MAX_CORRECTED_BYTES else None
    if corrected is not None:
        row["content"] = corrected.decode()
        changes[:] = [change for change in changes if not change.startswith("content ")]
        return
    row["content"] = raw.decode(errors="replace")
    row["sha256"] = sha256_hex(row["content"])
    if not any(change.startswith("content ") for change in changes):
        changes.append("content does not match its hash")


def _check_fingerprint(row: RowMap, changes: Changes, quotes: Sequence[str]) -> None:
    """Correct the content of a memory that does not match its fingerprint, if a quote tells it."""
    actual = fingerprint(row["content"])
    if actual == row["fingerprint"]:
        return
    if _differ_by_one_byte(actual, row["fingerprint"]):
        row["fingerprint"] = actual  # the fingerprint itself is damaged
        return
    for quote in quotes:
        is_same = fingerprint(quote) == row["fingerprint"]
        if is_same and _differ_by_one_byte(quote, row["content"]):
            row["content"] = quote
            changes[:] = [change for change in changes if not change.startswith("content ")]
            return
    row["fingerprint"] = actual
    changes.append("content may be damaged: it does not match its fingerprint")


def _flip_one_bit_back(raw: bytes, digest: str) -> bytes | None:
    wanted_digest = bytes.fromhex(digest) if _is_hex(digest) else b""
    content = bytearray(raw)
    so_far = hashlib.sha256()
    for at in range(len(content)):
        for bit in range(8):
            content[at] ^= 1 << bit
            attempt = so_far.copy()
            attempt.update(memoryview(content)[at:])
            if attempt.digest() == wanted_digest:
                return bytes(content)
            content[at] ^= 1 << bit
        so_far.update(content[at : at + 1])
    return None


def _is_hex(text: str) -> bool:
    return len(text) == 64 and all(char in "0123456789abcdef" for char in text)


def _differ_by_one_byte(text: str, other: str) -> bool:
    return len(text) == len(other) and sum(a != b for a, b in zip(text, other, strict=True)) == 1


def _is_json(text: str, expected_type: type) -> bool:
    try:
        return isinstance(json.loads(text), expected_type)
    except (ValueError, RecursionError):
        return False


def _is_moment(micros: int) -> bool:
    try:
        from_micros(micros)
    except (ValueError, OverflowError, OSError):
        return False
    return True


def _other_moments(row: Mapping[str, Any], without: str) -> Iterator[int]:
    for name, value in row.items():
        if name != without and name.endswith("_at") and isinstance(value, int):
            yield from [value] if _is_moment(value) else []


class RowInserter:
    """Inserts rows into the new store, and adapts those that a rule of the schema refuses."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def insert(self, table: str, row: RowMap, *, replace: bool = False) -> str | None:
        """Insert *row*; return what had to change ('' if nothing), or None if it is refused."""
        try:
            self._execute(table, row, replace)
        except apsw.ConstraintError as error:
            return self._insert_adapted(table, row, str(error))
        except (apsw.Error, OverflowError, TypeError):
            return None
        return ""

    def _insert_adapted(self, table: str, row: RowMap, message: str) -> str | None:
        for clue, adapt in _ADAPTATIONS.items():
            if clue in message:
                change = adapt(self._db, row)
                return change if change and self._try_insert(table, row) else None
        if "CHECK constraint failed" in message:
            return self._insert_with_a_bit_flipped(table, row, message)
        return None

    def _insert_with_a_bit_flipped(self, table: str, row: RowMap, message: str) -> str | None:
        """Try the values that differ in one bit, in the columns that the rule names."""
        for name in [name for name in row if name in message]:
            before = row[name]
            for value in _one_bit_apart(before):
                row[name] = value
                if self._try_insert(table, row):
                    return f"{name} was {before!r}"
            row[name] = before
        return None

    def _try_insert(self, table: str, row: RowMap) -> bool:
        try:
            self._execute(table, row, False)
        except (apsw.Error, OverflowError, TypeError):
            return False
        return True

    def _execute(self, table: str, row: RowMap, replace: bool) -> None:
        listed = ", ".join(f'"{name}"' for name in row)
        values = ", ".join("?" * len(row))
        verb = "INSERT OR REPLACE" if replace else "INSERT"
        self._db.execute(f"{verb} INTO {table} ({listed}) VALUES ({values})", tuple(row.values()))


def _one_bit_apart(value: Any) -> Iterator[Any]:
    if isinstance(value, str) and len(value) <= 32:
        raw = value.encode()
        for bit in range(8 * len(raw)):
            changed = bytearray(raw)
            changed[bit // 8] ^= 1 << bit % 8
            text = changed.decode(errors="replace")
            if "�" not in text:
                yield text
    elif isinstance(value, int):
        yield from (value ^ 1 << bit for bit in range(63))


def _use_words_of_source(db: apsw.Connection, row: RowMap) -> str:
    cut = "SELECT substr(content, ? + 1, ? - ?) FROM sources WHERE id = ?"
    values = (row["start_char"], row["end_char"], row["start_char"], row["source_id"])
    words = db.execute(cut, values).fetchone()
    row["quote"] = words[0] if words else ""
    return "the quote was taken from its source again" if row["quote"] else ""


def _move_to_inbox(db: apsw.Connection, row: RowMap) -> str:
    row["status"] = "inbox"
    return "its evidence is lost: back to the inbox"


def _use_agent_of_conversation(db: apsw.Connection, row: RowMap) -> str:
    sql = "SELECT agent_id FROM conversations WHERE id = ?"
    agent = db.execute(sql, (row["conversation_id"],)).fetchone()
    row["agent_id"] = agent[0] if agent else None
    return "its agent is that of its conversation"


def _move_to_end(db: apsw.Connection, row: RowMap) -> str:
    sql = "SELECT max(position) + 1 FROM messages WHERE conversation_id = ?"
    row["position"] = db.execute(sql, (row["conversation_id"],)).get
    return "its position was in use: moved to the end"


def _contradict(db: apsw.Connection, row: RowMap) -> str:
    row["status"] = "contradicted"
    return "there is another active fact of that name"


# What to do if a rule refuses a row: a part of the rule's message, and the function that adapts it.
_ADAPTATIONS: Mapping[str, Callable[[apsw.Connection, RowMap], str]] = {
    "the quote is not found": _use_words_of_source,
    "an active memory needs a quote": _move_to_inbox,
    "belongs to the agent of its conversation": _use_agent_of_conversation,
    "messages.conversation_id, messages.position": _move_to_end,
    "memories.key, memories.scope": _contradict,  # the index one_active_fact_per_key
}
