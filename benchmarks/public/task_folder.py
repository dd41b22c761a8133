"""
Write a task as `benchmarks.tasks` reads it, row by row.

The same rows give the same bytes. Knows the format of a task, not where its rows come from.
"""

import gzip
import json
from collections.abc import Mapping
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.tasks import ITEMS, QUERIES

LEVEL = 4  # a third larger than the best, several times as fast


class TaskFolder:
    """A task that is being written. Use it in a `with`; `items` and `queries` count the rows."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder / name
        self._open = ExitStack()
        self.name = name
        self.items = 0
        self.queries = 0

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._items = self._lines(ITEMS)
        self._queries = self._lines(QUERIES)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()
        if error is not None:  # half a task would be measured as if it were whole
            for name in (ITEMS, QUERIES):
                (self._folder / name).unlink(missing_ok=True)

    def item(
        self, id: str, text: str, *, scope: str, session: str, speaker: str = "", at: str = ""
    ) -> None:
        """Add one thing to remember."""
        row = {"id": id, "text": text, "scope": scope, "session": session, "speaker": speaker}
        _write(self._items, row | {"at": at})
        self.items += 1

    def query(
        self, id: str, text: str, *, scope: str, gold: list[str], category: str, asked_at: str = ""
    ) -> None:
        """Add one question; without gold there is nothing to score, and it is left out."""
        if not gold:
            return
        row = {"id": id, "text": text, "scope": scope, "gold": gold, "category": category}
        _write(self._queries, row | {"asked_at": asked_at})
        self.queries += 1

    def _lines(self, name: str) -> TextIOWrapper:
        file = self._open.enter_context((self._folder / name).open("wb"))
        # Without its name and time, so that equal rows are equal files.
        packed = gzip.GzipFile("", "wb", LEVEL, file, mtime=0)
        return self._open.enter_context(TextIOWrapper(packed, encoding="utf-8", newline="\n"))


def _write(lines: TextIOWrapper, row: Mapping[str, Any]) -> None:
    lines.write(json.dumps(row, ensure_ascii=False) + "\n")
