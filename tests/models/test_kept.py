"""A model that is added is whole, proved and under a name of its own, or not there at all."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from model_folders import tiny_folder, tiny_model
from recollect.errors import AlreadyExists, EmbedderUnavailable, InvalidInput, NotFound
from recollect.models.kept import keep, kept_manifest, kept_names, remove
from recollect.models.local import LocalEmbedder


@pytest.fixture
def below(tmp_path: Path) -> Path:
    """Where models are kept; it does not exist before the first one."""
    return tmp_path / "kept"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder of somebody's."""
    return tiny_folder(tmp_path / "tiny")


def rewrite(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    written = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps(written), encoding="utf-8")


def test_a_kept_model_works_without_the_folder_it_came_from(folder: Path, below: Path) -> None:
    assert kept_names(below) == []
    assert keep(folder, below) == "tiny"
    for file in folder.iterdir():
        file.unlink()

    manifest = kept_manifest(below, "tiny")
    assert kept_names(below) == ["tiny"]
    assert LocalEmbedder(manifest).embed(["Hello"]).shape == (1, 2)
    assert manifest.sha256 == hashlib.sha256(tiny_model()).hexdigest()


def test_the_folder_it_came_from_stays_as_it_was(folder: Path, below: Path) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    keep(folder, below, name="other")

    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert kept_names(below) == ["other"]


def test_a_name_is_taken_once_unless_the_model_is_to_be_replaced(folder: Path, below: Path) -> None:
    keep(folder, below)
    rewrite(folder, query_prefix="query: ")

    with pytest.raises(AlreadyExists, match=r"--name.*--replace"):
        keep(folder, below)
    assert kept_manifest(below, "tiny").query_prefix == ""
    keep(folder, below, replace=True)
    assert kept_manifest(below, "tiny").query_prefix == "query: "
    assert os.listdir(below) == ["tiny"]


@pytest.mark.parametrize("name", ["default", "a/b", "..", ".hidden", "x" * 65, "-x", "a b", "ä"])
def test_a_name_that_cannot_be_is_refused(folder: Path, below: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="--name NAME"):
        keep(folder, below, name=name)

    assert kept_names(below) == []


def test_the_name_of_a_manifest_is_made_fit(folder: Path, below: Path) -> None:
    rewrite(folder, name="org/My model: v1.5 ")

    assert keep(folder, below) == "org-My-model-v1.5"


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"dimension": 3}, EmbedderUnavailable, "answers 2 numbers and its manifest promises 3"),
        ({"sha256": "0" * 64}, EmbedderUnavailable, "not the expected one"),
        ({"model": "gone.onnx"}, InvalidInput, "does not exist"),
        ({"model": "../elsewhere.onnx"}, InvalidInput, "lies outside"),
        ({"pooling": "max"}, InvalidInput, "pooling"),
    ],
    ids=["dimension", "hash", "gone", "outside", "pooling"],
)
def test_a_model_that_does_not_work_is_not_kept(
    folder: Path, below: Path, changes: dict[str, object], error: type[Exception], told: str
) -> None:
    (folder.parent / "elsewhere.onnx").write_bytes(tiny_model())
    rewrite(folder, **changes)

    with pytest.raises(error, match=told):
        keep(folder, below)

    assert not below.exists() or os.listdir(below) == []


def test_a_damaged_file_is_not_kept(folder: Path, below: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")

    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx"):
        keep(folder, below)

    assert os.listdir(below) == []


def test_a_model_that_answers_nothing_is_not_kept(folder: Path, below: Path) -> None:
    written = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    written["model"]["vocab"] = dict.fromkeys(("[CLS]", "[SEP]", "[UNK]"), 0)
    written["post_processor"] = None
    (folder / "tokenizer.json").write_text(json.dumps(written), encoding="utf-8")

    with pytest.raises(InvalidInput, match="no vector"):
        keep(folder, below)

    assert os.listdir(below) == []


def test_a_place_that_cannot_be_written_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(InvalidInput, match="cannot be copied to"):
        keep(folder, tmp_path / "file" / "kept")


def test_read_only_files_links_and_hidden_ones_are_no_trouble(folder: Path, below: Path) -> None:
    (folder / "model.onnx").rename(folder.parent / "blob")
    (folder / "model.onnx").symlink_to(folder.parent / "blob")
    (folder / ".git").mkdir()
    (folder / "manifest.json").chmod(0o400)

    keep(folder, below)

    assert sorted(os.listdir(below / "tiny")) == ["manifest.json", "model.onnx", "tokenizer.json"]
    assert not (below / "tiny" / "model.onnx").is_symlink()


def test_what_a_killed_add_left_behind_is_no_model_and_goes_after_a_day(
    folder: Path, below: Path
) -> None:
    keep(folder, below)
    for name, age_s in (("old", 100_000), ("new", 0)):
        left = tiny_folder(below / f".adding-{name}")
        os.utime(left, (time.time() - age_s, time.time() - age_s))

    assert kept_names(below) == ["tiny"]
    keep(folder, below, name="next")
    assert sorted(os.listdir(below)) == [".adding-new", "next", "tiny"]


def test_a_removed_model_is_gone_and_the_others_stay(folder: Path, below: Path) -> None:
    keep(folder, below)
    keep(folder, below, name="other")
    remove(below, "tiny")

    assert os.listdir(below) == ["other"]
    assert kept_manifest(below, "other").dimension == 2


def test_nothing_outside_of_the_folder_of_models_is_removed(folder: Path, below: Path) -> None:
    keep(folder, below)
    (below / "linked").symlink_to(folder)
    (below / "tiny" / "more").symlink_to(folder)
    before = sorted(os.listdir(folder))

    for name in ("../tiny", str(folder), "tiny/../../tiny", "..", ".", "", "tiny/", "a\x00b"):
        with pytest.raises(NotFound, match="only default, linked, tiny"):
            remove(below, name)
    for name in ("linked", "tiny"):
        remove(below, name)

    assert os.listdir(below) == []
    assert sorted(os.listdir(folder)) == before


def test_a_model_that_is_not_kept_is_not_found(below: Path) -> None:
    with pytest.raises(NotFound, match=r"models list.*models add"):
        kept_manifest(below, "../etc")
