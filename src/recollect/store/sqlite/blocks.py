"""Blocks, their attachments to agents, and the history of their values, in SQLite."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.block import Block, BlockChange, BlockVersion, BlockAuthor
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, to_json
from recollect.store.sqlite.word_index import SqliteWordIndex

_SQL = query_loader.load("blocks")


class SqliteBlockTable:
    """See `recollect.store.protocol.BlockTable`."""

    def __init__(self, db: apsw.Connection, word_index: SqliteWordIndex) -> None:
        self._db = db
        self._word_index = word_index

    def add(self, block: Block) -> None:
        self._db.execute(_SQL["add_block"], _values(block))
        self._word_index.add(ItemKind.BLOCK, block.owner, block.id, indexed_text(block))

    def set(self, block: Block) -> None:
        former = self.get(block.id)
        self._db.execute(_SQL["set_block"], _values(block))
        if former is not None and indexed_text(former) != indexed_text(block):
            self._word_index.remove(block.id, indexed_text(former))
            self._word_index.add(ItemKind.BLOCK, block.owner, block.id, indexed_text(block))
        if former is not None and former.label != block.label:
            self._db.execute(_SQL["relabel"], {"block_id": block.id, "label": block.label})

    def get(self, block_id: str) -> Block | None:
        row = self._db.execute(_SQL["block"], {"id": block_id}).fetchone()
        return _block(row) if row else None

    def all(self) -> list[Block]:
        return [_block(row) for row in self._db.execute(_SQL["all_blocks"])]

    def of_owner(self, owner: Owner) -> list[Block]:
        values = {"scope": owner.scope.value, "owner_id": owner.id}
        return [_block(row) for row in self._db.execute(_SQL["blocks_of"], values)]

    def attached_to(self, agent_id: str) -> list[Block]:
        return [
            _block(row) for row in self._db.execute(_SQL["attached_to"], {"agent_id": agent_id})
        ]

    def attach(self, agent_id: str, block: Block) -> None:
        values = {"agent_id": agent_id, "block_id": block.id, "label": block.label}
        self._db.execute(_SQL["attach"], values)

    def detach(self, agent_id: str, block_id: str) -> None:
        self._db.execute(_SQL["detach"], {"agent_id": agent_id, "block_id": block_id})

    def agent_ids_of(self, block_id: str) -> list[str]:
        return [row[0] for row in self._db.execute(_SQL["agent_ids_of"], {"block_id": block_id})]

    def add_version(self, version: BlockVersion) -> None:
        values = {
            "block_id": version.block_id,
            "version": version.version,
            "value": version.value,
            "changed_by": version.by.value,
            "reason": version.reason,
            "changed_at": to_micros(version.changed_at),
        }
        self._db.execute(_SQL["add_version"], values)

    def versions(self, block_id: str) -> list[BlockVersion]:
        return [_version(row) for row in self._db.execute(_SQL["versions"], {"block_id": block_id})]

    def version(self, block_id: str, version: int) -> BlockVersion | None:
        values = {"block_id": block_id, "version": version}
        row = self._db.execute(_SQL["version"], values).fetchone()
        return _version(row) if row else None

    def changes_since(self, block_ids: Sequence[str], since: datetime) -> list[BlockChange]:
        values = {"ids": to_json(list(block_ids)), "since": to_micros(since)}
        return [_change(row) for row in self._db.execute(_SQL["changes_since"], values)]

    def delete(self, block: Block) -> None:
        self._word_index.remove(block.id, indexed_text(block))
        self._db.execute(_SQL["delete_block"], {"id": block.id})


def indexed_text(block: Block) -> str:
    """Return the text of a block that is indexed."""
    return "\n".join(text for text in (block.label, block.description, block.value) if text)


def _values(block: Block) -> dict[str, Any]:
    return {
        "id": block.id,
        "label": block.label,
        "description": block.description,
        "value": block.value,
        "char_limit": block.limit,
        "read_only": int(block.read_only),
        "hidden": int(block.hidden),
        "scope": block.scope.value,
        "owner_id": block.owner_id,
        "version": block.version,
        "metadata": to_json(dict(block.metadata)),
        "created_at": to_micros(block.created_at),
        "updated_at": to_micros(block.updated_at),
    }


def _block(row: Row) -> Block:
    block_id, label, description, value, limit, read_only, hidden, scope, owner_id = row[:9]
    version, metadata, created_at, updated_at = row[9:]
    return Block(
        id=block_id,
        label=label,
        description=description,
        value=value,
        limit=limit,
        read_only=bool(read_only),
        hidden=bool(hidden),
        scope=Scope(scope),
        owner_id=owner_id,
        version=version,
        metadata=json.loads(metadata),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
    )


def _version(row: Row) -> BlockVersion:
    block_id, version, value, by, reason, changed_at = row
    return BlockVersion(
        block_id=block_id,
        version=version,
        value=value,
        by=BlockAuthor(by),
        reason=reason,
        changed_at=from_micros(changed_at),
    )


def _change(row: Row) -> BlockChange:
    block_id, label, version, by, changed_at = row
    return BlockChange(
        block_id=block_id,
        label=label,
        version=version,
        by=BlockAuthor(by),
        changed_at=from_micros(changed_at),
    )
