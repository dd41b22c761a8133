"""Whole sessions of each client, hook by hook: what one decides the next one knows."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import recollect
from conftest import DATA
from hook_clients import CLAUDE_CODE, CLIENTS, CURSOR, CodingAgent, HookHome, wait_until
from server_process import run_server

pytestmark = pytest.mark.door

DECIDED = "From now on, let's go with PostgreSQL because we need JSON columns."
SAID = [
    ("user", "Hello, let's look at the billing service."),
    ("user", DECIDED),
    ("assistant", "Good. I will set up the schema for billing."),
    ("user", "Tests are run with `make check`."),
]
ASKED = "Which database did we choose for the JSON columns, PostgreSQL?"


@pytest.fixture(params=["server", "file"])
def around(request: pytest.FixtureRequest, home: HookHome) -> Iterator[HookHome]:
    """A person with a server of their store, and one without."""
    with ExitStack() as stack:
        if request.param == "server":
            stack.enter_context(run_server(home.db, env=home.env()))
        yield home


def remembered(home: HookHome, project: Path) -> bool:
    """Say whether a decision of the project has become active."""
    with recollect.open(home.db, embedding_backend="none") as rec:
        return bool(rec.memories.list(project=project, types=["decision"]))


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_what_a_session_decided_is_known_when_the_next_begins(
    around: HookHome, client: CodingAgent
) -> None:
    project, other = around.project("billing"), around.project("games")
    path = around.folder / "transcripts" / "one.jsonl"
    first = client.payload("one", project, path)

    assert around.run_hook(client.start, first | {"source": "startup"}).output == ""
    assert around.run_hook(client.prompt, first | {"prompt": SAID[0][1]}).output == ""
    client.write_transcript(path, SAID, session="one", cwd=project)
    assert around.run_hook(client.stop, first | {"status": "completed"}).output == ""
    assert around.run_hook(client.end, first | {"reason": "other"}).output == ""
    wait_until(lambda: remembered(around, project))

    second = client.payload("two", project, None)
    begun = around.run_hook(client.start, second | {"source": "startup"})
    assert client.accepts_response(json.loads(begun.output), client.start)
    assert DECIDED in begun.injected_text
    assert "waits for the user's review: `recollect inbox`" in begun.injected_text
    assert len(begun.injected_text) <= 10_000

    third = client.payload("three", project, None)
    answered = around.run_hook(client.prompt, third | {"prompt": ASKED})
    assert client.accepts_response(json.loads(answered.output), client.prompt)
    assert DECIDED in answered.injected_text
    assert around.run_hook(client.prompt, third | {"prompt": ASKED}).output == ""  # told already

    elsewhere = client.payload("four", other, None)
    assert around.run_hook(client.start, elsewhere | {"source": "startup"}).output == ""
    assert around.run_hook(client.prompt, elsewhere | {"prompt": ASKED}).output == ""
    assert "failed" not in around.log


def told_before(home: HookHome, client: CodingAgent) -> tuple[Path, str]:
    """Return a project that knows a decision, and what a session there is told of it."""
    project = home.project("billing")
    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.ingest(DECIDED, type="decision", project=project)
        rec.ingest("I prefer tabs over spaces.", type="profile", scope="global")
        rec.blocks.create("rules", "We always deploy on Mondays.", project=project)
    text = home.run_hook(client.start, client.payload("s", project, None)).injected_text
    return project, text


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_injected_memory_is_not_captured_from_the_transcript(
    home: HookHome, client: CodingAgent
) -> None:
    project, said = told_before(home, client)
    assert DECIDED in said
    assert "deploy on Mondays" in said
    talk = [("user", "Hello there."), ("hook", said), ("user", "Show me the schema of the orders.")]
    if client is CLAUDE_CODE:  # as a reminder inside what the user typed, too
        talk.append(("user", f"<system-reminder>\n{said}\n</system-reminder>\nGo on."))
    talk.append(("user", f"You said:\n{said}"))  # and pasted
    path = client.write_transcript(home.folder / "t.jsonl", talk, session="s", cwd=project)

    home.run_hook(client.end, client.payload("s", project, path))
    home.wait_for_captures()

    with recollect.open(home.db, embedding_backend="none") as rec:
        memories = rec.memories.list(everywhere=True, limit=50, statuses=["active", "inbox"])
        assert not [
            record for record in memories if record.provenance.session and record.type != "episode"
        ]
        assert len(memories) == 3  # the two that were there, and the session


def test_memory_is_injected_again_after_compaction(home: HookHome) -> None:
    project, _ = told_before(home, CLAUDE_CODE)
    payload = CLAUDE_CODE.payload("s", project, None)
    prompt = payload | {"prompt": ASKED}
    assert home.run_hook("prompt", prompt).output == ""  # the beginning told it

    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.ingest("PostgreSQL runs on port 5433 for JSON columns.", project=project)
    assert "5433" in home.run_hook("prompt", prompt).injected_text
    assert home.run_hook("prompt", prompt).output == ""
    assert "5433" in home.run_hook("session-start", payload | {"source": "compact"}).injected_text


def test_only_new_memory_is_injected_into_a_resumed_session(around: HookHome) -> None:
    project, said = told_before(around, CLAUDE_CODE)
    payload = CLAUDE_CODE.payload("s", project, None)
    again = payload | {"source": "resume"}

    assert DECIDED in said
    assert around.run_hook("session-start", again).output == ""  # it is in the transcript
    with recollect.open(around.db, embedding_backend="none") as rec:
        rec.ingest("Invoices are numbered by year.", project=project)
    news = around.run_hook("session-start", again).injected_text
    assert "numbered by year" in news
    assert DECIDED not in news
    assert "deploy on Mondays" not in news
    assert around.run_hook("session-start", again).output == ""
    with recollect.open(around.db, embedding_backend="none") as rec:
        rec.blocks.set(None, "rules", "We deploy on Tuesdays.", project=project)
    news = around.run_hook("session-start", again).injected_text
    assert "deploy on Tuesdays" in news
    assert "numbered by year" not in news
    strange = CLAUDE_CODE.payload("nobody knows", project, None) | {"source": "resume"}
    assert DECIDED in around.run_hook("session-start", strange).injected_text


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_a_session_gets_no_memory_of_its_own_messages(home: HookHome, client: CodingAgent) -> None:
    project = home.project("billing")
    said = "We use four tables in the schema of the walnut orders."
    talk = [("user", "Hello there."), ("user", said)]
    path = client.write_transcript(home.folder / "t.jsonl", talk, session="s", cwd=project)
    payload = client.payload("s", project, path)
    home.run_hook(client.end, payload)
    home.wait_for_captures()

    request = {"prompt": "Show the schema of the walnut orders again"}
    start = home.run_hook(client.start, payload | {"source": "compact"})
    assert "walnut" not in start.injected_text
    assert home.run_hook(client.prompt, payload | request).output == ""
    other = client.payload("other", project, None)
    assert "walnut" in home.run_hook(client.prompt, other | request).injected_text


@pytest.mark.parametrize(
    "prompt", ["yes", "go on", "ok, continue please", "/compact", "!ls -la", "", "  ", "thanks!"]
)
def test_a_prompt_without_content_words_gets_no_memory(home: HookHome, prompt: str) -> None:
    project, _ = told_before(home, CLAUDE_CODE)

    payload = CLAUDE_CODE.payload("new", project, None) | {"prompt": prompt}
    assert home.run_hook("prompt", payload).output == ""


def test_only_a_few_memories_are_injected_for_a_prompt(home: HookHome) -> None:
    project = home.project("many")
    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.memories.ingest_many(
            [
                {"content": f"The parser module number {item} reads dates.", "project": project}
                for item in range(30)
            ]
        )

    payload = CLAUDE_CODE.payload("s", project, None) | {
        "prompt": "How does the parser read dates?"
    }
    text = home.run_hook("prompt", payload).injected_text
    assert 1 <= text.count("\n- [m") <= 5


def test_a_large_memory_still_begins_within_the_clients_limit(home: HookHome) -> None:
    project = home.project("large")
    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.memories.ingest_many(
            [
                {"content": f"Rule {item}: " + "x" * 900, "type": kind, "project": project}
                for item in range(20)
                for kind in ("decision", "project", "task_hint", "artifact")
            ]
        )

    text = home.run_hook("session-start", CLAUDE_CODE.payload("s", project, None)).injected_text
    assert 0 < len(text) <= 10_000


def test_the_option_names_the_project(home: HookHome) -> None:
    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.ingest(DECIDED, type="decision", project="site")

    payload = CLAUDE_CODE.payload("s", home.project("x"), None)
    assert DECIDED in home.run_hook("session-start", payload, "--project", "site").injected_text
    assert home.run_hook("session-start", payload).output == ""


def test_a_session_without_an_end_event_is_captured_by_its_turns(home: HookHome) -> None:
    project = home.project("billing")
    path = home.folder / "t.jsonl"
    payload = CURSOR.payload("c", project, path)
    long = [("assistant", "Some words about the code. " * 40)] * 60
    CURSOR.write_transcript(path, SAID, session="c", cwd=project)

    home.run_hook("stop", payload)
    assert "capture later" in home.log
    CURSOR.write_transcript(path, SAID + long, session="c", cwd=project)
    home.run_hook("stop", payload)
    home.wait_for_captures()
    home.run_hook("stop", payload)
    CURSOR.write_transcript(path, [*SAID, *long, ("user", "Fine.")], session="c", cwd=project)
    home.run_hook("stop", payload)

    kinds = [line.split(" ", 4)[4] for line in home.log.splitlines() if " stop " in line]
    assert kinds == ["capture later", "capture now", "capture not needed", "capture later"]
    assert remembered(home, project)


def test_a_session_whose_client_is_killed_is_captured_by_a_later_one(around: HookHome) -> None:
    """Claude Code tells of no turn: its prompts say that there is a session."""
    project = around.project("billing")
    path = around.folder / "killed.jsonl"  # not there yet when the first prompt comes
    with recollect.open(around.db, embedding_backend="none"):
        pass
    around.run_hook("prompt", CLAUDE_CODE.payload("killed", project, path) | {"prompt": DECIDED})
    CLAUDE_CODE.write_transcript(path, SAID, session="killed", cwd=project)

    wait_until(lambda: bool(list(around.session_files.glob("*.later"))))
    [wish] = around.session_files.glob("*.later")
    payload = json.loads(wish.read_text(encoding="utf-8"))
    wish.write_text(json.dumps(payload | {"ripe_at": 0.0}), encoding="utf-8")  # half an hour passes
    other = around.folder / "other.jsonl"
    CLAUDE_CODE.write_transcript(
        other, [("user", "Show me the orders.")], session="other", cwd=project
    )
    around.run_hook("session-end", CLAUDE_CODE.payload("other", project, other))
    wait_until(lambda: remembered(around, project))
    around.wait_for_captures()

    assert not list(around.session_files.glob("*.later"))


def recorded() -> list[Path]:
    paths = sorted((DATA / "transcripts").glob("**/*.jsonl"))
    return [path for path in paths if "claude" in str(path) or "codex" in str(path)]


@pytest.mark.parametrize("sample", recorded(), ids=lambda one: one.stem)
def test_recorded_sessions_are_captured(home: HookHome, sample: Path) -> None:
    own = home.folder / sample.name
    own.write_bytes(sample.read_bytes())
    os.chmod(own, 0o600)
    payload = CLAUDE_CODE.payload("s", home.project("site"), own)

    assert home.run_hook("session-end", payload).output == ""
    home.wait_for_captures()

    assert "captured 1" in home.log
