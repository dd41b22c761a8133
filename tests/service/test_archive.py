"""The archive: an agent's passages, by words, tags and time; memories in every other respect."""

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from recollect import (
    InvalidInput,
    LocalRecollect,
    MemoryExplanation,
    NotFound,
    Retrieval,
    TooLarge,
)
from support import FakeClock, file_store, open_memory
from tables import each_row


@pytest.fixture
def anna(rec: LocalRecollect) -> LocalRecollect:
    """A memory with the agents anna and ben, who share a word."""
    rec.agents.create("anna")
    rec.agents.create("ben")
    rec.archive.insert("ben", "zebra of ben", tags=["ben"])
    return rec


def passages(rec: LocalRecollect, query: str = "zebra", **how: Any) -> list[str]:
    return [hit.memory.content for hit in rec.archive.search("anna", query, **how)]


def test_a_passage_is_a_memory_of_its_agent_and_of_nobody_else(anna: LocalRecollect) -> None:
    passage = anna.archive.insert("anna", "zebra of anna", tags=["b", "a"], title="Stripes")

    assert (passage.type, passage.scope, passage.status) == ("artifact", "agent", "active")
    assert (passage.agent_id, passage.tags, passage.title) == (
        anna.agents.get("anna").id,
        ("a", "b"),
        "Stripes",
    )
    assert passages(anna) == ["zebra of anna"]
    assert [hit.memory.id for hit in anna.search("zebra", agent="anna")] == [passage.id]
    assert anna.search("zebra") == []
    assert anna.memories.get(passage.id) == passage


def test_tags_are_any_of_them_or_all_of_them(anna: LocalRecollect) -> None:
    anna.archive.insert("anna", "zebra one", tags=["animal"])
    anna.archive.insert("anna", "zebra two", tags=["animal", "stripes"])
    anna.archive.insert("anna", "zebra three", tags=["music"])

    assert set(passages(anna, tags=["animal", "music"])) == {
        "zebra one",
        "zebra two",
        "zebra three",
    }
    assert passages(anna, tags=["animal", "stripes"], tag_match="all") == ["zebra two"]
    assert set(passages(anna, tags="animal")) == {"zebra one", "zebra two"}
    assert passages(anna, tags=["animal", "music"], tag_match="all") == []
    assert passages(anna, tags=["ben"]) == []
    assert len(passages(anna, tags=[], tag_match="all")) == 3
    assert passages(anna, tags=["ANIMAL"]) == []
    for bad in ("some", None, ["any"]):
        with pytest.raises(InvalidInput, match="use one of any, all"):
            passages(anna, tag_match=bad)


def test_times_bound_what_was_observed_then(anna: LocalRecollect) -> None:
    for day in ("2026-03-01", "2026-04-01", "2026-05-01"):
        anna.archive.insert("anna", f"zebra {day}", observed_at=f"{day}T15:00")

    assert set(passages(anna, since="2026-04-01")) == {"zebra 2026-05-01", "zebra 2026-04-01"}
    assert set(passages(anna, until="2026-04-01")) == {"zebra 2026-04-01", "zebra 2026-03-01"}
    assert passages(anna, since="2026-04-01T15:00", until="2026-04-01T15:00") == [
        "zebra 2026-04-01"
    ]
    assert passages(anna, since="2026-05-02") == []
    assert passages(anna, since="2026-05-01", until="2026-03-01") == []
    with pytest.raises(InvalidInput):
        passages(anna, since="once")


def test_an_empty_question_lists_the_newest_passages(
    anna: LocalRecollect, clock: FakeClock
) -> None:
    for number in range(4):
        clock.advance(days=1)
        anna.archive.insert("anna", f"passage {number}", tags=["even"] if number % 2 == 0 else [])

    assert passages(anna, "", limit=2) == ["passage 3", "passage 2"]
    assert passages(anna, "  ", tags=["even"]) == ["passage 2", "passage 0"]
    with pytest.raises(InvalidInput):
        passages(anna, "", limit=0)


def test_a_passage_over_the_limit_is_refused_with_its_size_and_what_to_do(
    anna: LocalRecollect,
) -> None:
    with pytest.raises(TooLarge) as caught:
        anna.archive.insert("anna", "word and another " * 20_000)

    assert "the limit of archival memory is 8,192" in str(caught.value)
    assert "Split it into passages that make sense alone" in str(caught.value)
    assert passages(anna, "word") == []
    anna.archive.insert("anna", "word " * 1_000)
    with pytest.raises(TooLarge, match=r"the passage has \d tokens; the limit .* is 1\."):
        anna.archive.insert("anna", "three plain words", token_limit=1)


@each_row(
    ("content", "more"),
    [
        ("", {}),
        ("  ", {}),
        (None, {}),
        ("x", {"tags": 5}),
        ("x", {"tags": ["t"] * 3 + [None]}),
        ("x", {"token_limit": 0}),
        ("x", {"observed_at": "someday"}),
    ],
    ids=str,
)
def test_what_is_no_passage_is_refused(anna: LocalRecollect, content: Any, more: Any) -> None:
    with pytest.raises(InvalidInput):
        anna.archive.insert("anna", content, **more)


def test_whoever_is_unknown_has_no_archive(rec: LocalRecollect) -> None:
    with pytest.raises(NotFound):
        rec.archive.insert("nobody", "x")
    with pytest.raises(NotFound):
        rec.archive.search("nobody", "x")
    assert rec.agents.list() == []


def test_a_passage_has_evidence_and_can_be_explained(anna: LocalRecollect) -> None:
    passage = anna.archive.insert("anna", "zebra of anna")
    explained = anna.explain(passage.id)

    assert isinstance(explained, MemoryExplanation)
    assert [piece.quote for piece in explained.memory.evidence] == ["zebra of anna"]
    assert [source.content for source in explained.sources] == ["zebra of anna"]
    assert explained.changes[0].by == "agent anna"


def test_a_search_of_the_archive_is_logged_and_can_be_explained(
    anna: LocalRecollect, path: Path
) -> None:
    passage = anna.archive.insert("anna", "zebra of anna")
    [hit] = anna.archive.search("anna", "zebra")
    anna._store.flush_log(timeout_s=1.0)
    with anna._store.read() as tables:
        shown = tables.retrievals.times_returned(passage.id)

    assert hit.explanation
    assert shown == 1
    with file_store(anna).read() as tables:
        ids = [row[0] for row in tables.connection.db.execute("SELECT id FROM retrievals")]
    logged = anna.explain(ids[-1])
    assert isinstance(logged, Retrieval)
    assert [hit.memory_id for hit in logged.hits] == [passage.id]


def test_a_forgotten_passage_is_gone_from_the_archive_and_the_file(
    anna: LocalRecollect, path: Path
) -> None:
    passage = anna.archive.insert("anna", "a walrus")
    anna.drain()
    anna.forget(passage.id)

    assert passages(anna, "walrus") == []
    assert b"walrus" not in path.read_bytes()
    assert anna.maintenance.verify().ok


def test_an_archive_goes_out_and_comes_in_again(anna: LocalRecollect, tmp_path: Path) -> None:
    anna.archive.insert("anna", "zebra of anna", tags=["animal"])
    exported = tmp_path / "e.jsonl"
    anna.export(exported)

    with open_memory(tmp_path / "other.db") as other:
        other.import_(exported, trust=True)
        hits = other.archive.search("anna", "zebra", tags=["animal"])

        assert [hit.memory.content for hit in hits] == ["zebra of anna"]
        assert other.maintenance.verify().ok


def test_secrets_in_a_passage_are_taken_out(anna: LocalRecollect, path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    anna.archive.insert("anna", f"zebra {secret}", tags=[f"t {secret}"], title=secret)
    passages(anna, f"zebra {secret}", tags=[f"t {secret}"])
    anna.close()

    for file in path.parent.glob("memory.db*"):
        assert secret.encode() not in file.read_bytes()


def test_passages_are_listed_by_time_from_a_passage_on(anna: LocalRecollect) -> None:
    kept = [anna.archive.insert("anna", f"zebra {n}") for n in range(5)]

    def listed(**how: Any) -> list[str]:
        return [passage.content[-1] for passage in anna.archive.list("anna", **how)]

    assert listed() == ["0", "1", "2", "3", "4"]
    assert listed(newest_first=True, limit=2) == ["4", "3"]
    assert listed(after=kept[1], limit=2) == ["2", "3"]
    assert listed(before=kept[4].id, limit=2) == ["2", "3"]
    assert listed(newest_first=True, before=kept[0], limit=1) == ["1"]
    assert listed(after=kept[0], before=kept[2]) == ["1"]
    with pytest.raises(NotFound, match="archive"):
        listed(after="nothing")


def test_an_agent_searches_the_archives_that_it_shares(anna: LocalRecollect) -> None:
    anna.archive.insert("anna", "zebra of anna")
    ben = anna.agents.get("ben")

    anna.agents.update("anna", metadata={"letta": {"archives": [ben.id, "deleted"]}})

    assert sorted(passages(anna)) == ["zebra of anna", "zebra of ben"]
    assert passages(anna, tags=["ben"]) == ["zebra of ben"]
    assert len(passages(anna, "")) == 2
    assert len(passages(anna, limit=1)) == 1
    for query in ("", "zebra"):
        pages = [passages(anna, query, limit=1, offset=offset) for offset in (0, 1, 2)]
        assert sorted(chain(*pages)) == ["zebra of anna", "zebra of ben"]


def test_pages_of_an_archive_are_disjoint_and_together_all(anna: LocalRecollect) -> None:
    for number in range(5):
        anna.archive.insert("anna", f"zebra {number}")

    for query in ("", "zebra", "train"):
        pages = [
            passages(anna, query, limit=2, offset=offset, below_threshold=True)
            for offset in (0, 2, 4, 6)
        ]
        assert [len(page) for page in pages] == [2, 2, 1, 0]
        assert sorted(chain(*pages)) == [f"zebra {number}" for number in range(5)]
