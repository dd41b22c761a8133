"""Verbs about agents: who remembers."""

from collections.abc import Mapping
from typing import Any, Unpack

from recollect.app.given import AgentSettings, Place, Verbs, path_of
from recollect.domain.agent import Agent, AgentReceipt
from recollect.service import agents
from recollect.service.places import Where

AgentLike = Agent | str


class AgentVerbs(Verbs):
    """Verbs about agents: who remembers. An agent is named by its name, its id, or itself."""

    def create_agent(
        self,
        name: str,
        *,
        description: str = "",
        model: str = "",
        system_prompt: str = "",
        metadata: Mapping[str, Any] | None = None,
        default_blocks: bool = True,
    ) -> Agent:
        """Make an agent with the blocks every agent starts with (persona, human, …)."""
        return agents.create(
            self._deps,
            name,
            description=description,
            model=model,
            system_prompt=system_prompt,
            metadata=metadata,
            default_blocks=default_blocks,
        )

    def agent(self, agent: AgentLike) -> Agent:
        """Return one agent."""
        return agents.get(self._deps, agent)

    def agents(self, *, pinned: str | None = None, project: Place = None) -> list[Agent]:
        """Return every agent, pinned ones first; or those pinned so, or at hand in a project."""
        where = Where.of(path_of(project), None, None, None)
        return agents.everyone(self._deps, pinned=pinned, project=where)

    def update_agent(self, agent: AgentLike, **changes: Unpack[AgentSettings]) -> Agent:
        """Change an agent's name, description, model, system_prompt or metadata."""
        return agents.update(self._deps, agent, changes)

    def pin_agent(self, agent: AgentLike, where: str = "global", *, project: Place = None) -> Agent:
        """Keep an agent at hand: `global`, `local` to a project, or '' for no longer."""
        place = Where.of(path_of(project), None, None, None)
        return agents.pin(self._deps, agent, where, place)

    def delete_agent(self, agent: AgentLike) -> AgentReceipt:
        """Delete an agent with everything of its own, and return a receipt; shared blocks stay."""
        return agents.delete(self._deps, agent)
