"""Open a store on a PostgreSQL server. Needs a package that most users do not have."""

from recollect.app.team_space import TeamSpace
from recollect.clock import Clock
from recollect.config import Settings
from recollect.errors import PackageMissing
from recollect.store.protocol import Store


def open_postgres_store(
    settings: Settings,
    clock: Clock,
    space: TeamSpace | None = None,
    *,
    connections_of: Store | None = None,
) -> Store:
    """
    Return the store at the address in the setting `db`, as the space of a team if it is one.

    It uses the connections of another store of the same database, if one is given.
    """
    try:
        # An optional dependency, which takes 60 ms to load.
        from recollect.store.postgres.row_level_security import SpaceIdentity
        from recollect.store.postgres.server_address import parse_address
        from recollect.store.postgres.store import PostgresStore
    except ImportError as error:
        raise PackageMissing(
            f"{settings.location} needs the packages psycopg and psycopg-pool ({error}); install "
            "them with: pip install '.[postgres]' (in the checkout of Recollect)"
        ) from error
    identity = None
    if space is not None:
        identity = SpaceIdentity(
            space=space.id,
            directory_schema=space.directory_schema,
            default_user=space.default_user,
        )
    owner = parse_address(settings.db_owner) if settings.db_owner else None
    return PostgresStore(
        parse_address(settings.db),
        clock,
        owner=owner,
        identity=identity,
        connections=settings.db_connections,
        connections_of=connections_of if isinstance(connections_of, PostgresStore) else None,
    )


def postgres_store_exists(settings: Settings, first: Store) -> bool:
    """Return whether a store is in the schema of the setting `db`, beside the *first* store."""
    from recollect.store.postgres.server_address import parse_address
    from recollect.store.postgres.store import PostgresStore

    assert isinstance(first, PostgresStore)
    return first.has_store(parse_address(settings.db).schema)
