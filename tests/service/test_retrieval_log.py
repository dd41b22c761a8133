"""The log of retrievals can be listed, and a source read in parts."""

import pytest

from recollect import InvalidInput, LocalRecollect, NotFound


def test_retrievals_are_listed_newest_first_and_by_agent_and_memory(
    words_only: LocalRecollect,
) -> None:
    words_only.agents.create("anna")
    port = words_only.ingest("The port is 8080.")
    words_only.search("which port?")
    words_only.search("the weather")
    words_only.search("port for anna", agent="anna")

    queries = [retrieval.query for retrieval in words_only.retrievals.list()]

    assert queries == ["port for anna", "the weather", "which port?"]
    assert [entry.query for entry in words_only.retrievals.list(limit=1, offset=1)] == queries[1:2]
    assert [entry.query for entry in words_only.retrievals.list(agent="anna")] == queries[:1]
    with_memory = words_only.retrievals.list(memory=port.id)
    assert [entry.query for entry in with_memory] == ["port for anna", "which port?"]
    assert with_memory[0].hits[0].memory_id == port.id
    assert words_only.retrievals.list(agent="nobody") == []


def test_a_part_of_a_source_is_read_around_a_quote(words_only: LocalRecollect) -> None:
    text = "a" * 5_000 + " The port is 8080. " + "b" * 5_000
    memory = words_only.ingest(text)
    source_id = memory.evidence[0].source_id
    start = text.index("The port")

    window = words_only.memories.read_source(source_id, start=start, end=start + 17, margin=10)

    assert window.text == text[start - 10 : start + 27]
    assert (window.start, window.end, window.length) == (start - 10, start + 27, len(text))


def test_a_window_outside_of_its_source_is_cut(words_only: LocalRecollect) -> None:
    source_id = words_only.ingest("Short.").evidence[0].source_id

    assert words_only.memories.read_source(source_id, start=999, end=9_999).text == "Short."
    with pytest.raises(InvalidInput, match="must not be before start"):
        words_only.memories.read_source(source_id, start=5, end=2)
    with pytest.raises(NotFound):
        words_only.memories.read_source("nothing")
