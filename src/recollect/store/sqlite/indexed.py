"""
What is indexed of each kind of item: whose it is, and its texts, read from the canonical rows.

Memories are found by more words than are embedded of them (summary, reasons); the other kinds have
one text for both. Checks, rebuilding, importing and embedding all read it here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw

from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.sqlite import blocks, files, messages, queries
from recollect.store.sqlite.memories import SqliteMemories, indexed_text
from recollect.store.sqlite.rows import rows, to_json
from recollect.store.sqlite.words import SqliteWords

_SQL = queries.load("indexed")
READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Indexed:
    """One item as its canonical row says it should be indexed."""

    kind: ItemKind
    owner: Owner
    id: str
    text: str


class IndexedRows:
    """Reads the canonical rows of one connection as items."""

    def __init__(self, db: apsw.Connection, words: SqliteWords) -> None:
        self._db = db
        self._memories = SqliteMemories(db, words)
        self._blocks = blocks.SqliteBlocks(db, words)

    def everything(self) -> Iterator[Indexed]:
        """Yield every item there should be, kind by kind, in the order of their numbers."""
        for kind in ItemKind:
            ids = [row[0] for row in self._db.execute(_SQL[f"{kind.value}_ids"])]
            yield from self.of_ids(kind, ids)

    def of_ids(self, kind: ItemKind, ids: Sequence[str]) -> Iterator[Indexed]:
        """Yield the items of some ids of a kind that exist, a few read at a time."""
        for start in range(0, len(ids), READ_AT_ONCE):
            yield from self._some(kind, ids[start : start + READ_AT_ONCE])

    def _some(self, kind: ItemKind, ids: Sequence[str]) -> Iterator[Indexed]:
        match kind:
            case ItemKind.MEMORY:
                for memory in self._memories.get_many(ids):
                    yield Indexed(kind, memory.owner, memory.id, indexed_text(memory))
            case ItemKind.BLOCK:
                for block in filter(None, map(self._blocks.get, ids)):
                    yield Indexed(kind, block.owner, block.id, blocks.indexed_text(block))
            case ItemKind.MESSAGE:
                for message_id, agent_id, conversation_id, *said in self._texts(kind, ids):
                    if not messages.is_findable(*said):
                        continue
                    owner = (
                        Owner(Scope.AGENT, agent_id)
                        if agent_id
                        else Owner(Scope.SESSION, conversation_id)
                    )
                    yield Indexed(kind, owner, message_id, messages.indexed_text(*said))
            case ItemKind.FILE:
                for file_id, project_id, path, content in self._texts(kind, ids):
                    owner = Owner(Scope.PROJECT, project_id)
                    yield Indexed(kind, owner, file_id, files.indexed_text(path, content))

    def to_embed(self, kind: ItemKind, ids: Sequence[str]) -> dict[str, str]:
        """Return the text of each of some items that is to be embedded."""
        if kind is ItemKind.MEMORY:
            return {
                memory_id: "\n".join(filter(None, (title, content, tags)))
                for memory_id, title, content, tags in self._texts(kind, ids)
            }
        return {item.id: item.text for item in self._some(kind, ids)}

    def _texts(self, kind: ItemKind, ids: Sequence[str]) -> list[tuple[str, ...]]:
        return rows(self._db.execute(_SQL[f"{kind.value}_texts"], {"ids": to_json(list(ids))}))
