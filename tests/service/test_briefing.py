"""What an agent is told when a session begins: the newest of each kind, within walls and budget."""

from recollect import LocalRecollect
from recollect.domain.retrieval import Retrieval
from support import FakeClock


def test_each_kind_gets_its_part_however_many_there_are_of_another(
    words_only: LocalRecollect,
) -> None:
    for number in range(60):
        words_only.ingest(f"Decision {number} about pages.", type="decision", project="site")
    for kind in ("project", "task_hint", "episode", "artifact"):
        words_only.ingest(f"One {kind} of the site.", type=kind, project="site")
    words_only.ingest("Answers should be short.", type="profile", scope="global")

    bundle = words_only.briefing(project="site", budget_tokens=600)

    assert {section.name.value for section in bundle.sections} >= {
        "profile",
        "decisions",
        "facts",
        "hints",
        "episodes",
    }
    assert bundle.tokens <= 600
    assert "Decision 59" in bundle.text
    assert "Decision 3 " not in bundle.text


def test_another_project_is_told_nothing_of_it(words_only: LocalRecollect) -> None:
    words_only.ingest("We use pnpm.", type="decision", project="site")
    words_only.blocks.create("rules", "Deploy on Mondays.", project="site")

    assert words_only.briefing(project="games").text == ""
    assert words_only.briefing().text == ""
    assert "Deploy on Mondays." in words_only.briefing(project="site").text


def test_candidates_and_what_was_put_away_are_not_told(words_only: LocalRecollect) -> None:
    words_only.ingest("Perhaps tabs.", status="inbox", project="site")
    old = words_only.ingest("Old rule.", project="site")
    words_only.memories.set_status(old.id, "archived")

    assert words_only.briefing(project="site").text == ""


def test_a_conflict_is_told_as_one(words_only: LocalRecollect) -> None:
    one = words_only.ingest("Releases are on Fridays.", project="site")
    two = words_only.ingest("Releases are on Tuesdays.", project="site")
    words_only.link(two.id, "contradicts", one.id)

    assert words_only.briefing(project="site").text.count("CONFLICT") == 2


def test_what_the_user_said_later_stands_before_what_it_contradicts(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    words_only.ingest("We deploy the site on Fridays.", type="decision", project="site")
    clock.advance(days=1)
    _say(words_only, "From now on we deploy the site on Mondays because everybody is there.")

    newer, older = _lines_about(words_only, "deploy the site")

    assert "on Mondays" in newer
    assert "not reviewed; CONFLICT: contradicts an older memory" in newer
    assert "on Fridays" in older
    assert "CONFLICT: a newer memory contradicts it" in older


def test_an_older_statement_that_nobody_reviewed_puts_no_doubt_on_a_decision(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    _say(words_only, "We decided to deploy the site on Fridays because the traffic is low then.")
    clock.advance(days=1)
    _say(words_only, "From now on we deploy the site on Mondays because everybody is there.")

    (line,) = _lines_about(words_only, "deploy the site")

    assert "on Mondays" in line
    assert "CONFLICT" not in line


def test_a_later_text_that_the_user_did_not_say_is_not_presented(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    decided = words_only.ingest("We deploy the site on Fridays.", type="decision", project="site")
    clock.advance(days=1)
    other = words_only.ingest("We deploy the site daily.", status="inbox", project="site")
    words_only.link(other.id, "contradicts", decided.id)

    (line,) = _lines_about(words_only, "deploy the site")

    assert "CONFLICT: contradicted by another memory" in line


def _say(rec: LocalRecollect, text: str) -> None:
    rec.capture_session([{"role": "user", "content": text}], project="site")
    rec.drain()


def _lines_about(rec: LocalRecollect, words: str) -> list[str]:
    """Return the lines of the briefing about it, without the records of sessions."""
    lines = rec.briefing(project="site").text.split("## Earlier sessions")[0].splitlines()
    return [line for line in lines if words in line]


def test_a_session_that_goes_on_is_not_told_of_itself(words_only: LocalRecollect) -> None:
    for number in range(4):
        transcript = [{"role": "user", "content": f"Please look at importer number {number}."}]
        words_only.capture_session(transcript, session=f"s{number}", project="site")
        words_only.drain()

    text = words_only.briefing(project="site", session="s3").text

    assert [f"number {number}" in text for number in range(4)] == [True, True, True, False]
    assert "number 3" in words_only.briefing(project="site", session="new").text


def test_it_can_be_explained_later(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("We use pnpm.", type="decision", project="site")

    bundle = words_only.briefing(project="site")

    assert bundle.retrieval_id is not None
    retrieval = words_only.explain(bundle.retrieval_id)
    assert isinstance(retrieval, Retrieval)
    assert retrieval.verb == "briefing"
    assert [hit.memory_id for hit in retrieval.hits] == [memory.id]


def test_a_fact_with_a_name_is_told_with_it(words_only: LocalRecollect) -> None:
    words_only.upsert_profile_fact("timezone", "Europe/Berlin")

    assert "timezone: Europe/Berlin" in words_only.briefing().text
