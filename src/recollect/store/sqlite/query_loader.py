"""
Load named SQL statements from the `.sql` files in queries/.

A statement starts at a line `-- name: what it does` and ends before the next such line. Python code
refers to a statement by its name; the rest of the line is a comment.
"""

import re
from functools import cache
from importlib.resources import files

_HEAD = re.compile(r"^-- ([a-z_]+): .*$", re.MULTILINE)


@cache
def load(file: str) -> dict[str, str]:
    """Return the statements of queries/*file*.sql by name."""
    text = (files(__package__) / "queries" / f"{file}.sql").read_text(encoding="utf-8")
    parts = _HEAD.split(text)
    return {name: sql.strip() for name, sql in zip(parts[1::2], parts[2::2], strict=True)}
