"""What leaves a window: never half a tool call, never what must stay, never a message too many."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.compaction_plan import (
    CompactionSettings,
    message_tokens,
    needs_compaction,
    plan_compaction,
)
from recollect.context.decision_detection import is_decision
from recollect.context.tool_call_groups import (
    answered_call_ids,
    group_tool_calls,
    is_user_speech,
    tool_calls_of,
)
from recollect.domain.conversation import CompactionMode, Message, Role
from recollect.errors import InvalidInput
from support import START
from tables import each_row

DECISION = "We decided to use Postgres for the queue."


def message(position: int, role: str, content: str = "", **fields: Any) -> Message:
    fields.setdefault("tokens", 10)
    return Message(
        id=f"m{position}",
        conversation_id="c",
        position=position,
        role=Role(role),
        content=content,
        created_at=START,
        **fields,
    )


def talk(count: int, **fields: Any) -> list[Message]:
    """Return *count* messages, user and assistant in turn."""
    roles = ("user", "assistant")
    return [message(n, roles[n % 2], f"Said as number {n}.", **fields) for n in range(count)]


def sliding(window: int, **options: Any) -> CompactionSettings:
    return CompactionSettings(window_tokens=window, **options)


def evict_all(window: int, **options: Any) -> CompactionSettings:
    return CompactionSettings(window_tokens=window, mode=CompactionMode.ALL, **options)


def positions(messages: Sequence[Message]) -> list[int]:
    return [msg.position for msg in messages]


def evicted(messages: Sequence[Message], settings: CompactionSettings) -> list[int]:
    plan = plan_compaction(messages, settings=settings)
    return [] if plan is None else positions(plan.evicted)


def test_a_window_is_too_full_past_its_threshold_and_not_at_it() -> None:
    messages = talk(8)

    assert not needs_compaction(messages, settings=sliding(100))
    assert needs_compaction(messages, settings=sliding(100), other_tokens=1)


def test_a_sliding_window_goes_down_to_its_target_from_the_oldest() -> None:
    assert evicted(talk(20), sliding(200, keep_last=2)) == list(range(10))


def test_what_is_asked_for_is_only_as_much_as_the_target_needs() -> None:
    plan = plan_compaction(talk(20), settings=sliding(200, keep_last=2), other_tokens=40)

    assert plan is not None
    assert positions(plan.evicted) == list(range(14))
    assert plan.reason == "14 messages leave: 240 of 200 tokens were in use, 100 stay"


def test_all_evicts_everything_but_what_must_stay() -> None:
    assert evicted(talk(20), evict_all(1_000, keep_last=3)) == list(range(17))


def test_the_cut_is_made_before_a_message_of_the_user_when_one_is_near() -> None:
    messages = talk(20)
    messages[9] = replace(messages[9], tokens=30)

    plan = plan_compaction(messages, settings=sliding(220, keep_last=2))

    assert plan is not None
    assert plan.remaining[0].role is Role.USER


def test_a_far_turn_boundary_is_not_waited_for() -> None:
    messages = [message(0, "user"), *(message(n, "assistant") for n in range(1, 40))]
    messages.append(message(40, "user"))

    assert evicted(messages, sliding(400, keep_last=1)) == list(range(21))


def test_nothing_leaves_when_all_of_it_must_stay() -> None:
    assert plan_compaction(talk(5), settings=evict_all(10, keep_last=10)) is None
    assert plan_compaction([], settings=evict_all(10)) is None


def test_opening_instructions_pins_and_the_last_of_the_user_stay() -> None:
    messages = [
        message(0, "system"),
        message(1, "developer"),
        message(2, "user"),
        message(3, "assistant", pinned=True),
        message(4, "system"),
        message(5, "user", "Go on."),
        *(message(n, "assistant") for n in range(6, 12)),
    ]

    assert evicted(messages, evict_all(100, keep_last=1)) == [2, 4, 6, 7, 8, 9, 10]


def test_an_old_decision_does_not_stay_among_newer_messages() -> None:
    messages = [message(0, "user", DECISION), *talk(9)[1:]]

    assert evicted(messages, evict_all(1_000, keep_last=4)) == [0, 1, 2, 3, 4]


@each_row(
    ("role", "content", "decision"),
    [
        ("user", DECISION, True),
        ("user", "ok so let's go with the blue one", True),
        ("assistant", "As agreed, we'll keep the REST interface.", True),
        ("assistant", "Let's use the quadratic formula.", False),
        ("assistant", "I'll keep reading.", False),
        ("user", "Should we use Postgres?", False),
        ("user", "We haven't decided yet.", False),
    ],
)
def test_a_decision_is_known_by_how_it_is_said(role: str, content: str, decision: bool) -> None:
    assert is_decision(content, by=Role(role)) is decision


OPENAI = [{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
ANTHROPIC = ({"type": "tool_use", "id": "b", "name": "ls", "input": {}},)
RESULT = ({"type": "tool_result", "tool_use_id": "b", "content": "x"},)
GEMINI = ({"functionCall": {"name": "ls", "args": {}}},)
ANSWERED = ({"functionResponse": {"name": "ls", "response": {}}},)


@each_row(
    ("call", "result"),
    [
        (
            message(1, "assistant", tool_calls=tuple(OPENAI)),
            message(2, "tool", tool_call_id="a"),
        ),
        (message(1, "assistant", parts=ANTHROPIC), message(2, "user", parts=RESULT)),
        (message(1, "assistant", parts=GEMINI), message(2, "user", parts=ANSWERED)),
        (message(1, "assistant", tool_calls=({"name": "ls"},)), message(2, "tool", "x")),
        (message(1, "assistant", tool_calls=("ls -l",)), message(2, "tool", "x")),
    ],
    ids=["openai", "anthropic", "gemini", "no ids", "no shape at all"],
)
def test_a_call_and_its_result_stay_together_whoever_wrote_them(
    call: Message, result: Message
) -> None:
    messages = [message(0, "user"), call, result, message(3, "assistant"), message(4, "user")]

    assert [group.indexes for group in group_tool_calls(messages)] == [(0,), (1, 2), (3,), (4,)]
    assert not any(group.pending for group in group_tool_calls(messages))
    assert evicted(messages, evict_all(100, keep_last=1)) == [0, 1, 2, 3]
    pinned = [*messages[:2], replace(result, pinned=True), *messages[3:]]
    assert evicted(pinned, evict_all(100, keep_last=1)) == [0, 3]


def test_a_call_without_its_result_stays() -> None:
    two = ({"id": "a"}, {"id": "b"})
    messages = [
        message(0, "user"),
        message(1, "assistant", tool_calls=two),
        message(2, "tool", tool_call_id="a"),
        message(3, "user"),
    ]

    assert evicted(messages, evict_all(100, keep_last=1)) == [0]


def test_results_sent_in_the_name_of_the_user_are_not_what_the_user_said_last() -> None:
    messages = [
        message(0, "user", "List the files."),
        message(1, "assistant", parts=ANTHROPIC),
        message(2, "user", parts=RESULT),
        message(3, "assistant", "Done."),
    ]

    assert evicted(messages, evict_all(100, keep_last=0)) == [1, 2, 3]


def test_one_message_may_answer_calls_of_two_and_an_id_may_be_used_again() -> None:
    both = (*RESULT, {"type": "tool_result", "tool_use_id": "c"})
    messages = [
        message(0, "assistant", parts=ANTHROPIC),
        message(1, "assistant", parts=({"type": "tool_use", "id": "c"},)),
        message(2, "user", parts=both),
        message(3, "assistant", parts=ANTHROPIC),
        message(4, "user", parts=RESULT),
        message(5, "assistant", "Done."),
        message(6, "tool", "nobody asked"),
    ]

    assert [group.indexes for group in group_tool_calls(messages)] == [
        (0, 1, 2),
        (3, 4),
        (5,),
        (6,),
    ]


def test_a_group_larger_than_the_window_is_kept_whole_and_said() -> None:
    messages = [
        message(0, "user"),
        message(1, "assistant", tool_calls=tuple(OPENAI)),
        message(2, "tool", tool_call_id="a", tokens=500),
        message(3, "user"),
    ]

    plan = plan_compaction(messages, settings=sliding(100, keep_last=2))

    assert plan is not None
    assert positions(plan.remaining) == [1, 2, 3]
    assert "above the target of 50" in plan.reason
    assert "alone have 510 tokens, more than the window" in plan.reason


@each_row(
    "invalid",
    [{"window_tokens": 0}, {"target": 0.9}, {"threshold": 1.1}, {"keep_last": -1}, {"target": 0.0}],
)
def test_settings_that_mean_nothing_are_refused(invalid: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        CompactionSettings(**{"window_tokens": 100, **invalid})


@each_row(("window", "budget"), [(300, 100), (2_000, 400), (8_000, 1_200), (200_000, 4_000)])
def test_a_summary_may_have_a_share_of_the_window_within_bounds(window: int, budget: int) -> None:
    assert sliding(window).summary_budget == budget
    assert sliding(window, summary_tokens=7).summary_budget == 7


KINDS = st.sampled_from(
    ["user", "assistant", "decision", "call", "idless", "result", "unnamed", "parts", "system"]
)


@st.composite
def conversations(draw: st.DrawFn, start: int = 0, most: int = 40) -> list[Message]:
    messages = []
    for position in range(start, start + draw(st.integers(0, most))):
        fields: dict[str, Any] = {
            "tokens": draw(st.integers(1, 60)),
            "pinned": draw(st.integers(0, 9)) == 0,
        }
        call_id = draw(st.sampled_from("abc"))
        match draw(KINDS):
            case "decision":
                messages.append(message(position, "user", DECISION, **fields))
            case "call":
                messages.append(
                    message(position, "assistant", tool_calls=({"id": call_id},), **fields)
                )
            case "idless":
                messages.append(
                    message(position, "assistant", tool_calls=({"name": "f"},), **fields)
                )
            case "result":
                messages.append(message(position, "tool", tool_call_id=call_id, **fields))
            case "unnamed":
                messages.append(message(position, "tool", "x", **fields))
            case "parts":
                parts = ({"type": "tool_result", "tool_use_id": call_id},)
                messages.append(message(position, "user", parts=parts, **fields))
            case role:
                messages.append(message(position, role, "Said.", **fields))
    return messages


SETTINGS = st.builds(
    CompactionSettings,
    window_tokens=st.integers(20, 2_000),
    mode=st.sampled_from(CompactionMode),
    keep_last=st.integers(0, 12),
)


def tokens(messages: Sequence[Message]) -> int:
    return sum(map(message_tokens, messages))


@pytest.mark.fuzz
@given(conversations(), SETTINGS, st.integers(0, 300))
def test_whatever_leaves_the_rest_stays_in_order_and_whole(
    messages: list[Message], settings: CompactionSettings, other: int
) -> None:
    plan = plan_compaction(messages, settings=settings, other_tokens=other)
    if plan is None:
        return
    evicted_positions, kept = positions(plan.evicted), positions(plan.remaining)

    assert sorted(evicted_positions + kept) == positions(messages)
    assert evicted_positions == sorted(evicted_positions)
    assert kept == sorted(kept)
    assert evicted_positions
    for group in group_tool_calls(messages):
        group_positions = {messages[index].position for index in group.indexes}
        assert group_positions <= set(evicted_positions) or group_positions <= set(kept)
        assert not (group.pending and group_positions <= set(evicted_positions))
    assert not any(msg.pinned for msg in plan.evicted)
    last = max(settings.keep_last, 0)
    assert set(positions(messages[len(messages) - last :] if last else [])) <= set(kept)
    user_positions = [msg.position for msg in messages if is_user_speech(msg)]
    assert not user_positions or user_positions[-1] in kept
    assert plan == plan_compaction(messages, settings=settings, other_tokens=other)


@pytest.mark.fuzz
@given(conversations(), SETTINGS, st.integers(0, 300))
def test_a_plan_meets_its_target_or_says_why_not(
    messages: list[Message], settings: CompactionSettings, other: int
) -> None:
    plan = plan_compaction(messages, settings=settings, other_tokens=other)
    if plan is None:
        return
    after = other + tokens(plan.remaining)

    assert (after > int(settings.target * settings.window_tokens)) == ("above" in plan.reason)


@pytest.mark.fuzz
@given(st.data(), SETTINGS)
def test_compaction_again_and_again_neither_loses_nor_repeats_a_message(
    data: st.DataObject, settings: CompactionSettings
) -> None:
    window: list[Message] = []
    evicted_positions: list[int] = []
    total = 0
    for _ in range(5):
        new = data.draw(conversations(start=total, most=12))
        total += len(new)
        window += new
        if plan := plan_compaction(window, settings=settings):
            evicted_positions += positions(plan.evicted)
            window = list(plan.remaining)

        assert sorted(evicted_positions + positions(window)) == list(range(total))


@pytest.mark.fuzz
def test_many_messages_take_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        messages = talk(count)
        for index in range(0, count, 4):
            call = ({"id": f"c{index}"},)
            messages[index + 1] = message(index + 1, "assistant", tool_calls=call)
            messages[index + 2] = message(index + 2, "tool", tool_call_id=f"c{index}")
        started = time.process_time()
        assert plan_compaction(messages, settings=sliding(count)) is not None
        return time.process_time() - started

    seconds(2_000)
    assert seconds(40_000) < 60 * max(seconds(4_000), 0.01)


def test_a_call_written_twice_is_one_and_answers_are_named_once() -> None:
    both = message(0, "assistant", tool_calls=({"id": "b", "name": "ls"},), parts=ANTHROPIC)
    answer = message(1, "tool", tool_call_id="b", parts=RESULT)

    assert [call.name for call in tool_calls_of(both)] == ["ls"]
    assert answered_call_ids(answer) == ["b"]
