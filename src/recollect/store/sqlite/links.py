"""Links between memories, and from memories to projects, in SQLite."""

from collections.abc import Mapping, Sequence

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, to_json

_SQL = query_loader.load("links")


class SqliteLinkTable:
    """See `recollect.store.protocol.LinkTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, link: Link) -> None:
        values = {
            "id": link.id,
            "from_id": link.from_id,
            "relation": link.relation.value,
            "to_kind": link.to_kind.value,
            "to_id": link.to_id,
            "note": link.note,
            "created_at": to_micros(link.created_at),
        }
        self._db.execute(_SQL["add_link"], values)

    def of_memory(self, memory_id: str) -> list[Link]:
        return [_link(row) for row in self._db.execute(_SQL["links_of"], {"id": memory_id})]

    def conflicts(self, memory_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        conflicts: dict[str, tuple[str, ...]] = {}
        for memory_id, other_id in self._db.execute(
            _SQL["conflicts"], {"ids": to_json(list(memory_ids))}
        ):
            conflicts[memory_id] = (*conflicts.get(memory_id, ()), other_id)
        return conflicts

    def count_conflicts(self) -> int:
        return int(self._db.execute(_SQL["count_conflicts"]).get)

    def item_ids_linked_to(self, project_id: str) -> list[int]:
        return [
            row[0]
            for row in self._db.execute(_SQL["item_ids_linked_to"], {"project_id": project_id})
        ]


def _link(row: Row) -> Link:
    link_id, from_id, relation, to_kind, to_id, note, created_at = row
    return Link(
        id=link_id,
        from_id=from_id,
        relation=Relation(relation),
        to_kind=LinkEnd(to_kind),
        to_id=to_id,
        note=note,
        created_at=from_micros(created_at),
    )
