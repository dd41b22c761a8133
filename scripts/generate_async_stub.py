"""
Write src/recollect/client/async_recollect.pyi: the signatures of the asynchronous API.

They are those of `Recollect`, its nouns and the tools of an agent, read from the source, with
`async`. Run this after a change of a verb; a test compares the file with a fresh generation.
"""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
API = ROOT / "src" / "recollect" / "api"
STUB = ROOT / "src" / "recollect" / "client" / "async_recollect.pyi"
TOOLS = "AgentTools"  # what a verb returns to be called
TOOL_NAMES = ["    NAMES: ClassVar[tuple[str, ...]]"]
HEAD = '''"""
The signatures of the asynchronous API.

Written by scripts/generate_async_stub.py; do not edit.
"""

import builtins
'''


class _Builtins(ast.NodeTransformer):
    """Nouns have a verb `list`, which hides the type of that name in their classes."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != "list":
            return node
        return ast.parse("builtins.list", mode="eval").body


def generate_stub() -> str:
    """Return the text of the stub."""
    main = ast.parse((API / "recollect.py").read_text(encoding="utf-8"))
    [recollect] = [node for node in main.body if isinstance(node, ast.ClassDef)]
    nouns = [n for n in recollect.body if isinstance(n, ast.FunctionDef) and _is_noun(n)]
    imports = set(_imports(main))
    classes = []
    groups: list[tuple[str, str, list[str]]] = [
        (noun.name, _return_name(noun), []) for noun in nouns
    ]
    for file, name, extra in [*groups, ("agent_tools", TOOLS, TOOL_NAMES)]:
        module = ast.parse((API / f"{file}.py").read_text(encoding="utf-8"))
        [owner] = [n for n in module.body if isinstance(n, ast.ClassDef) and n.name == name]
        imports |= set(_imports(module))
        classes.append(_class(f"Async{name}", owner, extra))
    properties = [
        f"    @property\n    def {noun.name}(self) -> Async{_return_name(noun)}: ..."
        for noun in nouns
    ]
    body = "\n\n".join([*classes, _recollect_class(recollect, properties)])
    names = _names(body)
    used = {line for line in imports if _imported_name(line) in names}
    return HEAD + "\n".join(sorted(used)) + "\n\n" + body + "\n"


def _recollect_class(recollect: ast.ClassDef, properties: list[str]) -> str:
    extra = [
        "    def __init__(self, open_memory: Callable[[], Recollect]) -> None: ...",
        "    async def __aenter__(self) -> Self: ...",
        "    async def __aexit__(self, *_: object) -> None: ...",
        *properties,
    ]
    return _class("AsyncRecollect", recollect, extra)


def _class(name: str, owner: ast.ClassDef, extra: list[str]) -> str:
    doc = (ast.get_docstring(owner) or "").split("\n")[0]
    lines = [f"class {name}:", f'    """{doc}"""', "", *extra]
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            if _is_noun(node):
                continue
            lines.append(_verb(node))
    return "\n".join(lines)


def _verb(node: ast.FunctionDef) -> str:
    doc = (ast.get_docstring(node) or "").split("\n")[0]
    arguments = ast.unparse(_Builtins().visit(node.args))
    returned = ast.unparse(_Builtins().visit(node.returns)) if node.returns else "None"
    if returned == TOOLS:
        returned = f"Async{TOOLS}"
    if returned.startswith("Iterator["):
        return f'    def {node.name}({arguments}) -> Async{returned}:\n        """{doc}"""\n'
    return f'    async def {node.name}({arguments}) -> {returned}:\n        """{doc}"""\n'


def _is_noun(node: ast.FunctionDef) -> bool:
    return any(
        isinstance(mark, ast.Name) and mark.id == "cached_property" for mark in node.decorator_list
    )


def _return_name(node: ast.FunctionDef) -> str:
    assert isinstance(node.returns, ast.Constant)
    return str(node.returns.value)


def _imports(module: ast.Module) -> Iterator[str]:
    yield "from collections.abc import AsyncIterator"
    yield "from collections.abc import Callable"
    yield "from typing import Self"
    yield "from recollect.api.recollect import Recollect"
    for node in module.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
                yield f"from {node.module} import {name}"


def _imported_name(line: str) -> str:
    return line.split()[-1]


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def main() -> None:
    """Write the stub if it has changed."""
    text = formatted(generate_stub())
    if not STUB.exists() or STUB.read_text(encoding="utf-8") != text:
        STUB.write_text(text, encoding="utf-8")
        print(f"wrote {STUB.relative_to(ROOT)}")


def formatted(text: str) -> str:
    """Return *text* as the formatter of this project writes it."""
    for command in (["check", "--fix", "--select", "I,F401"], ["format"]):
        arguments = ["ruff", *command, "-q", "--stdin-filename", str(STUB), "-"]
        run = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True)
        text = run.stdout
    return text


if __name__ == "__main__":
    main()
