"""The reviewer and the worker in a real terminal: what a person sees, presses and interrupts."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect import EventState, JobState, LocalRecollect, Status
from support import candidates, open_memory
from terminal import InteractiveTerminal, environment

pytestmark = pytest.mark.door

pytest.importorskip("termios", reason="a terminal needs POSIX")

PATIENCE_S = 60.0
KEYS = "uit\n"  # how the line that names the keys ends, where there is no rival
SETTINGS = {"RECOLLECT_EMBEDDING_BACKEND": "none"}


Start = Callable[..., InteractiveTerminal]


@pytest.fixture
def terminal(path: Path) -> Iterator[Start]:
    """Run a command in a terminal, and end it with the test."""
    started: list[InteractiveTerminal] = []

    def start(*args: str) -> InteractiveTerminal:
        started.append(InteractiveTerminal(*args, env=environment(path, **SETTINGS)))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def store(path: Path) -> Iterator[LocalRecollect]:
    """The same store, seen from here."""
    with open_memory(path, words_only=True) as rec:
        yield rec


def said(rec: LocalRecollect, text: str, session: str) -> None:
    rec.capture_session(
        [{"role": "user", "content": text}],
        project="site",
        session=session,
        title=f"Talk of {session}",
    )
    rec.drain()


@pytest.fixture
def three(store: LocalRecollect) -> list[str]:
    """Three candidates, in the order in which they are shown."""
    for number, session in enumerate(("monday", "tuesday", "friday")):
        said(store, f"We use tool-{number} for step {number}.", session)
    return [one.id for one in candidates(store)]


def status_of(store: LocalRecollect, ids: list[str]) -> list[str]:
    return [store.memories.get(one).status.value for one in ids]


# ── the inbox ───────────────────────────────────────────────────────────────────────────────────


def test_a_proposed_edit_of_a_block_is_reviewed_before_the_candidates(
    store: LocalRecollect, three: list[str], terminal: Start
) -> None:
    store.agents.create("coder")
    for label in ("human", "style"):
        store.blocks.append("coder", label, f"Obey in {label}.", by="agent")

    reviewer = terminal("inbox")
    assert "+Obey in human." in reviewer.until(KEYS)
    reviewer.press("k")
    assert "+Obey in style." in reviewer.until(KEYS)
    reviewer.press("u")
    assert "pending: block human" in reviewer.until(KEYS)
    reviewer.press("r")
    reviewer.until(KEYS)
    reviewer.press("k")
    assert "1 of 3" in reviewer.until(KEYS)
    assert reviewer.ends_with("q") == 0

    assert store.blocks.get("coder", "human").value == ""
    assert store.blocks.get("coder", "style").value == "Obey in style."
    assert status_of(store, three) == ["inbox"] * 3


def test_a_candidate_is_shown_with_its_quote_its_source_and_why_it_waits(
    terminal: Start, store: LocalRecollect
) -> None:
    said(store, "We use tool-9 for step 9.", "monday")
    window = terminal("inbox")

    shown = window.until(KEYS)
    window.press("q")

    day = f"{candidates(store)[0].observed_at:%Y-%m-%d}"
    assert "1 of 1 · project · project · 70% sure\n" in shown
    assert "We use tool-9 for step 9.\n" in shown
    assert "“We use tool-9 for step 9.”\n" in shown
    assert f"said by user in Talk of monday, {day}\n" in shown
    assert "held: it was said once\n" in shown
    assert "keep  reject  edit  skip  undo  quit" in shown
    assert "replace" not in shown
    assert window.ends() == 0
    assert "0 kept, 0 rejected; 1 left in the inbox." in window.shown


def test_each_key_does_one_thing(terminal: Start, store: LocalRecollect, three: list[str]) -> None:
    window = terminal("inbox")
    for key, place in (("k", "1 of 3"), ("r", "2 of 3"), ("s", "3 of 3")):
        window.until(place)
        window.until(KEYS)
        window.press(key)

    assert window.ends() == 0
    assert "1 kept, 1 rejected; 1 left in the inbox." in window.shown
    assert status_of(store, three) == ["active", "archived", "inbox"]
    changes = store.explain(three[0]).changes  # type: ignore[union-attr]
    assert (changes[-1].by, changes[-1].reason) == ("user", "reviewed")


def test_quitting_leaves_the_rest_as_it_was(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("k")
    window.until("2 of 3")
    window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert "1 kept, 0 rejected; 2 left in the inbox." in window.shown
    assert status_of(store, three) == ["active", "inbox", "inbox"]


@pytest.mark.parametrize("key", ["k", "r"])
def test_undo_brings_the_candidate_back_and_shows_it_again(
    terminal: Start, store: LocalRecollect, three: list[str], key: str
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press(key)
    window.until("2 of 3")
    window.until(KEYS)
    decided = status_of(store, three)[0]
    window.press("u")
    window.until("Undone: We use tool-2 for step 2.")
    window.until("1 of 3")
    window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert decided == {"k": "active", "r": "archived"}[key]
    assert status_of(store, three) == ["inbox", "inbox", "inbox"]


def test_e_keeps_a_candidate_as_the_reviewer_words_it_with_its_quote_and_undo_restores_it(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("e")
    for label, typed in (
        ("Wording [We use tool-2 for step 2.]: ", "Step 2 is done with tool-2."),
        ("Type (profile, project,", "decision"),
        ("Scope (project, global) [project]: ", ""),
        ("Tags, separated by commas; - for none: ", "tools, step 2"),
        ("Date [", "2026-05-01"),
    ):
        window.until(label)
        window.type(f"{typed}\n")
    window.until("Kept as you wrote it: Step 2 is done with tool-2.")
    window.until("2 of 3")
    window.until(KEYS)
    [edited] = store.memories.list(project="site", types="decision")
    original = store.memories.get(three[0])
    window.press("u")
    window.until("1 of 3")
    window.until(KEYS)

    assert window.ends_with("q") == 0
    assert (edited.content, edited.tags) == ("Step 2 is done with tool-2.", ("step 2", "tools"))
    assert f"{edited.observed_at:%Y-%m-%d}" == "2026-05-01"
    assert edited.scope == "project"
    assert [quote.quote for quote in edited.evidence] == ["We use tool-2 for step 2."]
    assert original.status is Status.SUPERSEDED
    assert status_of(store, [*three, edited.id]) == ["inbox", "inbox", "inbox", "archived"]


def test_an_edit_that_changes_nothing_or_is_interrupted_leaves_the_candidate(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("e")
    for label in ("Wording [", "Type (", "Scope (", "Tags, ", "Date ["):
        window.until(label)
        window.type("\n")
    window.until("Nothing was changed.")
    window.until(KEYS)
    window.press("e")
    window.until("Wording [")
    window.type("\x04")
    window.until("Nothing was changed.")
    window.until(KEYS)

    assert window.ends_with("q") == 0
    assert "0 kept, 0 rejected; 3 left in the inbox." in window.shown
    assert status_of(store, three) == ["inbox"] * 3


def test_an_edit_can_show_a_candidate_everywhere(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("e")
    for label, typed in (
        ("Wording [", ""),
        ("Type (", ""),
        ("Scope (", "global"),
        ("Tags, ", ""),
        ("Date [", ""),
    ):
        window.until(label)
        window.type(f"{typed}\n")
    window.until("2 of 3")

    assert window.ends_with("q") == 0
    assert [memory.content for memory in store.memories.list(scopes="global")] == [
        "We use tool-2 for step 2."
    ]


def test_what_was_taken_back_is_not_counted(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("k")
    window.until("2 of 3")
    window.until(KEYS)
    window.press("u")
    window.until("1 of 3")
    window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert "0 kept, 0 rejected; 3 left in the inbox." in window.shown


def test_with_nothing_decided_there_is_nothing_to_undo(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("u")
    window.until("There is nothing to undo yet.")
    window.until("1 of 3")
    window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert status_of(store, three) == ["inbox"] * 3


@pytest.mark.parametrize("key", ["z", "x", " ", "\r", "ü", "\x1b[A"], ids=ascii)
def test_other_keys_do_nothing(
    terminal: Start, store: LocalRecollect, three: list[str], key: str
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press(key)
    time.sleep(0.2)  # so that the two are not read as one

    assert window.ends_with("q") == 0
    assert window.shown.count(" of 3 ·") == 1
    assert status_of(store, three) == ["inbox"] * 3


def test_a_rival_is_shown_and_x_puts_the_candidate_in_its_place(
    terminal: Start, store: LocalRecollect
) -> None:
    old = store.ingest("The staging server listens on port 8080.", project="site")
    said(store, "The staging server listens on port 9090.", "monday")
    [new] = candidates(store)
    window = terminal("inbox")
    shown = window.until("x keep and replace the other\n")
    window.press("x")

    assert window.ends() == 0
    assert "contradicts: The staging server listens on port 8080. (active)" in shown
    assert "held: it contradicts an existing memory" in shown
    assert "1 kept, 0 rejected; 0 left in the inbox." in window.shown
    assert status_of(store, [old.id, new.id]) == ["superseded", "active"]


def test_two_candidates_that_contradict_each_other_are_decided_with_one_key(
    terminal: Start, store: LocalRecollect
) -> None:
    said(store, "The staging server listens on port 8080.", "monday")
    said(store, "The staging server listens on port 9090.", "friday")
    newer, older = candidates(store)
    window = terminal("inbox")
    shown = window.until("x keep and replace the other\n")
    window.press("x")

    assert window.ends() == 0
    assert "1 of 1" in shown
    assert f"listens on port 8080. (inbox) · {older.observed_at:%Y-%m-%d}" in shown
    assert "1 kept, 0 rejected; 0 left in the inbox." in window.shown
    assert status_of(store, [older.id, newer.id]) == ["superseded", "active"]


def test_after_the_newer_of_two_was_rejected_the_older_one_is_reviewed(
    terminal: Start, store: LocalRecollect
) -> None:
    said(store, "The staging server listens on port 8080.", "monday")
    said(store, "The staging server listens on port 9090.", "friday")
    newer, older = candidates(store)
    window = terminal("inbox")
    window.until("x keep and replace the other\n")
    window.press("r")
    window.until("2 of 2")
    window.until(KEYS)
    window.press("k")

    assert window.ends() == 0
    assert "1 kept, 1 rejected; 0 left in the inbox." in window.shown
    assert status_of(store, [older.id, newer.id]) == ["active", "archived"]


def test_undoing_x_restores_the_rival(terminal: Start, store: LocalRecollect) -> None:
    said(store, "We use tool-0 for step 0.", "friday")
    old = store.ingest("The staging server listens on port 8080.", project="site")
    said(store, "The staging server listens on port 9090.", "monday")
    [new, _] = candidates(store)
    window = terminal("inbox")
    window.until("replace the other\n")
    window.press("x")
    window.until("2 of 2")
    window.until(KEYS)
    between = status_of(store, [old.id, new.id])
    window.press("u")
    window.until("replace the other\n")
    window.press("q")

    assert window.ends() == 0
    assert between == ["superseded", "active"]
    assert status_of(store, [old.id, new.id]) == ["active", "inbox"]


def test_escape_quits(terminal: Start, store: LocalRecollect, three: list[str]) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("\x1b")

    assert window.ends() == 0
    assert "0 kept, 0 rejected; 3 left in the inbox." in window.shown


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_an_interrupted_review_keeps_what_was_decided_and_shows_no_traceback(
    terminal: Start, store: LocalRecollect, three: list[str], key: str
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press("k")
    window.until("2 of 3")
    window.until(KEYS)
    window.press(key)
    window.ends()

    assert "Traceback" not in window.shown
    assert status_of(store, three) == ["active", "inbox", "inbox"]
    assert store.maintenance.verify().ok


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_ctrl_c_and_ctrl_d_quit_like_q(
    terminal: Start, store: LocalRecollect, three: list[str], key: str
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    window.press(key)

    assert window.ends() == 0
    assert "0 kept, 0 rejected; 3 left in the inbox." in window.shown


def test_an_empty_inbox_asks_nothing(terminal: Start, store: LocalRecollect) -> None:
    window = terminal("inbox")

    assert window.ends() == 0
    assert "0 kept, 0 rejected; 0 left in the inbox." in window.shown


@pytest.mark.parametrize("option", ["--list", "--json"])
def test_a_list_is_a_list_in_a_terminal_too(
    terminal: Start, store: LocalRecollect, three: list[str], option: str
) -> None:
    window = terminal("inbox", option)

    assert window.ends() == 0
    assert all(one in window.shown for one in three)
    assert status_of(store, three) == ["inbox"] * 3


def test_groups_have_headings_and_what_says_the_same_is_one_line(
    terminal: Start, store: LocalRecollect
) -> None:
    for text in ("The backup runs on host atlas.", "The nightly backup runs on host atlas."):
        store.ingest(text, project="site", type="project", status="inbox")
    store.ingest("I like tea.", type="profile", status="inbox")
    window = terminal("inbox")
    first = window.until(KEYS)
    window.press("s")
    second = window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert "everywhere · about the user (1)\n" in first
    assert "1 of 2" in first
    assert "site · how things are (1)\n" in second
    assert "also: The " in second
    assert second.count("backup runs on host atlas.\n") == 2


@pytest.mark.parametrize(("key", "status"), [("K", "active"), ("R", "archived")])
def test_a_capital_decides_over_the_rest_of_a_group_and_undo_takes_it_back(
    terminal: Start, store: LocalRecollect, three: list[str], key: str, status: str
) -> None:
    other = store.ingest("I like tea.", type="profile", status="inbox", confidence=0.1)
    window = terminal("inbox")
    window.until("Keep or Reject the 3 left of this group")
    window.until(KEYS)
    window.press("s")
    window.until("the 2 left of this group")
    window.until(KEYS)
    window.press(key)
    window.until("about the user")
    window.until(KEYS)
    between = status_of(store, [*three, other.id])
    window.press("u")
    window.until("and 1 others")
    window.until("2 of 4")
    window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert between == ["inbox", status, status, "inbox"]
    assert status_of(store, [*three, other.id]) == ["inbox"] * 4
    assert "0 kept, 0 rejected; 4 left in the inbox." in window.shown


def test_how_many_more_wait_is_told(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox", "--limit", "1")
    window.until(KEYS)
    window.press("s")

    assert window.ends() == 0
    assert "2 more were not shown" in window.shown


def test_what_somebody_else_decided_meanwhile_is_told_and_the_review_goes_on(
    terminal: Start, store: LocalRecollect, three: list[str]
) -> None:
    window = terminal("inbox")
    window.until(KEYS)
    store.reject(three[0], "by somebody else")
    window.press("r")
    window.until("is archived; only a candidate or a statement can be decided")
    window.until("2 of 3")
    window.until(KEYS)
    window.press("k")
    window.until("3 of 3")
    window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert status_of(store, three) == ["archived", "active", "inbox"]


def test_a_transcript_cannot_write_on_the_reviewers_terminal(
    terminal: Start, store: LocalRecollect
) -> None:
    store.capture_conversation(
        "We use \x1b]0;owned\x07\x1b[2Jtool [red]x[/red] for builds.",
        "note",
        project="site",
        title="\x1b[2Jclear [blink]",
    )
    store.drain()
    window = terminal("inbox")
    window.until(KEYS)
    window.press("q")

    assert window.ends() == 0
    assert b"\x1b]0;" not in window._raw
    assert b"\x1b[2J" not in window._raw
    assert "[red]x[/red]" in window.shown
    assert "clear [blink]" in window.shown


# ── the worker ──────────────────────────────────────────────────────────────────────────────────


def works(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        # Where the machine is busy it is the test that goes first, or no job would be left by then.
        ["nice", "-n", "5", str(Path(sys.executable).parent / "recollect"), "work"],
        env={**os.environ, **SETTINGS, "RECOLLECT_DB": str(path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def worker(path: Path, store: LocalRecollect) -> Iterator[subprocess.Popen[str]]:
    """A worker that waits for jobs."""
    with works(path) as process:
        assert process.stderr is not None
        assert "stop with Ctrl-C" in process.stderr.readline()
        yield process
        process.kill()


def until(done: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def capture_many(store: LocalRecollect, number: int) -> None:
    for n in range(number):
        text = " ".join(f"We use tool-{n}-{k} for step {k}." for k in range(40))
        store.capture_session(text, project="site", session=f"session {n}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_worker_does_what_comes_in_and_stops_when_told(
    worker: subprocess.Popen[str], store: LocalRecollect, number: signal.Signals
) -> None:
    event = store.capture_session("We use pnpm for builds.", project="site")
    until(lambda: store.captures.get(event.id).state is EventState.DONE)
    worker.send_signal(number)
    out, errors = worker.communicate(timeout=PATIENCE_S)

    assert worker.returncode == 0
    assert out == "2 jobs done: 1 consolidate, 1 extract.\n"
    assert "Traceback" not in errors
    assert store.maintenance.status().jobs == {"done": 2}
    assert [one.status for one in candidates(store)] == [Status.INBOX]


def test_ctrl_c_in_a_terminal_stops_the_worker(terminal: Start, store: LocalRecollect) -> None:
    window = terminal("work")
    window.until("stop with Ctrl-C.")
    os.kill(window.process.pid, signal.SIGINT)

    assert window.ends() == 0
    assert "0 jobs done." in window.shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_worker_that_is_told_to_stop_finishes_its_job_and_leaves_the_others(
    worker: subprocess.Popen[str], store: LocalRecollect, number: signal.Signals
) -> None:
    capture_many(store, 40)
    until(lambda: bool(store.maintenance.status().jobs.get("done")))
    worker.send_signal(number)
    worker.communicate(timeout=PATIENCE_S)

    assert worker.returncode == 0
    assert store.jobs.list(states=[JobState.DOING.value]) == []
    assert store.jobs.list(states=[JobState.TODO.value]) != []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_worker_that_is_told_to_stop_at_its_first_jobs_finishes_the_present_one(
    path: Path, store: LocalRecollect, number: signal.Signals
) -> None:
    capture_many(store, 40)
    with works(path) as process:
        until(lambda: bool(store.maintenance.status().jobs.get("done")))
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0
    assert "jobs done" in out
    assert store.jobs.list(states=[JobState.DOING.value]) == []
