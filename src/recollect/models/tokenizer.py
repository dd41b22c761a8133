"""
Load the tokenizer of an embedding model.

BERT's WordPiece, which the default model and most small English models have, is read here. For any
other `tokenizer.json` the package `tokenizers` is needed, an optional dependency.
"""

from pathlib import Path
from typing import Protocol

from recollect.errors import EmbedderUnavailable
from recollect.models.model_manifest import Manifest
from recollect.models.wordpiece_tokenizer import (
    WordPieceTokenizer,
    read_tokenizer_json,
    read_vocabulary,
)


class Tokenizer(Protocol):
    """Turns a text into the numbers a model reads."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of the beginning of *text*, as many as the model reads."""


def load_tokenizer(manifest: Manifest) -> Tokenizer:
    """Return the tokenizer of a model; raise `EmbedderUnavailable` if it cannot be read."""
    path = Path(manifest.tokenizer)
    try:
        rules = read_vocabulary(path) if path.suffix == ".txt" else read_tokenizer_json(path)
        if rules is not None:
            return WordPieceTokenizer(rules, manifest.max_tokens)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise _unreadable(path, error) from error
    return _PackageTokenizer(path, manifest.max_tokens)


class _PackageTokenizer:
    """A tokenizer of another kind, run by the package `tokenizers`."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        try:
            # Optional: few models need it.
            import tokenizers
        except ImportError as error:
            raise EmbedderUnavailable(
                f"the tokenizer {path} is not BERT's WordPiece and needs a package that is not "
                "installed; run: pip install '.[tokenizers]' (in the checkout of Recollect)"
            ) from error
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises no narrower type
            raise _unreadable(path, error) from error
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()

    def encode(self, text: str) -> list[int]:
        """Return the ids of the beginning of *text*."""
        return self._tokenizer.encode(text).ids


def _unreadable(path: Path, error: Exception) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"the tokenizer {path} cannot be loaded ({error!r}); install the model again"
    )
