"""Secrets in JSON values, which only their name or their place makes secrets."""

from typing import Any

import pytest

from recollect.text.redact_json import redact_json
from tables import each_row

MARK = "[redacted:assigned-secret]"


@each_row(
    ("value", "expected"),
    [
        ({"password": "swordfish"}, {"password": MARK}),
        ({"db": {"DB_PASS": "tulipfield"}}, {"db": {"DB_PASS": MARK}}),
        ({"pin": 4821, "port": 4821}, {"pin": MARK, "port": 4821}),
        ({"name": "API_TOKEN", "value": "a1b2c3d4e5"}, {"name": "API_TOKEN", "value": MARK}),
        (["mysql", "--password", "a1b2c3"], ["mysql", "--password", MARK]),
        ({"password": "required"}, {"password": "required"}),
        ({"password": {"type": "string"}}, {"password": {"type": "string"}}),
        ({"max_tokens": 4096, "token": None}, {"max_tokens": 4096, "token": None}),
        ({"name": "city", "value": "Bern2024x"}, {"name": "city", "value": "Bern2024x"}),
        ({"token": True, "tokens": [1, 2.5]}, {"token": True, "tokens": [1, 2.5]}),
    ],
)
def test_a_string_is_judged_with_the_name_it_is_stored_under(value: Any, expected: Any) -> None:
    assert redact_json(value, 5) == expected


def test_values_nested_too_deeply_are_refused() -> None:
    assert redact_json([[1]], 2) == [[1]]
    with pytest.raises(RecursionError):
        redact_json([[[1]]], 2)
