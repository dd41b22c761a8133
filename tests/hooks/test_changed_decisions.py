"""What a session is told of a decision that the user changed in an earlier session."""

from pathlib import Path

from recollect import LocalRecollect
from recollect.hooks import event_names
from recollect.hooks.client_events import HookEvent
from recollect.hooks.injected_memories import InjectedMemories
from recollect.hooks.recall import recall_text
from support import FakeClock

QUESTION = "When do we deploy the invoices service?"
FRIDAYS = "We deploy the invoices service on Fridays because the traffic is low then."
MONDAYS = "From now on we deploy the invoices service on Mondays because all are at their desks."


def test_a_changed_decision_is_told_once_and_what_it_replaced_is_not(
    words_only: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    _say(words_only, FRIDAYS)
    clock.advance(days=1)
    _say(words_only, MONDAYS)

    at_start, with_prompt = _session(words_only, tmp_path)

    assert [MONDAYS in line for line in at_start] == [True]
    assert with_prompt == []


def test_what_was_accepted_is_told_as_contradicted_by_a_newer_statement(
    words_only: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    words_only.ingest(FRIDAYS, type="decision", project="shop")
    clock.advance(days=1)
    _say(words_only, MONDAYS)

    (newer, older), with_prompt = _session(words_only, tmp_path)

    assert (MONDAYS in newer, FRIDAYS in older) == (True, True)
    assert "a newer memory contradicts it" in older
    assert with_prompt == []


def test_an_accepted_decision_is_marked_even_if_the_newer_one_was_told_before(
    words_only: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    older = words_only.ingest(FRIDAYS, type="decision", project="shop")
    clock.advance(days=1)
    newer = words_only.ingest(MONDAYS, type="decision", project="shop")
    words_only.link(newer.id, "contradicts", older.id)
    event = _event(event_names.PROMPT)
    injected = InjectedMemories(str(tmp_path), event, db="db")
    injected.add([newer.id])

    (line,) = _memory_lines(recall_text(words_only, event, injected))

    assert FRIDAYS in line
    assert "a newer memory contradicts it" in line


def _say(rec: LocalRecollect, text: str) -> None:
    rec.capture_session([{"role": "user", "content": text}], project="shop")
    rec.drain()


def _session(rec: LocalRecollect, folder: Path) -> tuple[list[str], list[str]]:
    """Return the memories that are told at the start of a session, and with its first prompt."""
    texts = []
    for kind in (event_names.SESSION_START, event_names.PROMPT):
        event = _event(kind)
        injected = InjectedMemories(str(folder), event, db="db")
        texts.append(_memory_lines(recall_text(rec, event, injected)))
    return texts[0], texts[1]


def _event(kind: str) -> HookEvent:
    return HookEvent("claude-code", kind, session="s3", project="shop", prompt=QUESTION)


def _memory_lines(text: str) -> list[str]:
    """Return the lines of memories in *text*, without the records of sessions."""
    lines = text.splitlines()
    return [line for line in lines if line.startswith("- [m") and "] Session (" not in line]
