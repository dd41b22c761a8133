"""Links between memories, and from memories to projects, in SQLite."""

from collections.abc import Mapping, Sequence

from recollect.domain.link import Link
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_link = row_parser(Link, "id from_id relation to_kind to_id note created_at")


class SqliteLinkTable(SqliteTable):
    """See `recollect.store.protocol.LinkTable`."""

    _sql = query_loader.load("links")

    def add(self, link: Link) -> None:
        self._run("add_link", **field_values(link))

    def of_memory(self, memory_id: str) -> list[Link]:
        return self._all(_link, "links_of", id=memory_id)

    def conflicts(self, memory_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        conflicts: dict[str, tuple[str, ...]] = {}
        for memory_id, other_id in self._rows("conflicts", ids=list(memory_ids)):
            conflicts[memory_id] = (*conflicts.get(memory_id, ()), other_id)
        return conflicts

    def count_conflicts(self) -> int:
        return int(self._run("count_conflicts").get)

    def item_ids_linked_to(self, project_id: str) -> list[int]:
        return self._column("item_ids_linked_to", project_id=project_id)
