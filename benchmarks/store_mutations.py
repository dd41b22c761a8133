"""
Gut every method of the store in turn, and check that its contract tests notice.

The tests of tests/store/contract run once, and it is recorded which of them call which method. Then
each public method of each repository, index and store is replaced by one that does nothing and
returns an empty value of its type, and the tests that called it run until one fails. A method that
no test calls, or whose tests all pass without it, is reported, and so is a statement that no test
runs: a statement of another database would not be held to anything. Then the exit code is 1.
For another database than SQLite the methods that both share are called, but not replaced again.

`python -m benchmarks.store_mutations [--backend postgres] [NAME ...]`: only methods whose name
contains one of NAME.
"""

import argparse
import ast
import gc
import inspect
import sys
import tempfile
import textwrap
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from _pytest.runner import runtestprotocol

from recollect.clock import SystemClock
from recollect.store.database_connection import DatabaseConnection
from recollect.store.protocol import Store, StoreFile, Tables

ROOT = Path(__file__).parent.parent
CONTRACT = ROOT / "tests" / "store" / "contract"
QUERIES = ROOT / "src" / "recollect" / "store" / "sqlite" / "queries"  # those of others are equal
TIMEOUT_S = 20  # a test may wait for what a gutted method never does
EMPTY: Mapping[Any, Callable[[], list[Any]]] = {
    bool: lambda: [False, True],
    int: lambda: [0],
    float: lambda: [0.0],
    str: lambda: ["", "?"],
    list: lambda: [[]],
    set: lambda: [set()],
}


@dataclass(frozen=True)
class Target:
    """A public method or property of a class of the store."""

    owner: type
    name: str
    signature: Any  # the documented function or property, whose annotation says what is empty

    def __str__(self) -> str:
        return f"{self.owner.__name__}.{self.name}"

    def belongs_to(self, backend: str) -> bool:
        """Return whether its class is of one database; the others are shared by all."""
        return self.owner.__module__.startswith(f"recollect.store.{backend}.")

    def mutants(self) -> Iterator[Any]:
        """Yield what replaces it: an attribute of the class for each empty value."""
        signature = self.signature.fget if isinstance(self.signature, property) else self.signature
        hints = get_type_hints(signature, localns={"Array": Any})  # NumPy's, for type checkers only
        for value in _empty_values(hints.get("return")):
            if self._always_returns(value):
                continue  # as it should in this database: it would be the same method
            function = _returning(value)
            yield property(function) if isinstance(self.signature, property) else function

    def _always_returns(self, value: Any) -> bool:
        """Return whether the method has no other content than to return *value*."""
        member = inspect.getattr_static(self.owner, self.name)
        function: Any = member.fget if isinstance(member, property) else member
        tree: Any = ast.parse(textwrap.dedent(inspect.getsource(function)))
        statements = [node for node in tree.body[0].body if not _is_docstring(node)]
        match statements:
            case [ast.Pass()] | [ast.Return(None)]:
                return value is None
            case [ast.Return(ast.Constant(constant))]:
                return bool(constant == value)
        return False


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _returning(value: Any) -> Callable[..., Any]:
    return lambda *arguments, **options: value


def _empty_values(hint: Any) -> list[Any]:
    """Return the values of a type that a method without effect could return."""
    origin = get_origin(hint) or hint
    if origin is tuple:
        options = [_empty_values(part)[0] for part in get_args(hint)]
        return [tuple(options)]
    if inspect.isclass(origin) and origin.__module__ == "contextlib":
        return [nullcontext()]
    if origin is Mapping:
        return [{}]
    if getattr(origin, "__name__", "") == "Iterator":
        return [()]
    return EMPTY[origin]() if origin in EMPTY else [None]


def targets(store: Store) -> list[Target]:
    """Return every method that the contract has, on the classes that *store* is made of."""
    documented: list[tuple[type, type]] = [(type(store), Store)]
    if store.file is not None:
        documented.append((type(store.file), StoreFile))
    hints = get_type_hints(Tables)
    with store.read() as tables:
        documented += [(type(getattr(tables, f.name)), hints[f.name]) for f in fields(Tables)]
    return [
        Target(owner, name, member)
        for owner, interface in documented
        for name, member in inspect.getmembers(interface)
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    ]


@contextmanager
def replacing(target: Target, replacement: Any) -> Iterator[None]:
    """Replace a method inside the block."""
    original = inspect.getattr_static(target.owner, target.name)
    setattr(target.owner, target.name, replacement)
    try:
        yield
    finally:
        setattr(target.owner, target.name, original)


@contextmanager
def recording_statements(
    connection: type[DatabaseConnection], statements: set[str]
) -> Iterator[None]:
    """Add the statements that a connection runs inside the block to a set, by `file.name`."""
    with pytest.MonkeyPatch.context() as patch:
        for method in ("execute", "execute_counted", "fetch_all", "stream"):
            original = getattr(connection, method)

            def run(self: Any, statement: str, *arguments: Any, _original: Any = original) -> Any:
                statements.add(statement)
                return _original(self, statement, *arguments)

            patch.setattr(connection, method, run)
        yield


class MutationRun:
    """A pytest plugin that runs the collected tests once, and then for each mutant."""

    def __init__(
        self,
        targets: Sequence[Target],
        connection: type[DatabaseConnection],
        names: Sequence[str],
        backend: str,
    ) -> None:
        self.targets = [
            target for target in targets if not names or any(name in str(target) for name in names)
        ]
        self.replaced = [
            target for target in self.targets if backend == "sqlite" or target.belongs_to(backend)
        ]
        self._connection = connection
        self.survivors: list[str] = []
        self.failures: list[str] = []
        self.statements: set[str] = set()
        self._callers: dict[Target, set[pytest.Item]] = defaultdict(set)
        self._seconds: dict[pytest.Item, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run everything here instead of pytest's own loop."""
        with recording_statements(self._connection, self.statements):
            self._record_callers(session.items)
        for target in self.targets:
            if not self._callers[target]:
                self.survivors.append(f"{target} is not called")
        for target in self.replaced:
            for number, mutant in enumerate(target.mutants()):
                with replacing(target, mutant):
                    if self._callers[target] and not self._is_caught(target):
                        self.survivors.append(f"{target} (mutant {number})")
        return True

    def _record_callers(self, items: Sequence[pytest.Item]) -> None:
        running: list[pytest.Item] = []
        originals = [inspect.getattr_static(t.owner, t.name) for t in self.targets]
        for target, original in zip(self.targets, originals, strict=True):
            setattr(target.owner, target.name, self._recorder(target, original, running))
        for item in items:
            running[:] = [item]
            start = time.monotonic()
            if not self._passes(item):
                self.failures.append(item.nodeid)
            self._seconds[item] = time.monotonic() - start
        for target, original in zip(self.targets, originals, strict=True):
            setattr(target.owner, target.name, original)

    def _recorder(self, target: Target, original: Any, running: list[pytest.Item]) -> Any:
        is_property = isinstance(original, property)
        function: Any = original.fget if is_property else original

        @wraps(function)
        def record(*arguments: Any, **options: Any) -> Any:
            self._callers[target].update(running)
            return function(*arguments, **options)

        return property(record) if is_property else record

    def _is_caught(self, target: Target) -> bool:
        callers = sorted(self._callers[target], key=self._seconds.__getitem__)
        caught = any(not self._passes(item) for item in callers)
        gc.collect()  # what a failed test left open must not fail the next one
        return caught

    def _passes(self, item: pytest.Item) -> bool:
        item._initrequest()  # type: ignore[attr-defined]  # fixtures are made anew
        session: Any = item.session  # what comes next shares the session with it, and no more
        reports = runtestprotocol(item, log=False, nextitem=session)
        return not any(report.failed for report in reports)


def run(backend: str, names: Sequence[str] = ()) -> MutationRun:
    """Run the contract tests of every mutant in one database; *names* select methods."""
    sys.path[:0] = [str(ROOT / "tests")]
    from dialect_statements import read_file  # of the tests, which are not installed
    from store_backends import BACKENDS

    with tempfile.TemporaryDirectory() as folder:
        store = BACKENDS[backend](Path(folder), SystemClock())
        all_targets = list(dict.fromkeys(targets(store)))
        with store.read() as tables:
            connection = type(tables.jobs._connection)
        store.close()
    plugin = MutationRun(all_targets, connection, names, backend)
    tier = ["-m", backend] if backend != "sqlite" else []
    options = ["-q", "-n0", "-p", "no:randomly", f"--timeout={TIMEOUT_S}", *tier]
    exit_code = pytest.main([*options, "--rootdir", str(ROOT), str(CONTRACT)], plugins=[plugin])
    if exit_code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest ended with {exit_code!r}")
    for file in sorted({name.partition(".")[0] for name in plugin.statements}) if not names else ():
        unused = read_file(QUERIES / f"{file}.sql").keys() - plugin.statements
        plugin.survivors += [f"{name} is not run" for name in sorted(unused)]
    return plugin


def main() -> int:
    """Print what survived; return the exit code."""
    start = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("names", nargs="*", help="only methods whose name contains one of these")
    arguments = parser.parse_args()
    result = run(arguments.backend, arguments.names)
    for line in [f"fails: {name}" for name in result.failures] + result.survivors:
        print(line)
    names = {line.split(" ")[0] for line in result.survivors}
    caught = sum(str(target) not in names for target in result.replaced)
    seconds = time.monotonic() - start
    print(
        f"{caught} of {len(result.replaced)} methods caught, {len(result.targets)} called, "
        f"{len(result.statements)} statements run, in {seconds:.0f} s"
    )
    return 1 if result.survivors or result.failures or not result.replaced else 0


if __name__ == "__main__":
    sys.exit(main())
