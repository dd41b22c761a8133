"""Sleeptime: what a run reads, proposes and applies, when it comes, and how it is undone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_runs import agent_store
from recollect import IllegalTransition, LocalRecollect, SleeptimeRun
from recollect.config import Settings
from recollect.engine import sleeptime_prompt
from recollect.models.scripted_models import ScriptedChatModel
from recollect.wire import material_files
from support import FakeClock

EVERY_TWO = {"runtime": {"sleeptime_agent_frequency": 2}}
FACT = "Please remember that I am allergic to peanuts."


@pytest.fixture
def rec(path: Path) -> Iterator[LocalRecollect]:
    with LocalRecollect(Settings(db=str(path), embedding_backend="none")) as opened:
        yield opened


def talk(rec: LocalRecollect, *texts: str, agent: str = "ada", project: str | None = "site") -> str:
    conversation = rec.conversations.start(agent=agent, project=project)
    for text in texts:
        rec.conversations.append(conversation, "user", text)
        rec.conversations.append(conversation, "assistant", "All right.")
    return conversation.id


def state_of(rec: LocalRecollect, agent: str = "ada") -> dict[str, Any]:
    """Return everything that a run may change, as bytes and statuses."""
    blocks = {block.label: block.value for block in rec.blocks.list(agent, project="site")}
    memories = rec.memories.list(
        everywhere=True, statuses=["active", "inbox", "contradicted", "superseded"], limit=1000
    )
    return {
        "blocks": {label: value.encode() for label, value in blocks.items()},
        "memories": sorted((m.content, m.status.value, m.confidence) for m in memories),
        "proposals": sorted((p.label, p.value) for p in rec.blocks.proposals()),
    }


def test_a_run_learns_what_was_said_and_proposes_a_line_for_a_shared_block(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("ada")
    run = rec.agents.sleep(talk(rec, FACT, "What is for lunch?"))

    assert run is not None
    assert (run.state, run.trigger, run.made_by) == ("done", "request", "rules")
    learnt = [rec.memories.get(memory_id) for memory_id in run.memory_ids]
    assert any("peanuts" in memory.content and memory.status == "active" for memory in learnt)
    [proposal] = rec.blocks.proposals()
    assert proposal.label == "human"
    assert "allergic to peanuts" in proposal.diff
    assert proposal.author == "ada (sleeptime)"
    assert rec.blocks.get("ada", "human").value == ""


def test_an_agents_own_block_gets_the_line_at_once_and_undo_restores_its_bytes(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("ada", default_blocks=False)
    rec.blocks.create("human", "Name: Bo \u00e9 ", agent="ada")
    before = state_of(rec)
    run = rec.agents.sleep(talk(rec, FACT))
    assert run is not None
    [edit] = run.edits
    assert (edit.label, edit.proposal_id) == ("human", "")
    changed = rec.blocks.get("ada", "human")
    assert changed.value.startswith("Name: Bo \u00e9 \n")
    assert "peanuts" in changed.value
    assert changed.unconfirmed_author == "ada"

    undone = rec.agents.undo_sleeptime(run.id)

    assert (undone.state, undone.remaining) == ("undone", ())
    assert state_of(rec) == before
    with pytest.raises(IllegalTransition):
        rec.agents.undo_sleeptime(run.id)


def test_undo_withdraws_proposals_and_restores_superseded_memories(rec: LocalRecollect) -> None:
    rec.agents.create("ada")
    first = rec.agents.sleep(talk(rec, FACT))
    assert first is not None
    before = state_of(rec)
    second = rec.agents.sleep(
        talk(rec, "Remember that I live in Porto.", "From now on call me Bo, please remember that.")
    )
    assert second is not None
    assert state_of(rec) != before

    rec.agents.undo_sleeptime(second.id)

    assert state_of(rec) == before


def test_what_a_person_decided_stays_after_an_undo(rec: LocalRecollect) -> None:
    rec.agents.create("ada")
    run = rec.agents.sleep(talk(rec, FACT))
    assert run is not None
    [proposal] = rec.blocks.proposals()
    rec.blocks.accept(proposal.id)
    undone = rec.agents.undo_sleeptime(run.id)

    assert any("you accepted" in note for note in undone.remaining)
    assert "peanuts" in rec.blocks.get("ada", "human").value


def test_a_rejected_line_is_not_proposed_again(rec: LocalRecollect) -> None:
    rec.agents.create("ada")
    rec.agents.sleep(talk(rec, FACT))
    [proposal] = rec.blocks.proposals()
    rec.blocks.reject(proposal.id)
    rec.agents.sleep(talk(rec, FACT, "And remember that I live in Porto."))

    proposed = "\n".join(item.value for item in rec.blocks.proposals())
    assert "peanuts" not in proposed
    assert "Porto" in proposed


def test_each_message_is_read_once(rec: LocalRecollect) -> None:
    rec.agents.create("ada")
    conversation = talk(rec, FACT)
    first = rec.agents.sleep(conversation)
    assert rec.agents.sleep(conversation) is None
    rec.conversations.append(conversation, "user", "Remember that I live in Porto.")
    second = rec.agents.sleep(conversation)

    assert first is not None
    assert second is not None
    assert (first.first_position, first.last_position) == (0, 1)
    assert (second.first_position, second.last_position) == (2, 2)
    assert rec.agents.sleeptime_runs("ada") == [second, first]
    assert rec.agents.sleeptime_run(first.id) == first


def test_what_another_user_of_an_app_said_is_not_proposed_for_a_shared_block(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("user-1")
    run = rec.agents.sleep(talk(rec, FACT, agent="user-1", project=None))

    assert run is not None
    assert run.memory_ids
    assert rec.blocks.proposals() == []


def test_a_run_comes_after_n_turns_and_at_the_end(path: Path) -> None:
    with agent_store(path, *["Yes."] * 5, runtime=EVERY_TWO["runtime"]) as (rec, _):
        conversation = rec.conversations.start(agent="ada", project="site")
        states: list[list[str]] = []
        for text in (FACT, "What is for lunch?", "And for dinner?"):
            rec.agents.run("ada", text, conversation=conversation)
            states.append([run.state.value for run in rec.agents.sleeptime_runs("ada")])
        assert states == [[], ["due"], ["due"]]
        rec.drain()
        [run] = rec.agents.sleeptime_runs("ada")
        assert (run.state, run.trigger, run.last_position) == ("done", "turns", 5)
        rec.conversations.append(conversation, "user", "Thank you.")
        rec.conversations.end(conversation)
        rec.conversations.end(conversation)
        rec.drain()

        runs = rec.agents.sleeptime_runs("ada")
        assert [(run.state, run.trigger) for run in runs] == [("done", "end"), ("done", "turns")]


def test_a_run_that_was_begun_is_finished_by_the_next_process(path: Path) -> None:
    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings) as first:
        first.agents.create("ada", metadata=EVERY_TWO)
        first.conversations.end(talk(first, FACT))
        assert next(first.engine.finish_work_in_steps()) == 1  # and then it is killed
    with LocalRecollect(settings) as second:
        [run] = second.agents.sleeptime_runs("ada")
        assert run.state == "reading"
        second.drain()
        second.drain()

        [run] = second.agents.sleeptime_runs("ada")
        assert (run.state, len(run.edits), len(second.blocks.proposals())) == ("done", 1, 1)


def test_runs_are_exported_and_imported(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.agents.create("ada", metadata=EVERY_TWO)
    done = rec.agents.sleep(talk(rec, FACT))
    rec.conversations.end(talk(rec, "Remember that I live in Porto."))
    file = tmp_path / "export.jsonl"
    rec.export(file)
    with LocalRecollect(Settings(db=str(tmp_path / "copy.db"), embedding_backend="none")) as copy:
        copy.import_(file, trust=True)
        copy.import_(file, trust=True)
        due, same = copy.agents.sleeptime_runs("ada")

        assert (due.state, same) == ("due", done)
        assert copy.agents.undo_sleeptime(same.id).remaining == ()


def test_an_agent_without_the_setting_has_no_runs(rec: LocalRecollect) -> None:
    rec.agents.create("ada")
    rec.conversations.end(talk(rec, FACT))
    rec.drain()

    assert rec.agents.sleeptime_runs("ada") == []


EDITS = """{"edits": [
  {"label": "persona", "old": "slow", "new": "quick", "quote": "please be quick"},
  {"label": "human", "old": "", "new": "Bo bakes bread.", "quote": "I bake bread"},
  {"label": "human", "old": "", "new": "Bo is rich.", "quote": "I am rich"},
  {"label": "human", "old": "", "new": "", "quote": "I bake bread"},
  {"label": "skills", "old": "", "new": "x", "quote": "I bake bread"}]}"""


def with_model(path: Path, *replies: str, **settings: Any) -> LocalRecollect:
    chosen = Settings(db=str(path), embedding_backend="none", **settings)
    return LocalRecollect(chosen, chat=ScriptedChatModel(replies))


def test_a_model_proposes_edits_with_quotes_and_applies_none(path: Path) -> None:
    with with_model(path, '{"memories": []}', EDITS) as rec:
        rec.agents.create("ada")
        rec.blocks.set("ada", "persona", "Ada is slow.")
        run = rec.agents.sleep(talk(rec, "I bake bread every day, so please be quick."))

        assert run is not None
        assert run.made_by
        assert "2 edits" in run.note
        proposed = {item.label: item.value for item in rec.blocks.proposals()}
        assert proposed == {"persona": "Ada is quick.", "human": "Bo bakes bread."}
        assert rec.blocks.get("ada", "persona").value == "Ada is slow."
        assert "sleeptime" in {call.purpose for call in rec.models.calls()}
        rec.agents.undo_sleeptime(run.id)
        assert rec.blocks.proposals() == []


def test_without_budget_the_rules_go_on(path: Path) -> None:
    with with_model(path, chat_calls_per_day=0) as rec:
        rec.agents.create("ada")
        run: SleeptimeRun | None = rec.agents.sleep(talk(rec, FACT))
        assert run is not None
        assert (run.state, run.made_by) == ("done", "rules")
        assert "no model answered" in run.note
        assert len(rec.blocks.proposals()) == 1
        assert rec.models.calls() == []


class WatchedChatModel(ScriptedChatModel):
    """Proposes no edits, and calls *on_prompt* each time that sleeptime asks it."""

    def __init__(self, on_prompt: Callable[[str], None]) -> None:
        super().__init__(['{"edits": []}'] * 20)
        self._on_prompt = on_prompt

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Any:
        if system == sleeptime_prompt.SYSTEM:
            self._on_prompt(prompt)
        return super().complete(system, prompt, max_tokens=max_tokens)


def test_a_run_that_fails_says_so_is_tried_again_and_stops_no_other(path: Path) -> None:
    is_broken = True

    def fail(prompt: str) -> None:
        if is_broken and "zebra" in prompt:
            raise RuntimeError("the reply about the zebra is broken")

    clock = FakeClock()
    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings, clock=clock, chat=WatchedChatModel(fail)) as rec:
        rec.agents.create("ada", metadata=EVERY_TWO)
        rec.conversations.end(talk(rec, "Remember that I have a zebra."))
        clock.advance(seconds=1)
        rec.conversations.end(talk(rec, FACT))
        rec.drain()

        other, failed = rec.agents.sleeptime_runs("ada")
        assert (other.state, failed.state, failed.attempts) == ("done", "reading", 1)
        assert "attempt 1 failed with RuntimeError" in failed.note
        assert "zebra" not in failed.note
        rec.drain()
        assert rec.agents.sleeptime_run(failed.id) == failed
        is_broken = False
        clock.advance(minutes=2)
        rec.drain()
        assert rec.agents.sleeptime_run(failed.id).state == "done"
        assert rec.agents.sleeptime_run(failed.id).note == ""


def test_two_workers_ask_a_model_once_for_one_run(path: Path) -> None:
    settings = Settings(db=str(path), embedding_backend="none")
    asked: list[str] = []

    def let_another_worker_run(prompt: str) -> None:
        asked.append(prompt)
        if len(asked) == 1:
            with LocalRecollect(settings, chat=WatchedChatModel(asked.append)) as other:
                other.drain()

    with LocalRecollect(settings, chat=WatchedChatModel(let_another_worker_run)) as rec:
        rec.agents.create("ada")
        run = rec.agents.sleep(talk(rec, FACT))

    assert run is not None
    assert run.state == "done"
    assert len(asked) == 1


def test_a_run_that_is_interrupted_is_due_again_at_once(path: Path) -> None:
    def interrupt(prompt: str) -> None:
        raise KeyboardInterrupt

    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings, chat=WatchedChatModel(interrupt)) as rec:
        rec.agents.create("ada")
        with pytest.raises(KeyboardInterrupt):
            rec.agents.sleep(talk(rec, FACT))
        [run] = rec.agents.sleeptime_runs("ada")
        assert (run.state, run.attempts, run.lease_until) == ("reading", 0, None)


def test_a_run_reads_as_many_messages_as_one_capture_may_have(
    rec: LocalRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    rec.agents.create("ada")
    conversation = talk(rec, FACT, "Remember that I live in Porto.")
    monkeypatch.setattr(material_files, "MAX_CHARS", 70)
    first, second = rec.agents.sleep(conversation), rec.agents.sleep(conversation)

    assert first is not None
    assert second is not None
    assert (first.state, first.first_position, first.last_position) == ("done", 0, 1)
    assert (second.state, second.first_position, second.last_position) == ("done", 2, 3)
    assert second.memory_ids
