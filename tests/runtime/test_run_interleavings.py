"""
Any interleaving of messages, cancels, decisions, expiries and kills leaves a sound conversation.

A plan is a list of actions. A kill ends the process at a chosen write, before or after it reached
the disk, or inside a tool: from then on nothing of that process is written, and the store is opened
again. Whatever happened, every tool call has one answer at the end, no tool ran twice for one call,
a call whose answer says that it was not run was not run, and the next message is answered.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_runs import agent_store, unanswered_calls
from recollect import IllegalTransition, LocalRecollect
from recollect.domain.conversation import Role
from recollect.models.chat_turn import Turn
from recollect.models.scripted_turns import ScriptedTurnModel, call_turn
from recollect.store.sqlite.store import SqliteStore
from support import FakeClock

pytestmark = pytest.mark.fuzz

RUNTIME = {
    "tools": ["act", "ask"],
    "tool_rules": [{"type": "requires_approval", "tool_name": "ask"}],
}


class ProcessDied(BaseException):
    """The process is dead."""


@dataclass
class World:
    """What outlives a process: the disk, the clock, and what tools did to the world."""

    path: Path
    clock: FakeClock = field(default_factory=FakeClock)
    effects: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    is_dead: bool = False
    writes_left: int | None = None  # until the process is killed
    dies_after_commit: bool = False
    talk: str = ""

    def begin(self) -> None:
        with self.process() as (rec, _):
            self.talk = rec.conversations.start(agent="ada").id

    def call(self, tool: str) -> tuple[str, dict[str, str]]:
        self.calls += 1
        return tool, {"effect": f"e{self.calls}"}

    @contextmanager
    def process(self) -> Iterator[tuple[LocalRecollect, ScriptedTurnModel]]:
        """Run a process until it ends or is killed."""
        self.is_dead = False
        write = SqliteStore.write

        def mortal_write(store: SqliteStore, work: Callable[..., Any]) -> Any:
            if self.is_dead:
                raise ProcessDied
            if self.writes_left is not None:
                self.writes_left -= 1
                if self.writes_left < 0:
                    self.is_dead = True
                    if self.dies_after_commit:
                        write(store, work)
                    raise ProcessDied
            return write(store, work)

        with (
            pytest.MonkeyPatch.context() as patch,
            agent_store(self.path, clock=self.clock, runtime=RUNTIME) as (rec, model),
        ):
            patch.setattr(SqliteStore, "write", mortal_write)
            for name in ("act", "ask"):
                rec.agents.add_tool(self._tool(name, rec), name=name)
            with suppress(ProcessDied):
                yield rec, model
            patch.undo()
        self.writes_left = None

    def _tool(self, name: str, rec: LocalRecollect) -> Callable[..., str]:
        def tool(effect: str, then: str = "") -> str:
            """Have an effect on the world, and perhaps meet what others do meanwhile."""
            self.effects[effect] += 1
            if then == "die":
                self.is_dead = True
                raise ProcessDied
            if then == "cancel":
                rec.agents.cancel(self.talk)
            if then == "message":
                rec.agents.run("ada", "Something else first.", conversation=self.talk)
            return f"done {effect}"

        return tool


Step = tuple[str, ...]  # the tools that one message of the model calls; () is an answer
STEPS = st.lists(
    st.lists(
        st.sampled_from(["act", "ask", "act:cancel", "act:message", "act:die", "invalid"]),
        max_size=3,
    ).map(tuple),
    max_size=3,
)
KILL = st.none() | st.tuples(st.integers(0, 8), st.booleans())
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), STEPS, KILL),
        st.tuples(st.just("cancel"), st.just([]), KILL),
        st.tuples(st.sampled_from(["approve", "deny", "always"]), STEPS, KILL),
        st.tuples(st.just("expire"), st.just([]), KILL),
    ),
    min_size=1,
    max_size=6,
)


def turn_of(world: World, step: Step) -> Turn | str:
    if not step:
        return "An answer."
    calls: list[tuple[str, dict[str, str] | str]] = []
    for name in step:
        tool, _, then = name.partition(":")
        if tool == "invalid":
            calls.append(("act", "{"))
            continue
        tool, arguments = world.call(tool)
        calls.append((tool, {**arguments, **({"then": then} if then else {})}))
    return call_turn(*calls)


def carry_out(world: World, action: tuple[str, list[Step], Any]) -> None:
    kind, steps, kill = action
    if kill is not None:
        world.writes_left, world.dies_after_commit = kill
    if kind == "expire":
        world.clock.advance(hours=30)
    with world.process() as (rec, model):
        model.turns = [*(turn_of(world, step) for step in steps), *["The end."] * 40]
        if kind == "send":
            rec.agents.run("ada", "A message.", conversation=world.talk, max_steps=6)
        elif kind == "cancel":
            rec.agents.cancel(world.talk)
        elif kind == "expire":
            rec.agents.approvals()
        else:
            for approval in rec.agents.approvals()[:1]:
                decide(rec, approval, kind)
    world.clock.advance(minutes=1)


def decide(rec: LocalRecollect, approval: Any, kind: str) -> None:
    try:
        rec.agents.decide(approval, kind != "deny", always=kind == "always")
    except IllegalTransition:
        return  # it was decided or closed meanwhile


def assert_sound(world: World) -> None:
    with world.process() as (rec, model):
        model.turns = ["Yes?"] * 9
        result = rec.agents.run("ada", "Are you there?", conversation=world.talk)
        assert (result.stop_reason, result.text) == ("end_turn", "Yes?")
        assert rec.agents.approvals() == []
        messages = rec.conversations.messages(world.talk, limit=1000)
        assert unanswered_calls(messages) == []
        assert {run.state.value for run in rec.agents.runs(world.talk)} == {"ended"}
        assert_effects_are_as_told(world, messages)
        check_history(model)
    assert all(count == 1 for count in world.effects.values()), world.effects


def assert_effects_are_as_told(world: World, messages: Any) -> None:
    answers = {m.tool_call_id: m for m in messages if m.role is Role.TOOL}
    for message in messages:
        for call in message.tool_calls:
            arguments = json.loads(call["function"]["arguments"])
            effect, answer = arguments.get("effect", ""), answers[call["id"]]
            if answer.metadata.get("not_run"):
                assert world.effects[effect] == 0, answer.content
            elif answer.content.startswith("done"):
                assert world.effects[effect] == 1
            else:
                assert answer.content.startswith("Interrupted")


def check_history(model: ScriptedTurnModel) -> None:
    """Assert that the model was asked with histories that a vendor accepts."""
    for request in model.requests:
        waiting: list[str] = []
        for message in request.messages:
            if message.role == "tool":
                assert message.call_id in waiting
                waiting.remove(message.call_id)
                continue
            assert waiting == []
            waiting = [call.id for call in message.calls]
        assert waiting == []


@settings(max_examples=200)
@given(ACTIONS)
@example([("send", [("act", "ask")], None), ("approve", [("act:die",)], None)])
@example([("send", [("ask",), ("act:message",)], None), ("always", [("ask", "act")], (2, True))])
def test_any_interleaving_leaves_a_conversation_that_the_next_message_continues(
    actions: list[tuple[str, list[Step], Any]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder) / "memory.db")
        world.begin()
        for action in actions:
            carry_out(world, action)
        assert_sound(world)
