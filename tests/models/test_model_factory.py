"""Each backend in the settings has an embedder or chat model; creating one makes no call."""

import json
from pathlib import Path

import pytest

from chat_server import chat_server, completion
from recollect.config import CHAT_BACKENDS, EMBEDDING_BACKENDS, Settings, load_settings
from recollect.errors import InvalidInput
from recollect.models.http_embedder import HttpEmbedder
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.model_factory import create_chat_model, create_embedder
from recollect.models.packaged_models import default_manifest
from tables import each_row


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model; nothing loads it here."""
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"")
    manifest = {"name": "mine", "dimension": 12}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return tmp_path


def test_local_is_the_default_model() -> None:
    embedder = create_embedder(Settings())

    assert isinstance(embedder, LocalEmbedder)
    assert embedder.name == default_manifest().identity


@pytest.mark.parametrize("backend", ["local", "folder"])
def test_a_model_folder_is_read_for_either_backend(folder: Path, backend: str) -> None:
    settings = Settings(embedding_backend=backend, embedding_model=str(folder))

    embedder = create_embedder(settings)

    assert isinstance(embedder, LocalEmbedder)
    assert embedder.name.startswith("mine/12/")
    assert embedder.dimension == 12


def test_a_tilde_in_the_folders_name_is_the_home_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    settings = Settings(embedding_backend="folder", embedding_model=f"~/{folder.name}")

    assert create_embedder(settings).dimension == 12


@pytest.mark.parametrize("model", ["", "no-such-folder"])
def test_a_folder_backend_without_its_folder_is_invalid_input(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidInput, match=r"manifest\.json does not exist"):
        create_embedder(Settings(embedding_backend="folder", embedding_model=model))


@each_row(
    ("backend", "model", "name"),
    [
        ("ollama", "", "ollama:all-minilm"),
        ("ollama", "nomic-embed-text", "ollama:nomic-embed-text"),
        ("openai", "", "openai:text-embedding-3-small"),
        ("openai", "bge-m3", "openai:bge-m3"),
    ],
)
def test_a_server_backend_is_named_after_its_kind_and_model(
    backend: str, model: str, name: str
) -> None:
    embedder = create_embedder(Settings(embedding_backend=backend, embedding_model=model))

    assert isinstance(embedder, HttpEmbedder)
    assert embedder.name == name


def test_no_backend_has_no_embedder() -> None:
    with pytest.raises(InvalidInput, match="'none' has no embedder"):
        create_embedder(Settings(embedding_backend="none"))


def test_every_backend_but_none_has_an_embedder(folder: Path) -> None:
    embedders = [
        create_embedder(Settings(embedding_backend=backend, embedding_model=str(folder)))
        for backend in EMBEDDING_BACKENDS
        if backend != "none"
    ]

    assert len({type(embedder) for embedder in embedders}) == 2
    assert len(embedders) == len(EMBEDDING_BACKENDS) - 1


def test_no_chat_backend_has_no_chat_model() -> None:
    assert create_chat_model(Settings(chat_model="m")) is None


def test_a_key_alone_switches_no_chat_model_on() -> None:
    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "RECOLLECT_CHAT_MODEL": "m"}

    assert create_chat_model(load_settings({**keys, "RECOLLECT_CONFIG": "no-such-file"})) is None


@each_row("backend", [name for name in CHAT_BACKENDS if name != "none"])
@each_row("model", ["", " "])
def test_a_chat_backend_without_a_model_is_invalid_input_that_says_which_setting(
    backend: str, model: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{backend!r} .* chat_model .* RECOLLECT_CHAT_MODEL"):
        create_chat_model(Settings(chat_backend=backend, chat_model=model))


@pytest.mark.door
@pytest.mark.parametrize(
    ("backend", "path", "key"),
    [
        ("openai", "/chat/completions", {"Authorization": "Bearer o"}),
        ("ollama", "/v1/chat/completions", {}),
        ("anthropic", "/v1/messages", {"x-api-key": "a"}),
    ],
)
def test_a_chat_backend_asks_its_own_server_with_its_own_key(
    backend: str, path: str, key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with chat_server() as server:
        server.replies = [completion(backend, "Hi.")]
        settings = load_settings(
            {"RECOLLECT_CONFIG": "no-such-file"},
            chat_backend=backend,
            chat_model="m",
            openai_key="o",
            anthropic_key="a",
            **{f"{backend}_url": server.url},
        )

        model = create_chat_model(settings)

        assert model is not None
        assert model.name == f"{backend}:m"
        assert model.complete("", "Hello?", max_tokens=9).text == "Hi."
        assert server.requests[0].path == path
        sent = server.requests[0].headers
        assert {name: sent[name] for name in ("Authorization", "x-api-key") if name in sent} == key
