"""
Draw the lifecycle of a memory as Mermaid text, from the table in domain/lifecycle.py.

`python scripts/draw_lifecycle.py` writes it into docs/how-it-works/learning-pipeline.md, between
the lines of its code block. tests/test_docs.py compares both.
"""

import re
from collections import defaultdict
from pathlib import Path

from recollect.domain.change import ChangeKind
from recollect.domain.lifecycle import MOVES
from recollect.domain.memory import Status

CREATED = (Status.STATED, Status.INBOX, Status.ACTIVE)
PAGE = Path(__file__).parent.parent / "docs" / "how-it-works" / "learning-pipeline.md"
DRAWING = re.compile(r"(?<=```mermaid\n)stateDiagram-v2\n.*?(?=```)", re.DOTALL)


def drawing() -> str:
    """Return the table as a state diagram; `undo` reverses each arrow and is not drawn."""
    kinds: dict[tuple[Status, Status], list[str]] = defaultdict(list)
    for kind, moves in MOVES.items():
        if kind is not ChangeKind.UNDONE:
            for move in moves:
                kinds[move].append(kind.value)
    arrows = [
        f"    {before} --> {after}: {', '.join(sorted(names))}"
        for (before, after), names in sorted(kinds.items(), key=lambda item: _order(item[0]))
    ]
    created = [f"    [*] --> {status}: created" for status in CREATED]
    return "\n".join(["stateDiagram-v2", *created, *arrows, ""])


def _order(move: tuple[Status, Status]) -> tuple[int, int]:
    statuses = list(Status)
    return statuses.index(move[0]), statuses.index(move[1])


def main() -> None:
    """Replace the drawing in the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(DRAWING.sub(drawing(), page), encoding="utf-8")


if __name__ == "__main__":
    main()
