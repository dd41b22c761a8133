"""Compaction through the door: what leaves and what stays, and that nothing is ever lost."""

from pathlib import Path
from typing import Any

import pytest

from exchanges import DECISION, anthropic_call, ids, openai_call, said, word
from recollect import Conversation, InvalidInput, NotFound, Recollect
from recollect.domain.conversation import CompactionMode
from support import FakeClock, open_memory

SMALL = 400  # a window, in tokens


@pytest.fixture
def talk(memory: Recollect) -> Conversation:
    """A conversation of an agent without blocks, so that only what is said counts."""
    memory.create_agent("coder", default_blocks=False)
    return memory.start_conversation(agent="coder")


def all_but(memory: Recollect, talk: Conversation, keep_last: int = 0, **how: Any) -> Any:
    """Take out whatever may go."""
    return memory.compact(talk, mode="all", keep_last=keep_last, force=True, **how)


def standing(memory: Recollect, talk: Conversation) -> list[int]:
    return [one.position for one in memory.messages_in_context(talk)]


def besides_messages(memory: Recollect, talk: Conversation) -> int:
    """Return what else stands in the window: prompt, blocks, metadata."""
    window = memory.context_window(talk.agent_id or "", conversation=talk)
    return window.used - window.messages


# When, and how much


def test_a_window_below_its_threshold_is_left_alone(memory: Recollect, talk: Conversation) -> None:
    said(memory, talk, 20)

    assert memory.compact(talk) is None
    assert memory.summaries(talk) == []
    assert len(standing(memory, talk)) == 20


def test_an_empty_conversation_has_nothing_to_compact(
    memory: Recollect, talk: Conversation
) -> None:
    assert memory.compact(talk, force=True) is None
    assert all_but(memory, talk) is None


def test_the_threshold_is_passed_by_the_first_token_above_it(
    memory: Recollect, talk: Conversation
) -> None:
    for n in range(20):
        memory.append_message(talk, ("user", "assistant")[n % 2], f"Lamp {n}.", tokens=50)
    used = 20 * 50 + besides_messages(memory, talk)

    at_it = memory.compact(talk, window_tokens=2 * used, threshold=0.5, keep_last=2)
    above = memory.compact(talk, window_tokens=2 * used - 1, threshold=0.5, keep_last=2)

    assert at_it is None
    assert above is not None


def test_a_sliding_window_takes_the_oldest_until_its_target_is_met(
    memory: Recollect, talk: Conversation
) -> None:
    for n in range(20):
        memory.append_message(talk, ("user", "assistant")[n % 2], f"Lamp {n}.", tokens=50)

    window = 2 * (10 * 50 + besides_messages(memory, talk))

    done = memory.compact(talk, window_tokens=window, keep_last=2)

    assert done is not None
    assert done.summary.mode is CompactionMode.SLIDING_WINDOW
    assert standing(memory, talk) == list(range(10, 20))
    assert (done.evicted, done.kept) == (10, 10)
    assert (done.summary.first_position, done.summary.last_position) == (0, 9)


def test_mode_all_takes_whatever_may_go(memory: Recollect, talk: Conversation) -> None:
    said(memory, talk, 20)

    done = all_but(memory, talk, keep_last=4)

    assert done.summary.mode is CompactionMode.ALL
    assert standing(memory, talk) == [16, 17, 18, 19]


def test_the_last_thing_the_user_said_stays_even_if_no_message_must(
    memory: Recollect, talk: Conversation
) -> None:
    said(memory, talk, 20)
    all_but(memory, talk, keep_last=0)

    assert standing(memory, talk) == [18]


def test_keeping_more_than_there_is_leaves_everything(
    memory: Recollect, talk: Conversation
) -> None:
    said(memory, talk, 5)

    assert all_but(memory, talk, keep_last=100) is None
    assert len(standing(memory, talk)) == 5


def test_blocks_and_the_system_prompt_count_towards_the_threshold(memory: Recollect) -> None:
    memory.create_agent("coder", default_blocks=False, system_prompt="rule " * 300)
    talk = memory.start_conversation(agent="coder")
    said(memory, talk, 20)

    alone = sum(one.tokens for one in memory.messages_in_context(talk))
    done = memory.compact(talk, window_tokens=500, keep_last=2)

    assert alone < 0.8 * 500
    assert done is not None


def test_the_window_an_agent_was_made_with_is_the_window_that_counts(memory: Recollect) -> None:
    memory.create_agent("small", default_blocks=False, metadata={"context_window": SMALL})
    memory.create_agent("large", default_blocks=False)
    talks = [memory.start_conversation(agent=name) for name in ("small", "large")]
    for talk in talks:
        said(memory, talk, 40)

    done = [memory.compact(talk) for talk in talks]

    assert done[0] is not None
    assert done[1] is None


def test_the_target_is_met_or_the_reason_says_why_not(
    memory: Recollect, talk: Conversation
) -> None:
    said(memory, talk, 30)
    for one in memory.messages(talk, limit=20):
        memory.pin_message(one)

    done = memory.compact(talk, window_tokens=SMALL, keep_last=4)

    assert done is not None
    assert "above the target" in done.reason
    assert "pinned messages" in done.reason


@pytest.mark.parametrize(
    "how",
    [
        {"threshold": 0.4},  # below the target
        {"threshold": 1.5},
        {"threshold": float("nan")},
        {"target": 0},
        {"target": -1},
        {"keep_last": -1},
        {"keep_last": 2.5},
        {"keep_last": True},
        {"mode": "some"},
        {"mode": None},
        {"window_tokens": 0},
        {"window_tokens": 10**9},
        {"window_tokens": "many"},
        {"summary_tokens": 0},
        {"summary_tokens": -5},
    ],
)
def test_settings_that_make_no_sense_are_refused_and_nothing_leaves(
    memory: Recollect, talk: Conversation, how: dict[str, Any]
) -> None:
    said(memory, talk, 20)

    with pytest.raises(InvalidInput):
        memory.compact(talk, force=True, **how)
    assert len(standing(memory, talk)) == 20


@pytest.mark.parametrize("named", ["", "nobody", "\0", "x" * 10_000, None, 5])
def test_a_conversation_that_does_not_exist_is_not_found(memory: Recollect, named: Any) -> None:
    with pytest.raises(NotFound):
        memory.compact(named, force=True)


def test_where_the_window_says_compact_compacting_does_something(
    memory: Recollect, talk: Conversation, tmp_path: Path
) -> None:
    said(memory, talk, 40)
    (tmp_path / "long.txt").write_text("one line of many\n" * 10_000)
    memory.open_files("coder", ["long.txt"], roots=[tmp_path])

    warning = memory.context_window("coder", conversation=talk).warning
    done = memory.compact(talk)

    assert "compact the conversation" in warning
    assert done is not None


# What stays


@pytest.mark.parametrize("mode", list(CompactionMode))
def test_pinned_messages_stay_until_they_are_unpinned(
    memory: Recollect, talk: Conversation, mode: CompactionMode
) -> None:
    messages = said(memory, talk, 40)
    memory.pin_message(messages[0])
    memory.pin_message(messages[7])
    memory.compact(talk, mode=mode, window_tokens=SMALL, keep_last=2, force=True)
    pinned = standing(memory, talk)
    memory.pin_message(messages[7], pinned=False)
    all_but(memory, talk, keep_last=2)

    assert {0, 7} <= set(pinned)
    assert 0 in standing(memory, talk)
    assert 7 not in standing(memory, talk)


def test_pinning_what_has_left_brings_it_back_or_is_refused(
    memory: Recollect, talk: Conversation
) -> None:
    messages = said(memory, talk, 20)
    all_but(memory, talk, keep_last=2)
    try:
        memory.pin_message(messages[0])
    except InvalidInput:
        return

    assert 0 in standing(memory, talk)


def test_a_message_pinned_as_it_is_said_stays(memory: Recollect, talk: Conversation) -> None:
    memory.append_message(talk, "user", "The ticket is BILL-12.", pinned=True)
    said(memory, talk, 20)
    all_but(memory, talk, keep_last=2)

    assert 0 in standing(memory, talk)


def test_the_opening_instructions_stay(memory: Recollect, talk: Conversation) -> None:
    memory.append_message(talk, "system", "You are a careful clerk.")
    memory.append_message(talk, "developer", "Answer in German.")
    said(memory, talk, 20)
    memory.append_message(talk, "system", "The time is noon.")
    said(memory, talk, 3)
    all_but(memory, talk, keep_last=2)

    assert [one for one in standing(memory, talk) if one < 22] == [0, 1]
    assert 22 not in standing(memory, talk)


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_decision_stays_and_a_tool_that_says_the_same_does_not(
    memory: Recollect, talk: Conversation, role: str
) -> None:
    said(memory, talk, 4)
    decided = memory.append_message(talk, role, DECISION)
    _, output = openai_call(memory, talk, "c1", DECISION)
    said(memory, talk, 10)
    all_but(memory, talk, keep_last=2)

    assert decided.position in standing(memory, talk)
    assert output.position not in standing(memory, talk)


def test_decisions_do_not_fill_the_window_the_newest_stay(
    memory: Recollect, talk: Conversation
) -> None:
    decided = [
        memory.append_message(talk, "user", f"We decided to use lamp {word(n)} for the hall.")
        for n in range(60)
    ]
    said(memory, talk, 6)
    all_but(memory, talk, keep_last=2, window_tokens=4_000)

    stayed = [one.position for one in decided if one.position in standing(memory, talk)]
    assert 0 < len(stayed) <= 20
    assert stayed == [one.position for one in decided[-len(stayed) :]]


# Tool calls


@pytest.mark.parametrize("call", [openai_call, anthropic_call])
def test_a_call_is_not_parted_from_its_result_at_the_edge_of_the_last_messages(
    memory: Recollect, talk: Conversation, call: Any
) -> None:
    said(memory, talk, 10)
    asked, answered = call(memory, talk, "c1", "It is on.")
    memory.append_message(talk, "assistant", "The lamp is on.")
    all_but(memory, talk, keep_last=2)

    assert {asked.position, answered.position} <= set(standing(memory, talk))


@pytest.mark.parametrize("call", [openai_call, anthropic_call])
def test_a_call_and_its_result_leave_together(
    memory: Recollect, talk: Conversation, call: Any
) -> None:
    asked, answered = call(memory, talk, "c1", "It is on.")
    said(memory, talk, 10)
    all_but(memory, talk, keep_last=2)

    assert not {asked.position, answered.position} & set(standing(memory, talk))


@pytest.mark.parametrize("call", [openai_call, anthropic_call])
def test_a_pinned_result_keeps_its_call(memory: Recollect, talk: Conversation, call: Any) -> None:
    asked, answered = call(memory, talk, "c1", "It is on.")
    memory.pin_message(answered)
    said(memory, talk, 10)
    all_but(memory, talk, keep_last=2)

    assert {asked.position, answered.position} <= set(standing(memory, talk))


@pytest.mark.parametrize("call", [openai_call, anthropic_call])
def test_a_call_that_waits_for_its_result_stays_until_it_came(
    memory: Recollect, talk: Conversation, call: Any
) -> None:
    [asked] = call(memory, talk, "c1")
    said(memory, talk, 20)
    all_but(memory, talk, keep_last=2)
    waiting = standing(memory, talk)
    answered = memory.append_message(talk, "tool", "It is on.", tool_call_id="c1")
    said(memory, talk, 5)
    all_but(memory, talk, keep_last=2)

    assert asked.position in waiting
    assert not {asked.position, answered.position} & set(standing(memory, talk))


def test_calls_side_by_side_leave_with_all_their_results_or_not_at_all(
    memory: Recollect, talk: Conversation
) -> None:
    calls = [
        {"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for one in ("c1", "c2")
    ]
    asked = memory.append_message(talk, "assistant", "", tool_calls=calls)
    first = memory.append_message(talk, "tool", "On.", tool_call_id="c1")
    said(memory, talk, 10)
    all_but(memory, talk, keep_last=2)
    half = standing(memory, talk)
    second = memory.append_message(talk, "tool", "Off.", tool_call_id="c2")
    said(memory, talk, 5)
    all_but(memory, talk, keep_last=2)

    assert {asked.position, first.position} <= set(half)
    together = {asked.position, first.position, second.position}
    assert not together & set(standing(memory, talk))


def test_an_id_that_is_used_again_ties_a_result_to_the_latest_call(
    memory: Recollect, talk: Conversation
) -> None:
    old = openai_call(memory, talk, "c1", "Once.")
    said(memory, talk, 10)
    new = openai_call(memory, talk, "c1", "Twice.")
    all_but(memory, talk, keep_last=1)

    assert not set(ids(old)) & set(ids(memory.messages_in_context(talk)))
    assert set(ids(new)) <= set(ids(memory.messages_in_context(talk)))


@pytest.mark.parametrize("call", [anthropic_call])
def test_a_long_tool_result_fills_the_window_however_its_vendor_writes_it(
    memory: Recollect, talk: Conversation, call: Any
) -> None:
    said(memory, talk, 4)
    call(memory, talk, "c1", "a long log line of a tool\n" * 5_000)
    said(memory, talk, 12)

    assert memory.compact(talk, window_tokens=10_000, keep_last=4) is not None


def test_a_long_tool_result_in_openais_form_fills_the_window(
    memory: Recollect, talk: Conversation
) -> None:
    said(memory, talk, 4)
    openai_call(memory, talk, "c1", "a long log line of a tool\n" * 5_000)
    said(memory, talk, 12)

    assert memory.compact(talk, window_tokens=10_000, keep_last=4) is not None


# The summary


def test_only_pleasantries_leave_and_the_summary_may_be_empty(
    memory: Recollect, talk: Conversation
) -> None:
    for n in range(20):
        memory.append_message(talk, ("user", "assistant")[n % 2], ("Thanks!", "Welcome!")[n % 2])

    done = all_but(memory, talk, keep_last=2)
    bundle = memory.context_for("go on", agent="coder", conversation=talk)

    assert done.evicted == 18
    assert done.summary.tokens == memory.count_tokens(done.summary.content)
    assert [one.id for one in memory.summaries(talk)] == [done.summary.id]
    assert len(bundle.history) == 2


def test_what_was_summed_up_survives_a_compaction_of_pleasantries(
    memory: Recollect, talk: Conversation
) -> None:
    memory.append_message(talk, "user", "I live in Porto and my editor is Helix.")
    said(memory, talk, 5)
    first = all_but(memory, talk, keep_last=0, window_tokens=4_000)
    for n in range(20):
        memory.append_message(talk, ("user", "assistant")[n % 2], ("Thanks!", "Welcome!")[n % 2])
    second = all_but(memory, talk, keep_last=0, window_tokens=4_000)

    assert "Porto" in first.summary.content
    assert "Porto" in second.summary.content


@pytest.mark.parametrize("summary_tokens", [20, 50, 200])
def test_a_summary_keeps_to_its_budget_however_often_it_is_made_anew(
    memory: Recollect, talk: Conversation, summary_tokens: int
) -> None:
    for _ in range(6):
        said(memory, talk, 30)
        done = all_but(memory, talk, keep_last=2, summary_tokens=summary_tokens)
        assert memory.count_tokens(done.summary.content) <= summary_tokens
        assert done.summary.tokens == memory.count_tokens(done.summary.content)


def test_every_earlier_summary_is_kept_and_never_changes(
    memory: Recollect, talk: Conversation, clock: FakeClock
) -> None:
    made = []
    for _ in range(5):
        said(memory, talk, 12)
        made.append(all_but(memory, talk, keep_last=2).summary)
        clock.advance(minutes=5)
        assert memory.summaries(talk) == made


def test_the_summary_stands_in_the_bundle_for_what_left(
    memory: Recollect, talk: Conversation
) -> None:
    memory.append_message(talk, "user", "I live in Porto and my editor is Helix.")
    said(memory, talk, 20)
    done = all_but(memory, talk, keep_last=2)
    bundle = memory.context_for("go on", agent="coder", conversation=talk, budget_tokens=8_000)

    assert bundle.summary == done.summary
    assert "Porto" in bundle.text
    assert ids(bundle.history) == ids(memory.messages_in_context(talk))


def test_the_positions_of_a_summary_span_all_it_stands_for(
    memory: Recollect, talk: Conversation
) -> None:
    said(memory, talk, 20)
    first = all_but(memory, talk, keep_last=2).summary
    said(memory, talk, 20)
    second = all_but(memory, talk, keep_last=2).summary

    assert (first.first_position, first.last_position) == (0, 17)
    assert (second.first_position, second.last_position) == (0, 37)


def test_a_message_that_leaves_long_after_its_time_does_not_shorten_the_span(
    memory: Recollect, talk: Conversation
) -> None:
    messages = said(memory, talk, 20)
    memory.pin_message(messages[3])
    all_but(memory, talk, keep_last=2)
    memory.pin_message(messages[3], pinned=False)
    second = all_but(memory, talk, keep_last=2).summary

    assert (second.first_position, second.last_position) == (0, 17)


def test_the_latest_summary_counts_although_the_clock_was_set_back(
    memory: Recollect, talk: Conversation, clock: FakeClock
) -> None:
    said(memory, talk, 20)
    all_but(memory, talk, keep_last=2)
    clock.advance(hours=-1)
    memory.append_message(talk, "user", "I live in Porto and my editor is Helix.")
    said(memory, talk, 19)
    second = all_but(memory, talk, keep_last=2).summary
    bundle = memory.context_for("go on", agent="coder", conversation=talk, budget_tokens=8_000)

    assert memory.summaries(talk)[-1] == second
    assert bundle.summary == second


# Afterwards


@pytest.mark.parametrize("agent", ["coder", None])
def test_what_left_is_found_by_words_and_by_meaning_for_ever(
    memory: Recollect, agent: str | None
) -> None:
    talk = memory.start_conversation(agent=agent)
    messages = said(memory, talk, 30)
    all_but(memory, talk, keep_last=0)
    said(memory, talk, 30)
    all_but(memory, talk, keep_last=0)
    memory.drain()

    for n, one in enumerate(messages):
        by_words = memory.search_messages(word(n), conversation=talk, mode="fts", limit=1)
        by_meaning = memory.search_messages(one.content, conversation=talk, mode="vector", limit=3)
        assert ids([hit.message for hit in by_words]) == [one.id]
        assert one.id in ids([hit.message for hit in by_meaning])


def test_what_left_is_listed_unchanged_but_for_the_summary_that_stands_for_it(
    memory: Recollect, talk: Conversation
) -> None:
    before = said(memory, talk, 20)
    done = all_but(memory, talk, keep_last=2)
    after = memory.messages(talk)

    assert ids(after) == ids(before)
    assert [one.content for one in after] == [one.content for one in before]
    assert {one.summary_id for one in after[:18]} == {done.summary.id}
    assert {one.summary_id for one in after[18:]} == {None}


def test_compacting_twice_takes_nothing_twice(memory: Recollect, talk: Conversation) -> None:
    said(memory, talk, 20)
    first = all_but(memory, talk, keep_last=2)

    assert all_but(memory, talk, keep_last=2) is None
    assert [one.id for one in memory.summaries(talk)] == [first.summary.id]


def test_an_ended_conversation_can_be_compacted_and_resumed(
    memory: Recollect, talk: Conversation
) -> None:
    said(memory, talk, 20)
    memory.end_conversation(talk)
    done = all_but(memory, talk, keep_last=2)
    memory.resume_conversation(talk)
    memory.append_message(talk, "user", "Where were we?")

    assert done is not None
    assert standing(memory, talk) == [18, 19, 20]


def test_other_conversations_are_left_alone(memory: Recollect, talk: Conversation) -> None:
    other = memory.start_conversation(agent="coder")
    said(memory, talk, 20)
    said(memory, other, 20)
    all_but(memory, talk, keep_last=2)

    assert len(standing(memory, other)) == 20
    assert memory.summaries(other) == []


def test_a_compacted_store_is_whole_and_outlives_a_restart(path: Path, clock: FakeClock) -> None:
    with open_memory(path, clock=clock) as memory:
        talk = memory.start_conversation(agent="coder")
        said(memory, talk, 20)
        done = all_but(memory, talk, keep_last=2)
    with open_memory(path, clock=clock) as memory:
        assert memory.summaries(talk) == [done.summary]
        assert len(standing(memory, talk)) == 2
        assert memory.verify().ok
        memory.delete_conversation(talk)
        assert memory.verify().ok
        assert memory.search_messages(word(3), agent="coder") == []


def test_what_left_is_found_after_the_indexes_were_made_anew_and_after_a_move(
    memory: Recollect, talk: Conversation, tmp_path: Path
) -> None:
    messages = said(memory, talk, 20)
    done = all_but(memory, talk, keep_last=2)
    memory.rebuild_indexes()
    here = memory.search_messages(word(3), agent="coder", mode="fts")
    memory.export(tmp_path / "all.jsonl")
    with open_memory(tmp_path / "other.db") as other:
        other.import_(tmp_path / "all.jsonl")
        there = other.search_messages(word(3), agent="coder", mode="fts")
        assert other.summaries(talk) == [done.summary]
        assert standing(other, talk) == [18, 19]

    assert ids([hit.message for hit in here]) == [messages[3].id]
    assert ids([hit.message for hit in there]) == [messages[3].id]
