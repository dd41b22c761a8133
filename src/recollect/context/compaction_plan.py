"""
Decide which messages are evicted from a conversation's window when it is too full.

Rule 1: the evicted and the kept messages together are exactly the input, each list in order.
Rule 2: a tool call and its results form one group; a group is evicted or kept as a whole.
Rule 3: always kept are the opening instructions, the last messages, the user's last message, pinned
messages and calls without a result. Decisions are carried by the summary: an old message that stays
among newer ones would read as if it had been said last, even if it was revised since.

Pure, and linear in the number of messages. The summary of what is evicted is made in summary/.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from recollect.context.tool_call_groups import MessageGroup, group_tool_calls, is_user_speech
from recollect.domain.conversation import CompactionMode, Message, Role
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.text.token_counter import estimate_tokens

BOUNDARY_SHARE = 0.1  # evict up to this much more, so that the window starts with a user message
SUMMARY_SHARE, MIN_SUMMARY, MAX_SUMMARY = 0.15, 400, 4_000
MAX_SUMMARY_SHARE = 1 / 3  # of a window that is smaller than the minimum allows for


@dataclass(frozen=True, kw_only=True)
class CompactionSettings:
    """When to compact a window, and how far. `threshold` and `target` are shares of the window."""

    window_tokens: int
    threshold: float = 0.8
    mode: CompactionMode = CompactionMode.SLIDING_WINDOW
    keep_last: int = 10
    target: float = 0.5  # a sliding window goes down to this
    summary_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.window_tokens < 1:
            raise InvalidInput(f"window_tokens is {self.window_tokens}; it must be at least 1")
        if not 0 < self.target <= self.threshold <= 1:
            raise InvalidInput(
                f"target {self.target} and threshold {self.threshold} are shares of the window: "
                "0 < target <= threshold <= 1"
            )
        if self.keep_last < 0:
            raise InvalidInput(f"keep_last is {self.keep_last}; it cannot be less than 0")
        if self.summary_tokens is not None and self.summary_tokens < 1:
            raise InvalidInput(f"summary_tokens is {self.summary_tokens}; it must be at least 1")

    @property
    def summary_budget(self) -> int:
        """The tokens of the summary: a share of the window, within limits, unless set."""
        if self.summary_tokens is not None:
            return self.summary_tokens
        share = max(int(self.window_tokens * SUMMARY_SHARE), MIN_SUMMARY)
        return max(1, min(share, MAX_SUMMARY, int(self.window_tokens * MAX_SUMMARY_SHARE)))


@dataclass(frozen=True)
class CompactionPlan:
    """The evicted and the kept messages, each in order, and the reason."""

    evicted: tuple[Message, ...]
    remaining: tuple[Message, ...]
    reason: str


def needs_compaction(
    messages: Sequence[Message], *, settings: CompactionSettings, other_tokens: int = 0
) -> bool:
    """Return whether *messages* and *other_tokens* exceed the threshold."""
    used = other_tokens + sum(map(message_tokens, messages))
    return used > settings.threshold * settings.window_tokens


def plan_compaction(
    messages: Sequence[Message], *, settings: CompactionSettings, other_tokens: int = 0
) -> CompactionPlan | None:
    """
    Return which of *messages* to evict, or None if none can be.

    *other_tokens* is the size of everything else in the window: prompt, blocks, previous summary.
    """
    groups = group_tool_calls(messages)
    sizes = [message_tokens(message) for message in messages]
    keeps = _groups_to_keep(messages, groups, settings)
    removable = [group for group, keep in zip(groups, keeps, strict=True) if not keep]
    used = other_tokens + sum(sizes)
    if settings.mode is CompactionMode.SLIDING_WINDOW:
        too_much = used - settings.target * settings.window_tokens
        removable = _oldest_groups(messages, removable, sizes, too_much, settings)
    removed = {index for group in removable for index in group.indexes}
    if not removed:
        return None
    after = used - sum(sizes[index] for index in removed)
    kept_groups = [group for group in groups if group.indexes[0] not in removed]
    return CompactionPlan(
        evicted=tuple(message for index, message in enumerate(messages) if index in removed),
        remaining=tuple(message for index, message in enumerate(messages) if index not in removed),
        reason=_reason(settings, len(removed), used, after, _largest_group(kept_groups, sizes)),
    )


def plan_oldest(messages: Sequence[Message], *, keep: int = -1) -> CompactionPlan:
    """
    Return which of the oldest *messages* of a much larger window to evict: nearly all.

    Only instructions at the opening, pinned messages, calls without a result and the message at the
    position *keep* stay. The result of the last call may come after *messages*: see
    `next_position`.
    """
    required = _opening_indexes(messages)
    required.update(
        index
        for index, message in enumerate(messages)
        if message.pinned or message.position == keep
    )
    removed = {
        index
        for group in group_tool_calls(messages)
        if not group.pending and required.isdisjoint(group.indexes)
        for index in group.indexes
    }
    return CompactionPlan(
        evicted=tuple(message for index, message in enumerate(messages) if index in removed),
        remaining=tuple(message for index, message in enumerate(messages) if index not in removed),
        reason=f"{len(removed):,} messages leave: they are the oldest of a window far too full",
    )


def next_position(messages: Sequence[Message]) -> int:
    """Return where to read on after `plan_oldest`: at a call whose result may still come."""
    first_recent = len(messages) - len(messages) // 2
    for group in group_tool_calls(messages):
        if group.pending and group.indexes[0] >= first_recent:
            return messages[group.indexes[0]].position
    return messages[-1].position + 1


def message_tokens(message: Message) -> int:
    """Return the stored token count of *message*, or an estimate."""
    return message.tokens or estimate_tokens(message.content)


def _groups_to_keep(
    messages: Sequence[Message], groups: Sequence[MessageGroup], settings: CompactionSettings
) -> list[bool]:
    """Return for each group whether it must be kept."""
    required = _required_indexes(messages, settings.keep_last)
    return [group.pending or any(index in required for index in group.indexes) for group in groups]


def _required_indexes(messages: Sequence[Message], keep_last: int) -> set[int]:
    required = set(range(max(len(messages) - keep_last, 0), len(messages)))
    required.update(index for index, message in enumerate(messages) if message.pinned)
    required |= _opening_indexes(messages)
    speech = [index for index, message in enumerate(messages) if is_user_speech(message)]
    return required.union(speech[-1:])


def _opening_indexes(messages: Sequence[Message]) -> set[int]:
    opening = takewhile(lambda message: message.role in (Role.SYSTEM, Role.DEVELOPER), messages)
    return {index for index, _ in enumerate(opening)}


def _oldest_groups(
    messages: Sequence[Message],
    removable: Sequence[MessageGroup],
    sizes: Sequence[int],
    too_much: float,
    settings: CompactionSettings,
) -> list[MessageGroup]:
    """Return the oldest groups that free *too_much* tokens, up to a turn boundary if it is near."""
    freed = 0
    sufficient: int | None = None  # number of groups that free enough
    for number, group in enumerate(removable):
        if freed >= too_much:
            if sufficient is None:
                sufficient = number
            if freed - too_much > BOUNDARY_SHARE * settings.window_tokens:
                break
            if is_user_speech(messages[group.indexes[0]]):
                return list(removable[:number])
        freed += sum(sizes[index] for index in group.indexes)
    else:
        # The end of the removable groups is a boundary too, if it is near enough.
        if freed - too_much <= BOUNDARY_SHARE * settings.window_tokens:
            return list(removable)
    return list(removable if sufficient is None else removable[:sufficient])


def _largest_group(groups: Iterable[MessageGroup], sizes: Sequence[int]) -> int:
    """Return the tokens of the largest group of more than one message."""
    call_groups = (group.indexes for group in groups if len(group.indexes) > 1)
    return max((sum(sizes[index] for index in indexes) for indexes in call_groups), default=0)


def _reason(settings: CompactionSettings, removed: int, used: int, after: int, largest: int) -> str:
    window = settings.window_tokens
    text = f"{removed:,} messages leave: {used:,} of {window:,} tokens were in use, {after:,} stay"
    goal = int(settings.target * window)
    if after > goal:
        text += (
            f"; that is above the target of {goal:,}, because the rest must stay (instructions, "
            f"the last {settings.keep_last} messages and the last of the user, pinned messages, "
            "open tool calls, and what else is in the window)"
        )
    if largest > window:
        text += (
            f"; one tool call and its results alone have {largest:,} tokens, more than the window, "
            "and are not taken apart"
        )
    return text
