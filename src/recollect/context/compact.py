"""
Decide which messages leave a conversation's window when it grows too full.

Rule 1: what leaves and what stays are together exactly the messages given, each in its order.
Rule 2: a tool call and its results are one group; a group leaves or stays as a whole.
Rule 3: what must stay: the opening instructions, the last messages, the last thing the user said,
what is pinned, calls that still wait for a result, and the newest decisions, within a bound.

Pure, and linear in the messages. Knows nothing of storage, nor of the summary that will stand for
what leaves (see summary/).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from recollect.context.calls import Group, groups_of, speaks
from recollect.context.decisions import states_a_decision
from recollect.domain.conversation import CompactionMode, Message, Role
from recollect.errors import InvalidInput
from recollect.text.tokens import estimate_tokens

MOST_DECISIONS = 20  # messages kept only because they state a decision,
DECISION_SHARE = 0.1  # and how much of the window they and what is tied to them may take
BOUNDARY_SHARE = 0.1  # how much more may leave so that the window begins with a user's message
SUMMARY_SHARE, LEAST_SUMMARY, MOST_SUMMARY = 0.1, 100, 2_000


@dataclass(frozen=True, kw_only=True)
class CompactionSettings:
    """When a window is too full, and what is to be left of it. Shares are of the whole window."""

    window_tokens: int
    threshold: float = 0.8
    mode: CompactionMode = CompactionMode.SLIDING_WINDOW
    keep_last: int = 10
    target: float = 0.5  # a sliding window goes down to this
    summary_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.window_tokens < 1:
            raise InvalidInput(f"a window of {self.window_tokens} tokens holds nothing")
        if not 0 < self.target <= self.threshold <= 1:
            raise InvalidInput(
                f"target {self.target} and threshold {self.threshold} are shares of the window: "
                "0 < target <= threshold <= 1"
            )
        if self.keep_last < 0:
            raise InvalidInput(f"keep_last is {self.keep_last}; it cannot be less than 0")
        if self.summary_tokens is not None and self.summary_tokens < 1:
            raise InvalidInput(f"a summary of {self.summary_tokens} tokens says nothing")

    @property
    def summary_budget(self) -> int:
        """How many tokens the summary may have: a tenth of the window unless told otherwise."""
        if self.summary_tokens is not None:
            return self.summary_tokens
        tenth = int(self.window_tokens * SUMMARY_SHARE)
        return max(1, min(max(tenth, LEAST_SUMMARY), MOST_SUMMARY, self.window_tokens // 4))


@dataclass(frozen=True)
class Plan:
    """What leaves the window and what stays, each in order, and why so much and no more."""

    evicted: tuple[Message, ...]
    kept: tuple[Message, ...]
    reason: str


def needs_compaction(
    messages: Sequence[Message], *, settings: CompactionSettings, other_tokens: int = 0
) -> bool:
    """Say whether *messages* and what else is in the window pass the threshold."""
    used = other_tokens + sum(map(tokens_of, messages))
    return used > settings.threshold * settings.window_tokens


def plan_compaction(
    messages: Sequence[Message], *, settings: CompactionSettings, other_tokens: int = 0
) -> Plan | None:
    """
    Return what leaves of *messages*, those in context in order; None where nothing can leave.

    *other_tokens*: what else stands in the window, such as prompt, blocks and the summary so far.
    """
    groups = groups_of(messages)
    sizes = [tokens_of(message) for message in messages]
    stays = _stays(messages, groups, sizes, settings)
    leaving = [group for group, stay in zip(groups, stays, strict=True) if not stay]
    used = other_tokens + sum(sizes)
    if settings.mode is CompactionMode.SLIDING_WINDOW:
        too_much = used - settings.target * settings.window_tokens
        leaving = _oldest(messages, leaving, sizes, too_much, settings)
    out = {place for group in leaving for place in group.places}
    if not out:
        return None
    after = used - sum(sizes[place] for place in out)
    kept_groups = [group for group in groups if group.places[0] not in out]
    return Plan(
        evicted=tuple(one for place, one in enumerate(messages) if place in out),
        kept=tuple(one for place, one in enumerate(messages) if place not in out),
        reason=_reason(settings, len(out), used, after, _largest(kept_groups, sizes)),
    )


def tokens_of(message: Message) -> int:
    """Return the tokens of *message*, estimated where nobody counted them."""
    return message.tokens or estimate_tokens(message.content)


def _stays(
    messages: Sequence[Message],
    groups: Sequence[Group],
    sizes: Sequence[int],
    settings: CompactionSettings,
) -> list[bool]:
    """Say of each group whether it stays."""
    must = _must_stay(messages, settings.keep_last)
    stays = [group.pending or any(place in must for place in group.places) for group in groups]
    left = settings.window_tokens * DECISION_SHARE
    found = 0
    for number in range(len(groups) - 1, -1, -1):
        if found == MOST_DECISIONS:
            break
        if stays[number]:
            continue
        places = groups[number].places
        cost = sum(sizes[place] for place in places)
        if cost <= left and any(states_a_decision(messages[place]) for place in places):
            stays[number] = True
            found += 1
            left -= cost
    return stays


def _must_stay(messages: Sequence[Message], keep_last: int) -> set[int]:
    must = set(range(max(len(messages) - keep_last, 0), len(messages)))
    must.update(place for place, message in enumerate(messages) if message.pinned)
    opening = takewhile(lambda one: one.role in (Role.SYSTEM, Role.DEVELOPER), messages)
    must.update(place for place, _ in enumerate(opening))
    for place in range(len(messages) - 1, -1, -1):
        if speaks(messages[place]):
            must.add(place)
            break
    return must


def _oldest(
    messages: Sequence[Message],
    leaving: Sequence[Group],
    sizes: Sequence[int],
    too_much: float,
    settings: CompactionSettings,
) -> list[Group]:
    """Return the oldest of *leaving* that free *too_much*, to the end of a turn if one is near."""
    freed = 0
    enough: int | None = None  # how many groups free what must be freed
    for number, group in enumerate(leaving):
        if freed >= too_much:
            if enough is None:
                enough = number
            if freed - too_much > BOUNDARY_SHARE * settings.window_tokens:
                break
            if speaks(messages[group.places[0]]):
                return list(leaving[:number])
        freed += sum(sizes[place] for place in group.places)
    else:
        # Nothing but what stays follows: that is an end too, if it is near enough.
        if freed - too_much <= BOUNDARY_SHARE * settings.window_tokens:
            return list(leaving)
    return list(leaving if enough is None else leaving[:enough])


def _largest(groups: Iterable[Group], sizes: Sequence[int]) -> int:
    """Return the tokens of the largest group that is more than one message."""
    tied = (group.places for group in groups if len(group.places) > 1)
    return max((sum(sizes[place] for place in places) for places in tied), default=0)


def _reason(settings: CompactionSettings, leaving: int, used: int, after: int, largest: int) -> str:
    window = settings.window_tokens
    said = f"{leaving:,} messages leave: {used:,} of {window:,} tokens were in use, {after:,} stay"
    goal = int(settings.target * window)
    if after > goal:
        said += (
            f"; that is above the target of {goal:,}, because the rest must stay (instructions, "
            f"the last {settings.keep_last} messages and the last of the user, pinned messages, "
            "open tool calls, recent decisions, and what else is in the window)"
        )
    if largest > window:
        said += (
            f"; one tool call and its results alone have {largest:,} tokens, more than the window, "
            "and are not taken apart"
        )
    return said
