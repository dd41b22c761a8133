"""
The address of a store on a PostgreSQL server: postgresql://user@host/database?schema=name.

One store is one schema of a database. `pooler=transaction` says that a pooler such as PgBouncer is
in between, which gives each transaction another connection: statements are not prepared then, and
nobody listens for jobs. Every other parameter of the address is one of libpq (sslmode, options, …),
and what it does not say is read from the variables and files of libpq (PGPASSWORD, ~/.pgpass, …).
"""

import hashlib
import re
from dataclasses import field
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from psycopg import sql

from recollect.config import is_postgres_address, without_password
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

DEFAULT_SCHEMA = "recollect"
TRANSACTION_POOLER = "transaction"
_OWN_PARAMETERS = frozenset({"schema", "pooler"})
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class ServerAddress:
    """Where a store is: how to connect, and its schema."""

    conninfo: str = field(repr=False)  # may hold a password
    schema: str
    location: str  # for people, without a password
    has_pooler: bool = False  # each transaction may have another connection

    @property
    def quoted_schema(self) -> str:
        """The schema as an identifier in SQL: its name may be a keyword."""
        return sql.Identifier(self.schema).as_string(None)

    @property
    def lock_key(self) -> int:
        """The advisory lock of the store's only writer: a number for each schema."""
        digest = hashlib.sha256(f"recollect {self.schema}".encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)


def parse_address(url: str) -> ServerAddress:
    """Return the address in *url*; raises `InvalidInput` if it is not one."""
    if not is_postgres_address(url):
        raise InvalidInput("the address of a database server must begin with postgresql://")
    try:
        parts = urlsplit(url)
        parameters = parse_qsl(
            parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)
        )
    except ValueError:
        # The message of the error may hold the password.
        raise InvalidInput(
            "the address of the database server cannot be read; use "
            "postgresql://user@host:5432/database, with %XX for special characters"
        ) from None
    schema = dict(parameters).get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA_NAME.fullmatch(schema):
        raise InvalidInput(
            f"the schema {schema[:80]!r} is not a name of lower-case letters, digits and "
            "underscores, at most 63"
        )
    pooler = dict(parameters).get("pooler", "")
    if pooler not in ("", TRANSACTION_POOLER):
        raise InvalidInput(
            f"pooler={pooler[:80]} is not known; use pooler=transaction behind a pooler that gives "
            "each transaction another connection, or leave it out"
        )
    others = urlencode(
        [pair for pair in parameters if pair[0] not in _OWN_PARAMETERS], quote_via=quote
    )
    conninfo = f"postgresql://{parts.netloc}{parts.path}" + (f"?{others}" if others else "")
    return ServerAddress(conninfo, schema, without_password(url), bool(pooler))
