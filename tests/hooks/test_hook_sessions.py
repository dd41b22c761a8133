"""Whole sessions of each client, hook by hook: what one decides the next one knows."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import recollect
from conftest import SHARED
from hooked import CLAUDE_CODE, CLIENTS, CURSOR, Client, Home, until
from served import serving

DECIDED = "Let's go with PostgreSQL because we need JSON columns."
SAID = [
    ("user", "Hello, let's look at the billing service."),
    ("user", DECIDED),
    ("assistant", "Good. I will set up the schema for billing."),
    ("user", "Tests are run with `make check`."),
]
ASKED = "Which database did we choose for the JSON columns, PostgreSQL?"


@pytest.fixture(params=["server", "file"])
def around(request: pytest.FixtureRequest, home: Home) -> Iterator[Home]:
    """A person with a server of their store, and one without."""
    with ExitStack() as stack:
        if request.param == "server":
            stack.enter_context(serving(home.db, env=home.env()))
        yield home


def remembered(home: Home, project: Path) -> bool:
    """Say whether a decision of the project has become active."""
    with recollect.open(home.db, embedding_backend="none") as memory:
        return bool(memory.memories(project=project, types=["decision"]))


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_what_a_session_decided_is_known_when_the_next_begins(around: Home, client: Client) -> None:
    project, other = around.project("billing"), around.project("games")
    path = around.folder / "transcripts" / "one.jsonl"
    first = client.told("one", project, path)

    assert around.hook(client.start, first | {"source": "startup"}).out == ""
    assert around.hook(client.prompt, first | {"prompt": SAID[0][1]}).out == ""
    client.write(path, SAID, session="one", cwd=project)
    assert around.hook(client.stop, first | {"status": "completed"}).out == ""
    assert around.hook(client.end, first | {"reason": "other"}).out == ""
    until(lambda: remembered(around, project))

    second = client.told("two", project, None)
    begun = around.hook(client.start, second | {"source": "startup"})
    assert client.shape(json.loads(begun.out), client.start)
    assert DECIDED in begun.said
    assert "waits for the user's review: recollect inbox" in begun.said
    assert len(begun.said) <= 10_000

    third = client.told("three", project, None)
    answered = around.hook(client.prompt, third | {"prompt": ASKED})
    assert client.shape(json.loads(answered.out), client.prompt)
    assert DECIDED in answered.said
    assert around.hook(client.prompt, third | {"prompt": ASKED}).out == ""  # told already

    elsewhere = client.told("four", other, None)
    assert around.hook(client.start, elsewhere | {"source": "startup"}).out == ""
    assert around.hook(client.prompt, elsewhere | {"prompt": ASKED}).out == ""
    assert "failed" not in around.log


def told_before(home: Home, client: Client) -> tuple[Path, str]:
    """Return a project that knows a decision, and what a session there is told of it."""
    project = home.project("billing")
    with recollect.open(home.db, embedding_backend="none") as memory:
        memory.ingest(DECIDED, type="decision", project=project)
        memory.ingest("I prefer tabs over spaces.", type="profile", scope="global")
        memory.create_block("rules", "We always deploy on Mondays.", project=project)
    said = home.hook(client.start, client.told("s", project, None)).said
    return project, said


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_memory_that_was_told_a_session_is_not_learnt_from_its_transcript(
    home: Home, client: Client
) -> None:
    project, said = told_before(home, client)
    assert DECIDED in said
    assert "deploy on Mondays" in said
    talk = [("user", "Hello there."), ("hook", said), ("user", "Show me the schema of the orders.")]
    if client is CLAUDE_CODE:  # as a reminder inside what the user typed, too
        talk.append(("user", f"<system-reminder>\n{said}\n</system-reminder>\nGo on."))
    talk.append(("user", f"You said:\n{said}"))  # and pasted
    path = client.write(home.folder / "t.jsonl", talk, session="s", cwd=project)

    home.hook(client.end, client.told("s", project, path))
    home.captured()

    with recollect.open(home.db, embedding_backend="none") as memory:
        found = memory.memories(everywhere=True, limit=50, statuses=["active", "inbox"])
        assert not [one for one in found if one.metadata.get("session") and one.type != "episode"]
        assert len(found) == 3  # the two that were there, and the session


def test_after_compaction_what_was_told_is_told_again(home: Home) -> None:
    project, _ = told_before(home, CLAUDE_CODE)
    told = CLAUDE_CODE.told("s", project, None)
    prompt = told | {"prompt": ASKED}
    assert home.hook("prompt", prompt).out == ""  # the beginning told it

    with recollect.open(home.db, embedding_backend="none") as memory:
        memory.ingest("PostgreSQL runs on port 5433 for JSON columns.", project=project)
    assert "5433" in home.hook("prompt", prompt).said
    assert home.hook("prompt", prompt).out == ""
    assert "5433" in home.hook("session-start", told | {"source": "compact"}).said


def test_a_session_that_goes_on_is_told_only_what_is_new(around: Home) -> None:
    project, said = told_before(around, CLAUDE_CODE)
    told = CLAUDE_CODE.told("s", project, None)
    again = told | {"source": "resume"}

    assert DECIDED in said
    assert around.hook("session-start", again).out == ""  # it is in the transcript
    with recollect.open(around.db, embedding_backend="none") as memory:
        memory.ingest("Invoices are numbered by year.", project=project)
    news = around.hook("session-start", again).said
    assert "numbered by year" in news
    assert DECIDED not in news
    assert "deploy on Mondays" not in news
    assert around.hook("session-start", again).out == ""
    with recollect.open(around.db, embedding_backend="none") as memory:
        memory.set_block(None, "rules", "We deploy on Tuesdays.", project=project)
    news = around.hook("session-start", again).said
    assert "deploy on Tuesdays" in news
    assert "numbered by year" not in news
    strange = CLAUDE_CODE.told("nobody knows", project, None) | {"source": "resume"}
    assert DECIDED in around.hook("session-start", strange).said


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_a_session_is_not_told_what_it_said_itself(home: Home, client: Client) -> None:
    project = home.project("billing")
    talk = [("user", "Hello there."), ("user", "Show me the schema of the walnut orders.")]
    path = client.write(home.folder / "t.jsonl", talk, session="s", cwd=project)
    told = client.told("s", project, path)
    home.hook(client.end, told)
    home.captured()

    asked = {"prompt": "Show the schema of the walnut orders again"}
    assert home.hook(client.start, told | {"source": "compact"}).out == ""
    assert home.hook(client.prompt, told | asked).out == ""
    other = client.told("other", project, None)
    assert "walnut" in home.hook(client.prompt, other | asked).said


@pytest.mark.parametrize(
    "prompt", ["yes", "go on", "ok, continue please", "/compact", "!ls -la", "", "  ", "thanks!"]
)
def test_a_prompt_that_asks_nothing_gets_nothing(home: Home, prompt: str) -> None:
    project, _ = told_before(home, CLAUDE_CODE)

    told = CLAUDE_CODE.told("new", project, None) | {"prompt": prompt}
    assert home.hook("prompt", told).out == ""


def test_a_prompt_is_told_few_things(home: Home) -> None:
    project = home.project("many")
    with recollect.open(home.db, embedding_backend="none") as memory:
        memory.ingest_many(
            [
                {"content": f"The parser module number {one} reads dates.", "project": project}
                for one in range(30)
            ]
        )

    told = CLAUDE_CODE.told("s", project, None) | {"prompt": "How does the parser read dates?"}
    said = home.hook("prompt", told).said
    assert 1 <= said.count("\n- [m") <= 5


def test_a_large_memory_still_begins_within_the_clients_limit(home: Home) -> None:
    project = home.project("large")
    with recollect.open(home.db, embedding_backend="none") as memory:
        memory.ingest_many(
            [
                {"content": f"Rule {one}: " + "x" * 900, "type": kind, "project": project}
                for one in range(20)
                for kind in ("decision", "project", "task_hint", "artifact")
            ]
        )

    said = home.hook("session-start", CLAUDE_CODE.told("s", project, None)).said
    assert 0 < len(said) <= 10_000


def test_the_option_names_the_project(home: Home) -> None:
    with recollect.open(home.db, embedding_backend="none") as memory:
        memory.ingest(DECIDED, type="decision", project="site")

    told = CLAUDE_CODE.told("s", home.project("x"), None)
    assert DECIDED in home.hook("session-start", told, "--project", "site").said
    assert home.hook("session-start", told).out == ""


def test_a_session_whose_client_says_no_end_is_captured_by_its_turns(home: Home) -> None:
    project = home.project("billing")
    path = home.folder / "t.jsonl"
    told = CURSOR.told("c", project, path)
    long = [("assistant", "Some words about the code. " * 40)] * 60
    CURSOR.write(path, SAID, session="c", cwd=project)

    home.hook("stop", told)
    assert "capture later" in home.log
    CURSOR.write(path, SAID + long, session="c", cwd=project)
    home.hook("stop", told)
    home.captured()
    home.hook("stop", told)
    CURSOR.write(path, [*SAID, *long, ("user", "Fine.")], session="c", cwd=project)
    home.hook("stop", told)

    kinds = [line.split(" ", 4)[4] for line in home.log.splitlines() if " stop " in line]
    assert kinds == ["capture later", "capture now", "capture not needed", "capture later"]
    assert remembered(home, project)


def test_a_session_whose_client_is_killed_is_captured_by_a_later_one(around: Home) -> None:
    """Claude Code tells of no turn: its prompts say that there is a session."""
    project = around.project("billing")
    path = around.folder / "killed.jsonl"  # not there yet when the first prompt comes
    with recollect.open(around.db, embedding_backend="none"):
        pass
    around.hook("prompt", CLAUDE_CODE.told("killed", project, path) | {"prompt": DECIDED})
    CLAUDE_CODE.write(path, SAID, session="killed", cwd=project)

    until(lambda: bool(list(around.files.glob("*.later"))))
    [wish] = around.files.glob("*.later")
    told = json.loads(wish.read_text(encoding="utf-8"))
    wish.write_text(json.dumps(told | {"ripe_at": 0.0}), encoding="utf-8")  # half an hour passes
    other = around.folder / "other.jsonl"
    CLAUDE_CODE.write(other, [("user", "Show me the orders.")], session="other", cwd=project)
    around.hook("session-end", CLAUDE_CODE.told("other", project, other))
    until(lambda: remembered(around, project))
    around.captured()

    assert not list(around.files.glob("*.later"))


def recorded() -> list[Path]:
    found = sorted((SHARED / "samples" / "transcripts").glob("**/*.jsonl"))
    return [path for path in found if "claude" in str(path) or "codex" in str(path)]


@pytest.mark.parametrize("sample", recorded(), ids=lambda one: one.stem)
def test_recorded_sessions_are_captured(home: Home, sample: Path) -> None:
    own = home.folder / sample.name
    own.write_bytes(sample.read_bytes())
    os.chmod(own, 0o600)
    told = CLAUDE_CODE.told("s", home.project("site"), own)

    assert home.hook("session-end", told).out == ""
    home.captured()

    assert "captured 1" in home.log
