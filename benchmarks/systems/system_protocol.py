"""
The protocol of the compared systems. Every call is complete when it returns.

Nothing here loads NumPy or a model, since a new process is timed from its first import.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from benchmarks.generated_sentences import GeneratedSentence, ProjectQuestion

if TYPE_CHECKING:
    from recollect.models.embedder import Embedder


class System(Protocol):
    """A store that was opened in a folder."""

    def add_many(self, sentences: Sequence[GeneratedSentence]) -> None: ...
    def add(self, sentence: GeneratedSentence) -> None: ...
    def finish_indexing(self) -> None:
        """Do what the system puts off when it is given something."""

    def ask(self, question: ProjectQuestion) -> int:
        """Return how many results there were."""

    def close(self) -> None: ...


class SystemOpener(Protocol):
    """Opens a system in a folder, made if it does not exist. No embedder means the default one."""

    def __call__(self, folder: Path, embedder: "Embedder | None") -> System: ...
