"""
Model folders for tests: real ONNX models that need no download.

One has four operations and two dimensions, written out byte by byte, so that its vectors can be
worked out by hand. The other is the installed model under another name: it knows what texts mean.
"""

import json
from functools import cache
from pathlib import Path

from recollect.models.packaged_models import default_manifest
from reference_tokenizer import reference_tokenizer


def field(number: int, value: int | str | bytes) -> bytes:
    """Return one field of a protocol buffer. Numbers are below 128 here."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else value
    size = len(data)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + data


def node(operation: str, given: list[str], result: str, *attributes: bytes) -> bytes:
    inputs = b"".join(field(1, name) for name in given)
    return field(
        1,
        inputs + field(2, result) + field(4, operation) + b"".join(field(5, a) for a in attributes),
    )


def number(name: str, value: int) -> bytes:
    return field(1, name) + field(3, value) + bytes([20 << 3 & 127 | 128, 1, 2])


def numbers(name: str, value: int) -> bytes:
    return field(1, name) + field(8, value) + bytes([20 << 3 & 127 | 128, 1, 7])


def matrix(name: str, element: int) -> bytes:
    shape = field(1, field(2, "rows")) + field(1, field(2, f"{name} columns"))
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def tiny_model() -> bytes:
    """Return an ONNX model that takes only `input_ids` and answers their maximum and their sum."""
    graph = (
        node("Cast", ["input_ids"], "floats", number("to", 1))
        + node("ReduceMax", ["floats"], "most", numbers("axes", 1), number("keepdims", 1))
        + node("ReduceSum", ["floats"], "sum", numbers("axes", 1), number("keepdims", 1))
        + node("Concat", ["most", "sum"], "vectors", number("axis", 1))
        + field(2, "tiny")
        + field(11, matrix("input_ids", 7))
        + field(12, matrix("vectors", 1))
    )
    return field(1, 7) + field(8, field(2, 11)) + field(7, graph)


def write_folder(folder: Path, model: bytes, tokenizer: str, manifest: object) -> Path:
    """Make *folder* a model folder."""
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


@cache
def tokenizer_json() -> str:
    """Return the default model's tokenizer, as any model ships its own."""
    return reference_tokenizer().to_str()


def tiny_folder(folder: Path, **manifest: object) -> Path:
    """Make *folder* a model of two dimensions, which no question of 384 can be compared with."""
    written = {"name": folder.name, "dimension": 2, **manifest}
    return write_folder(folder, tiny_model(), tokenizer_json(), written)


def second_folder(folder: Path) -> Path:
    """Make *folder* a model that knows what texts mean, and is another one than the default."""
    model = Path(default_manifest().model).read_bytes()
    manifest = {"name": folder.name, "dimension": 384, "max_tokens": 128}
    return write_folder(folder, model, tokenizer_json(), manifest)
