"""The record of a session answers what was done and decided, and loses what is forgotten."""

import json
from typing import Any

from recollect import LocalRecollect

DECISION = "Let's use Parquet for the archive because it is small."


def call(number: int, name: str, **arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    tool_call = {"id": str(number), "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [tool_call]}


def result(number: int, content: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": str(number), "content": content}


def capture_two_days(rec: LocalRecollect) -> None:
    monday = [{"role": "user", "content": "We decided to keep the invoices in euros."}]
    tuesday = [
        {"role": "user", "content": "The importer drops rows with empty cells."},
        call(1, "edit_file", file_path="/home/me/site/src/parser.py"),
        result(1, "ok"),
        call(2, "bash", command="deploy --token ghp_1234567890abcdefghijABCDEFGHIJ123456"),
        result(2, "Error: refused\nexit code: 1"),
        {"role": "user", "content": DECISION},
    ]
    for day, messages in ((4, monday), (5, tuesday)):
        timed = [{**message, "created_at": f"2026-05-0{day}T10:00:00Z"} for message in messages]
        rec.capture_session(timed, project="site", session=f"day {day}")
    rec.drain()


def record_of_tuesday(rec: LocalRecollect) -> str:
    records = rec.memories.list(project="site", types="episode")
    return next(record.content for record in records if record.observed_at.day == 5)


def test_what_was_done_and_decided_on_a_day_is_answered_by_the_record_of_its_session(
    rec: LocalRecollect,
) -> None:
    capture_two_days(rec)

    for query in ("what did we do on Tuesday?", "what did we decide on Tuesday?"):
        hits = rec.search(query, project="site")
        records = [hit.memory.content for hit in hits if hit.memory.type == "episode"]
        text = rec.context_for(query, project="site").text

        assert records[0] == record_of_tuesday(rec)
        assert f"Decided: {DECISION}" in text
        assert "Done: changed site/src/parser.py; ran `deploy" in text
        assert "euros" not in text


def test_a_secret_in_a_command_is_not_in_the_record(rec: LocalRecollect) -> None:
    capture_two_days(rec)

    assert "Done: changed" in record_of_tuesday(rec)
    assert "ghp_" not in record_of_tuesday(rec)


def test_a_forgotten_decision_leaves_the_record_of_its_session(rec: LocalRecollect) -> None:
    capture_two_days(rec)
    decisions = rec.memories.list(project="site", statuses="inbox", types="decision")
    [decision] = [memory for memory in decisions if memory.content == DECISION]

    rec.forget(decision.id)

    assert "Parquet" not in record_of_tuesday(rec)
    assert "Done: changed" in record_of_tuesday(rec)
    records = rec.memories.list(project="site", types="episode")
    quotes = [evidence.quote for record in records for evidence in record.evidence]
    assert [quote for quote in quotes if "Parquet" in quote] == []
