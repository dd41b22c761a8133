"""The inbox: groups of candidates, grouped duplicates, and one decision for all of them."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from recollect import IllegalTransition, InvalidInput, LocalRecollect, Memory, MemoryExplanation
from support import FakeClock

ATLAS = "The backup runs on host atlas."
NIGHTLY = "The nightly backup runs on host atlas."
PORT = "The staging server listens on port 8080."
OTHER_PORT = "The staging server listens on port 9090."


def add_candidates(rec: LocalRecollect, *texts: str, **options: Any) -> list[Memory]:
    """Add candidates to the inbox without consolidating them."""
    fields = {"project": "site", "status": "inbox", **options}
    return rec.memories.ingest_many([{"content": text, **fields} for text in texts])


def statuses(rec: LocalRecollect, *memories: Memory) -> list[str]:
    return [rec.memories.get(memory.id).status.value for memory in memories]


def capture_text(rec: LocalRecollect, text: str, session: str, **options: Any) -> None:
    talk = [{"role": "user", "content": text}]
    rec.capture_session(talk, **{"project": "site", "session": session, **options})
    rec.drain()


# ── reading ─────────────────────────────────────────────────────────────────────────────────────


def test_candidates_come_in_groups_the_most_certain_group_first(rec: LocalRecollect) -> None:
    add_candidates(rec, "Deploys are on Fridays.", type="project", confidence=0.6)
    add_candidates(rec, "We chose pnpm.", type="decision", confidence=0.9)
    add_candidates(rec, "The wiki moves in June.", type="project", confidence=0.8)
    add_candidates(rec, "I like tea.", type="profile", scope="global", project=None, confidence=0.7)
    items = rec.inbox.list()

    assert [(item.group, item.memory.confidence) for item in items] == [
        ("site · decisions", 0.9),
        ("site · how things are", 0.8),
        ("site · how things are", 0.6),
        ("everywhere · about the user", 0.7),
    ]
    assert [(item.number, item.of) for item in items] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_page_of_the_inbox_is_what_the_list_says_in_the_same_order(rec: LocalRecollect) -> None:
    add_candidates(rec, ATLAS, "The wiki moves in June.", PORT, type="project")
    add_candidates(rec, NIGHTLY, "Deploys are on Fridays.", type="project", confidence=0.8)
    add_candidates(rec, "We chose pnpm.", "We chose Go.", type="decision", project="tool")
    add_candidates(rec, "A session took place.", type="episode")
    capture_text(rec, "We decided to use SQLite, because it is one file.", "monday")
    rec.ingest(PORT, project="site", type="project")
    listed = {item.memory.id: item for item in rec.inbox.list(limit=100)}
    folded = {other.id for item in listed.values() for other in item.duplicates}

    order = rec.inbox.order()
    items = rec.inbox.items([*order, "no such id"])

    assert [memory_id for memory_id in order if memory_id not in folded] == list(listed)
    assert set(order) == {*listed, *folded}
    assert [item.memory.id for item in items] == order
    for item in items:
        if (other := listed.get(item.memory.id)) is not None:
            assert item == replace(other, number=0, of=0)


def test_what_was_decided_meanwhile_is_not_an_item_of_the_inbox(rec: LocalRecollect) -> None:
    kept, waiting = add_candidates(rec, ATLAS, PORT)
    rec.inbox.promote(kept.id)

    assert [item.memory.id for item in rec.inbox.items([kept.id, waiting.id])] == [waiting.id]
    assert rec.maintenance.pending().inbox == 1


def test_records_of_sessions_come_last_of_all(rec: LocalRecollect) -> None:
    add_candidates(rec, "A session took place.", type="episode", confidence=1.0)
    add_candidates(rec, "Deploys are on Fridays.", project="tool", type="project", confidence=0.2)

    assert [item.group for item in rec.inbox.list()] == [
        "tool · how things are",
        "site · records of sessions",
    ]


def test_a_limit_counts_groups_and_shows_how_many_there_are(rec: LocalRecollect) -> None:
    add_candidates(rec, ATLAS, NIGHTLY, "Deploys are on Fridays.", "The wiki moves in June.")
    items = rec.inbox.list(limit=2)

    assert [(item.number, item.of) for item in items] == [(1, 3), (2, 3)]


def test_duplicates_are_grouped_and_nothing_is_hidden(rec: LocalRecollect) -> None:
    memories = add_candidates(rec, ATLAS, NIGHTLY, PORT, OTHER_PORT)
    items = rec.inbox.list()

    members = [memory.id for item in items for memory in (item.memory, *item.duplicates)]
    assert sorted(members) == sorted(memory.id for memory in memories)
    assert sorted(len(item.duplicates) for item in items) == [0, 0, 1]


def test_the_same_inbox_is_read_in_the_same_order(rec: LocalRecollect) -> None:
    add_candidates(rec, *(f"Fact {n} of the wiki is short." for n in range(20)), ATLAS, NIGHTLY)

    assert rec.inbox.list() == rec.inbox.list()


def test_what_an_active_memory_says_already_is_shown_as_such(rec: LocalRecollect) -> None:
    known = rec.ingest("We use pnpm for the builds.", type="project", project="site")
    everywhere = rec.ingest("Answers should be short and plain.", type="project")
    add_candidates(
        rec, "We use pnpm for builds.", "Answers should be short and plain.", type="project"
    )
    add_candidates(rec, "The wiki moves in June.", type="project")
    stored = {item.memory.content: item.already_stored for item in rec.inbox.list()}

    assert {text: memory and memory.id for text, memory in stored.items()} == {
        "We use pnpm for builds.": known.id,
        "Answers should be short and plain.": everywhere.id,
        "The wiki moves in June.": None,
    }


def test_memories_of_another_project_are_not_shown(rec: LocalRecollect) -> None:
    rec.ingest("We use pnpm for builds.", type="project", project="secret")
    add_candidates(rec, "We use pnpm for builds.", type="project")

    assert [item.already_stored for item in rec.inbox.list()] == [None]


def test_the_number_of_sessions_is_shown(rec: LocalRecollect) -> None:
    capture_text(rec, "The staging server runs on port 8080, I am told.", "monday")
    capture_text(rec, "I live in Porto.", "monday")

    assert {item.sessions for item in rec.inbox.list()} == {1}


# ── deciding ────────────────────────────────────────────────────────────────────────────────────


def test_keep_activates_the_representative_and_archives_its_duplicates_with_their_evidence(
    rec: LocalRecollect,
) -> None:
    candidate, duplicate, other = add_candidates(rec, ATLAS, NIGHTLY, PORT)
    changed = rec.inbox.decide(candidate.id, "keep", reason="I know it")

    assert [memory.id for memory in changed] == [candidate.id, duplicate.id]
    assert statuses(rec, candidate, duplicate, other) == ["active", "archived", "inbox"]
    assert {piece.quote for piece in changed[0].evidence} == {ATLAS, NIGHTLY}
    assert rec.memories.get(duplicate.id).evidence[0].quote == NIGHTLY
    explained = rec.explain(candidate.id)
    assert isinstance(explained, MemoryExplanation)
    assert [(link.from_id, link.relation.value) for link in explained.links] == [
        (duplicate.id, "supports")
    ]
    assert explained.changes[-1].reason == "I know it"
    assert rec.maintenance.verify().ok


def test_reject_archives_representative_and_duplicates(rec: LocalRecollect) -> None:
    candidate, duplicate = add_candidates(rec, ATLAS, NIGHTLY)
    changed = rec.inbox.decide(candidate.id, "reject", reason="old")

    assert [memory.id for memory in changed] == [candidate.id, duplicate.id]
    assert statuses(rec, candidate, duplicate) == ["archived", "archived"]


def test_replace_supersedes_what_it_speaks_against(rec: LocalRecollect, clock: FakeClock) -> None:
    old = rec.ingest(PORT, project="site")
    clock.advance(days=1)
    capture_text(rec, OTHER_PORT, "monday")
    [line] = rec.inbox.list()
    changed = rec.inbox.decide(line.memory.id, "replace")

    assert [memory.id for memory in changed] == [line.memory.id, old.id]
    assert statuses(rec, line.memory, old) == ["active", "superseded"]
    rec.undo(line.memory.id)
    assert statuses(rec, line.memory, old) == ["inbox", "active"]


@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_undo_of_the_representative_restores_its_duplicates(
    rec: LocalRecollect, verdict: str
) -> None:
    candidate, duplicate = add_candidates(rec, ATLAS, NIGHTLY)
    before = [(line.memory.id, [also.id for also in line.duplicates]) for line in rec.inbox.list()]
    rec.inbox.decide(candidate.id, verdict)
    rec.undo(candidate.id)

    assert statuses(rec, candidate, duplicate) == ["inbox", "inbox"]
    assert [(x.memory.id, [also.id for also in x.duplicates]) for x in rec.inbox.list()] == before
    assert [len(rec.memories.get(memory.id).evidence) for memory in (candidate, duplicate)] == [
        1,
        1,
    ]
    again = rec.inbox.decide(candidate.id, "keep")
    assert len(again[0].evidence) == 2


def test_undo_of_the_representative_restores_its_confidence(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    [candidate] = add_candidates(rec, ATLAS, confidence=0.6)
    add_candidates(rec, NIGHTLY, confidence=0.7)
    add_candidates(rec, "The backup runs on the host atlas.", confidence=0.9)
    clock.advance(days=1)
    memories, *_ = rec.inbox.decide(candidate.id, "keep")
    back = rec.undo(candidate.id)

    assert (memories.confidence, memories.confirmed_at) == (0.9, clock.now())
    assert (back.confidence, back.confirmed_at) == (0.6, candidate.confirmed_at)
    assert rec.memories.get(candidate.id) == back
    assert rec.inbox.decide(candidate.id, "keep")[0].confidence == 0.9
    assert rec.undo(candidate.id).confidence == 0.6


def test_undo_leaves_how_sure_a_later_session_made_it(rec: LocalRecollect) -> None:
    [candidate] = add_candidates(rec, PORT, confidence=0.2)
    add_candidates(rec, f"{PORT[:-1]} now.", confidence=0.3)
    assert rec.inbox.decide(candidate.id, "keep")[0].confidence == 0.3
    capture_text(rec, PORT, "monday")
    later = rec.memories.get(candidate.id).confidence

    assert later > 0.3
    assert rec.undo(candidate.id).confidence == later


def test_undo_of_several_leaves_none_of_them_filed_away(rec: LocalRecollect) -> None:
    candidate, duplicate = add_candidates(rec, ATLAS, NIGHTLY)
    rec.inbox.decide([candidate.id, duplicate.id], "keep")
    rec.inbox.undo([candidate.id, duplicate.id])

    assert statuses(rec, candidate, duplicate) == ["inbox", "inbox"]


def test_the_duplicates_of_each_are_listed(rec: LocalRecollect) -> None:
    candidate, duplicate, other = add_candidates(rec, ATLAS, NIGHTLY, PORT)

    duplicates = [
        [memory.id for memory in rec.engine.duplicates_of(each.id)]
        for each in (candidate, duplicate, other)
    ]
    assert duplicates == [[duplicate.id], [candidate.id], []]


def test_undo_leaves_a_duplicate_that_was_decided_since(rec: LocalRecollect) -> None:
    candidate, duplicate = add_candidates(rec, ATLAS, NIGHTLY)
    rec.inbox.decide(candidate.id, "keep")
    rec.promote(rec.undo(duplicate.id).id)
    rec.undo(candidate.id)

    assert statuses(rec, candidate, duplicate) == ["inbox", "active"]


def test_the_named_duplicate_is_the_representative(rec: LocalRecollect) -> None:
    candidate, duplicate = add_candidates(rec, ATLAS, NIGHTLY)
    changed = rec.inbox.decide(duplicate.id, "keep")

    assert [memory.id for memory in changed] == [duplicate.id, candidate.id]
    assert statuses(rec, candidate, duplicate) == ["archived", "active"]


def test_several_are_decided_at_once_all_or_none(rec: LocalRecollect) -> None:
    candidate, duplicate, port = add_candidates(rec, ATLAS, NIGHTLY, PORT)
    active = rec.ingest("by hand")
    with pytest.raises(IllegalTransition, match="is active; only a candidate"):
        rec.inbox.decide([candidate.id, active.id], "keep")
    nothing = statuses(rec, candidate, duplicate, port)
    changed = rec.inbox.decide([candidate.id, duplicate.id, port.id], "keep")

    assert nothing == ["inbox"] * 3
    assert [memory.id for memory in changed] == [candidate.id, duplicate.id, port.id]
    assert statuses(rec, candidate, duplicate, port) == ["active", "archived", "active"]


def test_what_is_kept_does_not_count_as_junk(rec: LocalRecollect) -> None:
    capture_text(rec, "We keep the invoices of the shop in the folder billing.", "monday")
    capture_text(rec, "We keep the invoices of the whole shop in the folder billing.", "tuesday")
    for line in rec.inbox.list(types=["project"]):
        rec.inbox.decide(line.memory.id, "keep")

    assert rec.maintenance.status().rejected == 0


def test_an_unknown_verdict_is_refused(rec: LocalRecollect) -> None:
    [candidate] = add_candidates(rec, ATLAS)

    with pytest.raises(InvalidInput, match="keep"):
        rec.inbox.decide(candidate.id, "maybe")
    assert rec.inbox.decide([], "keep") == []


def test_what_somebody_else_decided_is_not_decided_again(rec: LocalRecollect) -> None:
    candidate, duplicate = add_candidates(rec, ATLAS, NIGHTLY)
    rec.reject(candidate.id)

    with pytest.raises(IllegalTransition, match="is archived; only a candidate"):
        rec.inbox.decide(candidate.id, "keep")
    assert statuses(rec, candidate, duplicate) == ["archived", "inbox"]


def test_of_two_concurrent_decisions_one_wins_for_all_duplicates(
    rec: LocalRecollect,
) -> None:
    for number in range(6):
        candidate, duplicate = add_candidates(rec, f"Host {number} keeps the backup of atlas.",
                         f"Host {number} keeps the nightly backup of atlas.")  # fmt: skip

        def decided(verdict: str, memory: Memory = candidate) -> bool:
            try:
                return bool(rec.inbox.decide(memory.id, verdict))
            except IllegalTransition:
                return False

        with ThreadPoolExecutor(2) as both:
            won = list(both.map(decided, ["keep", "reject"]))

        assert sorted(won) == [False, True]
        lead = "active" if won[0] else "archived"
        assert statuses(rec, candidate, duplicate) == [lead, "archived"]


def test_the_text_around_a_quote_is_cut_between_words(rec: LocalRecollect) -> None:
    talk = f"{'earlier ' * 40}\n\nI prefer short answers. {'later ' * 40}"
    rec.capture_session([{"role": "user", "content": talk}])
    rec.drain()

    [item] = [item for item in rec.inbox.list() if "short answers" in item.memory.content]

    assert item.before.startswith("… earlier ")
    assert item.after.endswith(" later …")


# ── two candidates that contradict each other ───────────────────────────────────────────────────


@pytest.fixture
def contradicting(rec: LocalRecollect, clock: FakeClock) -> tuple[Memory, Memory]:
    """Two candidates that contradict each other, the older one first."""
    for port in (PORT, OTHER_PORT):
        capture_text(rec, port, port)
        clock.advance(hours=1)
    newer, older = rec.memories.list(everywhere=True, statuses=["inbox"], types=["project"])
    return older, newer


def candidates_listed(rec: LocalRecollect, **options: Any) -> list[str]:
    items = rec.inbox.list(types=["project"], **options)
    return [item.memory.id for item in items]


def test_two_candidates_that_contradict_each_other_are_one_item_with_both_quotes(
    rec: LocalRecollect, contradicting: tuple[Memory, Memory]
) -> None:
    older, newer = contradicting

    [item] = rec.inbox.list(types=["project"])

    assert (item.memory.id, item.of) == (newer.id, 1)
    [other] = item.conflicts
    assert (other.id, other.evidence[0].quote) == (older.id, PORT)
    assert candidates_listed(rec, grouped=False) == [newer.id, older.id]


def test_replace_decides_both_of_two_candidates_and_undo_takes_both_back(
    rec: LocalRecollect, contradicting: tuple[Memory, Memory]
) -> None:
    older, newer = contradicting

    rec.inbox.decide(newer.id, "replace")

    assert statuses(rec, older, newer) == ["superseded", "active"]
    assert candidates_listed(rec) == []
    rec.undo(newer.id)
    assert candidates_listed(rec) == [newer.id]
    assert statuses(rec, older, newer) == ["inbox", "inbox"]


@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_if_only_the_newer_one_is_decided_the_older_one_is_an_item_of_its_own(
    rec: LocalRecollect, contradicting: tuple[Memory, Memory], verdict: str
) -> None:
    older, newer = contradicting

    rec.inbox.decide(newer.id, verdict)

    assert candidates_listed(rec) == [older.id]


def test_of_three_candidates_the_first_is_shown_if_only_the_second_contradicts_it(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    [first] = add_candidates(rec, "The lamp is red.")
    clock.advance(hours=1)
    [second] = add_candidates(rec, "We drink tea.")
    clock.advance(hours=1)
    [third] = add_candidates(rec, "Cats sleep.")
    rec.link(second.id, "contradicts", first.id)
    rec.link(third.id, "contradicts", second.id)

    assert set(candidates_listed(rec)) == {first.id, third.id}


def test_an_older_candidate_is_shown_beside_a_newer_one_of_another_list(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    [older] = add_candidates(rec, "We drink tea.")
    clock.advance(hours=1)
    [newer] = add_candidates(rec, "We drink coffee.", type="decision")
    rec.link(newer.id, "contradicts", older.id)

    assert candidates_listed(rec) == [older.id]
    assert [item.memory.id for item in rec.inbox.list()] == [newer.id]


def test_each_item_names_its_session_also_one_without_a_name(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="coder", project="site")
    rec.conversations.append(talk, "user", "Our dentist is Dr Lee in Cork.")
    rec.conversations.end(talk, capture=True)
    for tool, names in (
        ("pnpm", {}),
        ("vite", {"session": "monday"}),
        ("biome", {"session": "tuesday", "title": "Talk of tuesday"}),
    ):
        said = [{"role": "user", "content": f"We use {tool} for the site."}]
        rec.capture_session(said, project="site", **names)
    rec.ingest("The wiki says pnpm.", project="site", status="inbox")
    rec.drain()

    sources = sorted(item.source.rpartition(", ")[0] for item in rec.inbox.list(grouped=False))

    assert sources[:3] == ["Talk of tuesday", f"conversation …{talk.id[-8:]}", "manual"]
    assert re.fullmatch(r"session [0-9a-f]{8}", sources[3])
    assert sources[4:] == ["session monday"]
