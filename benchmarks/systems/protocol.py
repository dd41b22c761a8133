"""
What the speed run asks of a system. Every call is complete when it returns.

Nothing here loads NumPy or a model: a fresh process is timed from its first import on.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from benchmarks.sentences import Question, Sentence

if TYPE_CHECKING:
    from recollect.models.embedder import Embedder


class System(Protocol):
    """A store that was opened in a folder."""

    def add_many(self, sentences: Sequence[Sentence]) -> None: ...
    def add(self, sentence: Sentence) -> None: ...
    def settle(self) -> None:
        """Do what the system puts off when it is given something."""

    def ask(self, question: Question) -> int:
        """Return how many results there were."""

    def close(self) -> None: ...


class Opens(Protocol):
    """Opens a system in a folder, made if it does not exist. No embedder means the default one."""

    def __call__(self, folder: Path, embedder: "Embedder | None") -> System: ...
