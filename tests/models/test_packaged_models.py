"""One place names the default model; a store that has chosen none follows it."""

import hashlib
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from model_folders import second_folder
from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.engine import embedding_indexer
from recollect.models import packaged_models
from recollect.models.packaged_models import (
    DEFAULT_MODEL,
    MINILM,
    PACKAGED_MODELS,
    PackagedModel,
    default_manifest,
)

ALLERGY = "Ana is allergic to peanuts."
QUESTION = "which nuts must nobody serve her?"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def next_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    """A model in an installed package, which is not the default yet."""
    folder = second_folder(tmp_path / "next_embedding_model")
    monkeypatch.syspath_prepend(str(tmp_path))
    # It does not migrate by itself during the test.
    monkeypatch.setattr(embedding_indexer, "MIGRATION_DELAY_S", 3600.0)
    return PackagedModel(
        name="next",
        dimension=384,
        sha256=hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest(),
        package="next_embedding_model",
        requirement="next-embedding-model==1.0",
        max_tokens=128,
    )


@pytest.fixture
def change_default(monkeypatch: pytest.MonkeyPatch) -> Callable[[PackagedModel], None]:
    """Change the default model as an edit of packaged_models.py does."""

    def change(model: PackagedModel) -> None:
        models = (*PACKAGED_MODELS, model)
        monkeypatch.setattr(packaged_models, "PACKAGED_MODELS", models)
        monkeypatch.setattr(packaged_models, "DEFAULT_MODEL", model)

    return change


def open_default(path: Path | str, tmp_path: Path) -> LocalRecollect:
    return LocalRecollect(Settings(db=str(path), models_folder=str(tmp_path / "models")))


def serving_model(memory: LocalRecollect) -> str:
    [name] = [model.identity for model in memory.models.list() if model.serving]
    return name


def test_after_a_change_of_the_default_search_answers_until_everything_is_embedded_again(
    path: Path,
    tmp_path: Path,
    next_model: PackagedModel,
    change_default: Callable[[PackagedModel], None],
) -> None:
    with open_default(path, tmp_path) as memory:
        memory.ingest(ALLERGY)
        memory.drain()
        before = serving_model(memory)
    change_default(next_model)

    with open_default(path, tmp_path) as memory:
        [meanwhile] = memory.search(QUESTION)
        serving_meanwhile = serving_model(memory)
        memory.models.reembed()
        serving_afterwards = serving_model(memory)
        [afterwards] = memory.search(QUESTION)

    assert before == serving_meanwhile == MINILM.manifest().identity
    assert serving_afterwards == default_manifest().identity == next_model.manifest().identity
    assert meanwhile.memory.content == afterwards.memory.content == ALLERGY
    assert meanwhile.parts.semantic > 0
    assert afterwards.parts.semantic > 0


def test_the_package_of_the_default_model_is_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert DEFAULT_MODEL.requirement in project["dependencies"]
    assert DEFAULT_MODEL in PACKAGED_MODELS
