"""Open the stores of a team's users and projects, for commands that work on all of them."""

from recollect.app.open_postgres_store import open_postgres_store, postgres_store_exists
from recollect.app.team_space import READ_ONLY, TeamSpace, directory_schema, space_settings
from recollect.clock import Clock
from recollect.config import Settings
from recollect.store.protocol import Store
from recollect.store.sqlite.store import SqliteStore


def open_space(settings: Settings, clock: Clock, space_id: str, *, first: Store) -> Store:
    """
    Open the store of a space as the space itself; it is created if it is not there.

    *settings* are those of the *first* store, whose connections it uses.
    """
    return _open(settings, clock, space_id, user=space_id, first=first)


def open_space_to_read(
    settings: Settings, clock: Clock, space_id: str, *, first: Store
) -> Store | None:
    """Open the store of a space, also of a revoked user, to read it; None if nobody has used it."""
    if not space_exists(settings, space_id, first=first):
        return None
    return _open(settings, clock, space_id, user=READ_ONLY + space_id, first=first)


def space_exists(settings: Settings, space_id: str, *, first: Store) -> bool:
    """Return whether a space has a store; it gets one when it is first used."""
    chosen = space_settings(settings, space_id)
    if chosen.is_on_server:
        return postgres_store_exists(chosen, first)
    return chosen.db_path.exists()


def _open(settings: Settings, clock: Clock, space_id: str, *, user: str, first: Store) -> Store:
    chosen = space_settings(settings, space_id)
    if not chosen.is_on_server:
        return SqliteStore(chosen.db_path, clock)
    schema = directory_schema(settings)
    space = TeamSpace(id=space_id, directory_schema=schema, default_user=user)
    return open_postgres_store(chosen, clock, space, connections_of=first)
