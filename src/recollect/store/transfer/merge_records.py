"""
Merge an imported memory or block with the one that is here, as domain/merge.py decides.

Everything of the other history is added: evidence, tags, changes and versions are never dropped.
Only the status of a memory and the text of a block need a decision. Records that are new here are
left to the importer.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from recollect.clock import derived_id, from_micros, to_micros
from recollect.domain.block import Block, BlockAuthor, BlockProposal, BlockVersion
from recollect.domain.change import Change, ChangeKind
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import Memory, Status
from recollect.domain.merge import (
    BlockMerge,
    ChangeMark,
    MemoryMerge,
    MergeOutcome,
    VersionMark,
    merge_block,
    merge_memory,
)
from recollect.errors import ImportRefused
from recollect.store.bounded_steps import StepBudget
from recollect.store.indexes.word_index import WordIndex
from recollect.store.protocol import Tables
from recollect.store.repositories.indexed_items import IndexedItemReader
from recollect.store.transfer.export_import import RECORDS_AT_ONCE, ImportedRow, RowImporter
from recollect.text.fingerprint import fingerprint

WRITER = "import"
_ADDED_PARTS = frozenset({"evidence", "memory_tags", "memory_changes"})
_MEMORY_TEXTS = ("content", "title", "summary", "rationale")


def import_records(
    tables: Tables,
    word_index: WordIndex,
    importer: RowImporter,
    records: Iterator[list[ImportedRow]],
    budget: StepBudget,
) -> bool:
    """Add or merge records until the budget is used; return whether there are none left."""
    items = IndexedItemReader(importer.rows.connection, word_index)
    merger = RecordMerger(tables, importer)
    while batch := list(islice(records, RECORDS_AT_ONCE)):
        for record in batch:
            _import_record(merger, importer, record, budget)
        for kind, ids in importer.take_new_items().items():
            added = items.with_ids(kind, ids)
            word_index.add_many(kind, [(item.owner, item.id, item.text) for item in added])
        if budget.is_exhausted:
            return False
    return True


def _import_record(
    merger: "RecordMerger", importer: RowImporter, record: list[ImportedRow], budget: StepBudget
) -> None:
    table = ""
    try:
        for row in record:
            budget.spend(chars=sum(len(value) for value in row.values() if isinstance(value, str)))
        if merger.skip_if_sources_deleted(record) or merger.merge(record):
            return
        for row in record:
            table = row["table"]
            importer.add(row)
        merger.link_new_rivals()
        merger.advance_revisions()
    except ValueError as error:  # `RowRefused` is one
        raise ImportRefused(
            f"a row of {table or record[0].get('table')} does not fit into this store: {error}. "
            "The rows before it were imported; importing the file again continues there"
        ) from error


class RecordMerger:
    """Merges records within one transaction."""

    def __init__(self, tables: Tables, importer: RowImporter) -> None:
        self._tables = tables
        self._importer = importer

    def merge(self, record: Sequence[ImportedRow]) -> bool:
        """Merge the rows of one record; return False if nothing of that id is here."""
        row = next((row for row in record if row["table"] in ("memories", "blocks")), None)
        if row is None:
            return False
        if row["table"] == "memories":
            memory = self._tables.memories.get(row["id"])
            if memory is not None:
                self._merge_memory(memory, row, record)
            return memory is not None
        block = self._tables.blocks.get(row["id"])
        if block is not None:
            self._merge_block(block, row, record)
        return block is not None

    def skip_if_sources_deleted(self, record: Sequence[ImportedRow]) -> bool:
        """Leave a memory out if the sources of its quotes were deleted; return whether it was."""
        row = next((row for row in record if row["table"] == "memories"), None)
        source_ids = [part["source_id"] for part in record if part["table"] == "evidence"]
        if row is None or not source_ids:
            return False
        if not all(self._importer.is_deleted({"id": source_id}) for source_id in source_ids):
            return False
        if not self._importer.is_deleted(row):
            self._importer.report(f"memories {row['id']}: left out, its sources were deleted here")
        self._importer.leave_out(row["id"])
        self._importer.unchanged += len(record)
        return True

    def link_new_rivals(self) -> None:
        """Link each new memory to the active one of the same fact, or in place of the same one."""
        for memory_id, other_id in self._importer.take_rivals():
            self.link_rivals(memory_id, other_id)
        for memory_id, replaced_id in self._importer.take_replacements():
            for other_id in self._rival_replacements(memory_id, replaced_id):
                older, newer = sorted((memory_id, other_id))
                self.link_rivals(older, newer, note="both replace one memory, on two machines")
                self._importer.report(
                    f"memories {older}: {newer} replaces the same memory on another machine; both "
                    "stay (recollect conflicts)"
                )

    def advance_revisions(self) -> None:
        """Advance the revision of each conversation that got messages: older writes are refused."""
        for conversation_id in self._importer.take_grown_conversations():
            self._tables.conversations.advance_revision(conversation_id)

    def _rival_replacements(self, memory_id: str, replaced_id: str) -> Iterator[str]:
        """Yield the active memories that were here, and replace the same one by other words."""
        other_ids = [
            link.from_id
            for link in self._tables.links.of_memory(replaced_id)
            if link.relation is Relation.SUPERSEDES and link.to_id == replaced_id
        ]
        memories = self._tables.memories.get_many([memory_id, *other_ids])
        active = {memory.id: memory for memory in memories if memory.status is Status.ACTIVE}
        if (memory := active.get(memory_id)) is None:
            return
        for other in active.values():
            is_new = other.id in self._importer.replacing_ids
            if not is_new and fingerprint(other.content) != fingerprint(memory.content):
                yield other.id

    def _merge_memory(
        self, memory: Memory, row: ImportedRow, record: Sequence[ImportedRow]
    ) -> None:
        ours = [_change_mark(change) for change in self._tables.memories.changes(memory.id)]
        theirs = [change_row_mark(part) for part in record if part["table"] == "memory_changes"]
        decision = merge_memory(ours, theirs)
        if any(row.get(name, "") != getattr(memory, name) for name in _MEMORY_TEXTS):
            self._importer.report(f"memories {memory.id}: its text differs here, kept as it was")
        before = sum(self._importer.added.values())
        for part in record:
            if part["table"] in _ADDED_PARTS:
                self._importer.add(dict(part))
        has_new_parts = sum(self._importer.added.values()) > before
        merged = self._apply_decision(memory, row, decision)
        if merged != memory:
            self._tables.memories.update_mutable_fields(merged)
        if decision.outcome is MergeOutcome.UNDECIDED:
            self._return_to_inbox(memory, decision)
        if merged != memory or has_new_parts:
            self._importer.count_merged("memories")
        else:
            self._importer.unchanged += 1

    def _apply_decision(self, memory: Memory, row: ImportedRow, decision: MemoryMerge) -> Memory:
        """Return *memory* as it is after the merge."""
        merged = replace(
            memory,
            confirmed_at=max(memory.confirmed_at, from_micros(row["confirmed_at"])),
            updated_at=max(memory.updated_at, from_micros(row["updated_at"])),
        )
        if decision.outcome is MergeOutcome.UNDECIDED:
            return replace(merged, status=Status.INBOX)
        if decision.outcome is not MergeOutcome.THEIRS:
            return merged
        status = Status(row["status"])
        if status is Status.ACTIVE and memory.status is not Status.ACTIVE and memory.key:
            rival = self._tables.memories.with_key(memory.key, memory.owner)
            if rival is not None:
                self.link_rivals(memory.id, rival.id)
                status = Status.CONTRADICTED
        return replace(merged, status=status, confidence=row["confidence"])

    def link_rivals(
        self,
        memory_id: str,
        other_id: str,
        *,
        note: str = "another value of this fact was active on another machine",
    ) -> None:
        """Link two values of one thing: both stay, and they are shown as a conflict."""
        self._tables.links.add(
            Link(
                id=derived_id(memory_id, f"rival of {other_id}", 0),
                from_id=memory_id,
                relation=Relation.CONTRADICTS,
                to_kind=LinkEnd.MEMORY,
                to_id=other_id,
                note=note,
                created_at=self._importer.now,
            )
        )

    def _return_to_inbox(self, memory: Memory, decision: MemoryMerge) -> None:
        is_active = memory.status is Status.ACTIVE
        change = Change(
            id=self._importer.clock.new_id(),  # changes are in the order of their ids
            memory_id=memory.id,
            kind=ChangeKind.WITHDRAWN if is_active else ChangeKind.UNDONE,
            before=memory.status,
            after=Status.INBOX,
            by=WRITER,
            reason=decision.reason,
            at=self._importer.now,
        )
        self._tables.memories.add_change(change)
        self._importer.report(
            f"memories {memory.id}: {decision.reason}; it waits in the inbox (recollect inbox)"
        )

    def _merge_block(self, block: Block, row: ImportedRow, record: Sequence[ImportedRow]) -> None:
        ours = [_version_mark(version) for version in self._tables.blocks.versions(block.id)]
        theirs = [version_row_mark(part) for part in record if part["table"] == "block_history"]
        decision = merge_block(ours, theirs, limit=block.limit)
        if not decision.added:
            self._importer.unchanged += 1
            return
        merged = replace(block, updated_at=max(block.updated_at, from_micros(row["updated_at"])))
        if decision.outcome is MergeOutcome.THEIRS:
            merged = _with_settings(merged, row)
        for mark in decision.added:
            merged = self._add_version(merged, mark)
        if merged.value != decision.value:
            merged = self._add_version(merged, self._closing_mark(decision))
        self._tables.blocks.set(merged)
        if decision.outcome is MergeOutcome.UNDECIDED:
            self._propose(merged, decision.proposed)
        self._importer.count_merged("blocks")

    def _closing_mark(self, decision: BlockMerge) -> VersionMark:
        is_merged = decision.outcome is MergeOutcome.MERGED
        reason = "merged line by line" if is_merged else "kept; the other text is a proposal"
        return VersionMark(
            value=decision.value,
            by=BlockAuthor.SYSTEM,
            reason=f"{reason} (import)",
            changed_at=to_micros(self._importer.now),
        )

    def _add_version(self, block: Block, mark: VersionMark) -> Block:
        """Add a version to the history; return the block with its value."""
        changed = replace(
            block,
            value=mark.value,
            version=block.version + 1,
            unconfirmed_author=mark.unconfirmed_author,
        )
        self._tables.blocks.add_version(
            BlockVersion(
                block_id=block.id,
                version=changed.version,
                value=mark.value,
                by=BlockAuthor(mark.by),
                reason=mark.reason,
                changed_at=from_micros(mark.changed_at),
                unconfirmed_author=mark.unconfirmed_author,
            )
        )
        return changed

    def _propose(self, block: Block, value: str) -> None:
        digest = hashlib.sha256(value.encode()).hexdigest()
        proposal_id = derived_id(block.id, f"proposal {digest}", 0)
        if self._tables.blocks.proposal(proposal_id) is None:
            self._tables.blocks.add_proposal(
                BlockProposal(
                    id=proposal_id,
                    block_id=block.id,
                    label=block.label,
                    scope=block.scope,
                    owner_id=block.owner_id,
                    author=WRITER,
                    base_version=block.version,
                    base_value=block.value,
                    current_value=block.value,
                    value=value,
                    reason="edited on another machine",
                    proposed_at=self._importer.now,
                )
            )
        self._importer.report(
            f"block {block.label}: edited on both machines; the other text waits as a proposal "
            "(recollect inbox)"
        )


def _with_settings(block: Block, row: ImportedRow) -> Block:
    return replace(
        block,
        description=row["description"],
        limit=row["char_limit"],
        read_only=bool(row["read_only"]),
        hidden=bool(row["hidden"]),
        metadata=json.loads(row["metadata"]),
    )


def _change_mark(change: Change) -> ChangeMark:
    return ChangeMark(
        id=change.id,
        kind=change.kind,
        after=change.after,
        by=change.by,
        reason=change.reason,
        at=to_micros(change.at),
    )


def change_row_mark(row: ImportedRow) -> ChangeMark:
    """Return a row of `memory_changes` as far as a merge needs it."""
    return ChangeMark(
        id=row["id"],
        kind=ChangeKind(row["kind"]),
        after=Status(row["after"]),
        by=row["by"],
        reason=row["reason"],
        at=row["at"],
    )


def _version_mark(version: BlockVersion) -> VersionMark:
    return VersionMark(
        value=version.value,
        by=version.by.value,
        reason=version.reason,
        changed_at=to_micros(version.changed_at),
        unconfirmed_author=version.unconfirmed_author,
    )


def version_row_mark(row: dict[str, Any]) -> VersionMark:
    """Return a row of `block_history` as far as a merge needs it."""
    return VersionMark(
        value=row["value"],
        by=row["changed_by"],
        reason=row["reason"],
        changed_at=row["changed_at"],
        unconfirmed_author=row.get("unconfirmed_author", ""),
    )
