"""
The contract tests name every method of the store, and no database.

That a method is named does not say that it is held: benchmarks/store_mutations.py shows that. But
it takes a minute, and this notices a new method without a test at once.
"""

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import get_type_hints

from recollect.store.protocol import Store, StoreFile, Tables
from tables import each_row

CONTRACT = Path(__file__).parent / "contract"
INTERFACES = [Store, StoreFile, *get_type_hints(Tables).values()]


@cache
def contract_names() -> frozenset[str]:
    """Return every attribute that a contract test uses, and every module that it imports from."""
    names = set()
    for path in CONTRACT.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(attr=name) | ast.ImportFrom(module=str(name)):
                    names.add(name)
                case ast.Import(names=modules):
                    names.update(module.name for module in modules)
    return frozenset(names)


@each_row("interface", INTERFACES, ids=lambda interface: interface.__name__)
def test_every_method_of_the_store_is_in_its_contract_tests(interface: type) -> None:
    methods = {
        name
        for name, member in inspect.getmembers(interface)
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }

    assert methods
    assert methods - contract_names() == set()


def test_the_contract_tests_know_no_database() -> None:
    imports = {name for name in contract_names() if "apsw" in name or "sqlite" in name}

    assert imports == set()
