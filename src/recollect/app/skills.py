"""Verbs about skills: what there is, what an agent has loaded, what it learnt."""

from recollect.app.agents import AgentLike
from recollect.app.conversations import ConversationLike
from recollect.app.given import Place, Verbs, path_of
from recollect.domain.skill import LearntSkill, LoadedSkill, SkillHit, SkillReport
from recollect.service import skill_search, skills
from recollect.service.places import Where


class SkillVerbs(Verbs):
    """Verbs about skills. *project* is a folder, or a project whose folder is known."""

    def discover_skills(self, *, project: Place = None) -> SkillReport:
        """Return the bundled, global and project's skills; later ones override earlier."""
        return skills.found(self._deps, _where(project))

    def search_skills(
        self, query: str, *, project: Place = None, limit: int = 10
    ) -> list[SkillHit]:
        """Return the skills that answer *query*, by words and meaning, best first."""
        report = skills.found(self._deps, _where(project))
        return skill_search.search(self._deps, query, report, limit=limit)

    def load_skill(self, agent: AgentLike, name: str, *, project: Place = None) -> LoadedSkill:
        """Give a skill to an agent: its text stands in the block `loaded_skills` from now on."""
        return skills.load(self._deps, agent, name, _where(project))

    def unload_skill(self, agent: AgentLike, name: str, *, project: Place = None) -> LoadedSkill:
        """Take a skill from an agent."""
        return skills.unload(self._deps, agent, name, _where(project))

    def loaded_skills(self, agent: AgentLike) -> list[LoadedSkill]:
        """Return the skills an agent has in use."""
        return skills.loaded(self._deps, agent)

    def refresh_skills(self, agent: AgentLike, *, project: Place = None) -> SkillReport:
        """Write an agent's catalogue of skills anew, and take loaded ones as they stand now."""
        return skills.refresh(self._deps, agent, _where(project))

    def learn_skill(
        self,
        conversation: ConversationLike,
        name: str,
        *,
        project: Place = None,
        title: str = "",
        save: str = "project",
        overwrite: bool = False,
    ) -> LearntSkill:
        """Draft a skill from a conversation and save it: *save* is project, global, or ''."""
        return skills.learn(
            self._deps,
            conversation,
            name,
            project=_where(project),
            title=title,
            save=save,
            overwrite=overwrite,
        )


def _where(project: Place) -> Where:
    return Where.of(path_of(project), None, None, None)
