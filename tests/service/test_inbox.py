"""The inbox as it is read and decided: groups, folds, one decision for all that says the same."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from recollect import IllegalTransition, InvalidInput, LocalRecollect, Memory, MemoryExplanation
from support import FakeClock

ATLAS = "The backup runs on host atlas."
NIGHTLY = "The nightly backup runs on host atlas."
PORT = "The staging server listens on port 8080."
OTHER_PORT = "The staging server listens on port 9090."


def wait(memory: LocalRecollect, *texts: str, **told: Any) -> list[Memory]:
    """Put candidates into the inbox as nobody has consolidated them."""
    given = {"project": "site", "status": "inbox", **told}
    return memory.memories.ingest_many([{"content": text, **given} for text in texts])


def statuses(memory: LocalRecollect, *found: Memory) -> list[str]:
    return [memory.memories.get(one.id).status.value for one in found]


def said(memory: LocalRecollect, text: str, session: str, **told: Any) -> None:
    talk = [{"role": "user", "content": text}]
    memory.capture_session(talk, **{"project": "site", "session": session, **told})
    memory.drain()


# ── reading ─────────────────────────────────────────────────────────────────────────────────────


def test_candidates_come_in_groups_the_most_certain_group_first(memory: LocalRecollect) -> None:
    wait(memory, "Deploys are on Fridays.", type="project", confidence=0.6)
    wait(memory, "We chose pnpm.", type="decision", confidence=0.9)
    wait(memory, "The wiki moves in June.", type="project", confidence=0.8)
    wait(memory, "I like tea.", type="profile", scope="global", project=None, confidence=0.7)
    found = memory.inbox.list()

    assert [(one.group, one.memory.confidence) for one in found] == [
        ("site · decisions", 0.9),
        ("site · how things are", 0.8),
        ("site · how things are", 0.6),
        ("everywhere · about the user", 0.7),
    ]
    assert [(one.number, one.of) for one in found] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_records_of_sessions_come_last_of_all(memory: LocalRecollect) -> None:
    wait(memory, "A session took place.", type="episode", confidence=1.0)
    wait(memory, "Deploys are on Fridays.", project="tool", type="project", confidence=0.2)

    assert [one.group for one in memory.inbox.list()] == [
        "tool · how things are",
        "site · records of sessions",
    ]


def test_a_limit_counts_leads_and_says_how_many_more_there_are(memory: LocalRecollect) -> None:
    wait(memory, ATLAS, NIGHTLY, "Deploys are on Fridays.", "The wiki moves in June.")
    found = memory.inbox.list(limit=2)

    assert [(one.number, one.of) for one in found] == [(1, 3), (2, 3)]


def test_twins_are_folded_and_nothing_is_hidden(memory: LocalRecollect) -> None:
    kept = wait(memory, ATLAS, NIGHTLY, PORT, OTHER_PORT)
    found = memory.inbox.list()

    members = [one.id for line in found for one in (line.memory, *line.also)]
    assert sorted(members) == sorted(one.id for one in kept)
    assert sorted(len(one.also) for one in found) == [0, 0, 1]


def test_the_same_inbox_is_read_in_the_same_order(memory: LocalRecollect) -> None:
    wait(memory, *(f"Fact {n} of the wiki is short." for n in range(20)), ATLAS, NIGHTLY)

    assert memory.inbox.list() == memory.inbox.list()


def test_what_an_active_memory_says_already_is_shown_as_such(memory: LocalRecollect) -> None:
    known = memory.ingest("We use pnpm for the builds.", type="project", project="site")
    everywhere = memory.ingest("Answers should be short and plain.", type="project")
    wait(memory, "We use pnpm for builds.", "Answers should be short and plain.", type="project")
    wait(memory, "The wiki moves in June.", type="project")
    found = {one.memory.content: one.known for one in memory.inbox.list()}

    assert {text: one and one.id for text, one in found.items()} == {
        "We use pnpm for builds.": known.id,
        "Answers should be short and plain.": everywhere.id,
        "The wiki moves in June.": None,
    }


def test_what_another_project_knows_is_not_told(memory: LocalRecollect) -> None:
    memory.ingest("We use pnpm for builds.", type="project", project="secret")
    wait(memory, "We use pnpm for builds.", type="project")

    assert [one.known for one in memory.inbox.list()] == [None]


def test_how_often_it_was_said_is_told(memory: LocalRecollect) -> None:
    said(memory, "The staging server runs on port 8080, I am told.", "monday")
    said(memory, "I live in Porto.", "monday")

    assert {one.sessions for one in memory.inbox.list()} == {1}


# ── deciding ────────────────────────────────────────────────────────────────────────────────────


def test_keep_makes_the_lead_active_and_files_its_twins_away_with_their_evidence(
    memory: LocalRecollect,
) -> None:
    one, twin, other = wait(memory, ATLAS, NIGHTLY, PORT)
    changed = memory.inbox.decide(one.id, "keep", reason="I know it")

    assert [found.id for found in changed] == [one.id, twin.id]
    assert statuses(memory, one, twin, other) == ["active", "archived", "inbox"]
    assert {piece.quote for piece in changed[0].evidence} == {ATLAS, NIGHTLY}
    assert memory.memories.get(twin.id).evidence[0].quote == NIGHTLY
    explained = memory.explain(one.id)
    assert isinstance(explained, MemoryExplanation)
    assert [(link.from_id, link.relation.value) for link in explained.links] == [
        (twin.id, "supports")
    ]
    assert explained.changes[-1].reason == "I know it"
    assert memory.maintenance.verify().ok


def test_reject_archives_lead_and_twins(memory: LocalRecollect) -> None:
    one, twin = wait(memory, ATLAS, NIGHTLY)
    changed = memory.inbox.decide(one.id, "reject", reason="old")

    assert [found.id for found in changed] == [one.id, twin.id]
    assert statuses(memory, one, twin) == ["archived", "archived"]


def test_replace_supersedes_what_it_speaks_against(memory: LocalRecollect, clock: FakeClock) -> None:
    old = memory.ingest(PORT, project="site")
    clock.advance(days=1)
    said(memory, OTHER_PORT, "monday")
    [line] = memory.inbox.list()
    changed = memory.inbox.decide(line.memory.id, "replace")

    assert [one.id for one in changed] == [line.memory.id, old.id]
    assert statuses(memory, line.memory, old) == ["active", "superseded"]
    memory.undo(line.memory.id)
    assert statuses(memory, line.memory, old) == ["inbox", "active"]


@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_undo_of_the_lead_takes_it_all_back(memory: LocalRecollect, verdict: str) -> None:
    one, twin = wait(memory, ATLAS, NIGHTLY)
    before = [(line.memory.id, [also.id for also in line.also]) for line in memory.inbox.list()]
    memory.inbox.decide(one.id, verdict)
    memory.undo(one.id)

    assert statuses(memory, one, twin) == ["inbox", "inbox"]
    assert [(x.memory.id, [also.id for also in x.also]) for x in memory.inbox.list()] == before
    assert [len(memory.memories.get(found.id).evidence) for found in (one, twin)] == [1, 1]
    again = memory.inbox.decide(one.id, "keep")
    assert len(again[0].evidence) == 2


def test_undo_of_the_lead_takes_back_how_sure_its_twins_made_it(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    [one] = wait(memory, ATLAS, confidence=0.6)
    wait(memory, NIGHTLY, confidence=0.7)
    wait(memory, "The backup runs on the host atlas.", confidence=0.9)
    clock.advance(days=1)
    kept, *_ = memory.inbox.decide(one.id, "keep")
    back = memory.undo(one.id)

    assert (kept.confidence, kept.confirmed_at) == (0.9, clock.now())
    assert (back.confidence, back.confirmed_at) == (0.6, one.confirmed_at)
    assert memory.memories.get(one.id) == back
    assert memory.inbox.decide(one.id, "keep")[0].confidence == 0.9
    assert memory.undo(one.id).confidence == 0.6


def test_undo_leaves_how_sure_a_later_session_made_it(memory: LocalRecollect) -> None:
    [one] = wait(memory, PORT, confidence=0.2)
    wait(memory, f"{PORT[:-1]} now.", confidence=0.3)
    assert memory.inbox.decide(one.id, "keep")[0].confidence == 0.3
    said(memory, PORT, "monday")
    later = memory.memories.get(one.id).confidence

    assert later > 0.3
    assert memory.undo(one.id).confidence == later


def test_undo_of_several_leaves_none_of_them_filed_away(memory: LocalRecollect) -> None:
    one, twin = wait(memory, ATLAS, NIGHTLY)
    memory.inbox.decide([one.id, twin.id], "keep")
    memory.inbox.undo([one.id, twin.id])

    assert statuses(memory, one, twin) == ["inbox", "inbox"]


def test_the_twins_of_either_are_told(memory: LocalRecollect) -> None:
    one, twin, other = wait(memory, ATLAS, NIGHTLY, PORT)

    told = [[found.id for found in memory.engine.duplicates_of(each.id)] for each in (one, twin, other)]
    assert told == [[twin.id], [one.id], []]


def test_undo_leaves_a_twin_that_somebody_has_decided_since(memory: LocalRecollect) -> None:
    one, twin = wait(memory, ATLAS, NIGHTLY)
    memory.inbox.decide(one.id, "keep")
    memory.promote(memory.undo(twin.id).id)
    memory.undo(one.id)

    assert statuses(memory, one, twin) == ["inbox", "active"]


def test_a_twin_that_is_named_leads(memory: LocalRecollect) -> None:
    one, twin = wait(memory, ATLAS, NIGHTLY)
    changed = memory.inbox.decide(twin.id, "keep")

    assert [found.id for found in changed] == [twin.id, one.id]
    assert statuses(memory, one, twin) == ["archived", "active"]


def test_several_are_decided_at_once_all_or_none(memory: LocalRecollect) -> None:
    one, twin, port = wait(memory, ATLAS, NIGHTLY, PORT)
    active = memory.ingest("by hand")
    with pytest.raises(IllegalTransition, match="is active; only a candidate"):
        memory.inbox.decide([one.id, active.id], "keep")
    nothing = statuses(memory, one, twin, port)
    changed = memory.inbox.decide([one.id, twin.id, port.id], "keep")

    assert nothing == ["inbox"] * 3
    assert [found.id for found in changed] == [one.id, twin.id, port.id]
    assert statuses(memory, one, twin, port) == ["active", "archived", "active"]


def test_what_is_kept_does_not_count_as_junk(memory: LocalRecollect) -> None:
    said(memory, "We keep the invoices of the shop in the folder billing.", "monday")
    said(memory, "We keep the invoices of the whole shop in the folder billing.", "tuesday")
    for line in memory.inbox.list(types=["project"]):
        memory.inbox.decide(line.memory.id, "keep")

    assert memory.maintenance.status().rejected == 0


def test_an_unknown_verdict_is_refused(memory: LocalRecollect) -> None:
    [one] = wait(memory, ATLAS)

    with pytest.raises(InvalidInput, match="keep"):
        memory.inbox.decide(one.id, "maybe")
    assert memory.inbox.decide([], "keep") == []


def test_what_somebody_else_decided_is_not_decided_again(memory: LocalRecollect) -> None:
    one, twin = wait(memory, ATLAS, NIGHTLY)
    memory.reject(one.id)

    with pytest.raises(IllegalTransition, match="is archived; only a candidate"):
        memory.inbox.decide(one.id, "keep")
    assert statuses(memory, one, twin) == ["archived", "inbox"]


def test_of_two_who_decide_at_once_one_wins_and_no_twin_is_left_between(
    memory: LocalRecollect,
) -> None:
    for number in range(6):
        one, twin = wait(memory, f"Host {number} keeps the backup of atlas.",
                         f"Host {number} keeps the nightly backup of atlas.")  # fmt: skip

        def decided(verdict: str, found: Memory = one) -> bool:
            try:
                return bool(memory.inbox.decide(found.id, verdict))
            except IllegalTransition:
                return False

        with ThreadPoolExecutor(2) as both:
            won = list(both.map(decided, ["keep", "reject"]))

        assert sorted(won) == [False, True]
        lead = "active" if won[0] else "archived"
        assert statuses(memory, one, twin) == [lead, "archived"]
