"""
A fake embedder and a fake chat model for tests and examples: fast and deterministic.

The embedder gives each word a fixed direction from its hash; a text is the sum of its words. Texts
that share words are similar, and words that are `synonyms` share a direction. The chat model
returns the answers it was created with.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence

import numpy as np

from recollect.domain.model_profile import REFERENCE_PROFILE, ModelProfile
from recollect.errors import ModelUnavailable
from recollect.models.chat_model import Completion, make_completion
from recollect.models.embedder import Vectors, unit

_WORD = re.compile(r"\w+")


class ScriptedEmbedder:
    """Embeds bags of hashed words. Records the texts it embeds in `texts`."""

    profile: ModelProfile | None = REFERENCE_PROFILE  # not measured

    def __init__(
        self,
        *,
        dimension: int = 64,
        name: str = "scripted",
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        self.dimension = dimension
        self.name = name
        self._synonyms = dict(synonyms or {})
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        self.texts.extend(texts)
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                rows[row] += self._direction(self._synonyms.get(word, word))
        return unit(rows)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        first: Vectors = self.embed([text])[0]
        return first

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)


class ScriptedChatModel:
    """Returns its answers one after the other. Records the prompts in `prompts`."""

    def __init__(self, answers: Sequence[str | Exception], *, name: str = "scripted") -> None:
        self._answers = list(answers)
        self.name = name
        self.prompts: list[str] = []

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        """Return the next answer, or raise it if it is an exception."""
        self.prompts.append(prompt)
        if len(self.prompts) > len(self._answers):
            raise ModelUnavailable(
                f"the scripted chat model has {len(self._answers)} answers and was asked"
                f" {len(self.prompts)} times; script more"
            )
        answer = self._answers[len(self.prompts) - 1]
        if isinstance(answer, Exception):
            raise answer
        return make_completion(answer, system=system, prompt=prompt)
