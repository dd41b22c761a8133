"""Open a store on a database server, for which a package is needed that most users do not have."""

from recollect.clock import Clock
from recollect.config import Settings
from recollect.errors import PackageMissing
from recollect.store.protocol import Store


def open_server_store(settings: Settings, clock: Clock) -> Store:
    """Return the store at the address in the setting `db`."""
    try:
        # An optional dependency, which takes 60 ms to load.
        from recollect.store.postgres.server_address import parse_address
        from recollect.store.postgres.store import PostgresStore
    except ImportError as error:
        raise PackageMissing(
            f"{settings.location} needs the packages psycopg and psycopg-pool ({error}); install "
            "them with: pip install '.[postgres]' (in the checkout of Recollect)"
        ) from error
    return PostgresStore(parse_address(settings.db), clock)
