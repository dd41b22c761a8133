"""
A BERT encoder in NumPy, written to be checked by eye: float32, one text at a time, no batching.

Reads `model.safetensors` by hand (eight bytes of length, a JSON header, raw numbers) and runs the
layers as the paper has them: exact GELU, layer norm after each residual, mean over the tokens,
length one. Tokens come from the model's own `tokenizer.json`. It knows nothing of Recollect.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

HEADS = 12
LAYERS = 6
EPSILON = 1e-12
MAX_TOKENS = 256

Array = NDArray[np.float32]
Weights = Mapping[str, Array]

_TYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
_erf = np.vectorize(math.erf, otypes=[np.float32])


def read_weights(path: Path) -> Weights:
    """Return the tensors of a safetensors file by name, as float32."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(raw[start + first : start + last], dtype=_TYPES[entry["dtype"]])
        weights[name] = numbers.reshape(entry["shape"]).astype(np.float32)
    return weights


def embed(folder: Path, texts: Sequence[str]) -> Array:
    """Return one unit vector per text, by the weights and the tokenizer in *folder*."""
    weights = read_weights(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return np.stack([_vector(weights, tokenizer.encode(text).ids) for text in texts])


def _vector(weights: Weights, ids: Sequence[int]) -> Array:
    states = _embedded(weights, ids)
    for number in range(LAYERS):
        states = _layer(weights, f"encoder.layer.{number}", states)
    mean = states.mean(axis=0)
    unit: Array = mean / np.linalg.norm(mean)
    return unit


def _embedded(weights: Weights, ids: Sequence[int]) -> Array:
    words = weights["embeddings.word_embeddings.weight"][list(ids)]
    places = weights["embeddings.position_embeddings.weight"][: len(ids)]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    return _normed(weights, "embeddings.LayerNorm", words + places + kind)


def _layer(weights: Weights, name: str, states: Array) -> Array:
    attended = _linear(weights, f"{name}.attention.output.dense", _attention(weights, name, states))
    states = _normed(weights, f"{name}.attention.output.LayerNorm", states + attended)
    inner = _gelu(_linear(weights, f"{name}.intermediate.dense", states))
    outer = _linear(weights, f"{name}.output.dense", inner)
    return _normed(weights, f"{name}.output.LayerNorm", states + outer)


def _attention(weights: Weights, name: str, states: Array) -> Array:
    query, key, value = (
        _by_head(_linear(weights, f"{name}.attention.self.{part}", states))
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(query.shape[2]))
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    shares = scores / scores.sum(axis=2, keepdims=True)
    joined: Array = (shares @ value).transpose(1, 0, 2).reshape(states.shape)
    return joined


def _by_head(states: Array) -> Array:
    return states.reshape(len(states), HEADS, -1).transpose(1, 0, 2)


def _linear(weights: Weights, name: str, states: Array) -> Array:
    product: Array = states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return product


def _normed(weights: Weights, name: str, states: Array) -> Array:
    centred = states - states.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(EPSILON))
    normed: Array = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return normed


def _gelu(states: Array) -> Array:
    activated: Array = states * np.float32(0.5) * (1 + _erf(states / np.float32(math.sqrt(2))))
    return activated
