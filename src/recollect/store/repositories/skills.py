"""Skills that were loaded, and which agent has which loaded."""

from datetime import datetime

from recollect.store.database_connection import pair_shape
from recollect.store.repositories.repository import Repository, field_values
from recollect.store.values import StoredSkill

_SKILL = "id name description origin project_id path content sha256 metadata"
_loaded_skill = pair_shape(StoredSkill, _SKILL, datetime)


class SkillRepository(Repository):
    """Skills that were loaded, and which agent has which loaded."""

    _statements = "skills"

    def save(self, skill: StoredSkill, at: datetime) -> str:
        """
        Store a skill as it is now; return its id, the same one if it was stored before.

        One that came from another device gets its path here.
        """
        values = field_values(skill)
        names = ("name", "sha256", "origin", "metadata", "project_id", "path")
        old = self._value("stored_skill", **{name: values[name] for name in names})
        if old is None:
            self._run("add_skill", **values, at=at)
            return skill.id
        self._run("set_path", id=old, path=skill.path)
        return str(old)

    def load(self, agent_id: str, skill_id: str, at: datetime) -> None:
        """Give a skill to an agent."""
        self._run("load", agent_id=agent_id, skill_id=skill_id, at=at)

    def unload(self, agent_id: str, skill_id: str) -> None:
        """Take a skill from an agent."""
        self._run("unload", agent_id=agent_id, skill_id=skill_id)

    def drop_unused(self) -> None:
        """Delete the skills that no agent has loaded."""
        self._run("drop_unused")

    def loaded_by(self, agent_id: str) -> list[tuple[StoredSkill, datetime]]:
        """Return the skills an agent has loaded, and since when."""
        return self._all(_loaded_skill, "loaded_by", agent_id=agent_id)
