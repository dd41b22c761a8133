"""A model computes only the rows of its quantised table that a text needs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_folders import field, node, number, tiny_model
from recollect.models.onnx_runtime import load_onnxruntime
from recollect.models.packaged_models import default_manifest
from recollect.models.quantised_table import MIN_ROWS, move_lookup_before_dequantisation

ROWS, COLUMNS = MIN_ROWS, 3


def sized(number: int, data: bytes) -> bytes:
    """Return a field of any size."""
    size, length = len(data), bytearray()
    while size >= 128:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + data


def tensor(name: str, values: Any, *, kind: int, external: bytes = b"") -> bytes:
    shape = b"".join(sized_number(1, size) for size in values.shape)
    body = shape + field(2, kind) + field(8, name) + sized(9, values.tobytes()) + external
    return sized(5, body)


def sized_number(number: int, value: int) -> bytes:
    return bytes([number << 3, value & 127 | 128, value >> 7])


WEIGHTS = (np.arange(ROWS * COLUMNS) % 251 - 125).astype(np.int8).reshape(ROWS, COLUMNS)
SCALE = (np.arange(1, ROWS + 1) / 977).astype(np.float32).reshape(ROWS, 1)


def table_model(*more: bytes, scale: Any = SCALE, axis: int = 0, external: bytes = b"") -> bytes:
    """Return a model that looks up rows of a quantised table, with *more* fields of its graph."""
    graph = (
        node("Cast", ["q"], "f", number("to", 1))
        + node("Mul", ["f", "s"], "table")
        + node("Gather", ["table", "ids"], "rows", number("axis", axis))
        + b"".join(more)
        + field(2, "lookup")
        + tensor("q", WEIGHTS, kind=3, external=external)
        + tensor("s", scale, kind=1)
        + field(11, value_of("ids", 7))
        + field(12, value_of("rows", 1))
    )
    return field(1, 7) + field(8, field(2, 13)) + sized(7, graph)


def value_of(name: str, element: int) -> bytes:
    return field(1, name) + field(2, field(1, field(1, element)))


def run(model: bytes, **inputs: Any) -> bytes:
    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = {item.name for item in session.get_inputs()}
    used = {name: value for name, value in inputs.items() if name in names}
    result: bytes = session.run(None, used)[0].tobytes()
    return result


def test_a_table_that_is_looked_up_gives_the_same_bytes() -> None:
    model = table_model()
    rewritten = move_lookup_before_dequantisation(model)
    ids = np.array([[0, ROWS - 1, 77], [1, 1, 4_000]], dtype=np.int64)

    assert rewritten is not None
    assert run(rewritten, ids=ids) == run(model, ids=ids)
    assert run(rewritten, ids=ids) == (WEIGHTS.astype(np.float32) * SCALE)[ids].tobytes()
    assert move_lookup_before_dequantisation(rewritten) is None


@pytest.mark.parametrize(
    "model",
    [
        b"",
        b"\xff" * 40,
        table_model()[:-1],
        tiny_model(),
        table_model(axis=1),
        table_model(node("Neg", ["table"], "negative")),  # which needs the whole table
        table_model(field(12, value_of("table", 1))),
        table_model(scale=SCALE[:1]),
        table_model(external=field(13, field(1, "location") + field(2, "weights.bin"))),
    ],
    ids=range(9),
)
def test_any_other_model_stays_as_it_is(model: bytes) -> None:
    assert move_lookup_before_dequantisation(model) is None


def test_the_default_model_gives_the_same_bytes() -> None:
    model = Path(default_manifest().model).read_bytes()
    rewritten = move_lookup_before_dequantisation(model)
    ids = np.random.default_rng(1).integers(0, 30_522, (4, 40))
    mask = np.ones_like(ids)
    mask[1:, 25:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}

    assert rewritten is not None
    assert run(rewritten, **inputs) == run(model, **inputs)
