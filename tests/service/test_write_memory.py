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
from tables import each_row

TOKEN = "ghp_" + "a1B2" * 9


def test_a_memory_is_returned_as_it_is_stored(rec: LocalRecollect) -> None:
    memory = rec.ingest(
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

    assert rec.memories.get(memory.id) == memory
    assert memory.tags == ("build", "ci")
    assert memory.observed_at == datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
    assert memory.created_at == START
    assert memory.evidence[0].quote == "Use pnpm."
    assert memory.source_ref == memory.evidence[0].source_id
    assert memory.evidence_ref == (memory.evidence[0].id,)


@pytest.mark.parametrize(
    ("arguments", "scope", "kind"),
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
    rec: LocalRecollect, arguments: dict[str, str], scope: str, kind: str
) -> None:
    memory = rec.ingest("something", **arguments)  # type: ignore[arg-type]

    assert (memory.scope, memory.type) == (scope, kind)


@each_row(
    "arguments",
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
    rec: LocalRecollect, arguments: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput):
        rec.ingest(**({"content": "fine"} | arguments))  # type: ignore[arg-type]

    assert rec.maintenance.status().counts["memories"] == 0
    assert rec.maintenance.status().counts["sources"] == 0


def test_what_an_agent_writes_is_recorded_as_written_by_an_agent(rec: LocalRecollect) -> None:
    first = rec.ingest("Use pnpm.", by="agent")
    second, third = rec.memories.ingest_many(
        [{"content": "Use npm.", "by": "agent"}, {"content": "Hi."}]
    )

    assert [memory.evidence[0].voice for memory in (first, second, third)] == [
        "assistant",
        "assistant",
        "",
    ]
    for memory, by in ((first, "agent"), (second, "agent"), (third, "user")):
        explained = rec.explain(memory.id)
        assert isinstance(explained, MemoryExplanation)
        assert [change.by for change in explained.changes] == [by]
    rec.memories.set_status(first.id, "archived", by="agent")
    explained = rec.explain(first.id)
    assert isinstance(explained, MemoryExplanation)
    assert explained.changes[-1].by == "agent"
    for by in ("system", "engine", ""):
        with pytest.raises(InvalidInput):
            rec.ingest("Use yarn.", by=by)


def test_a_limit_is_named_with_the_size_that_broke_it(rec: LocalRecollect) -> None:
    with pytest.raises(TooLarge, match="content has 1,200,000 characters; the limit is 1,000,000"):
        rec.ingest("x" * 1_200_000)
    with pytest.raises(TooLarge, match="title"):
        rec.ingest("fine", title="x" * 1000)


def test_secrets_are_taken_out_of_every_field_and_listed(rec: LocalRecollect, path: Path) -> None:
    memory = rec.ingest(
        f"Deploy with {TOKEN} as always. <private>My diary.</private>",
        title=f"token {TOKEN}",
        rationale=f"because {TOKEN}",
        alternatives=[TOKEN],
        tags=[TOKEN],
    )

    assert memory.content == "Deploy with [redacted:github-token] as always. "
    assert memory.title == "token [redacted:github-token]"
    assert [(piece.kind, piece.field) for piece in memory.redactions] == [
        ("github-token", "content"),
        ("private", "content"),
        ("github-token", "title"),
        ("github-token", "tags"),
        ("github-token", "rationale"),
        ("github-token", "alternatives"),
    ]
    assert rec.memories.get(memory.id).redactions == memory.redactions
    rec.close()
    assert TOKEN.encode() not in path.read_bytes()
    assert b"diary" not in path.read_bytes()


def test_what_is_private_as_a_whole_is_not_stored(rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput, match="private as a whole"):
        rec.ingest("<private>all of it</private>")


def test_long_content_is_quoted_by_its_beginning(rec: LocalRecollect) -> None:
    memory = rec.ingest("beginning " * 1000)

    assert memory.evidence[0].quote == memory.content[:1000]


def test_several_memories_are_written_together_or_not_at_all(rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput):
        rec.memories.ingest_many([{"content": "fine"}, {"content": ""}])
    assert rec.maintenance.status().counts["memories"] == 0

    memories = rec.memories.ingest_many([{"content": "one", "project": "p"}, {"content": "two"}])

    assert [memory.scope for memory in memories] == ["project", "global"]


def test_a_profile_fact_is_replaced_and_its_former_value_stays_readable(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    first = rec.upsert_profile_fact("editor", "vim")
    clock.advance(days=1)
    same = rec.upsert_profile_fact("editor", "vim")
    second = rec.upsert_profile_fact("editor", "helix")
    explained = rec.explain(first.id)

    assert same.id == first.id
    assert same.confirmed_at > first.confirmed_at
    assert rec.memories.get(first.id).status is Status.SUPERSEDED
    assert [hit.memory.id for hit in rec.search("which editor?")] == [second.id]
    assert isinstance(explained, MemoryExplanation)
    assert [link.relation for link in explained.links] == ["supersedes"]
    assert f"Memory {second.id} supersedes this." in explained.text
    with pytest.raises(InvalidInput, match="key"):
        rec.upsert_profile_fact(" ", "x")
    with pytest.raises(IllegalTransition, match="is held by memory"):
        rec.promote(first.id)


def test_a_candidate_is_promoted_or_rejected_and_the_history_says_so(
    rec: LocalRecollect,
) -> None:
    good = rec.ingest("a good idea", status="inbox")
    bad = rec.ingest("a bad idea", status="inbox")
    assert {memory.id for memory in candidates(rec)} == {good.id, bad.id}
    assert rec.search("idea") == []

    rec.promote(good.id, reason="confirmed")
    rec.reject(bad.id, f"no, and {TOKEN} is a secret")
    explained = rec.explain(bad.id)

    assert [hit.memory.id for hit in rec.search("idea")] == [good.id]
    assert candidates(rec) == []
    assert isinstance(explained, MemoryExplanation)
    assert explained.changes[-1].reason == "no, and [redacted:github-token] is a secret"
    with pytest.raises(IllegalTransition, match="only a candidate"):
        rec.reject(good.id)
    with pytest.raises(IllegalTransition, match="may become"):
        rec.promote(good.id)
    assert rec.memories.set_status(good.id, "inbox", reason="undo").status is Status.INBOX


def test_links_are_stored_once_and_superseding_changes_the_old_memory(rec: LocalRecollect) -> None:
    old, new = rec.ingest("old way"), rec.ingest("new way")
    first = rec.link(new.id, "supersedes", old.id, note="changed")
    again = rec.link(new.id, "supersedes", old.id)

    assert again.id == first.id
    assert rec.memories.get(old.id).status is Status.SUPERSEDED
    with pytest.raises(InvalidInput, match="relation"):
        rec.link(new.id, "likes", old.id)
    with pytest.raises(InvalidInput, match="itself"):
        rec.link(new.id, "supports", new.id)
    with pytest.raises(NotFound, match="no project 'ghost'"):
        rec.link(new.id, "applies_to", "project:ghost")
    with pytest.raises(NotFound):
        rec.link(new.id, "supports", "ghost")


def test_every_write_leaves_an_event(rec: LocalRecollect) -> None:
    rec.ingest("one")
    rec.upsert_profile_fact("k", "v")

    assert [(event.trigger, event.state) for event in rec.captures.list()] == [
        ("manual", "done")
    ] * 2


def test_a_temporary_memory_leaves_no_file() -> None:
    rec = open_memory(Path(":memory:"))
    path = Path(rec.maintenance.status().path)
    rec.ingest("short-lived")
    assert path.exists()

    rec.close()

    assert not path.parent.exists()


def test_views_are_saved_run_and_deleted(rec: LocalRecollect) -> None:
    rec.ingest("Use pnpm.", type="decision", project="site")
    view = rec.views.save("decisions", "pnpm", types=["decision"], project="site")

    assert [hit.memory.content for hit in rec.views.run("decisions")] == ["Use pnpm."]
    assert rec.views.list() == [view]
    rec.views.delete("decisions")
    with pytest.raises(NotFound, match="no view 'decisions'"):
        rec.views.run("decisions")
    with pytest.raises(NotFound):
        rec.views.delete("decisions")
    with pytest.raises(InvalidInput, match="name"):
        rec.views.save(" ", "q")


def test_what_is_neither_memory_nor_retrieval_cannot_be_explained(rec: LocalRecollect) -> None:
    with pytest.raises(NotFound, match="neither"):
        rec.explain("nothing")
