"""The named statements of a folder of `.sql` files, and how two folders differ."""

import re
from collections.abc import Mapping
from pathlib import Path

_HEAD = re.compile(r"^-- ([a-z_]+): .*$", re.MULTILINE)
_NOT_SQL = re.compile(r"'[^']*'|--.*$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")  # not the `::type` of PostgreSQL

Statements = Mapping[str, frozenset[str]]


def read_statements(folder: Path) -> Statements:
    """Return the parameters of each statement of the `.sql` files in *folder*, by `file.name`."""
    return {
        name: parameters
        for path in sorted(folder.glob("*.sql"))
        for name, parameters in read_file(path).items()
    }


def read_file(path: Path) -> Statements:
    """Return the parameters of each statement of one file, by `file.name`."""
    parts = _HEAD.split(path.read_text(encoding="utf-8"))
    names = [f"{path.stem}.{name}" for name in parts[1::2]]
    assert len(names) == len(set(names)), f"a name stands twice in {path}"
    return {
        name: frozenset(_PARAMETER.findall(_NOT_SQL.sub("", sql)))
        for name, sql in zip(names, parts[2::2], strict=True)
    }


def differences(expected: Statements, actual: Statements) -> list[str]:
    """Return a line for each statement that is missing, unknown or has other parameters."""
    lines = [f"{name} is missing" for name in sorted(expected.keys() - actual.keys())]
    lines += [f"{name} is unknown" for name in sorted(actual.keys() - expected.keys())]
    for name in sorted(expected.keys() & actual.keys()):
        if expected[name] != actual[name]:
            lines.append(f"{name} takes {sorted(actual[name])}, not {sorted(expected[name])}")
    return lines
