"""Of a session as long as a book only the most certain become candidates; none of it is lost."""

from pathlib import Path

import pytest

from recollect.domain.memory import MemoryType
from recollect.engine.extract.extract_stage import MAX_CANDIDATES
from support import FakeClock, candidates, open_memory

MORE = 40


def session_of(count: int) -> list[dict[str, str]]:
    """A session in which a user says *count* things worth knowing."""
    return [
        {"role": "user", "content": f"We use port {8_000 + number} for service s{number}."}
        for number in range(count)
    ]


@pytest.mark.kill
def test_a_long_session_gives_so_many_candidates_and_says_how_many_more_there_were(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, words_only=True) as rec:
        event = rec.capture_session(session_of(MAX_CANDIDATES + MORE), project="site")
        rec.drain()

        statements = [
            candidate
            for candidate in candidates(rec, limit=1_000)
            if candidate.type is not MemoryType.EPISODE
        ]
        outcome = rec.captures.get(event.id).outcome
        # Among equals what was said last counts.
        contents = {candidate.content for candidate in statements}
    assert len(statements) == MAX_CANDIDATES
    assert f"{MORE} left out" in outcome
    assert not any("s0." in candidate for candidate in contents)
    assert any(f"s{MAX_CANDIDATES + MORE - 1}." in candidate for candidate in contents)


@pytest.mark.kill
def test_what_puts_something_right_comes_before_what_is_merely_said(
    path: Path, clock: FakeClock
) -> None:
    first = {"role": "user", "content": "No, we use tabs, not spaces, in this project."}
    with open_memory(path, clock=clock, words_only=True) as rec:
        rec.capture_session([first, *session_of(MAX_CANDIDATES + MORE)], project="site")
        rec.drain()

        contents = [
            candidate.content
            for candidate in rec.memories.list(
                statuses=["inbox", "active"], limit=1_000, project="site"
            )
        ]
    assert any("tabs" in candidate for candidate in contents)


@pytest.mark.kill
def test_a_note_is_kept_whole(path: Path, clock: FakeClock) -> None:
    lines = "\n".join(
        f"- Service s{number} runs on port {8_000 + number}." for number in range(340)
    )
    with open_memory(path, clock=clock, words_only=True) as rec:
        rec.capture_conversation(lines, "note", project="site")
        rec.drain()

        statements = [
            candidate
            for candidate in candidates(rec, limit=1_000)
            if candidate.type is not MemoryType.EPISODE
        ]
    assert len(statements) == 340
