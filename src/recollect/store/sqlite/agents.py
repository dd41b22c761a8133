"""Agents in SQLite."""

from collections.abc import Mapping

from recollect.domain.agent import Agent
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_AGENT = "id name description model system_prompt pinned metadata created_at updated_at"
_agent = row_parser(Agent, _AGENT)


class SqliteAgentTable(SqliteTable):
    """See `recollect.store.protocol.AgentTable`."""

    _sql = query_loader.load("agents")

    def add(self, agent: Agent) -> None:
        self._run("add_agent", **field_values(agent))

    def set(self, agent: Agent) -> None:
        self._run("set_agent", **field_values(agent))

    def get(self, agent_id: str) -> Agent | None:
        return self._first(_agent, "agent", id=agent_id)

    def by_name(self, name: str) -> Agent | None:
        return self._first(_agent, "agent_by_name", name=name)

    def all(self) -> list[Agent]:
        return self._all(_agent, "agents")

    def archive_summary(self, agent_id: str, *, tag_limit: int) -> tuple[int, list[str]]:
        size = int(self._run("archive_size", id=agent_id).get)
        return size, self._column("archive_tags", id=agent_id, limit=tag_limit)

    def own_memory_ids(self, agent_id: str) -> list[str]:
        return self._column("own_memory_ids", id=agent_id)

    def own_events(self, agent_id: str) -> list[tuple[str, str | None]]:
        return self._rows("own_events", id=agent_id)

    def delete_event(self, event_id: str) -> None:
        self._run("delete_event", id=event_id)

    def delete(self, agent_id: str) -> Mapping[str, int]:
        steps = ("disown", "disown_jobs", "delete_retrievals", "delete_agent")
        return {"agents": 1, **self._count_then_delete(steps, agent_id)}
