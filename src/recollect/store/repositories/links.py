"""Links between memories, and from memories to projects."""

from collections.abc import Mapping, Sequence

from recollect.domain.link import Link, LinkedMemory, Relation
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import Repository, field_values

_link = record_shape(Link, "id from_id relation to_kind to_id note created_at")


class LinkRepository(Repository):
    """Links between memories, and from memories to projects."""

    _statements = "links"

    def add(self, link: Link) -> Link:
        """Store a link and return it; an equal one that exists is returned instead."""
        [stored] = self._all(_link, "add_link", **field_values(link))
        return stored

    def remove(self, link_ids: Sequence[str]) -> None:
        """Delete some links; unknown ids are ignored."""
        self._run("remove_links", ids=list(link_ids))

    def of_memory(self, memory_id: str) -> list[Link]:
        """Return the links of a memory in both directions, oldest first."""
        return self._all(_link, "links_of", id=memory_id)

    def conflicts(self, memory_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of the memories that contradict each of some memories."""
        conflicts: dict[str, tuple[str, ...]] = {}
        for memory_id, other_id in self._rows("conflicts", ids=list(memory_ids)):
            conflicts[memory_id] = (*conflicts.get(memory_id, ()), other_id)
        return conflicts

    def linked_memories(self, memory_ids: Sequence[str]) -> Mapping[str, tuple[LinkedMemory, ...]]:
        """Return the memories that each of some memories is linked to, the oldest link first."""
        linked: dict[str, tuple[LinkedMemory, ...]] = {}
        for memory_id, other_id, relation, is_target in self._rows(
            "linked_memories", ids=list(memory_ids)
        ):
            other = LinkedMemory(other_id, Relation(relation), bool(is_target))
            linked[memory_id] = (*linked.get(memory_id, ()), other)
        return linked

    def contradictions(self, limit: int) -> list[Link]:
        """Return the links between current memories that contradict each other, newest first."""
        return self._all(_link, "contradictions", limit=limit)

    def count_conflicts(self) -> int:
        """Return how many pairs of current memories contradict each other."""
        return int(self._value("count_conflicts"))

    def ids_linked_to(self, project_id: str) -> list[str]:
        """Return the memories of other projects that are linked to a project or to its memories."""
        return self._column("ids_linked_to", project_id=project_id)
