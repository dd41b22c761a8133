"""A module of the caller's program is acted on when the program loads it, once."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.client.intercept import patch_clients
from recollect.client.intercept.import_watcher import after_import, stop_watching


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "watched_module.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "watched_module"
    stop_watching()
    sys.modules.pop("watched_module", None)


def test_a_module_is_acted_on_when_it_is_loaded_and_after_it_has_run(module: str) -> None:
    values: list[int] = []
    after_import(module, lambda loaded: values.append(loaded.VALUE))
    assert values == []

    importlib.import_module(module)
    importlib.reload(sys.modules[module])

    assert values == [1]


def test_a_module_that_is_loaded_already_is_acted_on_at_once(module: str) -> None:
    importlib.import_module(module)
    names: list[str] = []

    after_import(module, lambda loaded: names.append(loaded.__name__))

    assert names == [module]


def test_nothing_is_watched_after_the_end(module: str) -> None:
    finders = list(sys.meta_path)
    names: list[str] = []
    after_import(module, lambda loaded: names.append(loaded.__name__))
    stop_watching()

    importlib.import_module(module)

    assert names == []
    assert sys.meta_path == finders


def test_another_version_of_a_package_is_imported_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "aiohttp").mkdir()
    (tmp_path / "aiohttp" / "__init__.py").write_text("")
    (tmp_path / "aiohttp" / "client.py").write_text("class ClientSession:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "aiohttp"]:
        monkeypatch.delitem(sys.modules, name)
    patch_clients.install()
    try:
        client = importlib.import_module("aiohttp.client")
    finally:
        patch_clients.uninstall()
        for name in ("aiohttp.client", "aiohttp"):
            sys.modules.pop(name, None)

    assert vars(client.ClientSession).get("_request") is None
