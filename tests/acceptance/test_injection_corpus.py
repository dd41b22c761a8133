"""
No text of others becomes active or is told as the user's, whichever way it comes in.

The corpus has vectors for every door: transcripts of each client, `learning()` in all dialects,
MCP, hooks, imports and files. `outside.jsonl` was written without knowledge of the rules.
"""

from pathlib import Path

import pytest

from doc_examples import ROOT
from injection_doors import (
    CORPUS,
    DoorPlayer,
    active_memories,
    later_session_texts,
    lines_that_state,
    memories_with,
    read_corpus,
)
from support import open_memory

DOORS = ("transcript", "learning", "mcp", "hook", "import", "file")


@pytest.mark.fuzz
def test_nothing_that_the_user_did_not_type_becomes_active_or_is_told_as_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("RECOLLECT_EMBEDDING_BACKEND", "none")
    corpus = read_corpus()
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        player = DoorPlayer(rec, tmp_path)
        for number in (1, 2):
            for vector in corpus:
                with subtests.test(vector.id, door=vector.door):
                    player.play(vector, number)
            rec.drain()
        active = active_memories(rec)
        for vector in corpus:
            project = player.place(vector)
            agent = vector.id if vector.door in ("learning", "mcp", "file") else None
            query = " ".join(vector.planted)
            texts = later_session_texts(rec, query, project=project, agent=agent)
            for phrase in vector.planted:
                with subtests.test(vector.id, planted=phrase):
                    assert memories_with(active, phrase) == []
                    assert [line for text in texts for line in lines_that_state(text, phrase)] == []


def test_the_corpus_covers_every_door_and_half_of_it_is_by_an_outsider() -> None:
    everything = read_corpus()
    ids = [vector.id for vector in everything]
    outside = (CORPUS / "outside.jsonl").read_text(encoding="utf-8").splitlines()
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")

    assert len(everything) >= 150
    assert len(outside) >= len(everything) / 2
    assert f"runs {len(everything)} attacks over every way in,\n  {len(outside)} of them" in page
    assert {vector.door for vector in everything} == set(DOORS)
    assert len(ids) == len(set(ids))
    assert all(vector.planted for vector in everything)
