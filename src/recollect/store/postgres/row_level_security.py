"""
Row-level security: the database itself refuses rows to those who may not use a space.

Each table of a space's schema has the same policies, one to read and three to write; all ask the
function `may_use_space` of the directory's schema (docs/adr/0075). The condition has no column, so
it is evaluated once for a statement. It is forced, so that it binds the owner of the tables too.
"""

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from recollect.lazy_dataclass import dataclass
from recollect.store.postgres.server_address import ServerAddress

FIRST_SPACE = "first-store"  # the id under which the first store of a team acts for itself
# What a token is checked with, before anybody knows whose it is, and what is read at the start.
_OPEN_TABLES = ("migrations",)
_DIRECTORY_TABLES = ("users", "team_projects", "project_members")

_TABLES = """
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity
       AND (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) = 4
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = %s AND c.relkind = 'r' ORDER BY c.relname
"""


_NOT_GRANTED = """
SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = %s AND c.relkind IN ('r', 'v') AND c.relname <> 'migrations'
   AND NOT has_table_privilege(%s, c.oid, 'DELETE') LIMIT 1
"""


@dataclass(frozen=True, kw_only=True)
class SpaceIdentity:
    """
    The id of a space, and the schema with the users and members.

    Work that names no user is done for *default_user*; '' if it may see nothing.
    """

    space: str
    directory_schema: str
    default_user: str = ""


def protect_tables(
    db: "psycopg.Connection[TupleRow]", address: ServerAddress, identity: SpaceIdentity
) -> None:
    """Protect the tables of a schema that are not protected yet. *db* is the owner's connection."""
    is_directory = address.schema == identity.directory_schema
    open_tables = {*_OPEN_TABLES, *(_DIRECTORY_TABLES if is_directory else ())}
    tables = [
        name
        for name, is_protected in db.execute(_TABLES, (address.schema,)).fetchall()
        if name not in open_tables and not is_protected
    ]
    if not tables:
        return
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (address.lock_key,))
        if is_directory:
            _fix_search_path(db, address)
        for table in tables:
            _protect(db, sql.Identifier(address.schema, table), identity)
        if db.info.server_version >= 150_000:  # older views read with the rights of their owner
            view = sql.Identifier(address.schema, "hidden_conversations")
            db.execute(sql.SQL("ALTER VIEW {} SET (security_invoker = true)").format(view))


def grant_rows(db: "psycopg.Connection[TupleRow]", address: ServerAddress, role: str) -> None:
    """Let *role* read and write the rows of a schema, which belongs to the role of *db*."""
    if db.execute(_NOT_GRANTED, (address.schema, role)).fetchone() is None:
        return
    schema, grantee = sql.Identifier(address.schema), sql.Identifier(role)
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (address.lock_key,))
        for text in (
            "GRANT USAGE ON SCHEMA {0} TO {1}",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {0} TO {1}",
            "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {0} TO {1}",
            "REVOKE INSERT, UPDATE, DELETE ON {0}.migrations FROM {1}",
        ):
            db.execute(sql.SQL(text).format(schema, grantee))


def _fix_search_path(db: "psycopg.Connection[TupleRow]", address: ServerAddress) -> None:
    """Name the temporary schema last, so that no temporary table stands in for the directory."""
    function = sql.Identifier(address.schema, "may_use_space")
    text = "ALTER FUNCTION {}(text, boolean) SET search_path = {}, pg_temp"
    db.execute(sql.SQL(text).format(function, sql.Identifier(address.schema)))


def _protect(
    db: "psycopg.Connection[TupleRow]", table: sql.Identifier, identity: SpaceIdentity
) -> None:
    allowed = sql.SQL("(SELECT {}({}, {{}}))").format(
        sql.Identifier(identity.directory_schema, "may_use_space"), sql.Literal(identity.space)
    )
    reads, writes = (sql.SQL(allowed.as_string(db)).format(sql.SQL(v)) for v in ("false", "true"))
    for text in (
        "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        "CREATE POLICY space_select ON {table} FOR SELECT USING ({reads})",
        "CREATE POLICY space_insert ON {table} FOR INSERT WITH CHECK ({writes})",
        "CREATE POLICY space_update ON {table} FOR UPDATE USING ({writes}) WITH CHECK ({writes})",
        "CREATE POLICY space_delete ON {table} FOR DELETE USING ({writes})",
    ):
        db.execute(sql.SQL(text).format(table=table, reads=reads, writes=writes))
