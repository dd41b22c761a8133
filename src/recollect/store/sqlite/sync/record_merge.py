"""
Merge two revisions of a record that were made without knowledge of each other. Pure.

Each device gets the same two revisions and must come to the same rows, so nothing here depends on
which one is local: the caller passes the later one (by hybrid logical clock, then by device) first.
What becomes of a memory's status and of a block's text is decided in domain/merge.py, as for
imports. What was forgotten in either revision stays forgotten.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from recollect.clock import derived_id, successor_id
from recollect.domain.block import BlockAuthor
from recollect.domain.change import ChangeKind
from recollect.domain.memory import Status
from recollect.domain.merge import MergeOutcome, VersionMark, merge_block, merge_memory
from recollect.domain.source import BLANKS
from recollect.store.repositories.stored_texts import JSON_COLUMNS
from recollect.store.sqlite.sync.record_rows import Row, Rows
from recollect.store.transfer.merge_records import change_row_mark, version_row_mark
from recollect.store.transfer.record_kinds import KINDS
from recollect.text.fingerprint import fingerprint, sha256_hex
from recollect.text.forgotten_words import MARKER
from recollect.text.redacted_merge import ID_MARKER, merge_blanked, merge_redacted

WRITER = "sync"
FORGOTTEN_MARKS = (MARKER, ID_MARKER, *BLANKS)  # what forgetting leaves in a text
_PENDING = "pending"


def merge_rows(kind: str, later: Rows, earlier: Rows) -> Rows:
    """Return the rows of a record after both revisions."""
    if kind == "memories":
        return _merge_memories(later, earlier)
    if kind == "blocks":
        return _merge_blocks(later, earlier)
    row = _merge_texts(kind, later[kind][0], earlier[kind][0])
    other = earlier[kind][0]
    if kind == "tombstones":  # the latest counts: what a device deleted never comes back
        row["deleted_at"] = max(row["deleted_at"], other["deleted_at"])
        row["sha256"] = min(row["sha256"], other["sha256"])  # '' once the same was told again
    elif kind == "conversations":
        row["revision"] = max(row["revision"], other["revision"])
    elif kind == "sources":
        row["content"] = merge_blanked(row["content"], other["content"], BLANKS)
        row["sha256"] = sha256_hex(row["content"])
    shared = {table: later[table] for table in KINDS[kind].shared_parts}
    return {kind: [row], **shared}


def _merge_texts(kind: str, later: Row, earlier: Row) -> Row:
    merged = dict(later)
    for name in KINDS[kind].texts:
        preferred, other = later.get(name), earlier.get(name)
        if isinstance(preferred, str) and isinstance(other, str):
            merged[name] = merge_redacted(preferred, other, is_json=name in JSON_COLUMNS)
    return merged


def _merge_memories(later: Rows, earlier: Rows) -> Rows:
    row, other = later["memories"][0], earlier["memories"][0]
    decision = merge_memory(
        [change_row_mark(change) for change in later["memory_changes"]],
        [change_row_mark(change) for change in earlier["memory_changes"]],
    )
    merged = _merge_texts("memories", row, other)
    if merged["content"] != row["content"]:
        merged["fingerprint"] = fingerprint(merged["content"])
    if decision.outcome is MergeOutcome.THEIRS:
        merged |= {name: other[name] for name in ("status", "confidence")}
    for name in ("confirmed_at", "updated_at"):
        merged[name] = max(row[name], other[name])
    changes = _union_by_key(later["memory_changes"], earlier["memory_changes"], _merge_change)
    if decision.outcome is MergeOutcome.UNDECIDED:
        changes.append(_return_to_inbox(row, changes, decision.reason))
        merged["status"] = Status.INBOX.value
    return {
        "memories": [merged],
        "evidence": _union_by_key(later["evidence"], earlier["evidence"]),
        "memory_tags": _union_by_key(later["memory_tags"], earlier["memory_tags"], key="tag"),
        "memory_changes": sorted(changes, key=lambda change: change["id"]),
    }


def _return_to_inbox(memory: Row, changes: Sequence[Row], reason: str) -> Row:
    """Return the change that puts a memory back into the inbox: the same on every device."""
    was_active = memory["status"] == Status.ACTIVE.value
    last_id = max(change["id"] for change in changes)
    return {
        "id": successor_id(last_id, f"disagreement {reason}"),
        "memory_id": memory["id"],
        "kind": (ChangeKind.WITHDRAWN if was_active else ChangeKind.UNDONE).value,
        "before": memory["status"],
        "after": Status.INBOX.value,
        "by": WRITER,
        "reason": reason,
        "at": max(change["at"] for change in changes) + 1,
        "effects": "{}",
    }


def _merge_change(change: Row, other: Row) -> Row:
    return {
        **change,
        "reason": merge_redacted(change["reason"], other["reason"]),
        "effects": merge_redacted(change["effects"], other["effects"], is_json=True),
    }


def _merge_blocks(later: Rows, earlier: Rows) -> Rows:
    block = dict(later["blocks"][0])
    histories = _without_forgotten_words(later["block_history"], earlier["block_history"])
    ours, theirs = ([version_row_mark(row) for row in rows] for rows in histories)
    decision = merge_block(ours, theirs, limit=block["char_limit"])
    if decision.outcome is MergeOutcome.THEIRS:
        settings = ("description", "char_limit", "read_only", "hidden", "metadata")
        block |= {name: earlier["blocks"][0][name] for name in settings}
    marks = [*ours, *decision.added]
    if marks and marks[-1].value != decision.value:
        marks.append(_closing_mark(marks, decision.value, decision.outcome))
    history = [_version_row(block["id"], number, mark) for number, mark in enumerate(marks, 1)]
    if history:
        last = history[-1]
        block |= {
            "value": last["value"],
            "version": last["version"],
            "unconfirmed_author": last["unconfirmed_author"],
        }
    block["updated_at"] = max(block["updated_at"], earlier["blocks"][0]["updated_at"])
    proposals = _union_by_key(later["block_proposals"], earlier["block_proposals"], _merge_proposal)
    if decision.outcome is MergeOutcome.UNDECIDED:
        proposal = _proposal(block, decision.proposed)
        proposals = _union_by_key(proposals, [proposal], _merge_proposal)
    return {"blocks": [block], "block_history": history, "block_proposals": proposals}


def _without_forgotten_words(
    history: Sequence[Row], other: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """
    Return both histories, in which the same version has the same text.

    Forgetting removes words from versions, and nothing else changes one: of two texts of a version
    the shorter one is the longer one without the words. If it is not, they are two versions that
    were written at the same time.
    """
    versions = {_identity(history, at): row for at, row in enumerate(history)}
    shorter: dict[tuple[Any, ...], Row] = {}
    for at, row in enumerate(other):
        same = versions.get(_identity(other, at))
        if same is not None and _is_shortened(same["value"], row["value"]):
            texts = (
                min((same[name], row[name]), key=lambda text: (len(text), text))
                for name in ("value", "reason")
            )
            value, reason = texts
            shorter[_identity(other, at)] = {"value": value, "reason": reason}

    def apply(rows: Sequence[Row]) -> list[Row]:
        return [{**row, **shorter.get(_identity(rows, at), {})} for at, row in enumerate(rows)]

    return apply(history), apply(other)


def _is_shortened(text: str, other: str) -> bool:
    """Return whether one text is the other one, from which something was removed."""
    shorter, longer = sorted((text, other), key=len)
    characters = iter(longer)
    return all(character in characters for character in shorter)


def _identity(history: Sequence[Row], at: int) -> tuple[Any, ...]:
    """Return what tells a version from the others, without its text."""
    row = history[at]
    mark = (row["changed_at"], row["changed_by"])
    earlier = sum((other["changed_at"], other["changed_by"]) == mark for other in history[:at])
    return (*mark, earlier)


def _closing_mark(marks: Sequence[VersionMark], value: str, outcome: MergeOutcome) -> VersionMark:
    is_merged = outcome is MergeOutcome.MERGED
    reason = "merged line by line" if is_merged else "kept; the other text is a proposal"
    return VersionMark(
        value=value,
        by=BlockAuthor.SYSTEM.value,
        reason=f"{reason} (sync)",
        changed_at=max(mark.changed_at for mark in marks) + 1,
    )


def _version_row(block_id: str, version: int, mark: VersionMark) -> Row:
    return {
        "block_id": block_id,
        "version": version,
        "value": mark.value,
        "changed_by": mark.by,
        "reason": mark.reason,
        "changed_at": mark.changed_at,
        "unconfirmed_author": mark.unconfirmed_author,
    }


def _proposal(block: Row, value: str) -> Row:
    digest = hashlib.sha256(value.encode()).hexdigest()
    return {
        "id": derived_id(block["id"], f"proposal {digest}", 0),
        "block_id": block["id"],
        "author": WRITER,
        "base_version": block["version"],
        "value": value,
        "reason": "edited on another device",
        "state": _PENDING,
        "decision": "",
        "accepted_version": None,
        "proposed_at": block["updated_at"],
        "decided_at": None,
    }


def _merge_proposal(proposal: Row, other: Row) -> Row:
    """Return a decided proposal rather than a pending one."""
    decided = proposal if proposal["state"] != _PENDING or other["state"] == _PENDING else other
    texts = {
        name: min((proposal[name], other[name]), key=lambda text: (len(text), text))
        for name in ("value", "reason")
    }
    return {**decided, **texts}


def _keep_first(row: Row, _: Row) -> Row:
    return row


def _union_by_key(
    rows: Sequence[Row],
    others: Sequence[Row],
    merge: Callable[[Row, Row], Row] = _keep_first,
    *,
    key: str = "id",
) -> list[Row]:
    """Return the rows of both, each once, by key."""
    united: dict[Any, Row] = {row[key]: row for row in rows}
    for row in others:
        local = united.get(row[key])
        united[row[key]] = row if local is None else merge(local, row)
    return [united[name] for name in sorted(united)]


def loses_text(kind: str, local: Rows, rows: Rows) -> bool:
    """Return whether words that are stored here were forgotten in the record on another device."""
    if kind == "blocks":
        before, after = local["block_history"], rows["block_history"]
        if _without_forgotten_words(before, after)[0] != list(before):
            return True
    before_text, after_text = repr(local), repr(rows)
    return any(after_text.count(mark) > before_text.count(mark) for mark in FORGOTTEN_MARKS)


def lost_values(kind: str, merged: Rows, other: Rows) -> Row:
    """Return the values of *other* that the merged record lacks, without forgotten words."""
    row, lost = merged[kind][0], other[kind][0]
    values: Row = {}
    for name in sorted(KINDS[kind].values):
        value = lost[name]
        if isinstance(value, str) and isinstance(row[name], str):
            value = merge_redacted(value, row[name], is_json=name in JSON_COLUMNS)
        if value != row[name]:
            values[name] = value
    return values
