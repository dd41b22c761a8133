"""Fields of requests: what is refused, whoever sends it, and with which error."""

from typing import Any

import pytest

from recollect.errors import InvalidInput, RecollectError, TooLarge
from recollect.wire.request_registry import request_classes
from tables import each_row


@pytest.mark.parametrize("value", [{}, {"a": 1}, 5, True, None])
@pytest.mark.parametrize(
    ("verb", "field", "others"),
    [
        ("ingest", "tags", {"content": "x"}),
        ("ingest", "alternatives", {"content": "x"}),
        ("grep_files", "roots", {"pattern": "x"}),
        ("promote_many", "memory_ids", {}),
        ("ingest_many", "items", {}),
        ("capture_many", "materials", {}),
    ],
)
def test_a_list_is_not_an_object_or_a_number(
    verb: str, field: str, others: dict[str, Any], value: Any
) -> None:
    with pytest.raises(InvalidInput, match=field):
        request_classes()[verb].of({**others, field: value})


@each_row("field", ["scopes", "types", "statuses"])
def test_a_filter_is_not_an_object(field: str) -> None:
    with pytest.raises(InvalidInput, match="list of texts"):
        request_classes()["search"].of({"query": "x", field: {}})


@each_row(
    ("verb", "arguments", "error"),
    [
        ("capture_many", {"materials": "one text"}, InvalidInput),
        ("search_blocks", {"query": "x"}, InvalidInput),  # the blocks of which agent?
        ("search_blocks", {"query": "x", "agent": None}, InvalidInput),
        ("list_agents", {"project": "p" * 5_000}, TooLarge),
        ("list_agents", {"project": "/" + "p" * 5_000}, TooLarge),
    ],
)
def test_a_request_is_refused(
    verb: str, arguments: dict[str, Any], error: type[RecollectError]
) -> None:
    with pytest.raises(error):
        request_classes()[verb].of(arguments)


@each_row(("text", "value"), [("true", True), ("TRUE", True), ("1", True), ("no", False)])
def test_a_flag_in_a_query_is_text(text: str, value: bool) -> None:
    memories = request_classes()["list_memories"]

    assert memories.of({"everywhere": text}, from_query=True).everywhere is value  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput):
        memories.of({"everywhere": text})
    with pytest.raises(InvalidInput):
        memories.of({"everywhere": f"{text}?"}, from_query=True)
