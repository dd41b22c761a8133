"""
An embedder and a chat model for tests and examples: fast, deterministic, no model.

The embedder gives each word a fixed direction from its hash; a text is the sum of its words. Texts
that share words are near, and `synonyms` makes words that mean the same share a direction. The chat
model gives the answers it was made with.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence

import numpy as np

from recollect.errors import ModelUnavailable
from recollect.models.chat import Completion, completion
from recollect.models.protocol import Vectors, unit

_WORD = re.compile(r"\w+")


class ScriptedEmbedder:
    """Bags of hashed words. Keeps the texts it was given in `asked`."""

    def __init__(
        self,
        *,
        dimension: int = 64,
        name: str = "scripted",
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        self._dimension = dimension
        self._name = name
        self._synonyms = dict(synonyms or {})
        self.asked: list[str] = []

    @property
    def name(self) -> str:
        """Whatever it was called."""
        return self._name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        self.asked.extend(texts)
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                rows[row] += self._direction(self._synonyms.get(word, word))
        return unit(rows)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question."""
        first: Vectors = self.embed([text])[0]
        return first

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self._dimension).astype(np.float32)


class ScriptedChatModel:
    """Gives its answers one after the other. Keeps the prompts it was given in `asked`."""

    def __init__(self, answers: Sequence[str | Exception], *, name: str = "scripted") -> None:
        self._answers = list(answers)
        self._name = name
        self.asked: list[str] = []

    @property
    def name(self) -> str:
        """Whatever it was called."""
        return self._name

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        """Return the next answer, or raise it where it is an exception."""
        self.asked.append(prompt)
        if len(self.asked) > len(self._answers):
            raise ModelUnavailable(
                f"the scripted chat model has {len(self._answers)} answers and was asked"
                f" {len(self.asked)} times; script more"
            )
        answer = self._answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return completion(answer, system=system, prompt=prompt)
