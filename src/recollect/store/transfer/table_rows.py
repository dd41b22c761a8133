"""
The rows of any table by column name: what exports, imports and checks need of a database.

A repository knows what its columns mean; an export does not, it copies them. So this is a second,
lower seam beside `DatabaseConnection`: values are those of the columns, which are alike in every
database. SQL that is passed to it is of the kind that every database understands; its parameters
are written `:name`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from recollect.store.database_connection import DatabaseConnection, Row


class RowRefused(ValueError):
    """A row breaks a rule of the database."""


class TableRows(Protocol):
    """The rows of all tables, inside a transaction that somebody else begins and ends."""

    @property
    def connection(self) -> DatabaseConnection:
        """The same connection, for repositories."""

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns, without generated ones."""

    def primary_key(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table's primary key."""

    def required_columns(self, table: str) -> frozenset[str]:
        """Return the columns that must have a value."""

    def find(
        self, table: str, columns: Sequence[str], row: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Return the row that has the values of *row* in *columns*, or None; NULL equals NULL."""

    def insert(self, table: str, row: Mapping[str, Any]) -> None:
        """Add a row; raises `RowRefused` if it breaks a rule."""

    def select(self, sql: str, values: Mapping[str, Any] | None = None) -> Iterator[Row]:
        """Run a query; yield its rows as they are read."""

    def execute(self, sql: str) -> None:
        """Run a statement without parameters that writes."""


def equality(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    """Return the SQL condition that *columns* have the values of *row*, as named parameters."""
    return " AND ".join(
        f'"{column}" IS NULL' if row.get(column) is None else f'"{column}" = :{column}'
        for column in columns
    )
