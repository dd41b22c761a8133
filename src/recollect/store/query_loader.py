"""
Load the named SQL statements of a database from the `.sql` files of its folder.

A statement starts at a line `-- name: what it does` and ends before the next such line. Python code
refers to a statement by its name; the rest of the line is a comment.
"""

import re
from functools import cache
from pathlib import Path

_HEAD = re.compile(r"^-- ([a-z_]+): .*$", re.MULTILINE)


@cache
def load(dialect: str, file: str) -> dict[str, str]:
    """Return the statements of *dialect*/queries/*file*.sql by name."""
    path = Path(__file__).with_name(dialect) / "queries" / f"{file}.sql"
    text = path.read_text(encoding="utf-8")
    parts = _HEAD.split(text)
    return {name: sql.strip() for name, sql in zip(parts[1::2], parts[2::2], strict=True)}
