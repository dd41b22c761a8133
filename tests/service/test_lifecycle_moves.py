"""Every move of the lifecycle table is made by a call of the product, recorded, and undone."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from recollect import LocalRecollect
from recollect.domain.change import ChangeKind
from recollect.domain.lifecycle import MOVES
from support import candidates

Triple = tuple[str, str, str]


def candidate(rec: LocalRecollect, text: str = "The backup runs on host atlas.") -> str:
    return rec.ingest(text, project="site", status="inbox").id


def statement(rec: LocalRecollect) -> str:
    """Return a sentence of a session that is not worth a review."""
    talk = [{"role": "user", "content": "Thanks, the upload of the photos worked after lunch."}]
    rec.capture_session(talk, project="site")
    rec.drain()
    [stated] = rec.memories.list(project="site", statuses="stated")
    return stated.id


def edit_statement(rec: LocalRecollect) -> str:
    memory_id = statement(rec)
    rec.memories.edit(memory_id, content="The upload of the photos worked.")
    return memory_id


def rival(rec: LocalRecollect, status: str) -> tuple[str, str]:
    """Return a candidate that contradicts a memory of that status, and that memory."""
    other = candidate(rec, "The backup runs on host hermes.")
    if status != "inbox":
        rec.promote(other)
    if status == "contradicted":
        rec.memories.set_status(other, "contradicted")
    new = candidate(rec)
    rec.link(new, "contradicts", other)
    return new, other


def promote_from(status: str) -> Callable[[LocalRecollect], str]:
    def promote(rec: LocalRecollect) -> str:
        memory = rec.ingest("The backup runs on host atlas.", project="site")
        if status == "superseded":
            rec.link(candidate(rec, "The backup moved."), "supersedes", memory.id)
        else:
            rec.memories.set_status(memory.id, status)
        return rec.promote(memory.id).id

    return promote


def set_status(before: str, after: str) -> Callable[[LocalRecollect], str]:
    def change(rec: LocalRecollect) -> str:
        memory = rec.ingest("The backup runs on host atlas.", project="site")
        if before != "active":
            rec.memories.set_status(memory.id, before)
        return rec.memories.set_status(memory.id, after).id

    return change


def supersede(status: str) -> Callable[[LocalRecollect], str]:
    def promote(rec: LocalRecollect) -> str:
        new, other = rival(rec, status)
        rec.promote(new, replaces=True)
        return other

    return promote


def merge_duplicate(rec: LocalRecollect) -> str:
    first = candidate(rec)
    second = candidate(rec, "The nightly backup runs on host atlas.")
    rec.inbox.decide(first, "keep")
    return second


def merge_lesser(rec: LocalRecollect) -> str:
    for session, text in enumerate(("We use pnpm for builds.", "We use pnpm for all builds.")):
        rec.capture_session(
            [{"role": "user", "content": text}, {"role": "user", "content": f"Hi {session}."}],
            project="site",
            session=str(session),
        )
        rec.drain()
        if not session:
            [less] = candidates(rec)
    return less.id


WRITERS: dict[Triple, Callable[[LocalRecollect], str]] = {
    ("promoted", "inbox", "active"): lambda rec: rec.promote(candidate(rec)).id,
    ("promoted", "stated", "active"): lambda rec: rec.promote(statement(rec)).id,
    ("promoted", "superseded", "active"): promote_from("superseded"),
    ("promoted", "contradicted", "active"): promote_from("contradicted"),
    ("promoted", "archived", "active"): promote_from("archived"),
    ("rejected", "inbox", "archived"): lambda rec: rec.reject(candidate(rec)).id,
    ("rejected", "stated", "archived"): lambda rec: rec.reject(statement(rec)).id,
    ("superseded", "stated", "superseded"): edit_statement,
    ("merged", "inbox", "archived"): merge_duplicate,
    ("merged", "inbox", "superseded"): merge_lesser,
    ("superseded", "inbox", "superseded"): supersede("inbox"),
    ("superseded", "active", "superseded"): supersede("active"),
    ("superseded", "contradicted", "superseded"): supersede("contradicted"),
    ("contradicted", "active", "contradicted"): set_status("active", "contradicted"),
    ("archived", "active", "archived"): set_status("active", "archived"),
    ("archived", "superseded", "archived"): set_status("superseded", "archived"),
    ("archived", "contradicted", "archived"): set_status("contradicted", "archived"),
    ("withdrawn", "active", "inbox"): set_status("active", "inbox"),
}


def recorded_moves(path: Path) -> set[Triple]:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT kind, before, after FROM memory_changes WHERE before <> after"
    moves: set[Triple] = set(db.execute(sql))
    db.close()
    return moves


def test_the_table_has_the_moves_that_calls_make_and_no_others() -> None:
    table = {
        (kind.value, before.value, after.value)
        for kind, moves in MOVES.items()
        if kind is not ChangeKind.UNDONE
        for before, after in moves
    }

    assert table == set(WRITERS)


@pytest.mark.parametrize("move", WRITERS, ids=" ".join)
def test_a_call_makes_the_move_and_undo_reverses_it(
    words_only: LocalRecollect, path: Path, move: Triple
) -> None:
    _, before, after = move
    memory_id = WRITERS[move](words_only)
    made = words_only.memories.get(memory_id).status

    words_only.undo(memory_id)

    assert made == after
    assert words_only.memories.get(memory_id).status == before
    assert {move, ("undone", after, before)} <= recorded_moves(path)
    assert words_only.maintenance.verify().ok
