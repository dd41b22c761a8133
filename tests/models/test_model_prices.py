"""What a call costs: by the model's name, from the table of the vendors and from a user's own."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.domain.model_usage import ModelCall
from recollect.errors import InvalidInput
from recollect.models.model_prices import ModelPrices, Price


def call(model: str) -> ModelCall:
    return ModelCall(
        id="1",
        event_id=None,
        model=model,
        purpose="agent",
        input_tokens=1_000_000,
        output_tokens=100_000,
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_a_price_is_found_by_the_name_of_the_model() -> None:
    prices = ModelPrices()
    expected = {
        "openai:gpt-4o-mini": Price(0.15, 0.6),
        "openai:gpt-4o-mini-2024-07-18": Price(0.15, 0.6),
        "openai:gpt-4o": Price(2.5, 10),
        "openai:gpt-4o-realtime": None,  # another model of which nothing is known
        "openai:models/gemini-2.5-flash": Price(0.3, 2.5),
        "anthropic:claude-sonnet-4-5-20250929": Price(3, 15),
        "anthropic:claude-3-5-haiku-latest": Price(0.8, 4),
        "ollama:llama3.1:8b": Price(0, 0),
        "scripted": None,
        "": None,
    }

    assert {name: prices.price(name) for name in expected} == expected


def test_a_call_of_an_unknown_model_has_no_cost_rather_than_none_at_all() -> None:
    prices = ModelPrices()

    assert prices.with_cost(call("openai:gpt-4o")).cost_usd == pytest.approx(3.5)
    assert prices.with_cost(call("ollama:qwen3")).cost_usd == 0
    assert prices.with_cost(call("openai:mystery")).cost_usd is None


def test_a_file_of_the_user_adds_prices_and_overrides_them(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({"prices": {"Mystery": [1, 2], "gpt-4o": [0, 0]}}))
    prices = ModelPrices(own)

    assert prices.price("openai:mystery") == Price(1, 2)
    assert prices.price("openai:gpt-4o") == Price(0, 0)
    assert prices.price("openai:gpt-4o-mini") == Price(0.15, 0.6)


def test_a_file_that_is_not_a_table_of_prices_is_refused_before_a_call(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    for text in (
        "[",
        "{}",
        '{"prices": []}',
        '{"prices": {"m": [1]}}',
        '{"prices": {"m": [1,-2]}}',
    ):
        own.write_text(text)
        with pytest.raises(InvalidInput, match="table of prices"):
            ModelPrices(own)
    with pytest.raises(InvalidInput, match="cannot read"):
        ModelPrices(tmp_path / "missing.json")
