"""
Embedding models of tests, loaded once per process: a model with the same bytes is the same model.

Loading the default model takes 0.2 s, and a hundred tests open a memory that embeds with it. Every
memory still finds, verifies and configures its model. A file that cannot be loaded is tried again.
Tests of memory use and of start-up time load models in a process of their own.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect.models import local_embedder
from recollect.models.model_manifest import Manifest
from recollect.models.tokenizer import load_tokenizer


@contextmanager
def loaded_models() -> Iterator[None]:
    """Load no model twice inside the block."""
    create_session = local_embedder._create_session
    loaded: dict[object, Any] = {}

    def load_once(path: Path, load: Callable[[], Any], *options: object) -> Any:
        if not path.is_file():
            return load()
        key = (hashlib.sha256(path.read_bytes()).digest(), path.suffix, *options)
        if key not in loaded:
            loaded[key] = load()
        return loaded[key]

    def session_of(path: Path) -> Any:
        return load_once(path, lambda: create_session(path))

    def tokenizer_of(manifest: Manifest) -> Any:
        path = Path(manifest.tokenizer)
        return load_once(path, lambda: load_tokenizer(manifest), manifest.max_tokens)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_embedder, "_create_session", session_of)
        patch.setattr(local_embedder, "load_tokenizer", tokenizer_of)
        yield
