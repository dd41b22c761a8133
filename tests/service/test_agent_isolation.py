"""What one agent's user says stays with that agent, unless somebody makes it global."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import InvalidInput, LocalRecollect, Memory, Scope, Status, learning
from support import open_memory
from vendor_server import VendorServer

ADDRESS = "I live in Porto at 5 Elm Street."
TASK = "Where does the user live, and how do we build?"
PERSONAL_WORDS = ("Porto", "Elm")
PRIVATE_WORDS = (*PERSONAL_WORDS, "pnpm")


@pytest.fixture
def rec(path: Path) -> Iterator[LocalRecollect]:
    """An empty store with the default settings; what is said at another moment is said again."""
    with open_memory(path) as opened:
        yield opened


def hold_conversations(rec: LocalRecollect, agent: str, *texts: str, **place: Any) -> None:
    """Hold two conversations with *agent* in which the user says *texts*, and work them off."""
    for number in (1, 2):
        conversation = rec.conversations.start(agent=agent, **place)
        rec.conversations.append_many(
            conversation,
            [
                *({"role": "user", "content": text} for text in texts),
                {"role": "assistant", "content": f"This was conversation {number} of {agent}."},
            ],
        )
        rec.conversations.end(conversation, capture=True)
    rec.drain()


def capture_sessions(rec: LocalRecollect, agent: str | None, *texts: str, **place: Any) -> None:
    """Capture two sessions in which the user says *texts* to *agent*, and work them off."""
    for number in (1, 2):
        transcript = [{"role": "user", "content": text} for text in texts]
        transcript.append({"role": "assistant", "content": f"Session {number} of {agent}."})
        rec.capture_session(transcript, agent=agent, session=f"{agent}-{number}", **place)
    rec.drain()


def everything_shown_to(rec: LocalRecollect, agent: str | None, **place: Any) -> str:
    """Return all text that *agent* can get out of the memory, candidates included."""
    hits = [
        *rec.search(TASK, agent=agent, statuses=list(Status), limit=20, **place),
        *rec.search(ADDRESS, agent=agent, statuses=list(Status), limit=20, **place),
    ]
    return "\n".join(
        [
            *(hit.memory.content for hit in hits),
            rec.context_for(TASK, agent=agent, **place).text,
            rec.briefing(agent=agent, **place).text,
        ]
    )


def address_of(rec: LocalRecollect, status: Status) -> list[Memory]:
    listed = rec.memories.list(everywhere=True, types=["profile"], statuses=[status])
    return [fact for fact in listed if "Elm" in fact.content]


@pytest.mark.parametrize("place", [{}, {"project": "shop"}], ids=["agent", "agent in a project"])
@pytest.mark.parametrize("tell", [capture_sessions, hold_conversations])
def test_what_one_agent_is_told_twice_is_not_shown_to_another_agent(
    rec: LocalRecollect, tell: object, place: dict[str, str]
) -> None:
    assert callable(tell)
    for agent in ("user-1", "user-2"):
        rec.agents.create(agent, default_blocks=False)

    tell(rec, "user-1", ADDRESS, "We use pnpm for builds.", **place)
    tell(rec, "user-2", "I prefer tea.", **place)

    [fact] = address_of(rec, Status.ACTIVE)
    assert (fact.scope, fact.agent_id) == (Scope.AGENT, rec.agents.get("user-1").id)
    assert "Elm Street" in everything_shown_to(rec, "user-1", **place)
    private_words = PERSONAL_WORDS if place else PRIVATE_WORDS  # a project is shared work
    for stranger in ("user-2", None):
        shown = everything_shown_to(rec, stranger, **place)
        assert not [word for word in private_words if word in shown]


def test_what_is_about_a_project_is_shown_to_every_agent_in_it_and_nowhere_else(
    rec: LocalRecollect,
) -> None:
    capture_sessions(rec, "coder", "We use pnpm for builds.", project="shop")
    rec.agents.create("reviewer", default_blocks=False)

    assert "pnpm" in everything_shown_to(rec, "reviewer", project="shop")
    for agent, place in [("reviewer", {}), ("coder", {}), ("coder", {"project": "other"})]:
        assert "pnpm" not in everything_shown_to(rec, agent, **place)


def test_a_fact_about_the_user_told_in_a_project_stays_with_the_agent_in_that_project(
    rec: LocalRecollect,
) -> None:
    capture_sessions(rec, "coder", ADDRESS, project="acme")

    assert "Elm Street" in everything_shown_to(rec, "coder", project="acme")
    for place in ({"project": "other"}, {}):
        shown = everything_shown_to(rec, "coder", **place)
        assert not [word for word in PERSONAL_WORDS if word in shown]
    [fact] = address_of(rec, Status.ACTIVE)
    verdict = rec.why_not(fact.id, ADDRESS, agent="coder", project="other")
    assert (verdict.rule, "in a project" in verdict.text) == ("project", True)


@pytest.mark.vendor
def test_what_one_user_says_within_learning_is_not_sent_with_another_users_calls(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    from vendor_calls import openai_client, question  # loads the packages of the vendors

    calls = [("user-1", ADDRESS), ("user-1", f"{ADDRESS} What is near?"), ("user-2", TASK)]
    for agent, text in calls:
        with openai_client(vendor) as client, learning(agent=agent, memory=rec):
            client.chat.completions.create(**question("chat", text))
        rec.drain()

    assert [fact.scope for fact in address_of(rec, Status.ACTIVE)] == [Scope.AGENT]
    assert "Elm" not in str(vendor.requests[-1].body)


def test_a_promoted_candidate_of_an_agent_stays_with_the_agent(rec: LocalRecollect) -> None:
    rec.capture_session(ADDRESS, agent="user-1")
    rec.agents.create("user-2")
    rec.drain()
    [candidate] = address_of(rec, Status.INBOX)

    promoted = rec.promote(candidate.id)

    assert (promoted.scope, promoted.agent_id) == (Scope.AGENT, rec.agents.get("user-1").id)
    assert "Elm Street" in everything_shown_to(rec, "user-1")
    assert "Elm" not in everything_shown_to(rec, "user-2")


def test_a_correction_told_to_an_agent_leaves_the_global_fact_as_it_is(rec: LocalRecollect) -> None:
    memory = rec.ingest("I live in Lisbon.", type="profile", scope="global")

    capture_sessions(rec, "user-1", "Correction: I live in Porto, not in Lisbon.")

    assert rec.memories.get(memory.id).status is Status.ACTIVE


def test_what_is_said_in_sessions_without_agent_or_project_is_global(rec: LocalRecollect) -> None:
    capture_sessions(rec, None, ADDRESS)

    [fact] = address_of(rec, Status.ACTIVE)
    assert fact.scope is Scope.GLOBAL
    assert "Elm Street" in everything_shown_to(rec, "user-2")


def test_in_a_store_of_a_single_user_a_fact_told_to_one_agent_is_global(path: Path) -> None:
    with open_memory(path, single_user=True) as rec:
        capture_sessions(rec, "coder", ADDRESS)

        [fact] = address_of(rec, Status.ACTIVE)
        assert fact.scope is Scope.GLOBAL
        assert "Elm Street" in everything_shown_to(rec, "reviewer")


def test_in_a_store_of_a_single_user_a_project_is_still_a_wall(path: Path) -> None:
    with open_memory(path, single_user=True) as rec:
        capture_sessions(rec, "coder", ADDRESS, "We use pnpm for builds.", project="shop")

        shown = everything_shown_to(rec, "reviewer", project="shop")
        assert "Elm Street" in shown
        assert "pnpm" in shown
        assert "Elm" not in everything_shown_to(rec, "reviewer", project="bank")


def test_a_candidate_that_is_promoted_to_global_is_shown_to_every_agent_until_that_is_undone(
    rec: LocalRecollect,
) -> None:
    rec.capture_session(ADDRESS, agent="user-1")
    rec.agents.create("user-2")
    rec.drain()
    [candidate] = address_of(rec, Status.INBOX)

    shared = rec.promote(candidate.id, scope="global")
    shown = everything_shown_to(rec, "user-2")
    replaced = rec.memories.get(candidate.id).status
    rec.undo(shared.id)

    assert (shared.scope, shared.status, shared.agent_id) == (Scope.GLOBAL, Status.ACTIVE, None)
    assert [piece.quote for piece in shared.evidence] == [ADDRESS]
    assert "Elm Street" in shown
    assert replaced is Status.SUPERSEDED
    assert rec.memories.get(candidate.id).status is Status.INBOX
    assert rec.maintenance.verify().ok


def test_a_memory_is_promoted_to_its_own_scope_or_to_global_only(rec: LocalRecollect) -> None:
    [candidate] = rec.memories.ingest_many([{"content": "I like tea.", "status": "inbox"}])

    with pytest.raises(InvalidInput, match="scope global only"):
        rec.promote(candidate.id, scope="agent")
    assert rec.promote(candidate.id, scope="global").id == candidate.id


def test_a_fact_about_the_user_is_proposed_for_everybody_by_an_agent_that_works_in_projects(
    rec: LocalRecollect,
) -> None:
    rec.capture_session([{"role": "user", "content": ADDRESS}], agent="coder", project="shop")
    rec.drain()
    rec.capture_session(
        [{"role": "user", "content": "My sister Ana lives in Ghent."}], agent="coder"
    )
    rec.capture_session([{"role": "user", "content": ADDRESS}], agent="user-1")
    rec.drain()

    proposed = {(item.memory.content, item.memory.scope) for item in rec.inbox.list(grouped=False)}
    assert proposed == {
        (ADDRESS, Scope.GLOBAL),
        ("My sister Ana lives in Ghent.", Scope.GLOBAL),  # the agent has worked in a project
        (ADDRESS, Scope.AGENT),  # it never did
    }


def test_what_is_told_in_confidence_is_proposed_for_that_agent_only(rec: LocalRecollect) -> None:
    capture_sessions(rec, "coder", "We use pnpm for builds.", project="shop")
    transcript = [
        {"role": "user", "content": "This stays between us: I live apart from my husband."},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "I am allergic to penicillin."},
    ]
    rec.capture_session(transcript, agent="coder")
    rec.drain()

    scopes = {item.memory.scope for item in rec.inbox.list(grouped=False)}
    assert scopes == {Scope.AGENT}


def test_a_wish_to_remember_something_about_the_user_is_active_for_that_agent_only(
    rec: LocalRecollect,
) -> None:
    wish = "Remember that I live in Porto at 5 Elm Street."
    rec.capture_session([{"role": "user", "content": wish}], agent="coder", project="shop")
    rec.agents.create("reviewer", default_blocks=False)
    rec.drain()

    [fact] = address_of(rec, Status.ACTIVE)
    assert fact.scope is Scope.AGENT
    for place in ({}, {"project": "shop"}, {"project": "other"}):
        assert "Elm" not in everything_shown_to(rec, "reviewer", **place)
    assert "Elm Street" in everything_shown_to(rec, "coder", project="shop")


def test_a_repeated_fact_becomes_active_once_however_often_it_is_told(rec: LocalRecollect) -> None:
    for number in range(5):
        transcript = [
            {"role": "user", "content": ADDRESS},
            {"role": "user", "content": f"{number}"},
        ]
        rec.capture_session(transcript, agent="coder", project="shop", session=f"s{number}")
        rec.drain()

    [fact] = address_of(rec, Status.ACTIVE)
    assert (fact.scope, len(fact.evidence)) == (Scope.AGENT, 5)
    assert not rec.inbox.list()
    rec.undo(fact.id)
    assert [memory.id for memory in address_of(rec, Status.INBOX)] == [fact.id]


@pytest.mark.parametrize("promote_explicit", [True, False])
def test_what_the_user_asks_to_remember_is_active_at_once_unless_that_is_switched_off(
    path: Path, promote_explicit: bool
) -> None:
    with open_memory(path, promote_explicit=promote_explicit) as rec:
        wish = "Please remember: the invoices are numbered per year."
        rec.capture_session([{"role": "user", "content": wish}], project="shop")
        rec.drain()
        [memory] = rec.memories.list(
            project="shop", types=["project"], statuses=[Status.ACTIVE, Status.INBOX]
        )
        if memory.status is Status.ACTIVE:
            rec.undo(memory.id)

        assert memory.status is (Status.ACTIVE if promote_explicit else Status.INBOX)
        assert rec.memories.get(memory.id).status is Status.INBOX
