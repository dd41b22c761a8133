"""Skills that were loaded, and which agent has which loaded, in SQLite."""

import json
from datetime import datetime

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.skill import SkillOrigin
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, to_json
from recollect.store.values import StoredSkill

_SQL = query_loader.load("skills")


class SqliteSkillTable:
    """See `recollect.store.protocol.SkillTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def save(self, skill: StoredSkill, at: datetime) -> str:
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
        return str(self._db.execute(_SQL["save_skill"], values).get)

    def load(self, agent_id: str, skill_id: str, at: datetime) -> None:
        values = {"agent_id": agent_id, "skill_id": skill_id, "at": to_micros(at)}
        self._db.execute(_SQL["load"], values)

    def unload(self, agent_id: str, skill_id: str) -> None:
        self._db.execute(_SQL["unload"], {"agent_id": agent_id, "skill_id": skill_id})

    def drop_unused(self) -> None:
        self._db.execute(_SQL["drop_unused"])

    def loaded_by(self, agent_id: str) -> list[tuple[StoredSkill, datetime]]:
        rows = self._db.execute(_SQL["loaded_by"], {"agent_id": agent_id})
        return [(_skill(row), from_micros(row[9])) for row in rows]


def _skill(row: Row) -> StoredSkill:
    skill_id, name, description, origin, project_id, path, content, digest, metadata = row[:9]
    return StoredSkill(
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
