"""A conversation that grows, is pinned and compacted by many at once, in any order."""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from conversation_messages import (
    DECISION,
    append_anthropic_call,
    append_messages,
    append_openai_call,
    message_ids,
    unique_word,
)
from recollect import Conversation, LocalRecollect, Message
from support import FakeClock, open_memory

pytestmark = pytest.mark.kill


@pytest.fixture
def talk(rec: LocalRecollect) -> Conversation:
    rec.agents.create("coder", default_blocks=False)
    return rec.conversations.start(agent="coder")


def all_but(rec: LocalRecollect, talk: Conversation, keep_last: int) -> Any:
    return rec.conversations.compact(talk, mode="all", keep_last=keep_last, force=True)


class Growing(RuleBasedStateMachine):
    """Whatever is done in whatever order, every message stands in context or in one summary."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = FakeClock()
        self.memory = open_memory(Path(self.folder.name) / "m.db", clock=self.clock)
        self.talk = self.memory.conversations.start(agent="coder")
        self.spoken: dict[str, str] = {}  # what every message said, by id, in order
        self.words: dict[str, str] = {}  # the word that finds it
        self.groups: list[set[str]] = []  # calls with their results
        self.waiting: dict[str, set[str]] = {}  # calls without, by the name of the call
        self.pinned: set[str] = set()
        self.summaries: list[str] = []

    def teardown(self) -> None:
        for message_id, unique in self.words.items():
            hits = self.memory.conversations.search(unique, agent="coder", mode="fts", limit=3)
            assert message_id in message_ids([hit.message for hit in hits])
        assert self.memory.maintenance.verify().ok
        self.memory.close()
        self.folder.cleanup()

    def _note(self, messages: list[Message]) -> None:
        self.spoken.update({message.id: message.content for message in messages})
        self.clock.advance(seconds=30)

    def _next(self) -> str:
        return unique_word(len(self.spoken))

    @rule(role=st.sampled_from(["user", "assistant", "system"]), length=st.integers(1, 40))
    def somebody_speaks(self, role: str, length: int) -> None:
        unique = self._next()
        text = f"The lamp {unique} hangs in a room. {'It is old. ' * length}"
        message = self.memory.conversations.append(self.talk, role, text)
        self.words[message.id] = unique
        self._note([message])

    @rule()
    def something_is_decided(self) -> None:
        unique = self._next()
        message = self.memory.conversations.append(self.talk, "user", f"{DECISION} See {unique}.")
        self.words[message.id] = unique
        self._note([message])

    @rule()
    def thanks_are_said(self) -> None:
        self._note([self.memory.conversations.append(self.talk, "user", "Thanks!")])

    @rule(answers=st.integers(1, 2))
    def a_tool_is_called_as_openai_does(self, answers: int) -> None:
        unique = self._next()
        texts = [f"Output {unique} of a tool."] * answers
        made = append_openai_call(self.memory, self.talk, f"call-{unique}", *texts)
        self.groups.append(set(message_ids(made)))
        self._note(made)

    @rule()
    def a_tool_is_called_as_anthropic_does(self) -> None:
        unique = self._next()
        made = append_anthropic_call(self.memory, self.talk, f"use-{unique}", "Output of a tool.")
        self.groups.append(set(message_ids(made)))
        self._note(made)

    @rule()
    def a_call_is_made_that_waits(self) -> None:
        named = f"slow-{self._next()}"
        made = append_openai_call(self.memory, self.talk, named)
        self.waiting[named] = set(message_ids(made))
        self._note(made)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def its_result_comes(self, data: st.DataObject) -> None:
        named = data.draw(st.sampled_from(sorted(self.waiting)))
        text = f"Output {self._next()} at last."
        message = self.memory.conversations.append(self.talk, "tool", text, tool_call_id=named)
        self.groups.append(self.waiting.pop(named) | {message.id})
        self._note([message])

    @precondition(lambda self: self.spoken)
    @rule(data=st.data(), pinned=st.booleans())
    def a_message_is_pinned_or_unpinned(self, data: st.DataObject, pinned: bool) -> None:
        here = message_ids(self.memory.conversations.messages_in_context(self.talk))
        if here:
            chosen = data.draw(st.sampled_from(here))
            self.memory.conversations.pin_message(chosen, pinned=pinned)
            self.pinned = self.pinned | {chosen} if pinned else self.pinned - {chosen}

    @rule(
        mode=st.sampled_from(["all", "sliding_window"]),
        keep_last=st.integers(0, 6),
        window=st.sampled_from([200, 500, 4_000]),
        force=st.booleans(),
    )
    def it_is_compacted(self, mode: str, keep_last: int, window: int, force: bool) -> None:
        before = self.memory.conversations.messages_in_context(self.talk)
        done = self.memory.conversations.compact(
            self.talk, mode=mode, keep_last=keep_last, window_tokens=window, force=force
        )
        after = self.memory.conversations.messages_in_context(self.talk)
        self.clock.advance(minutes=1)
        if done is None:
            assert message_ids(after) == message_ids(before)
            return
        self.summaries.append(done.summary.id)
        left = [one for one in before if one.id not in set(message_ids(after))]
        assert done.evicted == len(left) > 0
        assert done.kept == len(after)
        if keep_last:
            assert message_ids(after)[-keep_last:] == message_ids(before)[-keep_last:]
        stood_for = {
            message.id: message.summary_id
            for message in self.memory.conversations.messages(self.talk, limit=1_000)
        }
        assert {stood_for[one.id] for one in left} == {done.summary.id}
        assert done.summary.tokens == self.memory.models.count_tokens(done.summary.content)

    @invariant()
    def no_message_is_lost_or_changed(self) -> None:
        messages = self.memory.conversations.messages(self.talk, limit=1_000)
        assert {one.id: one.content for one in messages} == self.spoken
        assert message_ids(messages) == list(self.spoken)

    @invariant()
    def each_is_in_context_or_stood_for_by_one_summary_that_exists(self) -> None:
        here = message_ids(self.memory.conversations.messages_in_context(self.talk))
        messages = self.memory.conversations.messages(self.talk, limit=1_000)
        assert here == [one.id for one in messages if one.summary_id is None]
        assert {one.summary_id for one in messages} - {None} <= set(self.summaries)

    @invariant()
    def summaries_accumulate(self) -> None:
        assert [
            summary.id for summary in self.memory.conversations.summaries(self.talk)
        ] == self.summaries

    @invariant()
    def pins_open_calls_and_pairs_hold(self) -> None:
        here = set(message_ids(self.memory.conversations.messages_in_context(self.talk)))
        assert self.pinned <= here
        for group in self.groups:
            assert group <= here or not group & here
        for asked in self.waiting.values():
            assert asked <= here

    @invariant()
    def a_bundle_of_it_keeps_its_budget_and_its_pairs(self) -> None:
        bundle = self.memory.context_for(
            "the lamp", agent="coder", conversation=self.talk, budget_tokens=300
        )
        there = set(message_ids(bundle.history))
        assert bundle.tokens <= 300
        for group in self.groups:
            assert group <= there or not group & there


TestGrowing = Growing.TestCase
TestGrowing.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)


def test_threads_that_compact_at_once_take_each_message_once(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 40)
    start = threading.Barrier(6)
    done: list[Any] = []

    def compact() -> None:
        start.wait()
        done.append(all_but(rec, talk, 2))

    threads = [threading.Thread(target=compact) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    won = [one for one in done if one is not None]
    assert len(done) == 6
    assert [one.evicted for one in won] == [38]
    assert [summary.id for summary in rec.conversations.summaries(talk)] == [won[0].summary.id]


def test_messages_that_come_while_others_are_compacted_are_not_lost(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 40)
    start = threading.Barrier(2)

    def speak() -> None:
        start.wait()
        append_messages(rec, talk, 20)

    thread = threading.Thread(target=speak)
    thread.start()
    start.wait()
    for _ in range(5):
        all_but(rec, talk, 4)
    thread.join()

    summaries = {summary.id for summary in rec.conversations.summaries(talk)}
    messages = rec.conversations.messages(talk)
    assert [message.position for message in messages] == list(range(60))
    assert all(
        message.summary_id is None or message.summary_id in summaries for message in messages
    )


COMPACT = """
import sys
import recollect

with recollect.open(sys.argv[1], embedding_backend="none") as rec:
    print("ready", flush=True)
    sys.stdin.readline()
    done = rec.conversations.compact(sys.argv[2], mode="all", keep_last=2, force=True)
    print(done.evicted if done else 0)
"""


def test_processes_that_compact_at_once_take_each_message_once(
    path: Path, rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 40)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", COMPACT, str(path), talk.id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    taken = [int(process.communicate()[0]) for process in processes]

    assert sorted(taken) == [0, 0, 0, 38]
    assert len(rec.conversations.summaries(talk)) == 1
    assert len(rec.conversations.messages_in_context(talk)) == 2
