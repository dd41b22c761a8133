"""The names of projects and agents by their ids, for pages that show memories."""

from collections.abc import Mapping

from recollect.api.recollect import Recollect
from recollect.domain.agent import Agent
from recollect.domain.memory import Memory
from recollect.domain.project import Project, project_labels
from recollect.domain.scope import Scope
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True)
class PlaceNames:
    """The names of what a memory can belong to."""

    projects: Mapping[str, str]
    agents: Mapping[str, str]
    all_projects: tuple[Project, ...]
    all_agents: tuple[Agent, ...]

    @classmethod
    def read(cls, rec: Recollect) -> "PlaceNames":
        """Return the names in a store."""
        projects, agents = rec.projects.list(), rec.agents.list()
        return cls(
            projects=project_labels(projects),
            agents={agent.id: agent.name for agent in agents},
            all_projects=tuple(projects),
            all_agents=tuple(agents),
        )

    def of(self, memory: Memory) -> str:
        """Return where a memory is visible: "everywhere", "project site"."""
        if memory.scope is Scope.GLOBAL:
            return "everywhere"
        if memory.scope is Scope.AGENT:
            place = f"agent {self.agents.get(memory.agent_id or '', memory.agent_id)}"
            project = self.projects.get(memory.project_id or "")
            return f"{place} in project {project}" if project else place
        if memory.scope is Scope.SESSION:
            return f"session {memory.session_id}"
        return f"{memory.scope} {self.projects.get(memory.project_id or '', memory.project_id)}"
