"""Skills: SKILL.md folders that can be loaded into agents."""

from recollect.api.arguments import AgentLike, ConversationLike, Place
from recollect.api.verb_group import VerbGroup
from recollect.domain.skill import LearntSkill, LoadedSkill, SkillHit, SkillReport
from recollect.wire.requests import skills as requests


class Skills(VerbGroup):
    """
    Find skills and load them into agents.

    *project* is a folder, or a project whose folder is known.
    """

    def search(self, query: str, *, project: Place = None, limit: int = 10) -> list[SkillHit]:
        """Return the skills that match *query*, best first."""
        return self._send(requests.SearchSkillsRequest, locals())

    def load(self, agent: AgentLike, name: str, *, project: Place = None) -> LoadedSkill:
        """Load a skill into an agent: its text is added to the block `loaded_skills`."""
        return self._send(requests.LoadSkillRequest, locals())

    def unload(self, agent: AgentLike, name: str, *, project: Place = None) -> LoadedSkill:
        """Unload a skill from an agent."""
        return self._send(requests.UnloadSkillRequest, locals())

    def loaded(self, agent: AgentLike) -> list[LoadedSkill]:
        """Return the skills an agent has loaded."""
        return self._send(requests.ListLoadedSkillsRequest, locals())

    def refresh(self, agent: AgentLike, *, project: Place = None) -> SkillReport:
        """Update an agent's list of skills and its loaded skills from disk."""
        return self._send(requests.RefreshSkillsRequest, locals())

    def learn(
        self,
        conversation: ConversationLike,
        name: str,
        *,
        project: Place = None,
        title: str = "",
        save: str = "project",
        overwrite: bool = False,
    ) -> LearntSkill:
        """Draft a skill from a conversation; *save* is project, global, or '' to only return it."""
        return self._send(requests.LearnSkillRequest, locals())

    def list(self, *, project: Place = None) -> SkillReport:
        """Return the bundled, global and project skills; later ones override earlier ones."""
        return self._send(requests.ListSkillsRequest, locals())
