"""
A model folder: what its manifest may contain, and its effect.

Two models stand in for any other: the installed one with another pooling and prefix, and one of
four operations (tests/model_folders.py), whose vectors can be worked out by hand.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_folders import tiny_model, write_folder
from recollect.errors import EmbedderUnavailable, InvalidInput
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.model_manifest import Manifest, read_manifest
from recollect.models.packaged_models import DEFAULT_MODEL, default_manifest
from reference_tokenizer import reference_tokenizer
from tables import each_row

GOOD = {"name": "tiny", "dimension": 2}
PREFIX = "Represent this sentence for searching relevant passages: "


@pytest.fixture(scope="module")
def tokenizer() -> str:
    """The default model's tokenizer, as any model ships its own."""
    return reference_tokenizer().to_str()


@pytest.fixture(scope="module")
def cls_folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: str) -> Path:
    """The installed model in a folder of its own, to be pooled by its first token."""
    return write_folder(
        tmp_path_factory.mktemp("models") / "cls",
        Path(default_manifest().model).read_bytes(),
        tokenizer,
        {"name": "minilm-cls", "dimension": 384, "pooling": "cls", "query_prefix": PREFIX},
    )


@pytest.fixture(scope="module")
def cls(cls_folder: Path) -> LocalEmbedder:
    """The model of that folder."""
    return LocalEmbedder(read_manifest(cls_folder))


@pytest.fixture(scope="module")
def mean() -> LocalEmbedder:
    """The installed model as it comes."""
    return LocalEmbedder(default_manifest())


@pytest.fixture
def tiny_folder(tmp_path: Path, tokenizer: str) -> Path:
    """A folder with the model of four operations."""
    return write_folder(tmp_path / "tiny", tiny_model(), tokenizer, GOOD)


def test_a_folder_with_a_model_a_tokenizer_and_a_manifest_is_an_embedder(
    cls: LocalEmbedder,
) -> None:
    vectors = cls.embed(["We use Postgres.", ""])

    assert vectors.shape == (2, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_the_pooling_changes_the_vectors(cls: LocalEmbedder, mean: LocalEmbedder) -> None:
    text = ["We use Postgres for billing."]

    assert float(cls.embed(text)[0] @ mean.embed(text)[0]) < 0.9


def test_the_query_prefix_is_put_before_questions_only(cls: LocalEmbedder) -> None:
    vector = cls.embed_query("Which database?")

    assert vector == pytest.approx(cls.embed([PREFIX + "Which database?"])[0], abs=1e-6)
    assert vector != pytest.approx(cls.embed(["Which database?"])[0], abs=1e-3)


def test_the_output_of_a_model_that_pools_is_used_as_it_is(tiny_folder: Path) -> None:
    embedder = LocalEmbedder(read_manifest(tiny_folder))

    vectors = embedder.embed(["Hello", "Hello Hello"])  # ids 101 7592 (7592) 102

    assert vectors[0] == pytest.approx(np.array([7592, 7795]) / np.hypot(7592, 7795))
    assert vectors[1] == pytest.approx(np.array([7592, 15387]) / np.hypot(7592, 15387))


def test_the_document_prefix_is_put_before_texts_only(tiny_folder: Path) -> None:
    manifest = replace(read_manifest(tiny_folder), document_prefix="Hello ")
    embedder = LocalEmbedder(manifest)

    document, question = embedder.embed(["Hello"])[0], embedder.embed_query("Hello")

    assert document == pytest.approx(np.array([7592, 15387]) / np.hypot(7592, 15387))
    assert question == pytest.approx(np.array([7592, 7795]) / np.hypot(7592, 7795))


def test_a_text_is_truncated_at_max_tokens(tiny_folder: Path) -> None:
    embedder = LocalEmbedder(replace(read_manifest(tiny_folder), max_tokens=8))

    six, seven = embedder.embed(["Hello " * 6, "Hello " * 7])

    assert seven == pytest.approx(six)


def test_a_hash_in_the_manifest_is_compared_with_the_file(tiny_folder: Path) -> None:
    right = hashlib.sha256(tiny_model()).hexdigest()
    manifest = read_manifest(tiny_folder)

    assert LocalEmbedder(replace(manifest, sha256=right)).embed(["a"]).shape == (1, 2)
    with pytest.raises(EmbedderUnavailable, match="not the expected one"):
        LocalEmbedder(replace(manifest, sha256="0" * 64)).embed(["a"])


def test_the_next_step_for_a_folder_is_not_to_reinstall_another_model(tiny_folder: Path) -> None:
    swapped = LocalEmbedder(replace(read_manifest(tiny_folder), sha256="0" * 64))

    with pytest.raises(EmbedderUnavailable) as raised:
        swapped.embed(["a"])

    assert DEFAULT_MODEL.requirement not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"not a model"], ids=["empty", "garbage"])
def test_a_damaged_model_is_unavailable_and_named(tiny_folder: Path, content: bytes) -> None:
    (tiny_folder / "model.onnx").write_bytes(content)
    embedder = LocalEmbedder(read_manifest(tiny_folder))

    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx"):
        embedder.embed(["anything"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("damaged.json", b""),
        ("damaged.json", b"{}"),
        ("damaged.json", b"\xff"),
        ("damaged.txt", b"a\nb\n"),
        ("damaged.txt", b"\xff"),
    ],
    ids=["empty", "no model", "no JSON", "no [SEP]", "no UTF-8"],
)
def test_a_damaged_tokenizer_is_unavailable_and_named(
    tiny_folder: Path, name: str, content: bytes
) -> None:
    (tiny_folder / name).write_bytes(content)
    manifest = replace(read_manifest(tiny_folder), tokenizer=str(tiny_folder / name))

    with pytest.raises(EmbedderUnavailable, match=name):
        LocalEmbedder(manifest).embed(["anything"])


def test_a_model_of_another_dimension_than_promised_is_unavailable(tiny_folder: Path) -> None:
    embedder = LocalEmbedder(replace(read_manifest(tiny_folder), dimension=100))

    with pytest.raises(EmbedderUnavailable, match=r"\b2\b.*\b100\b|\b100\b.*\b2\b"):
        embedder.embed(["anything"])


def test_file_names_become_absolute(tiny_folder: Path) -> None:
    manifest = read_manifest(tiny_folder)

    assert Path(manifest.model) == (tiny_folder / "model.onnx").resolve()
    assert Path(manifest.tokenizer) == (tiny_folder / "tokenizer.json").resolve()


def test_the_manifest_may_name_other_files(tiny_folder: Path) -> None:
    (tiny_folder / "onnx").mkdir()
    (tiny_folder / "model.onnx").rename(tiny_folder / "onnx" / "model_int8.onnx")
    written = {"name": "tiny", "dimension": 2, "model": "onnx/model_int8.onnx"}
    (tiny_folder / "manifest.json").write_text(json.dumps(written), encoding="utf-8")

    manifest = read_manifest(tiny_folder)

    assert LocalEmbedder(manifest).embed(["a"]).shape == (1, 2)


@each_row(
    "change",
    [
        {"name": "other"},
        {"dimension": 3},
        {"pooling": "cls"},
        {"query_prefix": "query: "},
        {"document_prefix": "passage: "},
        {"max_tokens": 512},
        {"sha256": "1" * 64},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_changes_vectors_changes_the_name(change: Mapping[str, Any]) -> None:
    manifest = Manifest(name="m", dimension=2, sha256="0" * 64)

    changed = LocalEmbedder(replace(manifest, **change))

    assert changed.name != LocalEmbedder(manifest).name


def test_the_location_of_the_files_does_not_change_the_name() -> None:
    here = Manifest(name="m", dimension=2, model="/a/m.onnx", tokenizer="/a/t.json")
    there = Manifest(name="m", dimension=2, model="/b/m.onnx", tokenizer="/b/t.json")

    assert here.identity == there.identity


def test_swapped_prefixes_change_the_identity() -> None:
    first = Manifest(name="m", dimension=2, query_prefix="a", document_prefix="b")
    second = Manifest(name="m", dimension=2, query_prefix="b", document_prefix="a")

    assert first.identity != second.identity


@pytest.mark.parametrize(
    "written",
    [
        [],
        "text",
        None,
        {},
        {"name": "tiny"},
        {"dimension": 2},
        {**GOOD, "poling": "cls"},
        {**GOOD, "pooling": "max"},
        {**GOOD, "pooling": None},
        {**GOOD, "name": ""},
        {**GOOD, "name": 7},
        {**GOOD, "dimension": 0},
        {**GOOD, "dimension": "2"},
        {**GOOD, "dimension": 2.5},
        {**GOOD, "dimension": True},
        {**GOOD, "max_tokens": 7},
        {**GOOD, "max_tokens": None},
        {**GOOD, "query_prefix": 7},
        {**GOOD, "document_prefix": None},
        {**GOOD, "sha256": 7},
        {**GOOD, "model": 7},
        {**GOOD, "model": "gone.onnx"},
        {**GOOD, "tokenizer": "gone.json"},
        {**GOOD, "tokenizer": ["tokenizer.json"]},
    ],
    ids=repr,
)
def test_a_wrong_manifest_is_invalid_input_that_names_the_file(
    tiny_folder: Path, written: object
) -> None:
    path = tiny_folder / "manifest.json"
    path.write_text(json.dumps(written), encoding="utf-8")

    with pytest.raises(InvalidInput) as raised:
        read_manifest(tiny_folder)

    assert str(path) in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"], ids=["empty", "cut", "no UTF-8"])
def test_a_damaged_manifest_is_invalid_input_that_names_the_file(
    tiny_folder: Path, content: bytes
) -> None:
    path = tiny_folder / "manifest.json"
    path.write_bytes(content)

    with pytest.raises(InvalidInput) as raised:
        read_manifest(tiny_folder)

    assert str(path) in str(raised.value)


def test_a_folder_without_a_manifest_is_answered_with_an_example(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="needs one, for example") as raised:
        read_manifest(tmp_path / "no such folder")

    example = str(raised.value).partition("for example ")[2]
    assert Manifest(**json.loads(example)).dimension == 384


def test_a_file_in_place_of_the_folder_is_invalid_input(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"")

    with pytest.raises(InvalidInput, match=r"model\.onnx"):
        read_manifest(file)


def test_the_default_manifest_names_files_that_exist() -> None:
    manifest = default_manifest()

    assert Path(manifest.model).is_file()
    assert Path(manifest.tokenizer).is_file()
    assert manifest.identity.startswith(f"{DEFAULT_MODEL.name}/{DEFAULT_MODEL.dimension}/")
    assert len(manifest.sha256) == 64


def test_a_missing_default_model_is_unavailable_and_the_next_step_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, DEFAULT_MODEL.package, None)  # as if it were not installed

    with pytest.raises(EmbedderUnavailable, match=f"pip install {DEFAULT_MODEL.requirement}"):
        default_manifest()
