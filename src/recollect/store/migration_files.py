"""The schema migrations of a database: numbered `.sql` files in its folder migrations/."""

import hashlib
import re
from functools import cache, cached_property
from pathlib import Path

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    sql: str

    @cached_property
    def sha256(self) -> str:
        """The hash of the script, recorded when it runs."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def load_migrations(folder: Path) -> tuple[Migration, ...]:
    """Return the migrations in *folder*, in order. Read once per process."""
    migrations = []
    for entry in folder.iterdir():
        if match := re.fullmatch(r"(\d{4})_(\w+)\.sql", entry.name):
            sql = entry.read_text(encoding="utf-8")
            migrations.append(Migration(int(match[1]), match[2], sql))
    return tuple(sorted(migrations, key=lambda migration: migration.number))
