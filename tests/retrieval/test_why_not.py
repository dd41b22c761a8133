"""`why_not` names the first rule that excluded a memory."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import LocalRecollect, NotFound
from support import START, open_memory


def test_each_rule_is_named(rec: LocalRecollect) -> None:
    stored = rec.ingest("The build uses pnpm.", project="site", tags=["ci"])

    def rule(query: str = "build pnpm", **filters: Any) -> str:
        return rec.why_not(stored.id, query, **({"project": "site"} | filters)).rule

    assert rule() == "returned"
    assert rule(statuses=["inbox"]) == "status"
    assert rule(types=["profile"]) == "type"
    assert rule(tags=["other"]) == "tags"
    assert rule(since=START + timedelta(days=1)) == "time"
    assert rule(until=START - timedelta(days=1)) == "time"
    assert rule(project="other") == "scope"
    assert rule(scopes=["global"]) == "scope"
    assert rule("capital of Mongolia") == "no match"
    assert rule("pnpm among so many entirely different unrelated words in one query") == "bar"


def test_an_outranked_memory_has_its_rank(rec: LocalRecollect) -> None:
    stored = rec.ingest("apple in a long sentence with many other things", project="p")
    for number in range(5):
        rec.ingest(f"apple {number}", project="p")

    verdict = rec.why_not(stored.id, "apple", project="p", limit=3)

    assert verdict.rule == "outranked"
    assert verdict.detail["rank"] == 6
    assert "limit is 3" in verdict.text


def test_a_scope_verdict_says_whether_a_link_would_help(rec: LocalRecollect) -> None:
    convention = rec.ingest("The build uses pnpm.", type="project", project="a")
    decision = rec.ingest("Builds run with pnpm.", type="decision", project="a")
    private = rec.ingest("The agent likes pnpm.", agent="anna")

    def text(memory_id: str) -> str:
        return rec.why_not(memory_id, "which pnpm version?", project="b").text

    assert "of another project is returned only if linked" in text(convention.id)
    assert "does not cover 75%" in text(decision.id)
    assert text(private.id).endswith("which this search cannot see.")
    rec.ingest("unrelated", project="b")
    rec.link(convention.id, "applies_to", "project:b")
    assert rec.why_not(convention.id, "weather", project="b").rule == "no match"


def test_without_embeddings_it_says_that_no_embedding_was_compared(
    words_only: LocalRecollect,
) -> None:
    stored = words_only.ingest("The build uses pnpm.")

    assert "embedding was not compared" in words_only.why_not(stored.id, "weather").text


def test_a_memory_missing_from_the_index_has_its_own_rule(path: Path) -> None:
    with open_memory(path, words_only=True) as rec:
        stored = rec.ingest("The build uses pnpm.")
    db = apsw.Connection(str(path))
    db.execute("DELETE FROM items")
    db.close()

    with open_memory(path, words_only=True) as rec:
        verdict = rec.why_not(stored.id, "pnpm")

        assert verdict.rule == "index"
        assert "recollect rebuild" in verdict.text
        with pytest.raises(NotFound):
            rec.why_not("ghost", "pnpm")
