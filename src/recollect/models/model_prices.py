"""
What a call of a language model costs, by the model's name.

Prices are data: those of the vendors are in `model_prices.json`, and a user's own file of the same
form (the setting `model_prices`) adds to them and overrides them. A model without a price has a
cost of None, never zero: an unknown cost must not look like a free call.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from recollect.domain.model_usage import ModelCall
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

PER_TOKENS = 1_000_000
LOCAL_KINDS = ("ollama",)  # servers that run on the user's own machine
# A name with the date of its version has the price of the name without it.
_VERSION = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{6}|\d{8}|latest)$")


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float


class ModelPrices:
    """The prices of the vendors, read on use, and those of the file *path*, read at once."""

    def __init__(self, path: Path | None = None) -> None:
        # A broken file is reported before a call is paid for.
        self._own = {} if path is None else _parse(_read(path), str(path))

    def price(self, model: str) -> Price | None:
        """Return the price of a model (`openai:gpt-x`), or None if it is not known."""
        kind, separator, name = model.partition(":")
        if kind in LOCAL_KINDS:
            return self._prices.get(name) or Price(0.0, 0.0)
        name = name if separator else model
        name = name.rpartition("/")[2].lower()
        return self._prices.get(name) or self._prices.get(_VERSION.sub("", name))

    def with_cost(self, call: ModelCall) -> ModelCall:
        """Return *call* with its cost; None if the price of its model is not known."""
        price = self.price(call.model)
        if price is None:
            return call
        cost = call.input_tokens * price.input_usd + call.output_tokens * price.output_usd
        return replace(call, cost_usd=cost / PER_TOKENS)

    @cached_property
    def _prices(self) -> Mapping[str, Price]:
        vendors = Path(__file__).with_name("model_prices.json")
        return _parse(_read(vendors), str(vendors)) | self._own


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the prices in {path}: {error}") from error


def _parse(text: str, where: str) -> dict[str, Price]:
    try:
        content: Any = json.loads(text)
        # The file of a user may have windows alone (model_windows_file.py).
        table = content.get("prices", {}) if "windows" in content else content["prices"]
        return {str(name).lower(): _price(value) for name, value in table.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{where} is not a table of prices; write {{"
            '"prices": {"NAME": [input, output]}} in US dollars per million tokens'
        ) from error


def _price(value: Any) -> Price:
    input_usd, output_usd = map(float, value)
    if not 0 <= input_usd < float("inf") or not 0 <= output_usd < float("inf"):
        raise ValueError(value)
    return Price(input_usd, output_usd)
