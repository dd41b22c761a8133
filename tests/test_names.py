"""
Names that a reader can guess: each class name exists once, and generic names do not come back.

A variable called `found` or `one` does not say what it holds. A package without an entry in a table
of limits has no such name; the limits of the others may only fall.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMED_TREES = ("src", "benchmarks")
TREES = (*NAMED_TREES, "tests")

METAPHORS = (
    "Answering Asked Asking Bar Cast Casting Desk Found Given Held Rival Said Shelf Standing Talk"
    " Told Twins Waiting Way Wish"
)
GENERIC = (
    "asked found given gone held kept known made meant one said shown taken talk talks told wanted"
)
BANNED_CLASSES = frozenset(METAPHORS.split())
BANNED_VARIABLES = frozenset(GENERIC.split())
BANNED_FUNCTIONS = BANNED_VARIABLES | {"checked", "named", "settled"}

CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
# The types of nodes that can define a name (see `_definition`), and of those that hold no other.
FUNCTIONS = {ast.FunctionDef, ast.AsyncFunctionDef}
DEFINING = FUNCTIONS | {ast.Name, ast.arg, ast.MatchAs, ast.MatchStar}
LEAVES = {ast.Load, ast.Store, ast.Del, ast.Constant, str, int}

FUNCTION_LIMITS: Mapping[str, int] = {}
VARIABLE_LIMITS: Mapping[str, int] = {}


class NamedNode(NamedTuple):
    """A node of the code that defines a name."""

    package: str
    place: str
    kind: str  # class, function or variable
    name: str

    def __str__(self) -> str:
        return f"{self.place}: {self.kind} {self.name}"


def test_every_class_name_exists_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for node in named_classes():
        places[node.name].append(node.place)

    repeated = [f"{name}: {', '.join(at)}" for name, at in places.items() if len(at) > 1]

    assert not repeated, "class names that exist more than once:\n" + "\n".join(repeated)


def test_no_class_has_a_banned_name() -> None:
    check_limits({}, [node for node in named_classes() if node.name.strip("_") in BANNED_CLASSES])


def test_functions_are_not_named_by_a_bare_participle() -> None:
    check_limits(FUNCTION_LIMITS, _offenders("function", BANNED_FUNCTIONS))


def test_variables_and_parameters_say_what_they_hold() -> None:
    check_limits(VARIABLE_LIMITS, _offenders("variable", BANNED_VARIABLES))


def check_limits(limits: Mapping[str, int], offenders: Sequence[NamedNode]) -> None:
    """Fail if a package has more offenders than its limit, or fewer: then the limit must fall."""
    counts = Counter(node.package for node in offenders)
    above = [str(node) for node in offenders if counts[node.package] > limits.get(node.package, 0)]
    if above:
        pytest.fail("generic names; give the thing its name:\n" + "\n".join(above))
    below = {name: counts[name] for name, limit in limits.items() if counts[name] < limit}
    assert not below, f"fewer generic names than the limits in {__name__}; lower them: {below}"


def _offenders(kind: str, banned: frozenset[str]) -> list[NamedNode]:
    """Return the names of *kind* in the shipped code and the benchmarks that are banned."""
    return [node for node in named_nodes() if node.kind == kind and node.name.strip("_") in banned]


def _sources(trees: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each file of *trees*."""
    for path in (path for tree in trees for path in sorted((ROOT / tree).rglob("*.py"))):
        yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


@cache
def named_classes() -> Sequence[NamedNode]:
    """Return every class."""
    return [
        NamedNode(_package(path), f"{path}:{_line(text, match)}", "class", match[1])
        for path, text in _sources(TREES)
        for match in CLASS.finditer(text)
    ]


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start(1)) + 1


@cache
def named_nodes() -> Sequence[NamedNode]:
    """
    Return functions, variables and parameters of the files that may define a banned name.

    Those are the files whose compiled code has one: most are compiled already, and few are parsed.
    Fields of classes are left out.
    """
    nodes = []
    banned = BANNED_VARIABLES | BANNED_FUNCTIONS
    for path, text in _sources(NAMED_TREES):
        if banned.isdisjoint(name.strip("_") for name in _names_in(_code_of(path))):
            continue
        package = _package(path)
        for node in _walk(ast.parse(text)):
            if kind_and_name := _definition(node):
                place = f"{path}:{getattr(node, 'lineno', 0)}"
                nodes.append(NamedNode(package, place, *kind_and_name))
    return nodes


def _code_of(path: Path) -> CodeType:
    loader = SourceFileLoader(path.stem, str(ROOT / path))
    code = loader.get_code(path.stem)
    assert code is not None
    return code


def _names_in(code: CodeType) -> Iterator[str]:
    """Yield every name that *code* and the functions in it set or read."""
    yield from (code.co_name, *code.co_names, *code.co_varnames, *code.co_cellvars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _walk(module: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that can define a name. Faster than `ast.walk`: there are a million nodes."""
    pending: list[ast.AST] = [module]
    fields: set[int] = set()
    while pending:
        node = pending.pop()
        if type(node) is ast.ClassDef:
            fields |= {id(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
        if type(node) in DEFINING and id(node) not in fields:
            yield node
        for child in vars(node).values():
            if type(child) is list:
                pending += [part for part in child if isinstance(part, ast.AST)]
            elif type(child) not in LEAVES and isinstance(child, ast.AST):
                pending.append(child)


def _definition(node: ast.AST) -> tuple[str, str] | None:
    """Return the kind and the name that *node* defines, if it defines one."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return "function", name
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return "variable", name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return "variable", name
    return None


def _package(path: Path) -> str:
    """Return `service/imports` for src/recollect/service/imports/codex.py, else the tree."""
    if path.parts[0] != "src":
        return path.parts[0]
    return "/".join(path.parts[2:-1]) or "recollect"
