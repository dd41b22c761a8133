"""
Load named SQL statements from the `.sql` files in queries/.

A statement starts at a line `-- name: what it does` and runs to the next such line. The name is
how Python calls it; the rest of the line is for whoever reads the file.
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
