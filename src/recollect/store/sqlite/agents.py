"""Agents in SQLite."""

import json
from collections.abc import Mapping
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.agent import Agent, Pinned
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import Row, rows, to_json

_SQL = queries.load("agents")


class SqliteAgents:
    """See `recollect.store.protocol.Agents`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, agent: Agent) -> None:
        """Keep a new agent."""
        self._db.execute(_SQL["add_agent"], _values(agent))

    def set(self, agent: Agent) -> None:
        """Keep an agent as it is now."""
        self._db.execute(_SQL["set_agent"], _values(agent))

    def get(self, agent_id: str) -> Agent | None:
        """Return the agent with that id."""
        row = self._db.execute(_SQL["agent"], {"id": agent_id}).fetchone()
        return _agent(row) if row else None

    def named(self, name: str) -> Agent | None:
        """Return the agent of that name."""
        row = self._db.execute(_SQL["agent_named"], {"name": name}).fetchone()
        return _agent(row) if row else None

    def all(self) -> list[Agent]:
        """Return every agent, by name."""
        return [_agent(row) for row in self._db.execute(_SQL["agents"])]

    def archive(self, agent_id: str, *, tags: int) -> tuple[int, list[str]]:
        """Return how many memories an agent's archive holds, and some of their tags."""
        size = int(self._db.execute(_SQL["archive"], {"id": agent_id}).get)
        found = self._db.execute(_SQL["archive_tags"], {"id": agent_id, "limit": tags})
        return size, [tag for (tag,) in found]

    def own_memories(self, agent_id: str) -> list[str]:
        """Return the memories that are the agent's own or of its conversations, by id."""
        return [row[0] for row in self._db.execute(_SQL["own_memories"], {"id": agent_id})]

    def own_events(self, agent_id: str) -> list[tuple[str, str | None]]:
        """Return the captures made for the agent: each event's id, and its source's."""
        return rows(self._db.execute(_SQL["own_events"], {"id": agent_id}))

    def delete_event(self, event_id: str) -> None:
        """Remove a capture's history with its jobs; its source is somebody else's work."""
        self._db.execute(_SQL["delete_event"], {"id": event_id})

    def delete(self, agent_id: str) -> Mapping[str, int]:
        """Remove an agent and all that hangs on it; return how much went from where."""
        cursor = self._db.execute(_SQL["count_traces"], {"id": agent_id})
        names = [column[0] for column in cursor.get_description()]
        removed = dict(zip(names, next(cursor), strict=True))
        cursor.close()
        for step in ("disown", "disown_jobs", "delete_questions", "delete_agent"):
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
        pinned=Pinned(pinned),
        metadata=json.loads(metadata),
        created_at=from_micros(created),
        updated_at=from_micros(updated),
    )
