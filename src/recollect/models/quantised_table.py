"""
Rewrite an ONNX model so that only those rows of a quantised table are computed that a text needs.

A model with 8-bit weights computes its table of word embeddings, `Cast(weights) * scale`, when it
is loaded: twelve million numbers, half of all of them, of which a query reads a dozen rows. The
rewritten model looks the rows up first and computes these. Each number comes from the same
operations on the same numbers, so the results are the same, byte by byte.

This reads and writes the few parts of the protobuf format that it needs (ModelProto, GraphProto,
NodeProto and TensorProto of onnx.proto). A model that looks different is left as it is.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from recollect.lazy_dataclass import dataclass

MIN_ROWS = 5_000  # a smaller table takes no time

_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}  # of the other wire types, in bytes
_GRAPH = 7  # of a model
_NODE, _INITIALIZER, _RESULT = 1, 5, 12  # of a graph
_INPUT, _OUTPUT, _OPERATION, _ATTRIBUTE = 1, 2, 4, 5  # of a node
_DIMENSIONS, _TENSOR_NAME, _EXTERNAL_DATA = 1, 8, 13  # of a tensor
_RESULT_NAME = 1
_ATTRIBUTE_NUMBER = 3  # of an attribute: its value, such as that of `axis`


class _OtherModel(Exception):
    """The bytes are not a model, or not one that can be rewritten."""


class _Field(NamedTuple):
    """One field of a message: its value, and all of its bytes."""

    number: int
    value: memoryview  # of a number: empty
    whole: memoryview
    integer: int


@dataclass(frozen=True)
class _Node:
    """One operation of a graph."""

    operation: str
    inputs: list[str]
    outputs: list[str]
    attributes: list[memoryview]

    def encoded(self) -> bytes:
        """Return the node as a field of a graph."""
        parts = [_encode_field(_INPUT, name.encode()) for name in self.inputs]
        parts += [_encode_field(_OUTPUT, name.encode()) for name in self.outputs]
        parts.append(_encode_field(_OPERATION, self.operation.encode()))
        parts += [_encode_field(_ATTRIBUTE, bytes(attribute)) for attribute in self.attributes]
        return _encode_field(_NODE, b"".join(parts))


def move_lookup_before_dequantisation(model: bytes | memoryview) -> bytes | None:
    """Return *model* so that it looks up rows first; None if it has no table of that kind."""
    try:
        fields = list(_fields(memoryview(model)))
        [graph] = [item for item in fields if item.number == _GRAPH]
        parts = _rewrite_graph(list(_fields(graph.value)))
    except (_OtherModel, ValueError):
        return None
    if parts is None:
        return None
    others = [item.whole for item in fields if item is not graph]
    size = sum(map(len, parts))
    return b"".join([*others, _head(_GRAPH, size), *parts])


def _rewrite_graph(graph: list[_Field]) -> list[bytes | memoryview] | None:
    """Return the fields of a graph with its lookup rewritten, None if it has none."""
    nodes = {index: _node(item.value) for index, item in enumerate(graph) if item.number == _NODE}
    places = _find_lookup(nodes, _shapes(graph), _result_names(graph))
    if places is None:
        return None
    gather, multiply, cast = (nodes[index] for index in places)
    [result], ids = gather.outputs, gather.inputs[1]
    rows, scales, numbers = (f"{result}/{part}" for part in ("rows", "scales", "numbers"))
    new_nodes = (
        _Node("Gather", [cast.inputs[0], ids], [rows], gather.attributes),
        _Node("Gather", [multiply.inputs[1], ids], [scales], gather.attributes),
        _Node("Cast", [rows], [numbers], cast.attributes),
        _Node("Mul", [numbers, scales], [result], multiply.attributes),
    )
    replaced: dict[int, list[bytes | memoryview]] = {index: [] for index in places}
    replaced[places[0]] = [node.encoded() for node in new_nodes]
    all_parts = (replaced.get(index, [item.whole]) for index, item in enumerate(graph))
    return [part for parts in all_parts for part in parts]


def _find_lookup(
    nodes: dict[int, _Node], shapes: dict[str, tuple[int, ...]], results: list[str]
) -> tuple[int, int, int] | None:
    """Return where the nodes are: the lookup, the product and the cast that make its table."""
    uses = Counter(results)
    uses.update(name for node in nodes.values() for name in node.inputs)
    made_by = {name: index for index, node in nodes.items() for name in node.outputs}

    def maker(name: str, operation: str) -> int | None:
        index = made_by.get(name)
        is_only_use = index is not None and nodes[index].operation == operation and uses[name] == 1
        return index if is_only_use else None

    for index, gather in nodes.items():
        if gather.operation != "Gather" or not _is_along_rows(gather):
            continue
        multiply = maker(gather.inputs[0], "Mul")
        cast = None if multiply is None else maker(nodes[multiply].inputs[0], "Cast")
        if multiply is None or cast is None:
            continue
        shape, scale = shapes.get(nodes[cast].inputs[0]), shapes.get(nodes[multiply].inputs[1])
        if shape and len(shape) == 2 and shape[0] >= MIN_ROWS and scale == (shape[0], 1):
            return index, multiply, cast
    return None


def _is_along_rows(gather: _Node) -> bool:
    """Return whether the node has one attribute at most, an axis of 0."""
    values = [item for attribute in gather.attributes for item in _fields(attribute)]
    return len(gather.attributes) <= 1 and not any(
        item.integer for item in values if item.number == _ATTRIBUTE_NUMBER
    )


def _node(value: memoryview) -> _Node:
    operation = ""
    names: dict[int, list[str]] = {_INPUT: [], _OUTPUT: []}
    attributes = []
    for item in _fields(value):
        if item.number in names:
            names[item.number].append(_text(item.value))
        elif item.number == _OPERATION:
            operation = _text(item.value)
        elif item.number == _ATTRIBUTE:
            attributes.append(item.value)
    return _Node(operation, names[_INPUT], names[_OUTPUT], attributes)


def _shapes(graph: list[_Field]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the stored tensors by name."""
    shapes = {}
    for tensor in (item for item in graph if item.number == _INITIALIZER):
        name, shape = "", list[int]()
        for item in _fields(tensor.value):
            if item.number == _EXTERNAL_DATA:
                raise _OtherModel("its weights are in other files, which bytes cannot refer to")
            if item.number == _TENSOR_NAME:
                name = _text(item.value)
            elif item.number == _DIMENSIONS:
                shape += list(_varints(item.value)) if item.value else [item.integer]
        shapes[name] = tuple(shape)
    return shapes


def _result_names(graph: list[_Field]) -> list[str]:
    results = (item for item in graph if item.number == _RESULT)
    return [
        _text(item.value)
        for result in results
        for item in _fields(result.value)
        if item.number == _RESULT_NAME
    ]


def _text(value: memoryview) -> str:
    return bytes(value).decode()


def _fields(message: memoryview) -> Iterator[_Field]:
    position = 0
    while position < len(message):
        start = position
        key, position = _varint(message, position)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            integer, position = _varint(message, position)
            yield _Field(number, message[:0], message[start:position], integer)
            continue
        size = _FIXED_SIZES.get(wire)
        if wire == _LENGTH_DELIMITED:
            size, position = _varint(message, position)
        if size is None or position + size > len(message):
            raise _OtherModel("not the fields of a message")
        value = message[position : position + size]
        position += size
        yield _Field(number, value, message[start:position], 0)


def _varints(packed: memoryview) -> Iterator[int]:
    position = 0
    while position < len(packed):
        value, position = _varint(packed, position)
        yield value


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    """Return the number at *position*, and where it ends."""
    value = shift = 0
    while position < len(message) and shift < 64:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise _OtherModel("not a number")


def _encode_field(number: int, value: bytes) -> bytes:
    return _head(number, len(value)) + value


def _head(number: int, size: int) -> bytes:
    """Return the key and the length of a field."""
    return _encode_varint(number << 3 | _LENGTH_DELIMITED) + _encode_varint(size)


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
