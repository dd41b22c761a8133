"""A store of a team on PostgreSQL, with two roles: one owns the tables, the other may use rows."""

from itertools import count
from typing import Any

import psycopg

from postgres_server import shared_server

OWNER, APPLICATION = "team_owner", "team_application"
_numbers = count(1)


def two_roles(name: str) -> tuple[str, str]:
    """Return the addresses of a new store, for the application's role and for the owner's."""
    server = shared_server()
    with superuser() as db:
        for role in (OWNER, APPLICATION):
            if not db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
                db.execute(f"CREATE ROLE {role} LOGIN")
        db.execute(f"GRANT CREATE ON DATABASE postgres TO {OWNER}")
    url = server.url(f"{name}_{next(_numbers)}")
    return tuple(url.replace("user=recollect", f"user={role}") for role in (APPLICATION, OWNER))  # type: ignore[return-value]


def superuser() -> "psycopg.Connection[Any]":
    """Connect as the superuser of the server."""
    return psycopg.connect(shared_server().address("x").conninfo, autocommit=True)


def as_application(address: str) -> "psycopg.Connection[Any]":
    """Connect as the application's role."""
    from recollect.store.postgres.server_address import parse_address

    return psycopg.connect(parse_address(address).conninfo, autocommit=True)
