"""Compaction through the door: what leaves and what stays, and that nothing is ever lost."""

from pathlib import Path
from typing import Any

import pytest

from conversation_messages import (
    DECISION,
    append_anthropic_call,
    append_messages,
    append_openai_call,
    message_ids,
    unique_word,
)
from recollect import Conversation, InvalidInput, LocalRecollect, NotFound
from recollect.domain.conversation import CompactionMode
from support import FakeClock, open_memory
from tables import each_row

SMALL = 400  # a window, in tokens


@pytest.fixture
def talk(rec: LocalRecollect) -> Conversation:
    """A conversation of an agent without blocks, so that only what is said counts."""
    rec.agents.create("coder", default_blocks=False)
    return rec.conversations.start(agent="coder")


def all_but(rec: LocalRecollect, talk: Conversation, keep_last: int = 0, **how: Any) -> Any:
    """Take out whatever may go."""
    return rec.conversations.compact(talk, mode="all", keep_last=keep_last, force=True, **how)


def standing(rec: LocalRecollect, talk: Conversation) -> list[int]:
    return [message.position for message in rec.conversations.messages_in_context(talk)]


def latest_summary(rec: LocalRecollect, talk: Conversation) -> str:
    return rec.conversations.summaries(talk)[-1].content


def besides_messages(rec: LocalRecollect, talk: Conversation) -> int:
    """Return what else stands in the window: prompt, blocks, metadata."""
    window = rec.agents.context_window(talk.agent_id or "", conversation=talk)
    return window.used - window.messages


# When, and how much


def test_a_window_below_its_threshold_is_left_alone(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 20)

    assert rec.conversations.compact(talk) is None
    assert rec.conversations.summaries(talk) == []
    assert len(standing(rec, talk)) == 20


def test_an_empty_conversation_has_nothing_to_compact(
    rec: LocalRecollect, talk: Conversation
) -> None:
    assert rec.conversations.compact(talk, force=True) is None
    assert all_but(rec, talk) is None


def test_the_threshold_is_passed_by_the_first_token_above_it(
    rec: LocalRecollect, talk: Conversation
) -> None:
    for n in range(20):
        rec.conversations.append(talk, ("user", "assistant")[n % 2], f"Lamp {n}.", tokens=50)
    used = 20 * 50 + besides_messages(rec, talk)

    at_it = rec.conversations.compact(talk, window_tokens=2 * used, threshold=0.5, keep_last=2)
    above = rec.conversations.compact(talk, window_tokens=2 * used - 1, threshold=0.5, keep_last=2)

    assert at_it is None
    assert above is not None


def test_a_sliding_window_takes_the_oldest_until_its_target_is_met(
    rec: LocalRecollect, talk: Conversation
) -> None:
    for n in range(20):
        rec.conversations.append(talk, ("user", "assistant")[n % 2], f"Lamp {n}.", tokens=50)

    window = 2 * (10 * 50 + besides_messages(rec, talk))

    done = rec.conversations.compact(talk, window_tokens=window, keep_last=2)

    assert done is not None
    assert done.summary.mode is CompactionMode.SLIDING_WINDOW
    assert standing(rec, talk) == list(range(10, 20))
    assert (done.evicted, done.kept) == (10, 10)
    assert (done.summary.first_position, done.summary.last_position) == (0, 9)


def test_mode_all_takes_whatever_may_go(rec: LocalRecollect, talk: Conversation) -> None:
    append_messages(rec, talk, 20)

    done = all_but(rec, talk, keep_last=4)

    assert done.summary.mode is CompactionMode.ALL
    assert standing(rec, talk) == [16, 17, 18, 19]


def test_the_last_thing_the_user_said_stays_even_if_no_message_must(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 20)
    all_but(rec, talk, keep_last=0)

    assert standing(rec, talk) == [18]


def test_keeping_more_than_there_is_leaves_everything(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 5)

    assert all_but(rec, talk, keep_last=100) is None
    assert len(standing(rec, talk)) == 5


def test_blocks_and_the_system_prompt_count_towards_the_threshold(rec: LocalRecollect) -> None:
    rec.agents.create("coder", default_blocks=False, system_prompt="rule " * 300)
    talk = rec.conversations.start(agent="coder")
    append_messages(rec, talk, 20)

    alone = sum(message.tokens for message in rec.conversations.messages_in_context(talk))
    done = rec.conversations.compact(talk, window_tokens=500, keep_last=2)

    assert alone < 0.8 * 500
    assert done is not None


def test_the_window_an_agent_was_made_with_is_the_window_that_counts(rec: LocalRecollect) -> None:
    rec.agents.create("small", default_blocks=False, metadata={"context_window": SMALL})
    rec.agents.create("large", default_blocks=False)
    talks = [rec.conversations.start(agent=name) for name in ("small", "large")]
    for talk in talks:
        append_messages(rec, talk, 40)

    done = [rec.conversations.compact(talk) for talk in talks]

    assert latest_summary(rec, talks[0])  # it was compacted by itself
    assert done[1] is None
    assert rec.conversations.summaries(talks[1]) == []


def test_the_target_is_met_or_the_reason_says_why_not(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 30)
    for message in rec.conversations.messages(talk, limit=20):
        rec.conversations.pin_message(message)

    done = rec.conversations.compact(talk, window_tokens=SMALL, keep_last=4)

    assert done is not None
    assert "above the target" in done.reason
    assert "pinned messages" in done.reason


@each_row(
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
    rec: LocalRecollect, talk: Conversation, how: dict[str, Any]
) -> None:
    if not standing(rec, talk):
        append_messages(rec, talk, 20)

    with pytest.raises(InvalidInput):
        rec.conversations.compact(talk, force=True, **how)
    assert len(standing(rec, talk)) == 20


@pytest.mark.parametrize("conversation", ["", "nobody", "\0", "x" * 10_000])
def test_a_conversation_that_does_not_exist_is_not_found(
    rec: LocalRecollect, conversation: str
) -> None:
    with pytest.raises(NotFound):
        rec.conversations.compact(conversation, force=True)


@pytest.mark.parametrize("conversation", [None, 5])
def test_a_conversation_is_given_by_its_id(rec: LocalRecollect, conversation: Any) -> None:
    with pytest.raises(InvalidInput, match="name the conversation"):
        rec.conversations.compact(conversation, force=True)


def test_where_the_window_says_compact_compacting_does_something(
    rec: LocalRecollect, talk: Conversation, tmp_path: Path
) -> None:
    append_messages(rec, talk, 40)
    (tmp_path / "long.txt").write_text("one line of many\n" * 10_000)
    rec.files.open("coder", ["long.txt"], roots=[tmp_path])

    warning = rec.agents.context_window("coder", conversation=talk).warning
    done = rec.conversations.compact(talk)

    assert "compact the conversation" in warning
    assert done is not None


# What stays


@pytest.mark.parametrize("mode", list(CompactionMode))
def test_pinned_messages_stay_until_they_are_unpinned(
    rec: LocalRecollect, talk: Conversation, mode: CompactionMode
) -> None:
    messages = append_messages(rec, talk, 40)
    rec.conversations.pin_message(messages[0])
    rec.conversations.pin_message(messages[7])
    rec.conversations.compact(talk, mode=mode, window_tokens=SMALL, keep_last=2, force=True)
    pinned = standing(rec, talk)
    rec.conversations.pin_message(messages[7], pinned=False)
    all_but(rec, talk, keep_last=2)

    assert {0, 7} <= set(pinned)
    assert 0 in standing(rec, talk)
    assert 7 not in standing(rec, talk)


def test_pinning_what_has_left_brings_it_back_or_is_refused(
    rec: LocalRecollect, talk: Conversation
) -> None:
    messages = append_messages(rec, talk, 20)
    all_but(rec, talk, keep_last=2)
    try:
        rec.conversations.pin_message(messages[0])
    except InvalidInput:
        return

    assert 0 in standing(rec, talk)


def test_a_message_pinned_as_it_is_said_stays(rec: LocalRecollect, talk: Conversation) -> None:
    rec.conversations.append(talk, "user", "The ticket is BILL-12.", pinned=True)
    append_messages(rec, talk, 20)
    all_but(rec, talk, keep_last=2)

    assert 0 in standing(rec, talk)


def test_the_opening_instructions_stay(rec: LocalRecollect, talk: Conversation) -> None:
    rec.conversations.append(talk, "system", "You are a careful clerk.")
    rec.conversations.append(talk, "developer", "Answer in German.")
    append_messages(rec, talk, 20)
    rec.conversations.append(talk, "system", "The time is noon.")
    append_messages(rec, talk, 3)
    all_but(rec, talk, keep_last=2)

    assert [one for one in standing(rec, talk) if one < 22] == [0, 1]
    assert 22 not in standing(rec, talk)


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_the_summary_tells_a_decision_and_not_a_tool_that_says_the_same(
    rec: LocalRecollect, talk: Conversation, role: str
) -> None:
    append_messages(rec, talk, 4)
    decided = rec.conversations.append(talk, role, DECISION)
    _, output = append_openai_call(rec, talk, "c1", DECISION)
    append_messages(rec, talk, 10)
    all_but(rec, talk, keep_last=2)

    told = [line for line in latest_summary(rec, talk).splitlines() if DECISION in line]
    assert [line.endswith(f"[{decided.position}]") for line in told] == [True]
    assert output.position not in standing(rec, talk)


def test_a_revised_decision_is_told_as_it_is_now_with_what_it_was(
    rec: LocalRecollect, talk: Conversation
) -> None:
    rec.conversations.append(talk, "user", "We'll use sqlite for the bookings.")
    append_messages(rec, talk, 4)
    rec.conversations.append(talk, "user", "Forget sqlite, we use postgres for the bookings.")
    append_messages(rec, talk, 10)
    all_but(rec, talk, keep_last=2)
    told = [line for line in latest_summary(rec, talk).splitlines() if "sqlite" in line]

    assert told == [
        "- Forget sqlite, we use postgres for the bookings. "
        "(previously: We'll use sqlite for the bookings.) [5]"
    ]


def test_a_decision_that_a_message_in_the_window_revises_says_so_until_that_message_leaves(
    rec: LocalRecollect, talk: Conversation
) -> None:
    rec.conversations.append(talk, "user", "We'll use sqlite for the bookings.")
    append_messages(rec, talk, 4)
    newer = rec.conversations.append(talk, "user", "Forget sqlite, bookings are in postgres.")
    all_but(rec, talk, keep_last=1)
    marked = latest_summary(rec, talk)
    append_messages(rec, talk, 10)
    all_but(rec, talk, keep_last=1)

    assert "sqlite for the bookings. (superseded by [5]) [0]" in marked
    assert newer.position not in standing(rec, talk)
    assert "in postgres. (previously: We'll use sqlite for the bookings.) [5]" in latest_summary(
        rec, talk
    )


def test_decisions_open_tasks_and_names_are_told_after_many_compactions(
    rec: LocalRecollect, talk: Conversation
) -> None:
    rec.conversations.append(talk, "user", "We decided to host everything in Helsinki.")
    rec.conversations.append(talk, "user", "Our contact at the port is Ilona Virtanen.")
    rec.conversations.append(talk, "user", "We still need to order the lamps for the hall.")
    for _ in range(6):
        append_messages(rec, talk, 30)
        all_but(rec, talk, keep_last=2, window_tokens=1_500)

    summary = latest_summary(rec, talk)
    assert "Helsinki" in summary
    assert "Ilona Virtanen" in summary
    assert "order the lamps" in summary


def test_a_conversation_is_compacted_by_itself_when_a_message_fills_its_window(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("small", default_blocks=False, metadata={"context_window": 1_000})
    talk = rec.conversations.start(agent="small")
    rec.conversations.append(talk, "user", "We decided to host everything in Helsinki.")
    append_messages(rec, talk, 100)

    window = rec.agents.context_window("small", conversation=talk)
    assert "Helsinki" in latest_summary(rec, talk)
    assert window.used <= 0.8 * window.window_tokens


def test_nothing_is_compacted_by_itself_if_the_setting_is_off(path: Path, clock: FakeClock) -> None:
    with open_memory(path, clock=clock, auto_compaction=False) as rec:
        rec.agents.create("small", default_blocks=False, metadata={"context_window": 1_000})
        talk = rec.conversations.start(agent="small")
        append_messages(rec, talk, 100)

        assert rec.conversations.summaries(talk) == []
        assert len(standing(rec, talk)) == 100


# Tool calls


@pytest.mark.parametrize("call", [append_openai_call, append_anthropic_call])
def test_a_call_is_not_parted_from_its_result_at_the_edge_of_the_last_messages(
    rec: LocalRecollect, talk: Conversation, call: Any
) -> None:
    append_messages(rec, talk, 10)
    asked, answered = call(rec, talk, "c1", "It is on.")
    rec.conversations.append(talk, "assistant", "The lamp is on.")
    all_but(rec, talk, keep_last=2)

    assert {asked.position, answered.position} <= set(standing(rec, talk))


@pytest.mark.parametrize("call", [append_openai_call, append_anthropic_call])
def test_a_call_and_its_result_leave_together(
    rec: LocalRecollect, talk: Conversation, call: Any
) -> None:
    asked, answered = call(rec, talk, "c1", "It is on.")
    append_messages(rec, talk, 10)
    all_but(rec, talk, keep_last=2)

    assert not {asked.position, answered.position} & set(standing(rec, talk))


@pytest.mark.parametrize("call", [append_openai_call, append_anthropic_call])
def test_a_pinned_result_keeps_its_call(rec: LocalRecollect, talk: Conversation, call: Any) -> None:
    asked, answered = call(rec, talk, "c1", "It is on.")
    rec.conversations.pin_message(answered)
    append_messages(rec, talk, 10)
    all_but(rec, talk, keep_last=2)

    assert {asked.position, answered.position} <= set(standing(rec, talk))


@pytest.mark.parametrize("call", [append_openai_call, append_anthropic_call])
def test_a_call_that_waits_for_its_result_stays_until_it_came(
    rec: LocalRecollect, talk: Conversation, call: Any
) -> None:
    [asked] = call(rec, talk, "c1")
    append_messages(rec, talk, 20)
    all_but(rec, talk, keep_last=2)
    waiting = standing(rec, talk)
    answered = rec.conversations.append(talk, "tool", "It is on.", tool_call_id="c1")
    append_messages(rec, talk, 5)
    all_but(rec, talk, keep_last=2)

    assert asked.position in waiting
    assert not {asked.position, answered.position} & set(standing(rec, talk))


def test_calls_side_by_side_leave_with_all_their_results_or_not_at_all(
    rec: LocalRecollect, talk: Conversation
) -> None:
    calls = [
        {"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for one in ("c1", "c2")
    ]
    message = rec.conversations.append(talk, "assistant", "", tool_calls=calls)
    first = rec.conversations.append(talk, "tool", "On.", tool_call_id="c1")
    append_messages(rec, talk, 10)
    all_but(rec, talk, keep_last=2)
    half = standing(rec, talk)
    second = rec.conversations.append(talk, "tool", "Off.", tool_call_id="c2")
    append_messages(rec, talk, 5)
    all_but(rec, talk, keep_last=2)

    assert {message.position, first.position} <= set(half)
    together = {message.position, first.position, second.position}
    assert not together & set(standing(rec, talk))


def test_an_id_that_is_used_again_ties_a_result_to_the_latest_call(
    rec: LocalRecollect, talk: Conversation
) -> None:
    old = append_openai_call(rec, talk, "c1", "Once.")
    append_messages(rec, talk, 10)
    new = append_openai_call(rec, talk, "c1", "Twice.")
    all_but(rec, talk, keep_last=1)

    assert not set(message_ids(old)) & set(message_ids(rec.conversations.messages_in_context(talk)))
    assert set(message_ids(new)) <= set(message_ids(rec.conversations.messages_in_context(talk)))


@pytest.mark.parametrize("call", [append_anthropic_call])
def test_a_long_tool_result_fills_the_window_however_its_vendor_writes_it(
    rec: LocalRecollect, talk: Conversation, call: Any
) -> None:
    append_messages(rec, talk, 4)
    call(rec, talk, "c1", "a long log line of a tool\n" * 5_000)
    append_messages(rec, talk, 12)

    assert latest_summary(rec, talk)  # it is compacted by itself


def test_a_long_tool_result_in_openais_form_fills_the_window(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 4)
    append_openai_call(rec, talk, "c1", "a long log line of a tool\n" * 5_000)
    append_messages(rec, talk, 12)

    assert latest_summary(rec, talk)


# The summary


def test_only_pleasantries_leave_and_the_summary_may_be_empty(
    rec: LocalRecollect, talk: Conversation
) -> None:
    for n in range(20):
        rec.conversations.append(talk, ("user", "assistant")[n % 2], ("Thanks!", "Welcome!")[n % 2])

    done = all_but(rec, talk, keep_last=2)
    bundle = rec.context_for("go on", agent="coder", conversation=talk)

    assert done.evicted == 18
    assert done.summary.tokens == rec.models.count_tokens(done.summary.content)
    assert [summary.id for summary in rec.conversations.summaries(talk)] == [done.summary.id]
    assert len(bundle.history) == 2


def test_what_was_summed_up_survives_a_compaction_of_pleasantries(
    rec: LocalRecollect, talk: Conversation
) -> None:
    rec.conversations.append(talk, "user", "I live in Porto and my editor is Helix.")
    append_messages(rec, talk, 5)
    first = all_but(rec, talk, keep_last=0, window_tokens=4_000)
    for n in range(20):
        rec.conversations.append(talk, ("user", "assistant")[n % 2], ("Thanks!", "Welcome!")[n % 2])
    second = all_but(rec, talk, keep_last=0, window_tokens=4_000)

    assert "Porto" in first.summary.content
    assert "Porto" in second.summary.content


@pytest.mark.parametrize("summary_tokens", [20, 50, 200])
def test_a_summary_keeps_to_its_budget_however_often_it_is_made_anew(
    rec: LocalRecollect, talk: Conversation, summary_tokens: int
) -> None:
    for _ in range(6):
        append_messages(rec, talk, 30)
        done = all_but(rec, talk, keep_last=2, summary_tokens=summary_tokens)
        assert rec.models.count_tokens(done.summary.content) <= summary_tokens
        assert done.summary.tokens == rec.models.count_tokens(done.summary.content)


def test_every_earlier_summary_is_kept_and_never_changes(
    rec: LocalRecollect, talk: Conversation, clock: FakeClock
) -> None:
    made = []
    for _ in range(5):
        append_messages(rec, talk, 12)
        made.append(all_but(rec, talk, keep_last=2).summary)
        clock.advance(minutes=5)
        assert rec.conversations.summaries(talk) == made


def test_the_summary_stands_in_the_bundle_for_what_left(
    rec: LocalRecollect, talk: Conversation
) -> None:
    rec.conversations.append(talk, "user", "I live in Porto and my editor is Helix.")
    append_messages(rec, talk, 20)
    done = all_but(rec, talk, keep_last=2)
    bundle = rec.context_for("go on", agent="coder", conversation=talk, budget_tokens=8_000)

    assert bundle.summary == done.summary
    assert "Porto" in bundle.text
    assert message_ids(bundle.history) == message_ids(rec.conversations.messages_in_context(talk))


def test_the_positions_of_a_summary_span_all_it_stands_for(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 20)
    first = all_but(rec, talk, keep_last=2).summary
    append_messages(rec, talk, 20)
    second = all_but(rec, talk, keep_last=2).summary

    assert (first.first_position, first.last_position) == (0, 17)
    assert (second.first_position, second.last_position) == (0, 37)


def test_a_message_that_leaves_long_after_its_time_does_not_shorten_the_span(
    rec: LocalRecollect, talk: Conversation
) -> None:
    messages = append_messages(rec, talk, 20)
    rec.conversations.pin_message(messages[3])
    all_but(rec, talk, keep_last=2)
    rec.conversations.pin_message(messages[3], pinned=False)
    second = all_but(rec, talk, keep_last=2).summary

    assert (second.first_position, second.last_position) == (0, 17)


def test_the_latest_summary_counts_although_the_clock_was_set_back(
    rec: LocalRecollect, talk: Conversation, clock: FakeClock
) -> None:
    append_messages(rec, talk, 20)
    all_but(rec, talk, keep_last=2)
    clock.advance(hours=-1)
    rec.conversations.append(talk, "user", "I live in Porto and my editor is Helix.")
    append_messages(rec, talk, 19)
    second = all_but(rec, talk, keep_last=2).summary
    bundle = rec.context_for("go on", agent="coder", conversation=talk, budget_tokens=8_000)

    assert rec.conversations.summaries(talk)[-1] == second
    assert bundle.summary == second


# Afterwards


@pytest.mark.parametrize("agent", ["coder", None])
def test_what_left_is_found_by_words_and_by_meaning_for_ever(
    rec: LocalRecollect, agent: str | None
) -> None:
    talk = rec.conversations.start(agent=agent)
    messages = append_messages(rec, talk, 30)
    all_but(rec, talk, keep_last=0)
    append_messages(rec, talk, 30)
    all_but(rec, talk, keep_last=0)
    rec.drain()

    for n, one in enumerate(messages):
        by_words = rec.conversations.search(unique_word(n), conversation=talk, mode="fts", limit=1)
        by_meaning = rec.conversations.search(
            one.content, conversation=talk, mode="vector", limit=3
        )
        assert message_ids([hit.message for hit in by_words]) == [one.id]
        assert one.id in message_ids([hit.message for hit in by_meaning])


def test_what_left_is_listed_unchanged_but_for_the_summary_that_stands_for_it(
    rec: LocalRecollect, talk: Conversation
) -> None:
    before = append_messages(rec, talk, 20)
    done = all_but(rec, talk, keep_last=2)
    after = rec.conversations.messages(talk)

    assert message_ids(after) == message_ids(before)
    assert [one.content for one in after] == [one.content for one in before]
    assert {one.summary_id for one in after[:18]} == {done.summary.id}
    assert {one.summary_id for one in after[18:]} == {None}


def test_compacting_twice_takes_nothing_twice(rec: LocalRecollect, talk: Conversation) -> None:
    append_messages(rec, talk, 20)
    first = all_but(rec, talk, keep_last=2)

    assert all_but(rec, talk, keep_last=2) is None
    assert [summary.id for summary in rec.conversations.summaries(talk)] == [first.summary.id]


def test_an_ended_conversation_can_be_compacted_and_resumed(
    rec: LocalRecollect, talk: Conversation
) -> None:
    append_messages(rec, talk, 20)
    rec.conversations.end(talk)
    done = all_but(rec, talk, keep_last=2)
    rec.conversations.resume(talk)
    rec.conversations.append(talk, "user", "Where were we?")

    assert done is not None
    assert standing(rec, talk) == [18, 19, 20]


def test_other_conversations_are_left_alone(rec: LocalRecollect, talk: Conversation) -> None:
    other = rec.conversations.start(agent="coder")
    append_messages(rec, talk, 20)
    append_messages(rec, other, 20)
    all_but(rec, talk, keep_last=2)

    assert len(standing(rec, other)) == 20
    assert rec.conversations.summaries(other) == []


def test_a_compacted_store_is_whole_and_outlives_a_restart(path: Path, clock: FakeClock) -> None:
    with open_memory(path, clock=clock) as rec:
        talk = rec.conversations.start(agent="coder")
        append_messages(rec, talk, 20)
        done = all_but(rec, talk, keep_last=2)
    with open_memory(path, clock=clock) as rec:
        assert rec.conversations.summaries(talk) == [done.summary]
        assert len(standing(rec, talk)) == 2
        assert rec.maintenance.verify().ok
        rec.conversations.delete(talk)
        assert rec.maintenance.verify().ok
        assert rec.conversations.search(unique_word(3), agent="coder") == []


def test_what_left_is_found_after_the_indexes_were_made_anew_and_after_a_move(
    rec: LocalRecollect, talk: Conversation, tmp_path: Path
) -> None:
    messages = append_messages(rec, talk, 20)
    done = all_but(rec, talk, keep_last=2)
    rec.maintenance.rebuild()
    here = rec.conversations.search(unique_word(3), agent="coder", mode="fts")
    rec.export(tmp_path / "all.jsonl")
    with open_memory(tmp_path / "other.db") as other:
        other.import_(tmp_path / "all.jsonl", trust=True)
        there = other.conversations.search(unique_word(3), agent="coder", mode="fts")
        assert other.conversations.summaries(talk) == [done.summary]
        assert standing(other, talk) == [18, 19]

    assert message_ids([hit.message for hit in here]) == [messages[3].id]
    assert message_ids([hit.message for hit in there]) == [messages[3].id]
