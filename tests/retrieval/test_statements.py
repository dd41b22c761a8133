"""What the user said is found before anybody reviewed it, as something that was said."""

from typing import Any

from recollect import LocalRecollect, Memory, MemoryExplanation, Status
from support import candidates

LUNCH = "Thanks, the upload of the photos worked after lunch."
PORT = "The staging server listens on port 8080."


def say(rec: LocalRecollect, *texts: str, agent: str | None = None, role: str = "user") -> None:
    talk = [{"role": role, "content": text} for text in texts]
    rec.capture_session(talk, project="site", agent=agent)
    rec.drain()


def contents(rec: LocalRecollect, query: str, **where: Any) -> list[str]:
    return [hit.memory.content for hit in rec.search(query, project="site", **where)]


def test_a_candidate_is_found_as_something_that_was_said(words_only: LocalRecollect) -> None:
    say(words_only, PORT)

    [hit] = words_only.search("staging port", project="site")

    assert hit.memory.status is Status.INBOX
    assert not hit.memory.is_reviewed
    assert f"said on {hit.memory.observed_at:%Y-%m-%d}, not reviewed" in hit.explanation


def test_a_sentence_that_is_not_proposed_is_found_and_not_in_the_inbox(
    words_only: LocalRecollect,
) -> None:
    say(words_only, LUNCH)

    [hit] = words_only.search("upload of photos", project="site")

    assert hit.memory.status is Status.STATED
    assert hit.memory.evidence[0].quote == LUNCH
    assert candidates(words_only) == []
    assert "not proposed" in str(words_only.explain(hit.memory.id))


def test_explain_says_the_real_reason_why_a_statement_was_proposed_or_not(
    words_only: LocalRecollect,
) -> None:
    reasons = {
        PORT: "extracted: convention",
        "I live in Ghent.": "extracted: identity",
        LUNCH: "said, but not proposed (confidence 0.",
        "We use Oracle for billing, lol.": "not proposed: it sounds like a joke or irony",
        "Oh great, I just love working on Sundays.": "it sounds like a joke or irony",
        "This stays between us: I'm quitting in June.": ", below 0.445); told in confidence",
        "Don't tell anyone, but my salary is 70k.": "extracted: identity; told in confidence",
    }

    def first_reason(memory: Memory) -> str:
        explained = words_only.explain(memory.id)
        assert isinstance(explained, MemoryExplanation)
        return explained.changes[0].reason

    for text in reasons:
        words_only.capture_session([{"role": "user", "content": text}], session=text)
    words_only.drain()

    memories = words_only.memories.list(
        everywhere=True, statuses=["inbox", "active", "stated"], limit=50
    )
    explained = {
        memory.evidence[0].quote: first_reason(memory)
        for memory in memories
        if memory.type != "episode"
    }

    assert {text for text, reason in reasons.items() if reason not in explained[text]} == set()


def test_a_statement_can_be_kept_from_a_search(words_only: LocalRecollect) -> None:
    say(words_only, LUNCH)
    [hit] = words_only.search("upload of photos", project="site")

    [kept] = words_only.inbox.decide(hit.memory.id, "keep")

    assert kept.status is Status.ACTIVE
    assert words_only.undo(kept.id).status is Status.STATED


def test_a_search_for_a_status_returns_that_status_alone(words_only: LocalRecollect) -> None:
    say(words_only, PORT)

    assert words_only.search("staging port", project="site", statuses="active") == []


def test_text_that_the_user_did_not_type_is_not_found_before_its_review(
    words_only: LocalRecollect,
) -> None:
    say(words_only, PORT, role="assistant")
    words_only.ingest(PORT, project="site", status="inbox")

    assert contents(words_only, "staging port") == []


def test_what_was_said_to_one_agent_is_not_found_by_another_before_its_review(
    words_only: LocalRecollect,
) -> None:
    words_only.agents.create("other")
    words_only.capture_session([{"role": "user", "content": PORT}], agent="coder")
    words_only.capture_session(
        [{"role": "user", "content": PORT.replace("8080", "9090")}], agent="coder", scope="global"
    )
    words_only.drain()

    def said_to(agent: str) -> list[str]:
        return [hit.memory.content for hit in words_only.search("staging port", agent=agent)]

    assert len(said_to("coder")) == 2
    assert said_to("other") == []
    assert said_to("never seen") == []


def test_what_was_said_in_a_project_is_found_by_all_agents_of_the_project(
    words_only: LocalRecollect,
) -> None:
    words_only.agents.create("reviewer")
    say(words_only, PORT, agent="coder")

    assert contents(words_only, "staging port", agent="reviewer") == [PORT]


def test_what_was_said_in_a_project_is_found_in_no_other_whatever_scope_is_proposed(
    words_only: LocalRecollect,
) -> None:
    said = "I am working with Globex on their bankruptcy."
    for agent in (None, "coder"):
        words_only.capture_session(
            [{"role": "user", "content": said}], project="globex", agent=agent, session=str(agent)
        )
    words_only.drain()
    [candidate, *_] = candidates(words_only, types=["profile"])

    def projects_that_find_it(**place: Any) -> list[str]:
        return [p for p in ("globex", "acme") if words_only.search("Globex", project=p, **place)]

    assert projects_that_find_it() == ["globex"]
    assert projects_that_find_it(agent="coder") == ["globex"]
    assert projects_that_find_it(agent="acme-bot") == ["globex"]
    assert words_only.search("Globex") == []
    assert words_only.search("Globex", everywhere=True)
    assert words_only.why_not(candidate.id, "Globex", project="acme").rule == "status"


def test_text_that_was_perhaps_pasted_is_marked(words_only: LocalRecollect) -> None:
    say(words_only, f"The wiki says this below: {PORT}\n{LUNCH}")

    hits = words_only.search("staging port", project="site")

    assert [hit for hit in hits if "perhaps pasted, not reviewed" not in hit.explanation] == []
    assert hits


def test_each_hit_says_whether_only_unreviewed_statements_answer_the_search(
    words_only: LocalRecollect,
) -> None:
    say(words_only, PORT, PORT.replace("staging", "test"))

    alone = words_only.search("port of the server", project="site")
    words_only.ingest(PORT.replace("staging", "live"), project="site")
    beside_a_memory = words_only.search("port of the server", project="site")

    assert [hit.only_unreviewed for hit in alone] == [True, True]
    assert [hit.only_unreviewed for hit in beside_a_memory] == [False, False, False]


def test_a_reviewed_memory_comes_before_a_statement_of_equal_relevance(
    words_only: LocalRecollect,
) -> None:
    words_only.ingest(PORT, project="site")
    say(words_only, "The staging server listens on port 8080!")

    statuses = [hit.memory.status for hit in words_only.search("staging port", project="site")]

    assert statuses[0] is Status.ACTIVE


def test_a_repeated_sentence_is_one_statement(words_only: LocalRecollect) -> None:
    say(words_only, LUNCH, LUNCH)
    say(words_only, "Hello again.", LUNCH)

    assert contents(words_only, "upload of photos") == [LUNCH.removeprefix("Thanks, ").capitalize()]


def test_the_record_of_a_session_answers_questions_about_the_past_only(
    words_only: LocalRecollect,
) -> None:
    say(words_only, "Why does the walnut importer drop rows?")

    assert contents(words_only, "walnut importer") == []
    [record] = contents(words_only, "walnut importer in the last session")
    assert record.startswith("Asked: ")
    assert contents(words_only, "walnut importer", types="episode") == [record]


def test_forgetting_a_statement_removes_it_from_the_search(words_only: LocalRecollect) -> None:
    say(words_only, LUNCH)
    [hit] = words_only.search("upload of photos", project="site")

    words_only.forget(hit.memory.id)

    assert contents(words_only, "upload of photos") == []
