"""
The fixtures of the semantic-core draft, which are not part of this repository.

They are in `prototypes/cognee-draft-semantic-core/fixtures` of the Open Memory Protocol (commit
eff0449). `pytest --exchange-fixtures FOLDER` runs them; the cases are also in our own words in
test_memory_exchange.py.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from exchange_receiver import ExchangeReceiver, statuses
from recollect.wire.memory_exchange import MemoryExchange

NAMES = [f"{number:02}" for number in range(1, 12)]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_fixture_is_received_and_passed_on(
    tmp_path: Path, name: str, exchange_fixtures: str
) -> None:
    [path] = Path(exchange_fixtures).glob(f"{name}*.json")
    fixture = json.loads(path.read_text())
    expected: dict[str, Any] = fixture["expect"]
    receiver, other = (ExchangeReceiver(tmp_path / file) for file in ("here.db", "there.db"))
    if "pre" in expected:
        receiver.take(MemoryExchange.model_validate(expected["pre"]))

    receipt = receiver.take(
        MemoryExchange.model_validate(fixture["exchange"]), mode=expected.get("mode", "preserve")
    )
    passed_on = other.take(receiver.sent())
    states = receiver.states()
    receiver.take(
        MemoryExchange.model_validate(fixture["exchange"]), mode=expected.get("mode", "preserve")
    )

    assert receiver.states() == states  # a retry adds nothing
    found = statuses(receipt)
    assert expected["statuses"].items() <= found.items()
    assert bool(receipt.conflicts) == expected.get("conflicts", False)
    assert bool(receipt.retry) == expected.get("retry", False)
    if "current_texts" in expected:
        assert receiver.current_texts() == sorted(expected["current_texts"])
    assert other.current_texts() == receiver.current_texts()
    assert not {"rejected", "unresolved"} & set(statuses(passed_on).values())
    assert other.states() == receiver.states()
    for store in (receiver, other):
        assert store.rec.maintenance.verify().ok
        store.rec.close()
