"""A model is added complete, tested and under its own name, or not at all."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from model_folders import tiny_folder, tiny_model
from recollect.errors import AlreadyExists, EmbedderUnavailable, InvalidInput, NotFound
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.models_folder import add_model, list_models, load_manifest, remove_model


@pytest.fixture
def models_folder(tmp_path: Path) -> Path:
    """The models folder; it does not exist before the first model is added."""
    return tmp_path / "models"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a small model."""
    return tiny_folder(tmp_path / "tiny")


def rewrite(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps(manifest), encoding="utf-8")


def test_an_added_model_works_without_its_original_folder(
    folder: Path, models_folder: Path
) -> None:
    assert list_models(models_folder) == []
    assert add_model(folder, models_folder) == "tiny"
    for file in folder.iterdir():
        file.unlink()

    manifest = load_manifest(models_folder, "tiny")
    assert list_models(models_folder) == ["tiny"]
    assert LocalEmbedder(manifest).embed(["Hello"]).shape == (1, 2)
    assert manifest.sha256 == hashlib.sha256(tiny_model()).hexdigest()


def test_adding_a_model_does_not_change_its_original_folder(
    folder: Path, models_folder: Path
) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    add_model(folder, models_folder, name="other")

    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert list_models(models_folder) == ["other"]


def test_a_name_is_used_once_unless_the_model_is_replaced(
    folder: Path, models_folder: Path
) -> None:
    add_model(folder, models_folder)
    rewrite(folder, query_prefix="query: ")

    with pytest.raises(AlreadyExists, match=r"--name.*--replace"):
        add_model(folder, models_folder)
    assert load_manifest(models_folder, "tiny").query_prefix == ""
    add_model(folder, models_folder, replace=True)
    assert load_manifest(models_folder, "tiny").query_prefix == "query: "
    assert os.listdir(models_folder) == ["tiny"]


@pytest.mark.parametrize("name", ["default", "a/b", "..", ".hidden", "x" * 65, "-x", "a b", "ä"])
def test_an_invalid_name_is_rejected(folder: Path, models_folder: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="--name NAME"):
        add_model(folder, models_folder, name=name)

    assert list_models(models_folder) == []


def test_the_name_of_a_manifest_is_turned_into_a_valid_one(
    folder: Path, models_folder: Path
) -> None:
    rewrite(folder, name="org/My model: v1.5 ")

    assert add_model(folder, models_folder) == "org-My-model-v1.5"


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"dimension": 3}, EmbedderUnavailable, "answers 2 numbers but its manifest says 3"),
        ({"sha256": "0" * 64}, EmbedderUnavailable, "not the expected one"),
        ({"model": "gone.onnx"}, InvalidInput, "does not exist"),
        ({"model": "../elsewhere.onnx"}, InvalidInput, "is outside of the folder"),
        ({"pooling": "max"}, InvalidInput, "pooling"),
    ],
    ids=["dimension", "hash", "gone", "outside", "pooling"],
)
def test_a_model_that_does_not_work_is_not_added(
    folder: Path,
    models_folder: Path,
    changes: dict[str, object],
    error: type[Exception],
    message: str,
) -> None:
    (folder.parent / "elsewhere.onnx").write_bytes(tiny_model())
    rewrite(folder, **changes)

    with pytest.raises(error, match=message):
        add_model(folder, models_folder)

    assert not models_folder.exists() or os.listdir(models_folder) == []


def test_a_damaged_file_is_not_added(folder: Path, models_folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")

    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx"):
        add_model(folder, models_folder)

    assert os.listdir(models_folder) == []


def test_a_model_without_a_vector_is_not_added(folder: Path, models_folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"] = dict.fromkeys(("[CLS]", "[SEP]", "[UNK]"), 0)
    tokenizer["post_processor"] = None
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")

    with pytest.raises(InvalidInput, match="not a vector"):
        add_model(folder, models_folder)

    assert os.listdir(models_folder) == []


def test_a_folder_that_cannot_be_written_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(InvalidInput, match="cannot be copied to"):
        add_model(folder, tmp_path / "file" / "models")


def test_read_only_linked_and_hidden_files_are_handled(folder: Path, models_folder: Path) -> None:
    (folder / "model.onnx").rename(folder.parent / "blob")
    (folder / "model.onnx").symlink_to(folder.parent / "blob")
    (folder / ".git").mkdir()
    (folder / "manifest.json").chmod(0o400)

    add_model(folder, models_folder)

    assert sorted(os.listdir(models_folder / "tiny")) == [
        "manifest.json",
        "model.onnx",
        "tokenizer.json",
    ]
    assert not (models_folder / "tiny" / "model.onnx").is_symlink()


def test_staging_folders_of_a_killed_add_are_not_listed_and_are_removed_after_a_day(
    folder: Path, models_folder: Path
) -> None:
    add_model(folder, models_folder)
    for name, age_s in (("old", 100_000), ("new", 0)):
        staging = tiny_folder(models_folder / f".adding-{name}")
        os.utime(staging, (time.time() - age_s, time.time() - age_s))

    assert list_models(models_folder) == ["tiny"]
    add_model(folder, models_folder, name="next")
    assert sorted(os.listdir(models_folder)) == [".adding-new", "next", "tiny"]


def test_removing_a_model_leaves_the_others(folder: Path, models_folder: Path) -> None:
    add_model(folder, models_folder)
    add_model(folder, models_folder, name="other")
    remove_model(models_folder, "tiny")

    assert os.listdir(models_folder) == ["other"]
    assert load_manifest(models_folder, "other").dimension == 2


def test_nothing_outside_of_the_models_folder_is_removed(folder: Path, models_folder: Path) -> None:
    add_model(folder, models_folder)
    (models_folder / "linked").symlink_to(folder)
    (models_folder / "tiny" / "more").symlink_to(folder)
    before = sorted(os.listdir(folder))

    for name in ("../tiny", str(folder), "tiny/../../tiny", "..", ".", "", "tiny/", "a\x00b"):
        with pytest.raises(NotFound, match="only default, linked, tiny"):
            remove_model(models_folder, name)
    for name in ("linked", "tiny"):
        remove_model(models_folder, name)

    assert os.listdir(models_folder) == []
    assert sorted(os.listdir(folder)) == before


def test_an_unknown_model_is_not_found(models_folder: Path) -> None:
    with pytest.raises(NotFound, match=r"models list.*models add"):
        load_manifest(models_folder, "../etc")
