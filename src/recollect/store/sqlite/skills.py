"""Skills that were loaded, and which agent has which loaded, in SQLite."""

from datetime import datetime

from recollect.clock import from_micros
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser
from recollect.store.values import StoredSkill

_SKILL = "id name description origin project_id path content sha256 metadata"
_skill = row_parser(StoredSkill, _SKILL)


class SqliteSkillTable(SqliteTable):
    """See `recollect.store.protocol.SkillTable`."""

    _sql = query_loader.load("skills")

    def save(self, skill: StoredSkill, at: datetime) -> str:
        return str(self._run("save_skill", **field_values(skill), at=at).get)

    def load(self, agent_id: str, skill_id: str, at: datetime) -> None:
        self._run("load", agent_id=agent_id, skill_id=skill_id, at=at)

    def unload(self, agent_id: str, skill_id: str) -> None:
        self._run("unload", agent_id=agent_id, skill_id=skill_id)

    def drop_unused(self) -> None:
        self._run("drop_unused")

    def loaded_by(self, agent_id: str) -> list[tuple[StoredSkill, datetime]]:
        rows = self._run("loaded_by", agent_id=agent_id)
        return [(_skill(row[:9]), from_micros(row[9])) for row in rows]
