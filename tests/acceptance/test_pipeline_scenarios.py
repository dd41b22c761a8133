"""The acceptance scenarios of the specification that need the engine, in its words."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recollect import LocalRecollect, MemoryExplanation, Status
from recollect.config import Settings
from recollect.domain.capture_event import EventState
from recollect.models.chat_model import Completion
from support import FakeClock, candidates, open_memory


def test_4_an_imported_conversation_stays_raw_until_captured_then_inbox_then_may_be_promoted(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    exported = tmp_path / "chat.json"
    exported.write_text(
        json.dumps(
            [
                {"role": "user", "content": "I live in Porto and I prefer short answers."},
                {"role": "assistant", "content": "Noted."},
            ]
        ),
        encoding="utf-8",
    )

    untouched = candidates(rec)
    event = rec.capture_conversation(exported, capture_mode="import", project="home")
    raw = candidates(rec)
    rec.drain()
    [candidate] = candidates(rec, types=["profile"])  # and the record of the session
    durable = rec.search("live in Porto", project="home", statuses=["active"])
    [said] = rec.search("live in Porto", project="home")
    rec.promote(candidate.id)
    [seen] = rec.search("live in Porto", project="home", types=["profile"])

    assert untouched == []
    assert event.state is EventState.CAPTURED
    assert raw == []
    assert candidate.status is Status.INBOX
    assert candidate.evidence[0].quote == "I live in Porto and I prefer short answers."
    assert durable == []
    assert not said.memory.is_reviewed
    assert "not reviewed" in said.explanation
    assert seen.memory.id == candidate.id
    assert rec.captures.get(event.id).state is EventState.DONE


class SlowModel:
    """A chat model that answers when it is let."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.may_answer = threading.Event()

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        self.asked.set()
        assert self.may_answer.wait(60)
        return Completion('{"memories": []}', 10, 5)


def test_5_session_close_extraction_does_not_block_the_agent_workflow(path: Path) -> None:
    model = SlowModel()
    settings = Settings(db=str(path), embedding_backend="none")
    said = [{"role": "user", "content": "We deploy with `make ship`. I prefer short answers."}]
    with LocalRecollect(settings, chat=model) as rec:
        first = rec.capture_session(said, project="site")
        worker = threading.Thread(target=rec.drain)
        worker.start()
        assert model.asked.wait(60)

        # The engine is in the middle of a session; the agent goes on as if it were not there.
        second = rec.capture_session([*said, *said], project="site")
        rec.ingest("Written meanwhile.", project="site")
        found = rec.search("written meanwhile", project="site")
        half_way = rec.captures.get(first.id)

        model.may_answer.set()
        worker.join(60)
        done = [rec.captures.get(event.id).state for event in (first, second)]

    assert second.state is EventState.CAPTURED
    assert [hit.memory.content for hit in found] == ["Written meanwhile."]
    assert half_way.state is EventState.WORKING
    assert "extracted" in half_way.outcome  # what the rules found is there before the model answers
    assert done == [EventState.DONE, EventState.DONE]


def test_6_two_contradictory_facts_from_two_sessions_coexist_with_status_and_evidence(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    rec.capture_session(
        [{"role": "user", "content": "The staging server listens on port 8080."}],
        project="site",
        session="monday",
    )
    rec.drain()
    [old] = candidates(rec)
    rec.promote(old.id)
    clock.advance(days=2)
    rec.capture_session(
        [{"role": "user", "content": "The staging server listens on port 9090."}],
        project="site",
        session="wednesday",
    )
    rec.drain()

    [waiting] = rec.inbox.list()
    rec.promote(waiting.memory.id)
    hits = {
        hit.memory.id: hit
        for hit in rec.search("which port does the staging server listen on?", project="site")
        if hit.memory.type == "project"
    }
    bundle = rec.context_for("which port does the staging server listen on?", project="site")

    assert [rival.id for rival in waiting.conflicts] == [old.id]
    assert "contradicts an existing memory" in waiting.why
    assert list(hits) == [waiting.memory.id, old.id]  # the newer one first, both shown
    assert hits[old.id].conflicts == (waiting.memory.id,)
    assert all(hit.memory.status is Status.ACTIVE for hit in hits.values())
    assert all(hit.evidence[0].quote == hit.memory.content for hit in hits.values())
    assert bundle.text.count("CONFLICT") == 2


def test_6_a_correction_by_the_user_supersedes_and_the_old_fact_stays_readable(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    old = rec.ingest("The staging server listens on port 8080.", project="site")
    clock.advance(days=2)
    rec.capture_session(
        [{"role": "user", "content": "No, actually the staging server listens on port 9090."}],
        project="site",
    )
    rec.drain()

    shown = [
        hit.memory
        for hit in rec.search("staging server port", project="site")
        if hit.memory.type == "project"
    ]
    explained = rec.explain(old.id)

    assert [one.content for one in shown] == ["The staging server listens on port 9090."]
    assert isinstance(explained, MemoryExplanation)
    assert explained.memory.status is Status.SUPERSEDED
    last = explained.changes[-1]
    assert (last.kind, last.effects.caused_by) == ("superseded", shown[0].id)
    assert rec.undo(shown[0].id).status is Status.INBOX
    assert rec.memories.get(old.id).status is Status.ACTIVE


AGENT = """
import sys
from recollect import LocalRecollect
from recollect.config import Settings

path, name = sys.argv[1:]
with LocalRecollect(Settings(db=path, embedding_backend="none")) as memory:
    for number in range(25):
        memory.capture_session(
            [{"role": "user", "content": f"We use tool-{name}-{number} for step {number}."}],
            project=name, agent=name, scope="project", session=f"{name}-{number}",
        )
        memory.ingest(f"{name} notes {number}.", project=name, agent=name)
        memory.search(f"tool {number}", project=name)
        if number % 5 == 4:
            memory.drain()
    memory.drain()
"""


@pytest.mark.kill
def test_9_multiple_local_agents_safely_use_the_same_shared_memory(path: Path) -> None:
    with open_memory(path, words_only=True):
        pass
    agents = [
        subprocess.Popen(
            [sys.executable, "-c", AGENT, str(path), name], stderr=subprocess.PIPE, text=True
        )
        for name in ("claude", "codex", "cursor", "gemini")
    ]
    errors = [agent.communicate(timeout=100)[1] for agent in agents]

    assert [agent.returncode for agent in agents] == [0] * 4, errors
    with open_memory(path, words_only=True) as rec:
        rec.drain()
        assert rec.jobs.list() == []
        assert {event.state for event in rec.captures.list()} == {EventState.DONE}
        assert rec.maintenance.verify().ok
        for name in ("claude", "codex", "cursor", "gemini"):
            held = candidates(rec, limit=200, project=name, everywhere=False)
            said = {one.content for one in held}
            assert said == {f"We use tool-{name}-{n} for step {n}." for n in range(25)}
