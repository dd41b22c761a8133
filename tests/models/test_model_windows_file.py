"""How large the window of a model is: from a user's own file, else from the table of names."""

import json
import re
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.errors import InvalidInput
from recollect.models.model_prices import ModelPrices
from recollect.models.model_windows_file import ModelWindows
from tables import each_row


def own_file(folder: Path, **content: object) -> Path:
    path = folder / "models.json"
    path.write_text(json.dumps(content))
    return path


def test_a_file_of_the_user_adds_windows_and_overrides_them(tmp_path: Path) -> None:
    own = {"Mystery": 9_000, "gpt-4o": 64_000}
    path = own_file(tmp_path, prices={"mystery": [1, 2]}, windows=own)
    windows = ModelWindows(path)
    expected = {
        "mystery": 9_000,
        "openai:Mystery": 9_000,
        "local/mystery": 9_000,
        "gpt-4o": 64_000,
        "gpt-4": 8_192,
        "another-mystery": None,
    }

    assert {name: windows.window(name) for name in expected} == expected


def test_a_file_may_have_windows_or_prices_alone(tmp_path: Path) -> None:
    assert ModelPrices(own_file(tmp_path, windows={"mystery": 9_000})).price("mystery") is None
    assert ModelWindows(own_file(tmp_path, prices={"mystery": [1, 2]})).window("mystery") is None


@each_row("windows", [{"m": "many"}, {"m": 1}, {"m": 10**12}, {"m": True}, [1], {"m": 8.5}])
def test_a_broken_file_is_refused_with_the_form_it_should_have(
    tmp_path: Path, windows: object
) -> None:
    with pytest.raises(InvalidInput, match=re.escape('"windows": {"NAME": TOKENS}')):
        ModelWindows(own_file(tmp_path, windows=windows))


def test_the_window_of_an_agent_is_the_one_that_the_file_gives_its_model(tmp_path: Path) -> None:
    path = own_file(tmp_path, windows={"mystery": 9_000})
    db = str(tmp_path / "m.db")
    settings = Settings(db=db, embedding_backend="none", model_prices=str(path))
    with LocalRecollect(settings) as rec:
        rec.agents.create("helper", model="mystery")

        assert rec.agents.context_window("helper").window_tokens == 9_000
