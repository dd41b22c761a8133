"""A change is data; its reason is text for people that no code reads."""

import ast
from collections.abc import Iterator
from pathlib import Path

import recollect
from recollect.domain.change import Change, ChangeEffects, ChangeKind
from recollect.domain.memory import Status
from support import START
from tables import each_row

PACKAGE = Path(recollect.__file__).parent
READING = {
    *("startswith", "endswith", "removeprefix", "removesuffix", "split", "partition"),
    *("rpartition", "find", "index", "count", "replace", "casefold", "lower"),
    *("match", "search", "fullmatch", "findall", "finditer", "sub"),
}


def change(kind: str, reason: str = "", **effects: object) -> Change:
    return Change(
        id="c1",
        memory_id="m1",
        kind=ChangeKind(kind),
        before=Status.INBOX,
        after=Status.ACTIVE,
        by="user",
        reason=reason,
        at=START,
        effects=ChangeEffects(**effects),  # type: ignore[arg-type]
    )


@each_row(
    ("made", "words"),
    [
        (change("rejected"), "rejected"),
        (change("rejected", "not true"), "rejected: not true"),
        (change("merged", "it says the same", caused_by="m2"), "merged into m2: it says the same"),
        (change("superseded", caused_by="m2"), "superseded by m2"),
        (change("promoted", "it moved", superseded=("m2",)), "promoted in place of m2: it moved"),
        (change("withdrawn"), "put back into the inbox"),
        (change("held", "it was said once"), "held: it was said once"),
        (change("undone", "rejected", caused_by="m2"), "undone with m2: rejected"),
    ],
)
def test_a_change_is_described_from_its_data(made: Change, words: str) -> None:
    assert made.description == words


def readers_of_reasons() -> Iterator[str]:
    """Yield the lines of the package that compare or take apart the reason of something."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if ".reason" not in text and ".note" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Compare(left=left, comparators=others):
                    read: list[ast.expr] = [left, *others]
                case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments) if (
                    name in READING
                ):
                    read = [value, *arguments]
                case _:
                    continue
            if any(_is_reason(part) for part in read):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}"


def _is_reason(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("reason", "note")


def test_no_code_reads_a_reason() -> None:
    assert list(readers_of_reasons()) == []
