"""
The statements of every database have the names and parameters that the repositories use.

A database is a folder of `.sql` files (docs/adr/0025). Each is compared with that of SQLite.
"""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect.store
from dialect_statements import differences, read_file, read_statements
from tables import each_row

STORE = Path(recollect.store.__file__).parent
REPOSITORIES = STORE / "repositories"
DIALECTS = sorted(STORE.glob("*/queries"))
FIRST = STORE / "sqlite" / "queries"
RUNS = {"_run": 0, "_rows": 0, "_column": 0, "_value": 0, "_all": 1, "_first": 1, "_stream": 1}


def test_the_first_dialect_is_that_of_sqlite() -> None:
    assert FIRST in DIALECTS


@pytest.mark.parametrize("folder", DIALECTS, ids=lambda folder: folder.parent.name)
def test_every_database_has_the_same_statements_with_the_same_parameters(folder: Path) -> None:
    assert differences(read_statements(FIRST), read_statements(folder)) == []


@pytest.mark.parametrize("folder", DIALECTS, ids=lambda folder: folder.parent.name)
def test_every_database_has_the_same_schema_version(folder: Path) -> None:
    # An export says the version of its rows, and every database imports it.
    newest = [
        max(path.name for path in (some.parent / "migrations").glob("*.sql"))[:4]
        for some in (FIRST, folder)
    ]

    assert newest[0] == newest[1]


def test_a_folder_that_differs_is_described(tmp_path: Path) -> None:
    folder = tmp_path / "queries"
    shutil.copytree(FIRST, folder)
    agents = folder / "agents.sql"
    text = agents.read_text().replace("-- agents:", "-- every_agent:")
    agents.write_text(text.replace("WHERE name = :name;", "WHERE name = :called;"))

    assert differences(read_statements(FIRST), read_statements(folder)) == [
        "agents.agents is missing",
        "agents.every_agent is unknown",
        "agents.agent_by_name takes ['called'], not ['name']",
    ]


def test_parameters_are_read_outside_of_texts_comments_and_casts(tmp_path: Path) -> None:
    sql = "-- one: 'a :comment'\nSELECT ':text', :a::int, :b -- :note\n;\n"
    (tmp_path / "x.sql").write_text(sql)

    assert read_statements(tmp_path) == {"x.one": frozenset({"a", "b"})}


@each_row("path", sorted(REPOSITORIES.glob("*.py")), ids=lambda path: path.stem)
def test_a_repository_runs_statements_that_exist_and_all_of_them(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = statement_names(tree)

    unknown = [name for name in run_names(tree) if name not in names]
    mentioned = list(mentioned_patterns(tree))
    unused = [name for name in names if not any(re.fullmatch(text, name) for text in mentioned)]

    assert (unknown, unused) == ([], [])


def statement_names(tree: ast.Module) -> list[str]:
    """Return the names of the statements in the file that a repository names as its own."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id="_statements")], value=ast.Constant(value=file)):
                sql_file = FIRST / f"{file!s}.sql"
                return [name.partition(".")[2] for name in read_file(sql_file)]
    return []


def run_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that are passed to the functions that run a statement."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attr), args=arguments):
                if attr in RUNS and isinstance(name := arguments[RUNS[attr]], ast.Constant):
                    yield str(name.value)


def mentioned_patterns(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of a file as patterns; a text with a fixed part stands for what fits it."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield re.escape(text)
            case ast.JoinedStr(values=parts) if len(parts) > 1:
                yield "".join(
                    re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z_]+"
                    for part in parts
                )
