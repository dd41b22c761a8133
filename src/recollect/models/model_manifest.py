"""
The manifest of a local embedding model: its files, pooling and prefixes.

Any folder with an ONNX model, a `tokenizer.json` and a `manifest.json` is an embedder:

    {"name": "arctic-embed-s", "dimension": 384, "pooling": "cls",
     "query_prefix": "Represent this sentence for searching relevant passages: "}

The models that need no folder are in packaged_models.py.
"""

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.text.language_data import ENGLISH

POOLINGS = ("mean", "cls")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """How to run one ONNX embedding model."""

    name: str
    dimension: int
    model: str = "model.onnx"
    tokenizer: str = "tokenizer.json"
    pooling: str = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 256
    language: str = ""  # of the texts that the model understands, if it is only one
    sha256: str = ""

    def __post_init__(self) -> None:
        if self.pooling not in POOLINGS:
            raise InvalidInput(f"pooling {self.pooling!r} is not one of {', '.join(POOLINGS)}")
        if self.language not in ("", ENGLISH):
            raise InvalidInput(f"language {self.language!r} is not {ENGLISH!r}, or empty for any")
        if self.dimension < 1 or self.max_tokens < 8 or not self.name:
            raise InvalidInput("a manifest needs a name, a dimension, and max_tokens of 8 or more")

    @property
    def identity(self) -> str:
        """One name for everything that makes vectors comparable."""
        prefixes = (self.query_prefix, self.document_prefix)
        shape = [self.pooling, *prefixes, self.max_tokens, self.sha256]
        if self.language:
            shape.append(self.language)
        digest = hashlib.sha256(json.dumps(shape).encode()).hexdigest()[:8]
        return f"{self.name}/{self.dimension}/{digest}"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the model in *folder*, with absolute file names."""
    path = folder / "manifest.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInput(
            f"{path} does not exist; an embedding model folder needs one, for example "
            '{"name": "my-model", "dimension": 384, "pooling": "mean"}'
        ) from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    return _validate_manifest(values, folder, path)


def _validate_manifest(values: Any, folder: Path, path: Path) -> Manifest:
    types = {field.name: int if field.type is int else str for field in fields(Manifest)}
    if not isinstance(values, dict) or values.keys() - types.keys():
        raise InvalidInput(f"{path} must be an object with only {', '.join(types)}")
    for name, value in values.items():
        if type(value) is not types[name]:  # not isinstance: true is not a dimension
            raise InvalidInput(f"{name!r} in {path} must be a {types[name].__name__}")
    try:
        manifest = Manifest(**values)
    except TypeError as error:
        raise InvalidInput(f"{path} is incomplete: {error}") from error
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
    for name in ("model", "tokenizer"):
        file = (folder / getattr(manifest, name)).resolve()
        if not file.is_file():
            raise InvalidInput(f"{path} names a {name} that does not exist: {file}")
        values[name] = str(file)
    return Manifest(**values)
