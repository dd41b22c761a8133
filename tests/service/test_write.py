"""Writing by hand: typed, scoped, redacted, with evidence, at once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect import (
    IllegalTransition,
    InvalidInput,
    LocalRecollect,
    MemoryExplanation,
    NotFound,
    Status,
    TooLarge,
)
from support import START, FakeClock, candidates, open_memory

TOKEN = "ghp_" + "a1B2" * 9


def test_a_memory_is_returned_as_it_is_stored(memory: LocalRecollect) -> None:
    kept = memory.ingest(
        "Use pnpm.",
        type="decision",
        project="site",
        title="Package manager",
        tags=["build", "build", " ci "],
        confidence=0.9,
        observed_at="2026-05-01T10:00",
        rationale="Faster.",
        alternatives=["npm", "yarn"],
    )

    assert memory.memories.get(kept.id) == kept
    assert kept.tags == ("build", "ci")
    assert kept.observed_at == datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
    assert kept.created_at == START
    assert kept.evidence[0].quote == "Use pnpm."
    assert kept.source_ref == kept.evidence[0].source_id
    assert kept.evidence_ref == (kept.evidence[0].id,)


@pytest.mark.parametrize(
    ("given", "scope", "kind"),
    [
        ({}, "global", "profile"),
        ({"project": "p"}, "project", "project"),
        ({"repo": "r"}, "repo", "project"),
        ({"project": "p", "repo": "r"}, "repo", "project"),
        ({"agent": "a"}, "agent", "artifact"),
        ({"session": "s"}, "session", "episode"),
        ({"project": "p", "agent": "a"}, "project", "project"),
        ({"project": "p", "scope": "global"}, "global", "profile"),
        ({"type": "task_hint"}, "global", "task_hint"),
    ],
    ids=str,
)
def test_scope_and_type_follow_from_where_it_is_written(
    memory: LocalRecollect, given: dict[str, str], scope: str, kind: str
) -> None:
    kept = memory.ingest("something", **given)  # type: ignore[arg-type]

    assert (kept.scope, kept.type) == (scope, kind)


@pytest.mark.parametrize(
    "given",
    [
        {"content": ""},
        {"content": "  \n"},
        {"content": None},
        {"content": 3},
        {"type": "fact"},
        {"scope": "universe"},
        {"scope": "project"},
        {"scope": "agent", "project": "p"},
        {"status": "archived"},
        {"confidence": 1.5},
        {"confidence": "high"},
        {"confidence": True},
        {"observed_at": "soon"},
        {"alternatives": 3},
        {"alternatives": ["x"] * 33},
        {"tags": 3},
        {"agent": ""},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_stored(
    memory: LocalRecollect, given: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput):
        memory.ingest(**({"content": "fine"} | given))  # type: ignore[arg-type]

    assert memory.maintenance.status().counts["memories"] == 0
    assert memory.maintenance.status().counts["sources"] == 0


def test_what_an_agent_writes_is_kept_as_the_agents_word(memory: LocalRecollect) -> None:
    one = memory.ingest("Use pnpm.", by="agent")
    two, three = memory.memories.ingest_many([{"content": "Use npm.", "by": "agent"}, {"content": "Hi."}])

    assert [kept.evidence[0].voice for kept in (one, two, three)] == ["assistant", "assistant", ""]
    for kept, by in ((one, "agent"), (two, "agent"), (three, "user")):
        explained = memory.explain(kept.id)
        assert isinstance(explained, MemoryExplanation)
        assert [change.by for change in explained.changes] == [by]
    memory.memories.set_status(one.id, "archived", by="agent")
    explained = memory.explain(one.id)
    assert isinstance(explained, MemoryExplanation)
    assert explained.changes[-1].by == "agent"
    for by in ("system", "engine", ""):
        with pytest.raises(InvalidInput):
            memory.ingest("Use yarn.", by=by)


def test_a_limit_is_named_with_the_size_that_broke_it(memory: LocalRecollect) -> None:
    with pytest.raises(TooLarge, match="content has 1,200,000 characters; the limit is 1,000,000"):
        memory.ingest("x" * 1_200_000)
    with pytest.raises(TooLarge, match="title"):
        memory.ingest("fine", title="x" * 1000)


def test_secrets_are_taken_out_of_every_field_and_listed(memory: LocalRecollect, path: Path) -> None:
    kept = memory.ingest(
        f"Deploy with {TOKEN} as always. <private>My diary.</private>",
        title=f"token {TOKEN}",
        rationale=f"because {TOKEN}",
        alternatives=[TOKEN],
        tags=[TOKEN],
    )

    assert kept.content == "Deploy with [redacted:github-token] as always. "
    assert kept.title == "token [redacted:github-token]"
    assert [(piece.kind, piece.field) for piece in kept.redactions] == [
        ("github-token", "content"),
        ("private", "content"),
        ("github-token", "title"),
        ("github-token", "tags"),
        ("github-token", "rationale"),
        ("github-token", "alternatives"),
    ]
    assert memory.memories.get(kept.id).redactions == kept.redactions
    memory.close()
    assert TOKEN.encode() not in path.read_bytes()
    assert b"diary" not in path.read_bytes()


def test_what_is_private_as_a_whole_is_not_stored(memory: LocalRecollect) -> None:
    with pytest.raises(InvalidInput, match="private as a whole"):
        memory.ingest("<private>all of it</private>")


def test_long_content_is_quoted_by_its_beginning(memory: LocalRecollect) -> None:
    kept = memory.ingest("beginning " * 1000)

    assert kept.evidence[0].quote == kept.content[:1000]


def test_several_memories_are_written_together_or_not_at_all(memory: LocalRecollect) -> None:
    with pytest.raises(InvalidInput):
        memory.memories.ingest_many([{"content": "fine"}, {"content": ""}])
    assert memory.maintenance.status().counts["memories"] == 0

    kept = memory.memories.ingest_many([{"content": "one", "project": "p"}, {"content": "two"}])

    assert [one.scope for one in kept] == ["project", "global"]


def test_a_profile_fact_is_replaced_and_its_former_value_stays_readable(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    first = memory.upsert_profile_fact("editor", "vim")
    clock.advance(days=1)
    same = memory.upsert_profile_fact("editor", "vim")
    second = memory.upsert_profile_fact("editor", "helix")
    explained = memory.explain(first.id)

    assert same.id == first.id
    assert same.confirmed_at > first.confirmed_at
    assert memory.memories.get(first.id).status is Status.SUPERSEDED
    assert [hit.memory.id for hit in memory.search("which editor?")] == [second.id]
    assert isinstance(explained, MemoryExplanation)
    assert [link.relation for link in explained.links] == ["supersedes"]
    assert f"Memory {second.id} supersedes this." in explained.text
    with pytest.raises(InvalidInput, match="key"):
        memory.upsert_profile_fact(" ", "x")
    with pytest.raises(IllegalTransition, match="is held by memory"):
        memory.promote(first.id)


def test_a_candidate_is_promoted_or_rejected_and_the_history_says_so(
    memory: LocalRecollect,
) -> None:
    good = memory.ingest("a good idea", status="inbox")
    bad = memory.ingest("a bad idea", status="inbox")
    assert {one.id for one in candidates(memory)} == {good.id, bad.id}
    assert memory.search("idea") == []

    memory.promote(good.id, reason="confirmed")
    memory.reject(bad.id, f"no, and {TOKEN} is a secret")
    explained = memory.explain(bad.id)

    assert [hit.memory.id for hit in memory.search("idea")] == [good.id]
    assert candidates(memory) == []
    assert isinstance(explained, MemoryExplanation)
    assert explained.changes[-1].reason == "no, and [redacted:github-token] is a secret"
    with pytest.raises(IllegalTransition, match="only a candidate"):
        memory.reject(good.id)
    with pytest.raises(IllegalTransition, match="may become"):
        memory.promote(good.id)
    assert memory.memories.set_status(good.id, "inbox", reason="undo").status is Status.INBOX


def test_links_are_said_once_and_superseding_moves_the_old_one(memory: LocalRecollect) -> None:
    old, new = memory.ingest("old way"), memory.ingest("new way")
    first = memory.link(new.id, "supersedes", old.id, note="changed")
    again = memory.link(new.id, "supersedes", old.id)

    assert again.id == first.id
    assert memory.memories.get(old.id).status is Status.SUPERSEDED
    with pytest.raises(InvalidInput, match="relation"):
        memory.link(new.id, "likes", old.id)
    with pytest.raises(InvalidInput, match="itself"):
        memory.link(new.id, "supports", new.id)
    with pytest.raises(NotFound, match="no project 'ghost'"):
        memory.link(new.id, "applies_to", "project:ghost")
    with pytest.raises(NotFound):
        memory.link(new.id, "supports", "ghost")


def test_every_write_leaves_an_event(memory: LocalRecollect) -> None:
    memory.ingest("one")
    memory.upsert_profile_fact("k", "v")

    assert [(event.trigger, event.state) for event in memory.captures.list()] == [("manual", "done")] * 2


def test_a_temporary_memory_leaves_no_file() -> None:
    memory = open_memory(Path(":memory:"))
    path = Path(memory.maintenance.status().path)
    memory.ingest("short-lived")
    assert path.exists()

    memory.close()

    assert not path.parent.exists()


def test_views_are_saved_run_and_deleted(memory: LocalRecollect) -> None:
    memory.ingest("Use pnpm.", type="decision", project="site")
    view = memory.views.save("decisions", "pnpm", types=["decision"], project="site")

    assert [hit.memory.content for hit in memory.views.run("decisions")] == ["Use pnpm."]
    assert memory.views.list() == [view]
    memory.views.delete("decisions")
    with pytest.raises(NotFound, match="no view 'decisions'"):
        memory.views.run("decisions")
    with pytest.raises(NotFound):
        memory.views.delete("decisions")
    with pytest.raises(InvalidInput, match="name"):
        memory.views.save(" ", "q")


def test_what_is_neither_memory_nor_retrieval_cannot_be_explained(memory: LocalRecollect) -> None:
    with pytest.raises(NotFound, match="neither"):
        memory.explain("nothing")
