"""The acceptance scenarios of the shared-memory specification, in its words."""

from pathlib import Path

import pytest

import recollect
from recollect import LocalRecollect, MemoryExplanation, NotFound, Status
from support import FakeClock, open_memory

SYNONYMS = {"concise": "short", "brief": "short", "replies": "answers", "bundler": "pnpm"}


def contents(rec: LocalRecollect, query: str, **where: str) -> list[str]:
    return [hit.memory.content for hit in rec.search(query, **where)]  # type: ignore[arg-type]


def test_1_an_agent_in_a_gets_global_preferences_and_conventions_of_a_without_noise_of_b(
    path: Path,
) -> None:
    with recollect.open(path) as rec:  # as it comes: what is near is for the real model to say
        _an_agent_in_a(rec)


def _an_agent_in_a(rec: LocalRecollect) -> None:
    rec.ingest("Sebas prefers answers in short sentences.", type="profile", scope="global")
    rec.ingest("Project A formats code with four spaces.", type="project", project="a")
    rec.ingest("Project B formats code with tabs.", type="project", project="b")

    found = contents(rec, "how is code formatted, and in what sentences to answer?", project="a")
    bundle = rec.context_for("format the code of this project", project="a")

    assert "Project A formats code with four spaces." in found
    assert "Sebas prefers answers in short sentences." in found
    assert not any("Project B" in content for content in found)
    assert "four spaces" in bundle.text
    assert "short sentences" in bundle.text
    assert "tabs" not in bundle.text


def test_2_a_decision_of_project_a_appears_in_project_b_only_when_linked_or_strongly_relevant(
    rec: LocalRecollect,
) -> None:
    decision = rec.ingest(
        "Authentication uses signed session cookies instead of bearer tokens.",
        type="decision",
        project="a",
        rationale="Cookies survive a page reload.",
    )
    rec.ingest("The landing page is built with plain HTML.", project="b")

    loosely = contents(rec, "which cookies banner do we show?", project="b")
    strongly = rec.search("authentication: signed session cookies or bearer tokens?", project="b")
    verdict = rec.why_not(decision.id, "which cookies banner do we show?", project="b")
    rec.link(decision.id, "applies_to", "project:b")
    linked = rec.search("which cookies banner do we show?", project="b")

    assert decision.content not in loosely
    assert [(hit.memory.id, hit.reached) for hit in strongly] == [(decision.id, "relevant")]
    assert verdict.rule == "scope"
    assert [(hit.memory.id, hit.reached) for hit in linked] == [(decision.id, "linked")]
    assert "another project" in linked[0].explanation


def test_2_the_same_text_as_a_convention_never_crosses_unlinked(rec: LocalRecollect) -> None:
    rec.ingest(
        "Authentication uses signed session cookies instead of bearer tokens.",
        type="project",
        project="a",
    )

    found = rec.search("authentication: signed session cookies or bearer tokens?", project="b")

    assert found == []


def test_2_crossing_can_be_switched_off(path: Path) -> None:
    with open_memory(path, cross_project=False) as rec:
        rec.ingest("Authentication uses signed session cookies.", type="decision", project="a")

        assert rec.search("authentication signed session cookies", project="b") == []


def test_3_a_manually_saved_preference_is_available_at_once_before_embeddings_exist(
    words_only: LocalRecollect,
) -> None:
    saved = words_only.ingest("Answers should be short.", type="profile", scope="global")

    [hit] = words_only.search("how long should answers be?")

    assert hit.memory.id == saved.id
    assert hit.parts.semantic == 0
    assert words_only.maintenance.status().waiting == 1
    assert "Answers should be short." in words_only.context_for("write a reply").text


def test_6_two_contradictory_facts_coexist_with_explicit_status_and_evidence(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    old = rec.ingest("The release day is Friday.", project="site")
    clock.advance(days=3)
    new = rec.ingest("The release day is Tuesday.", project="site")
    rec.link(new.id, "contradicts", old.id)

    hits = {hit.memory.id: hit for hit in rec.search("which day is release day?", project="site")}
    bundle = rec.context_for("plan the release day", project="site")

    assert hits[old.id].conflicts == (new.id,)
    assert hits[new.id].conflicts == (old.id,)
    assert all(hit.memory.status is Status.ACTIVE for hit in hits.values())
    assert all(hit.evidence[0].quote == hit.memory.content for hit in hits.values())
    assert bundle.text.count("CONFLICT") == 2

    rec.memories.set_status(old.id, "contradicted", reason="the team moved it")
    after = {hit.memory.id: hit.memory.status for hit in rec.search("release day", project="site")}
    explained = rec.explain(old.id)

    assert after == {old.id: Status.CONTRADICTED, new.id: Status.ACTIVE}
    assert isinstance(explained, MemoryExplanation)
    assert [change.after for change in explained.changes] == [Status.ACTIVE, Status.CONTRADICTED]


def test_7_retrieval_combines_lexical_and_semantic_matches_and_explains_its_selection(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, synonyms=SYNONYMS) as rec:
        by_words = rec.ingest("Deploy on Tuesday mornings.", project="site")
        by_meaning = rec.ingest("Brief replies are preferred.", project="site")

        lexical = rec.search("when to deploy on Tuesday?", project="site")
        semantic = rec.search("concise answers", project="site")
        retrieval = rec.explain(semantic[0].retrieval_id or "")

        assert lexical[0].memory.id == by_words.id
        assert set(lexical[0].matched_words) == {"deploy", "Tuesday"}
        assert lexical[0].parts.keyword > 0
        assert "“deploy”" in lexical[0].explanation
        assert semantic[0].memory.id == by_meaning.id
        assert semantic[0].parts.keyword == 0
        assert semantic[0].parts.semantic > 0.25
        assert "meaning" in semantic[0].explanation
        assert not isinstance(retrieval, MemoryExplanation)
        assert retrieval.query == "concise answers"
        assert retrieval.hits[0].memory_id == by_meaning.id
        assert retrieval.hits[0].explanation == semantic[0].explanation


def test_8_export_and_import_preserve_ids_times_links_statuses_and_ingestion_history(
    rec: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    old = rec.upsert_profile_fact("editor", "vim")
    clock.advance(days=1)
    new = rec.upsert_profile_fact("editor", "helix")
    candidate = rec.ingest("Maybe use Rust.", project="site", status="inbox", tags=["idea"])
    rec.reject(candidate.id, "not now")
    rec.search("editor")
    rec.views.save("editors", "editor", types=["profile"])
    first = tmp_path / "first.jsonl"
    rec.export(first)

    second = tmp_path / "second.jsonl"
    with open_memory(tmp_path / "other.db") as other:
        imported = other.import_(first, trust=True)
        other.export(second)
        restored = other.memories.get(old.id)
        events = other.captures.list()
        explained = other.explain(new.id)

    assert first.read_bytes() == second.read_bytes()
    assert imported.added["memories"] == 3
    assert restored == rec.memories.get(old.id)
    assert restored.status is Status.SUPERSEDED
    assert events == rec.captures.list()
    assert isinstance(explained, MemoryExplanation)
    assert [(link.relation, link.to_id) for link in explained.links] == [("supersedes", old.id)]


def test_what_is_unknown_is_said_to_be_unknown(rec: LocalRecollect) -> None:
    with pytest.raises(NotFound, match="no memory 'nope'"):
        rec.memories.get("nope")
