"""Two users of an app in one project: neither changes or sees what the other one said."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import LocalRecollect, Memory, Scope, Status
from support import open_memory

USERS = ("user-1", "user-2")
SHOP: dict[str, Any] = {"project": "shop"}
CURRENT = ["inbox", "active", "contradicted"]
EVERY_STATUS = [status.value for status in Status]

# The same transcript in the same project is captured once, so every answer differs.
ANSWER, NUMBERS = "Fine, says the agent of {}. That was turn {}.", count()

Say = Callable[..., None]


def say_in_captured_session(rec: LocalRecollect, agent: str, *texts: str) -> None:
    """Capture one session for each text, and work it off."""
    for text in texts:
        answer = {"role": "assistant", "content": ANSWER.format(agent, next(NUMBERS))}
        rec.capture_session([{"role": "user", "content": text}, answer], agent=agent, **SHOP)
        rec.drain()


def say_in_conversation(rec: LocalRecollect, agent: str, *texts: str) -> None:
    """Hold one conversation for each text, capture it, and work it off."""
    for text in texts:
        conversation = rec.conversations.start(agent=agent, **SHOP)
        rec.conversations.append(conversation, "user", text)
        rec.conversations.append(conversation, "assistant", ANSWER.format(agent, next(NUMBERS)))
        rec.conversations.end(conversation, capture=True)
        rec.drain()


both_ways = pytest.mark.parametrize("say", [say_in_captured_session, say_in_conversation])


@pytest.fixture
def rec(path: Path) -> Iterator[LocalRecollect]:
    with open_memory(path) as opened:
        for user in USERS:
            opened.agents.create(user, default_blocks=False)
        yield opened


def facts_of(rec: LocalRecollect, agent: str, statuses: Sequence[str] = CURRENT) -> list[Memory]:
    """Return what was learnt from what the user of *agent* said."""
    agent_id = rec.agents.get(agent).id
    listed = rec.memories.list(everywhere=True, statuses=list(statuses), limit=200)
    return [fact for fact in listed if fact.agent_id == agent_id and fact.type.value != "episode"]


def fact_with(rec: LocalRecollect, agent: str, word: str) -> Memory:
    [fact] = [fact for fact in facts_of(rec, agent) if word in fact.content]
    return fact


def shown_to(rec: LocalRecollect, agent: str | None, question: str, **place: Any) -> str:
    """Return every text that *agent* gets for *question*, whatever it asks for."""
    hits = [
        *rec.search(question, agent=agent, limit=20, **place),
        *rec.search(question, agent=agent, statuses=EVERY_STATUS, limit=20, **place),
    ]
    listed = rec.memories.list(agent=agent, statuses=EVERY_STATUS, **place) if agent else []
    waiting = rec.inbox.list(agent=agent, everywhere=False, **place) if agent else []
    conflicts = [rec.memories.get(id_) for hit in hits for id_ in hit.conflicts]
    memories = [*(hit.memory for hit in hits), *listed, *conflicts]
    memories += [memory for item in waiting for memory in (item.memory, *item.conflicts)]
    return "\n".join(
        [
            *(f"{memory.content} {memory.evidence[0].quote}" for memory in memories),
            rec.context_for(question, agent=agent, **place).text,
            rec.briefing(agent=agent, **place).text,
        ]
    )


@both_ways
def test_what_one_user_corrects_leaves_what_another_one_said(rec: LocalRecollect, say: Say) -> None:
    say(rec, "user-1", "I live in Berlin with my two kids.")
    say(rec, "user-2", "I live in Paris now, not in Berlin anymore.")

    assert fact_with(rec, "user-1", "Berlin with").status is Status.INBOX
    assert not rec.memories.conflicts()
    assert "two kids" in shown_to(rec, "user-1", "Where does the user live?", **SHOP)
    assert "two kids" not in shown_to(rec, "user-2", "Where does the user live?", **SHOP)


@both_ways
def test_what_two_users_say_is_not_linked_as_a_conflict(rec: LocalRecollect, say: Say) -> None:
    say(rec, "user-1", "I'm allergic to nuts.", "My dog is called Bruno.")
    say(rec, "user-2", "I'm not allergic to nuts.", "My dog is called Rex.")

    assert not rec.memories.conflicts()
    assert not any(item.conflicts for item in rec.inbox.list())


@both_ways
def test_one_user_still_corrects_what_that_user_said(rec: LocalRecollect, say: Say) -> None:
    say(rec, "user-2", "I live in Berlin.")
    say(rec, "user-1", "I live in Berlin with my two kids.")
    say(rec, "user-1", "I live in Paris now, not in Berlin anymore.")

    assert not [fact for fact in facts_of(rec, "user-1") if "two kids" in fact.content]
    assert fact_with(rec, "user-2", "Berlin").status is Status.INBOX


@both_ways
def test_what_two_users_say_in_the_same_words_stays_two_items_with_one_quote_each(
    rec: LocalRecollect, say: Say
) -> None:
    for user in USERS:
        say(rec, user, "I'm allergic to nuts.")

    items = rec.inbox.list()

    assert [item.place for item in items] == ["agent user-2", "agent user-1"]
    assert not any(item.duplicates for item in items)
    assert all(len(item.memory.evidence) == 1 for item in items)
    for item in items:
        assert rec.engine.duplicates_of(item.memory.id) == []
    paged = rec.inbox.items([item.memory.id for item in items])
    assert [item.duplicates for item in paged] == [(), ()]


@pytest.mark.parametrize("way", ["keep", "promote", "edit", "status"])
@both_ways
def test_what_a_person_keeps_without_a_scope_is_shown_to_the_agent_that_was_told_only(
    rec: LocalRecollect, say: Say, way: str
) -> None:
    say(rec, "user-1", "I'm allergic to nuts.")
    candidate = fact_with(rec, "user-1", "nuts")

    match way:
        case "keep":
            kept = rec.inbox.decide(candidate.id, "keep")[0]
        case "promote":
            kept = rec.promote(candidate.id)
        case "edit":
            kept = rec.memories.edit(candidate.id, content="The user is allergic to nuts.")
        case _:
            kept = rec.memories.set_status(candidate.id, "active")

    assert (kept.status, kept.scope) == (Status.ACTIVE, Scope.AGENT)
    assert kept.evidence[0].quote == "I'm allergic to nuts."
    for place in (SHOP, {}, {"project": "other"}):
        assert "nuts" in shown_to(rec, "user-1", "What is the user allergic to?", **place)
        assert "nuts" not in shown_to(rec, "user-2", "What is the user allergic to?", **place)
    assert rec.maintenance.verify().ok


@pytest.mark.parametrize("named", ["candidate", "kept"])
def test_undo_of_what_was_kept_for_one_agent_puts_the_candidate_and_its_duplicates_back(
    rec: LocalRecollect, named: str
) -> None:
    say_in_captured_session(rec, "user-1", "I live in Berlin.", "I'm allergic to nuts.")
    candidate = fact_with(rec, "user-1", "nuts")
    kept = rec.inbox.decide(candidate.id, "keep")[0]

    rec.undo(candidate.id if named == "candidate" else kept.id)

    assert rec.memories.get(candidate.id).status is Status.INBOX
    assert rec.memories.get(kept.id).status is Status.ARCHIVED
    assert len(rec.memories.get(candidate.id).evidence) == 1
    assert rec.maintenance.verify().ok


def test_a_person_shares_what_one_user_said_by_naming_the_scope(rec: LocalRecollect) -> None:
    say_in_captured_session(rec, "user-1", "I'm allergic to nuts.")

    shared = rec.promote(fact_with(rec, "user-1", "nuts").id, scope="global")

    assert shared.scope is Scope.GLOBAL
    assert "nuts" in shown_to(rec, "user-2", "What is the user allergic to?")


def test_a_settled_conflict_keeps_what_a_user_said_for_that_users_agent(
    rec: LocalRecollect,
) -> None:
    say_in_captured_session(rec, "user-1", "I'm allergic to nuts.", "I'm not allergic to nuts.")
    [pair] = rec.memories.conflicts()

    rec.memories.settle_conflict(pair.other.id, pair.memory.id)

    [fact] = [fact for fact in facts_of(rec, "user-1") if "nuts" in fact.content]
    assert (fact.status, fact.scope) == (Status.ACTIVE, Scope.AGENT)
    assert fact.content == "I'm not allergic to nuts."


def test_what_was_kept_for_an_agent_is_found_again_when_its_user_repeats_or_corrects_it(
    rec: LocalRecollect,
) -> None:
    say_in_captured_session(rec, "user-1", "I'm allergic to nuts.")
    kept = rec.inbox.decide(fact_with(rec, "user-1", "nuts").id, "keep")[0]

    say_in_captured_session(rec, "user-1", "I'm allergic to nuts.", "I'm not allergic to nuts.")

    assert len(rec.memories.get(kept.id).evidence) == 2
    [item] = rec.inbox.list(types=["profile"])
    assert [other.id for other in item.conflicts] == [kept.id]


def test_a_memory_of_everybody_is_compared_with_what_a_user_says_and_not_changed(
    rec: LocalRecollect,
) -> None:
    shared = rec.ingest("I live in Lisbon.", type="profile", scope="global")

    say_in_captured_session(rec, "user-1", "I live in Porto now, not in Lisbon anymore.")
    say_in_captured_session(rec, "user-1", "I live in Lisbon.")

    assert rec.memories.get(shared.id).status is Status.ACTIVE
    assert len(rec.memories.get(shared.id).evidence) == 1
    assert "Porto" in shown_to(rec, "user-1", "Where does the user live?", **SHOP)
    assert "Porto" not in shown_to(rec, "user-2", "Where does the user live?", **SHOP)


def test_a_decision_of_the_project_is_compared_across_its_agents(rec: LocalRecollect) -> None:
    say_in_captured_session(rec, "user-1", "The API port is 8080.")
    say_in_captured_session(rec, "user-2", "The API port is 9090.")

    [pair] = rec.memories.conflicts()

    assert {pair.memory.scope, pair.other.scope} == {Scope.PROJECT}


def test_in_a_store_of_one_user_all_agents_are_told_by_the_same_person(path: Path) -> None:
    with open_memory(path, single_user=True) as rec:
        say_in_captured_session(rec, "user-1", "I'm allergic to nuts.")
        say_in_captured_session(rec, "user-2", "I'm not allergic to nuts.")

        [pair] = rec.memories.conflicts()
        [kept] = [rec.promote(pair.memory.id)]

    assert kept.scope is Scope.GLOBAL


def test_in_a_store_of_one_agent_what_is_about_the_person_is_kept_for_all_projects(
    path: Path,
) -> None:
    with open_memory(path) as rec:
        say_in_captured_session(rec, "coder", "I'm allergic to nuts.")

        [item] = rec.inbox.list(types=["profile"])
        kept = rec.inbox.decide(item.memory.id, "keep")[0]

    assert (item.place, kept.scope, kept.id) == ("everywhere", Scope.GLOBAL, item.memory.id)


CITIES, ANIMALS = ("Berlin", "Paris", "Porto"), ("Bruno", "Rex")
STATEMENTS = (
    *(f"I live in {city}." for city in CITIES),
    *(f"I moved, I live in {city} now." for city in CITIES),
    "I don't live in Berlin anymore.",
    "Correction: I live in Porto, not in Paris.",
    *(f"My dog is called {name}." for name in ANIMALS),
    "I'm allergic to nuts.",
    "I'm not allergic to nuts.",
    "Please remember that I prefer tea over coffee.",
    "Please remember that I prefer coffee over tea.",
    "From now on call me Sam.",
)
VERDICTS = ("keep", "replace", "reject")

Turn = tuple[str, str]


def own_facts(rec: LocalRecollect, agent: str) -> list[tuple[Any, ...]]:
    facts = facts_of(rec, agent, EVERY_STATUS)
    return sorted(
        (fact.content, fact.status, fact.scope, tuple(piece.quote for piece in fact.evidence))
        for fact in facts
    )


@pytest.mark.fuzz
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    turns=st.lists(
        st.tuples(st.sampled_from(USERS), st.sampled_from(STATEMENTS)), min_size=2, max_size=8
    ),
    verdicts=st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=6),
    in_conversations=st.booleans(),
)
def test_random_statements_of_two_users_never_change_or_show_the_other_users_memories(
    turns: list[Turn], verdicts: list[str], in_conversations: bool
) -> None:
    """What the first user's agent knows is the same as if the second user had never spoken."""
    say = say_in_conversation if in_conversations else say_in_captured_session
    with open_memory(Path(":memory:")) as together, open_memory(Path(":memory:")) as alone:
        for rec in (together, alone):
            for user in USERS:
                rec.agents.create(user, default_blocks=False)
        for number, (user, text) in enumerate(turns):
            # A number of the turn's own shows whose words a text has.
            say(together, user, f"{text} ({user} {number})")
            if user == "user-1":
                say(alone, user, f"{text} ({user} {number})")
        for rec in (together, alone):
            decide_about_both(rec, verdicts)

        assert own_facts(together, "user-1") == own_facts(alone, "user-1")
        for user, other in (USERS, USERS[::-1]):
            for text in {text for _, text in turns}:
                assert f"({other}" not in shown_to(together, user, text, **SHOP)
                assert f"({other}" not in shown_to(together, user, text)


def decide_about_both(rec: LocalRecollect, verdicts: Sequence[str]) -> None:
    """Decide about each user's candidates with the same verdicts, in the order of review."""
    for user in USERS:
        agent_id = rec.agents.get(user).id
        for verdict in verdicts:
            mine = [item for item in rec.inbox.list() if item.memory.agent_id == agent_id]
            if mine:
                rec.inbox.decide(mine[0].memory.id, verdict)
