"""
The context windows of models: those that a user's own file gives, then those of the table.

The file is the one with the user's prices (the setting `model_prices`); its key `windows` has the
tokens of models by name. The table is text/model_windows.py.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.text.model_windows import model_window
from recollect.wire.fields import MAX_WINDOW, MIN_WINDOW


class ModelWindows:
    """The windows of the file *path*, read at once, and those of the table."""

    def __init__(self, path: Path | None = None) -> None:
        self._own = {} if path is None else _read(path)

    def window(self, model: str) -> int | None:
        """Return the window of *model* (`gpt-x` or `openai:gpt-x`), or None if it is not known."""
        name = model.strip().lower()
        forms = (name, name.partition(":")[2], name.rpartition("/")[2])
        own = next((self._own[form] for form in forms if form in self._own), None)
        return own or model_window(model)


def _read(path: Path) -> Mapping[str, int]:
    try:
        table: Any = json.loads(path.read_text(encoding="utf-8")).get("windows", {})
        return {str(name).lower(): _tokens(value) for name, value in table.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"cannot read the windows of models in {path}: {error}; write {{"
            f'"windows": {{"NAME": TOKENS}}}} with {MIN_WINDOW:,} to {MAX_WINDOW:,} tokens'
        ) from error


def _tokens(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not a number of tokens")
    if not MIN_WINDOW <= value <= MAX_WINDOW:
        raise ValueError(f"{value:,} tokens are out of range")
    return value
