"""What another assistant lists as its memories becomes candidates, and nothing more."""

import pytest

from recollect import InvalidInput, LocalRecollect, Status
from recollect.domain.transcript import Voice
from recollect.text.assistant_answer import PROMPT, parse_answer

ANSWER = """Here is everything:
```
## Instructions
- [2025-03-01] Always answer in short sentences.
## About me
* [unknown] - Has a dog called Bo.
## Projects
1. [2024-12-24] Builds a shop with Django.
```
There is no more. The key is sk-proj-0123456789abcdefghij0123456789abcdefghij.
"""


def test_each_entry_is_a_candidate_that_quotes_the_answer(rec: LocalRecollect) -> None:
    imported = rec.captures.add_assistant_memories(ANSWER, assistant="ChatGPT", project="shop")

    assert imported.added == {"memories": 3}
    listed = rec.memories.list(statuses=["inbox"], project="shop")
    candidates = {memory.content: memory for memory in listed}
    assert set(candidates) == {
        "Always answer in short sentences.",
        "Has a dog called Bo.",
        "Builds a shop with Django.",
    }
    for memory in candidates.values():
        assert memory.provenance.voice is Voice.OTHER
        assert memory.evidence[0].quote == memory.content
    assert candidates["Builds a shop with Django."].scope == "project"
    assert f"{candidates['Builds a shop with Django.'].observed_at:%Y-%m-%d}" == "2024-12-24"
    assert len({memory.evidence[0].source_id for memory in candidates.values()}) == 1
    rec.drain()
    assert rec.maintenance.status().memories_by_status.get(Status.ACTIVE, 0) == 0


def test_the_same_answer_again_adds_nothing_and_no_secret_is_stored(rec: LocalRecollect) -> None:
    rec.captures.add_assistant_memories(ANSWER)

    assert rec.captures.add_assistant_memories(ANSWER).added == {}
    assert b"0123456789abcdefghij" not in rec.path.read_bytes()


def test_an_answer_without_entries_is_refused_and_the_prompt_has_none_to_read_back(
    rec: LocalRecollect,
) -> None:
    with pytest.raises(InvalidInput, match="no entry"):
        rec.captures.add_assistant_memories("I do not remember anything about you.")
    entries = [entry.text for entry in parse_answer(PROMPT)]
    assert len(entries) == 1  # the line that shows the form
