"""Skills that were loaded once, and which agent has which in use, in SQLite."""

import json
from datetime import datetime

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.skill import SkillOrigin
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import Row, to_json
from recollect.store.values import KeptSkill

_SQL = queries.load("skills")


class SqliteSkills:
    """See `recollect.store.protocol.Skills`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def put(self, skill: KeptSkill, at: datetime) -> str:
        """Keep a skill as it is now; return its id, which is the former one if it was known."""
        values = {
            "id": skill.id,
            "name": skill.name,
            "description": skill.description,
            "origin": skill.origin.value,
            "project_id": skill.project_id,
            "path": skill.path,
            "content": skill.content,
            "sha256": skill.sha256,
            "metadata": to_json(dict(skill.metadata)),
            "at": to_micros(at),
        }
        return str(self._db.execute(_SQL["put_skill"], values).get)

    def load(self, agent_id: str, skill_id: str, at: datetime) -> None:
        """Give a skill to an agent."""
        values = {"agent_id": agent_id, "skill_id": skill_id, "at": to_micros(at)}
        self._db.execute(_SQL["load"], values)

    def unload(self, agent_id: str, skill_id: str) -> None:
        """Take a skill from an agent."""
        self._db.execute(_SQL["unload"], {"agent_id": agent_id, "skill_id": skill_id})

    def drop_unused(self) -> None:
        """Forget skills that no agent has in use; they are found in their folders."""
        self._db.execute(_SQL["drop_unused"])

    def loaded(self, agent_id: str) -> list[tuple[KeptSkill, datetime]]:
        """Return the skills an agent has in use, and since when."""
        found = self._db.execute(_SQL["loaded"], {"agent_id": agent_id})
        return [(_skill(row), from_micros(row[9])) for row in found]


def _skill(row: Row) -> KeptSkill:
    skill_id, name, description, origin, project_id, path, content, digest, metadata = row[:9]
    return KeptSkill(
        id=skill_id,
        name=name,
        description=description,
        origin=SkillOrigin(origin),
        project_id=project_id,
        path=path,
        content=content,
        sha256=digest,
        metadata=json.loads(metadata),
    )
