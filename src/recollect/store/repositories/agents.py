"""Agents."""

from collections.abc import Mapping

from recollect.domain.agent import Agent
from recollect.store.database_connection import record_shape, value_shape
from recollect.store.repositories.repository import Repository, field_values

_AGENT = "id name description model system_prompt pinned metadata created_at updated_at"
_agent = record_shape(Agent, _AGENT)
_archive = value_shape(int, int, tuple[str, ...])


class AgentRepository(Repository):
    """Agents. Deleting one does not change the indexes: the caller drops its partitions."""

    _statements = "agents"

    def add(self, agent: Agent) -> None:
        """Store a new agent."""
        self._run("add_agent", **field_values(agent))

    def set(self, agent: Agent) -> None:
        """Store the current fields of an agent."""
        self._run("set_agent", **field_values(agent))

    def get(self, agent_id: str) -> Agent | None:
        """Return the agent with that id, or None."""
        return self._first(_agent, "agent", id=agent_id)

    def by_name(self, name: str) -> Agent | None:
        """Return the agent of that name, or None."""
        return self._first(_agent, "agent_by_name", name=name)

    def all(self) -> list[Agent]:
        """Return every agent, by name."""
        return self._all(_agent, "agents")

    def archive_summary(self, agent_id: str, *, tag_limit: int) -> tuple[int, int, tuple[str, ...]]:
        """Return how many messages and active memories an agent has, and some of their tags."""
        [row] = self._all(_archive, "archive_summary", id=agent_id, limit=tag_limit)
        messages, memories, tags = row
        return messages, memories, tags

    def works_in_projects(self, agent_id: str) -> bool:
        """Return whether a session or a conversation of an agent has a project."""
        return bool(self._value("works_in_projects", id=agent_id))

    def own_memory_ids(self, agent_id: str) -> list[str]:
        """Return the ids of the memories of an agent and of its conversations."""
        return self._column("own_memory_ids", id=agent_id)

    def own_events(self, agent_id: str) -> list[tuple[str, str | None]]:
        """Return the captures made for an agent: the id of each event and of its source."""
        return self._rows("own_events", id=agent_id)

    def delete_event(self, event_id: str) -> None:
        """Delete an ingestion event and its jobs; its source stays."""
        self._run("delete_event", id=event_id)

    def delete(self, agent_id: str) -> Mapping[str, int]:
        """Delete an agent and what it owns; memories for others stay. Return the rows by table."""
        related = dict(self._rows("count_related_rows", id=agent_id))
        for step in ("disown", "disown_jobs", "delete_retrievals", "delete_agent"):
            self._run(step, id=agent_id)
        return {"agents": 1, **related}
