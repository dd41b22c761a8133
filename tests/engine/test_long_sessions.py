"""Of a session as long as a book only the most certain become candidates; none of it is lost."""

from pathlib import Path

from recollect.domain.memory import MemoryType
from recollect.engine.extract.stage import MOST_OF_A_SESSION
from support import FakeClock, open_memory

MORE = 40


def told(count: int) -> list[dict[str, str]]:
    """A session in which a user says *count* things worth knowing."""
    return [
        {"role": "user", "content": f"We use port {8_000 + number} for service s{number}."}
        for number in range(count)
    ]


def test_a_long_session_gives_so_many_candidates_and_says_how_many_more_there_were(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, words_only=True) as memory:
        event = memory.capture_session(told(MOST_OF_A_SESSION + MORE), project="site")
        memory.drain()

        found = [one for one in memory.inbox(limit=1_000) if one.type is not MemoryType.EPISODE]
        outcome = memory.event(event.id).outcome
        # Among equals what was said last counts.
        kept = {one.content for one in found}
    assert len(found) == MOST_OF_A_SESSION
    assert f"{MORE} left out" in outcome
    assert not any("s0." in one for one in kept)
    assert any(f"s{MOST_OF_A_SESSION + MORE - 1}." in one for one in kept)


def test_what_puts_something_right_comes_before_what_is_merely_said(
    path: Path, clock: FakeClock
) -> None:
    first = {"role": "user", "content": "No, we use tabs, not spaces, in this project."}
    with open_memory(path, clock=clock, words_only=True) as memory:
        memory.capture_session([first, *told(MOST_OF_A_SESSION + MORE)], project="site")
        memory.drain()

        kept = [
            one.content
            for one in memory.memories(statuses=["inbox", "active"], limit=1_000, project="site")
        ]
    assert any("tabs" in one for one in kept)


def test_a_note_is_kept_whole(path: Path, clock: FakeClock) -> None:
    lines = "\n".join(
        f"- Service s{number} runs on port {8_000 + number}." for number in range(340)
    )
    with open_memory(path, clock=clock, words_only=True) as memory:
        memory.capture_conversation(lines, "note", project="site")
        memory.drain()

        found = [one for one in memory.inbox(limit=1_000) if one.type is not MemoryType.EPISODE]
    assert len(found) == 340
