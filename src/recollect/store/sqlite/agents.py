"""Agents in SQLite."""

import json
from collections.abc import Mapping
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.agent import Agent, AgentPinning
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, fetch_all, to_json

_SQL = query_loader.load("agents")


class SqliteAgentTable:
    """See `recollect.store.protocol.AgentTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, agent: Agent) -> None:
        self._db.execute(_SQL["add_agent"], _values(agent))

    def set(self, agent: Agent) -> None:
        self._db.execute(_SQL["set_agent"], _values(agent))

    def get(self, agent_id: str) -> Agent | None:
        row = self._db.execute(_SQL["agent"], {"id": agent_id}).fetchone()
        return _agent(row) if row else None

    def by_name(self, name: str) -> Agent | None:
        row = self._db.execute(_SQL["agent_by_name"], {"name": name}).fetchone()
        return _agent(row) if row else None

    def all(self) -> list[Agent]:
        return [_agent(row) for row in self._db.execute(_SQL["agents"])]

    def archive_summary(self, agent_id: str, *, tag_limit: int) -> tuple[int, list[str]]:
        size = int(self._db.execute(_SQL["archive_size"], {"id": agent_id}).get)
        rows = self._db.execute(_SQL["archive_tags"], {"id": agent_id, "limit": tag_limit})
        return size, [tag for (tag,) in rows]

    def own_memory_ids(self, agent_id: str) -> list[str]:
        return [row[0] for row in self._db.execute(_SQL["own_memory_ids"], {"id": agent_id})]

    def own_events(self, agent_id: str) -> list[tuple[str, str | None]]:
        return fetch_all(self._db.execute(_SQL["own_events"], {"id": agent_id}))

    def delete_event(self, event_id: str) -> None:
        self._db.execute(_SQL["delete_event"], {"id": event_id})

    def delete(self, agent_id: str) -> Mapping[str, int]:
        cursor = self._db.execute(_SQL["count_related_rows"], {"id": agent_id})
        names = [column[0] for column in cursor.get_description()]
        removed = dict(zip(names, next(cursor), strict=True))
        cursor.close()
        for step in ("disown", "disown_jobs", "delete_retrievals", "delete_agent"):
            self._db.execute(_SQL[step], {"id": agent_id})
        return {"agents": 1, **removed}


def _values(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "name": agent.name,
        "description": agent.description,
        "model": agent.model,
        "system_prompt": agent.system_prompt,
        "pinned": agent.pinned.value,
        "metadata": to_json(dict(agent.metadata)),
        "created_at": to_micros(agent.created_at),
        "updated_at": to_micros(agent.updated_at),
    }


def _agent(row: Row) -> Agent:
    agent_id, name, description, model, system_prompt, pinned, metadata, created, updated = row
    return Agent(
        id=agent_id,
        name=name,
        description=description,
        model=model,
        system_prompt=system_prompt,
        pinned=AgentPinning(pinned),
        metadata=json.loads(metadata),
        created_at=from_micros(created),
        updated_at=from_micros(updated),
    )
