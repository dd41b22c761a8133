"""Where the store of a space is, and as whom the database sees the work in it."""

from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlencode

from recollect.config import Settings, is_postgres_address
from recollect.lazy_dataclass import dataclass

FOLDER_ENDING = ".spaces"
DEFAULT_SCHEMA = "recollect"
FIRST_SPACE = "first-store"  # the id under which the first store of a team works for itself
READ_ONLY = (
    "read-only:"  # before the id of a space: a command that reads it, also of a revoked user
)


@dataclass(frozen=True, kw_only=True)
class TeamSpace:
    """
    A space beside the first store of a team: its id, and the schema with the users ('' in a file).

    Work that names no user is done for *default_user*; '' if it may see nothing.
    """

    id: str
    directory_schema: str
    default_user: str = ""


def space_settings(settings: Settings, space_id: str) -> Settings:
    """Return the settings of the store of a space, from those of the first store."""
    name = space_id.replace("-", "")
    if not is_postgres_address(settings.db):
        folder = settings.db_path.absolute()
        return replace(
            settings, db=str(folder.with_name(folder.name + FOLDER_ENDING) / f"{name}.db")
        )
    address, _, query = settings.db.partition("?")
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    parameters["schema"] = f"{directory_schema(settings)}_{name}"
    return replace(settings, db=f"{address}?{urlencode(parameters, quote_via=quote)}")


def directory_schema(settings: Settings) -> str:
    """Return the schema of the first store, '' if it is a file."""
    if not is_postgres_address(settings.db):
        return ""
    query = settings.db.partition("?")[2]
    return dict(parse_qsl(query, keep_blank_values=True)).get("schema", DEFAULT_SCHEMA)
