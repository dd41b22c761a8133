"""Forgetting what was read out of a transcript: it goes everywhere, and the rest of it stands."""

from pathlib import Path

import apsw
import pytest

from recollect import (
    EventState,
    LocalRecollect,
    Memory,
    MemoryExplanation,
    ModelUnavailable,
    NotFound,
    Receipt,
    Source,
    Status,
)
from recollect.config import Settings
from recollect.models.scripted_models import ScriptedChatModel
from support import FakeClock, candidates, file_store, open_memory

WORD = "quetzalcoatl"
SECRET = f"My dog is called {WORD}."
OTHER = "We use pnpm for builds."
HELLO = "Good morning, how are you today?"  # what the episode of the session quotes
TALK = [
    {"role": "user", "content": f"{HELLO} {SECRET} {OTHER}"},
    {"role": "assistant", "content": "A fine name for a dog."},
]


def traces(path: Path, word: str) -> list[str]:
    """
    Return every table and column in which *word* occurs, in any case.

    A tombstone has the id of what was forgotten, so that no import brings it back.
    """
    db = apsw.Connection(str(path))
    traces = []
    names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    tables = [row[0] for row in names if row[0] != "tombstones"]
    for table in tables:
        for column in [row[1] for row in db.execute(f"PRAGMA table_info({table})")]:
            sql = f'SELECT count(*) FROM {table} WHERE instr(lower(CAST("{column}" AS TEXT)), ?)'
            if db.execute(sql, (word,)).get:
                traces.append(f"{table}.{column}")
    db.close()
    return traces


def in_files(path: Path, word: str) -> list[str]:
    """Return which of the store's files hold *word* in their bytes."""
    return [
        file.name
        for file in path.parent.glob(f"{path.name}*")
        if word.encode() in file.read_bytes().lower()
    ]


def capture_text(rec: LocalRecollect, text: str, session: str = "", project: str = "site") -> None:
    options = {"session": session} if session else {}
    rec.capture_session([{"role": "user", "content": text}], project=project, **options)
    rec.drain()


def every(rec: LocalRecollect) -> list[Memory]:
    return rec.memories.list(everywhere=True, statuses=list(Status), limit=1_000)


def with_word(rec: LocalRecollect, word: str = WORD, kind: str = "profile") -> Memory:
    matches = (memory for memory in every(rec) if word in memory.content and memory.type == kind)
    [match] = (memory for memory in matches if memory.status is not Status.STATED)
    return match


def sources_of(rec: LocalRecollect, memory_id: str) -> tuple[Source, ...]:
    explanation = rec.explain(memory_id)
    assert isinstance(explanation, MemoryExplanation)
    return explanation.sources


def quotes_stand(rec: LocalRecollect) -> bool:
    return all(
        source.content[piece.start : piece.end] == piece.quote
        for memory in every(rec)
        for source in sources_of(rec, memory.id)
        for piece in memory.evidence
        if piece.source_id == source.id
    )


# ── everywhere ──────────────────────────────────────────────────────────────────────────────────


def test_a_forgotten_fact_of_a_transcript_leaves_no_trace_and_the_rest_of_it_stands(
    path: Path,
) -> None:
    with open_memory(path) as rec:
        rec.capture_session(TALK, project="site")
        rec.drain()
        gone = with_word(rec)
        rec.promote(gone.id)
        rec.search(f"what is {WORD}?", project="site")
        rec.context_for(f"walk {WORD}", project="site")
        assert traces(path, WORD)

        receipt = rec.forget(gone.id)

        [source] = sources_of(rec, with_word(rec, "pnpm", "project").id)
        assert traces(path, WORD) == []
        assert traces(path, gone.id) == []
        assert in_files(path, WORD) == []
        assert receipt.removed["memories"] == 1
        assert receipt.removed["evidence"] == 1
        assert receipt.removed["source spans blanked"] == 1
        assert receipt.kept == ()
        assert source.content == (
            f"User: {HELLO} {'█' * len(SECRET)} {OTHER}\n\nAssistant: A fine name for a dog."
        )
        assert quotes_stand(rec)
        assert rec.maintenance.verify().ok
        with pytest.raises(NotFound):
            rec.memories.get(gone.id)
    assert in_files(path, WORD) == []


def test_a_candidate_is_forgotten_like_an_active_memory(rec: LocalRecollect, path: Path) -> None:
    rec.capture_session(TALK, project="site")
    rec.drain()

    rec.forget(with_word(rec).id)

    assert traces(path, WORD) == []
    assert [memory.content for memory in candidates(rec)] == [OTHER]


def test_words_said_twice_in_one_transcript_are_forgotten_twice(
    rec: LocalRecollect, path: Path
) -> None:
    talk = [*TALK, {"role": "user", "content": f"{HELLO} Again: {SECRET}"}]
    rec.capture_session(talk, project="site")
    rec.drain()

    rec.forget(with_word(rec).id)

    assert traces(path, WORD) == []
    assert quotes_stand(rec)


def test_what_was_repeated_in_other_sessions_is_forgotten_in_all_of_them(
    rec: LocalRecollect, path: Path
) -> None:
    for session in ("monday", "tuesday", "friday"):
        capture_text(rec, f"{HELLO} It is {session}. {SECRET}", session)
    gone = with_word(rec)
    number = len(gone.evidence)

    receipt = rec.forget(gone.id)

    assert number == 3
    assert receipt.removed["source spans blanked"] == 3
    assert receipt.kept == ()
    assert traces(path, WORD) == []
    assert rec.maintenance.verify().ok


def test_a_note_of_one_sentence_leaves_only_its_shape(rec: LocalRecollect, path: Path) -> None:
    rec.capture_conversation(SECRET, "note", project="site")
    rec.drain()
    [gone] = every(rec)

    rec.forget(gone.id)

    assert traces(path, WORD) == []
    assert rec.maintenance.verify().ok
    assert {event.state for event in rec.captures.list()} == {EventState.DONE}


# ── what others quote ───────────────────────────────────────────────────────────────────────────


def test_the_session_record_stays_without_the_words(rec: LocalRecollect, path: Path) -> None:
    capture_text(rec, f"{SECRET} Please add a test for the importer.")
    record = with_word(rec, kind="episode")

    receipt = rec.forget(with_word(rec).id)

    after = rec.memories.get(record.id)
    assert receipt.removed["memories redacted"] == 1
    assert "[forgotten]" in after.content
    assert len(after.evidence) == len(record.evidence)
    assert traces(path, WORD) == []
    assert in_files(path, WORD) == []
    assert quotes_stand(rec)
    assert rec.maintenance.verify().ok


def test_what_another_project_read_out_of_the_same_source_stays_its_own(
    rec: LocalRecollect,
) -> None:
    for project in ("site", "shop"):
        capture_text(rec, f"{HELLO} {OTHER}", project=project)
    here, there = [memory for memory in every(rec) if memory.type == "project"]

    receipt = rec.forget(here.id)

    assert there.id in receipt.kept[0]
    assert rec.memories.get(there.id).evidence[0].quote == OTHER
    assert quotes_stand(rec)
    assert rec.forget(there.id).removed["source spans blanked"] == 1


LONG = (
    "I prefer short answers "
    + "which leave out every kind of greeting and apology and filler " * 4
    + f"and end with {WORD}."
)


def test_of_words_that_another_quotes_in_part_the_rest_is_blanked(
    rec: LocalRecollect, path: Path
) -> None:
    capture_text(rec, f"{LONG} {OTHER}")
    assert WORD not in with_word(rec, "short answers", "episode").content

    rec.forget(with_word(rec, kind="project").id)

    assert traces(path, WORD) == []


def test_once_both_are_forgotten_nothing_of_either_is_left(rec: LocalRecollect, path: Path) -> None:
    capture_text(rec, f"{LONG} {OTHER}")
    rec.forget(with_word(rec, kind="project").id)

    rec.forget(with_word(rec, "short answers", "episode").id)

    assert traces(path, WORD) == []


# ── merges ──────────────────────────────────────────────────────────────────────────────────────


MORE = f"We use pnpm for all builds on {WORD}."


@pytest.mark.parametrize("order", [(OTHER, MORE), (MORE, OTHER)], ids=["grew", "shrank"])
def test_what_was_merged_into_it_goes_too_if_it_has_the_words(
    words_only: LocalRecollect, path: Path, order: tuple[str, str]
) -> None:
    for text, session in zip(order, ("monday", "tuesday"), strict=True):
        capture_text(words_only, f"{HELLO} It is {session}. {text}", session)
    merged = with_word(words_only, kind="project")
    quotes = {piece.quote for piece in merged.evidence}

    receipt = words_only.forget(merged.id)

    assert quotes == {OTHER, MORE}
    assert traces(path, WORD) == []
    assert in_files(path, WORD) == []
    assert receipt.removed["memories"] == 2
    assert quotes_stand(words_only)
    assert traces(path, "pnpm") == []
    assert words_only.maintenance.verify().ok


def test_the_record_of_what_was_merged_into_it_does_not_name_it_any_more(
    words_only: LocalRecollect, path: Path
) -> None:
    capture_text(words_only, f"{HELLO} {OTHER}", "monday")
    capture_text(words_only, f"{HELLO} {MORE}", "tuesday")
    merged = with_word(words_only, kind="project")

    words_only.forget(merged.id)

    assert traces(path, merged.id) == []


def test_forgetting_one_that_was_merged_away_keeps_what_took_it_in(
    words_only: LocalRecollect,
) -> None:
    capture_text(words_only, f"{HELLO} {OTHER}", "monday")
    capture_text(words_only, f"{HELLO} It is tuesday. {MORE}", "tuesday")
    merged = with_word(words_only, kind="project")
    [less] = [memory for memory in every(words_only) if memory.content == OTHER]

    receipt = words_only.forget(less.id)

    assert merged.id in " ".join(receipt.kept)
    assert words_only.memories.get(merged.id).evidence == merged.evidence
    assert quotes_stand(words_only)


# ── it does not come back ───────────────────────────────────────────────────────────────────────


def test_a_later_drain_does_not_bring_it_back(rec: LocalRecollect, path: Path) -> None:
    rec.capture_session(TALK, project="site")
    rec.drain()
    rec.forget(with_word(rec).id)

    rec.drain()
    rec.consolidate()
    rec.maintenance.run()
    rec.maintenance.rebuild()

    assert traces(path, WORD) == []


def test_forgotten_between_two_steps_it_does_not_come_back(rec: LocalRecollect, path: Path) -> None:
    event = rec.capture_session(TALK, project="site")
    steps = rec.engine.run_jobs_in_steps()
    next(steps)
    rec.forget(with_word(rec).id)

    rest = list(steps)

    assert [step.kind.value for step in rest] == ["consolidate"]
    assert traces(path, WORD) == []
    assert rec.captures.get(event.id).state is EventState.DONE


def test_a_model_that_reads_the_source_later_is_not_shown_the_words(
    path: Path, clock: FakeClock
) -> None:
    model = ScriptedChatModel([ModelUnavailable("away"), '{"memories": []}'])
    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings, clock=clock, chat=model) as rec:
        event = rec.capture_session(TALK, project="site")
        rec.drain()
        rec.forget(with_word(rec).id)
        clock.advance(minutes=1)
        rec.drain()

        first, second = model.prompts
        assert WORD in first
        assert WORD not in second
        assert OTHER in second
        assert rec.captures.get(event.id).state is EventState.DONE
        assert traces(path, WORD) == []


def test_captured_once_more_it_is_a_candidate_that_waits_for_a_person(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    first = rec.capture_session(TALK, project="site", session="monday")
    rec.drain()
    rec.promote(with_word(rec).id)
    rec.forget(with_word(rec).id)
    clock.advance(days=1)

    again = rec.capture_session(TALK, project="site", session="monday")
    rec.drain()

    assert again.id != first.id  # the source was changed, so this is other material
    assert with_word(rec).status is Status.INBOX
    assert rec.search(f"{WORD} dog", project="site", statuses=["active"]) == []
    assert quotes_stand(rec)


def test_capturing_once_more_is_no_second_session_for_the_rest_of_it(rec: LocalRecollect) -> None:
    rec.capture_session(TALK, project="site")
    rec.drain()
    rec.forget(with_word(rec).id)

    rec.capture_session(TALK, project="site")
    rec.drain()

    assert with_word(rec, "pnpm", "project").status is Status.INBOX


# ── copies ──────────────────────────────────────────────────────────────────────────────────────


def forgotten_after_a_bulk_change(rec: LocalRecollect) -> Receipt:
    rec.capture_session(TALK, project="site")
    rec.drain()
    ideas = [{"content": f"idea number {n}", "status": "inbox"} for n in range(20)]
    rec.inbox.reject([memory.id for memory in rec.memories.ingest_many(ideas)])
    return rec.forget(with_word(rec).id)


def test_a_copy_from_before_a_bulk_change_that_may_hold_it_is_named(
    rec: LocalRecollect, path: Path
) -> None:
    receipt = forgotten_after_a_bulk_change(rec)

    assert str(path.with_name("memory.db.before-bulk")) in receipt.kept[0]
    assert in_files(path, WORD) == ["memory.db.before-bulk"]


def test_a_copy_from_before_a_bulk_change_is_not_said_to_be_from_a_migration(
    rec: LocalRecollect,
) -> None:
    receipt = forgotten_after_a_bulk_change(rec)

    assert "migration" not in receipt.kept[0]


def test_two_sources_that_differ_only_in_what_is_forgotten_are_both_blanked(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("ada")
    for text in ("We decided to use Postgres.", "We decided to use MariaDBs."):
        rec.capture_conversation(text, agent="ada", scope="agent")
    rec.drain()

    rec.agents.delete("ada")

    assert rec.maintenance.verify().ok
    assert "Postgres" not in file_store(rec).path.read_bytes().decode("utf-8", "ignore")
