"""
The pitfalls of a skill: what failed and what worked instead, and what the user put right.

A command that failed is told with its error and with the next try that worked; a correction with
what it was about. What an agent says was the cause goes along. This file also says which calls the
user took back, so that they do not become steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from recollect.domain.conversation import Message, Role
from recollect.domain.skill import DraftLine
from recollect.engine.learn.actions import Action, Kind, Outcome, telling_line
from recollect.engine.learn.places import file_name, general, general_command
from recollect.engine.learn.shell import (
    commands_in,
    is_attempt_at,
    is_looking,
    program_of,
    words_of,
)
from recollect.engine.learn.wording import (
    cause,
    changes_goal,
    clip,
    correction,
    prohibits,
    reports_fault,
)

MOST_PITFALLS = 15
_WITHIN = 15  # calls after a failure among which the next try is looked for
_SHOWN = 120  # characters of a command


@dataclass(frozen=True)
class Judged:
    """The calls that count, and what is to be learnt from the others."""

    actions: list[Action]
    pitfalls: list[DraftLine]


def judge(messages: Sequence[Message], actions: Sequence[Action], root: str) -> Judged:
    """Return which of *actions* count, and the pitfalls in the order they were met."""
    failed = [_failed(actions, number) for number in range(len(actions))]
    put_right = _corrections(messages, actions, root)
    taken_back = {number for number, _ in put_right if number >= 0}
    found = [line for _, line in put_right]
    # What the user took back is told with what they said.
    alone = [number for number, bad in enumerate(failed) if bad and number not in taken_back]
    found += [_failure(messages, actions, one, root) for one in alone[: 4 * MOST_PITFALLS]]
    found += _declined(actions, taken_back, root) + _proposals(messages, root)
    distinct = {line.text: line for line in sorted(found, key=lambda line: line.positions)}
    kept = [
        action
        for number, action in enumerate(actions)
        if not failed[number] and number not in taken_back
    ]
    return Judged(kept, list(distinct.values())[:MOST_PITFALLS])


def failed_proposals(messages: Sequence[Message]) -> frozenset[tuple[int, str]]:
    """Return the commands an agent proposed that did not work, each with where it stands."""
    bad = set()
    answered = _answered(messages)
    for number, (message, answer) in enumerate(answered):
        tried = _tried(message, answer)
        then = answered[number + 1] if number + 1 < len(answered) else None
        for command in tried:
            # It works once what stood in its way is gone, unless another one took its place.
            helped = then is not None and not reports_fault(then[1].content)
            another = then is None or any(
                is_attempt_at(command, one) for one in commands_in(then[0].content)
            )
            if another or not helped:
                bad.add((message.position, command))
    return frozenset(bad)


def _tried(message: Message, answer: Message) -> list[str]:
    """Return the proposed commands of which the answer says that they did not work."""
    proposed = commands_in(message.content)
    if not proposed or not reports_fault(answer.content):
        return []
    named = [one for one in proposed if program_of(one) in words_of(answer.content)]
    return named or proposed


def _failed(actions: Sequence[Action], number: int) -> bool:
    """Tell whether a call failed; in doubt, whether another try followed."""
    action = actions[number]
    if action.kind is not Kind.RUN or is_looking(action.subject):
        return False
    if action.outcome is Outcome.DOUBTFUL:  # a program that speaks of errors each time is no sign
        later = _next_try(actions, number)
        return later is not None and actions[later].outcome is not Outcome.DOUBTFUL
    return action.outcome is Outcome.FAILED


def _next_try(actions: Sequence[Action], number: int) -> int | None:
    """Return the next call that does the same thing, and works."""
    for later in range(number + 1, min(number + 1 + _WITHIN, len(actions))):
        action = actions[later]
        if action.kind is not Kind.RUN or action.outcome in (Outcome.FAILED, Outcome.DECLINED):
            continue
        if action.subject and is_attempt_at(actions[number].subject, action.subject):
            return later
    return None


def _failure(
    messages: Sequence[Message], actions: Sequence[Action], number: int, root: str
) -> DraftLine:
    action = actions[number]
    positions = [action.position]
    command = _shown(action.subject, root)
    text = f"{command} failed"
    if action.error:
        text += f": “{_quoted(action.error, root)}”"
    text += "."
    later = _next_try(actions, number)
    until = actions[later].position if later is not None else _turn_end(messages, action.position)
    why = _cause(messages, action.position, until)
    if why is not None:
        text += f" {_sentence(general(cause(why.content), root))}"
        positions.append(why.position)
    changed = _changed_between(actions, number, later, until)
    if later is not None:
        other = _shown(actions[later].subject, root)
        positions.append(actions[later].position)
        if other != command:
            text += f" {other} worked instead."
        elif changed:
            positions += [one.position for one in changed]
            text += f" It worked after a change of {_files(changed, root)}."
        else:
            text += " It worked when run again."
    elif changed:
        positions += [one.position for one in changed]
        text += f" What was done about it: a change of {_files(changed, root)}."
    return DraftLine(text, tuple(sorted(set(positions))))


def _changed_between(
    actions: Sequence[Action], number: int, later: int | None, until: int
) -> list[Action]:
    between = actions[number + 1 : later if later is not None else len(actions)]
    return [
        one
        for one in between
        if one.kind is Kind.CHANGE
        and one.subject
        and one.position <= until
        and one.outcome not in (Outcome.FAILED, Outcome.DECLINED)
    ][:3]


def _turn_end(messages: Sequence[Message], position: int) -> int:
    """Return where the answer to a failure ends: at the user's next request but one."""
    asked = [m.position for m in messages if m.role is Role.USER and m.position > position]
    return asked[1] if len(asked) > 1 else messages[-1].position


def _cause(messages: Sequence[Message], after: int, until: int) -> Message | None:
    between = (m for m in messages if after < m.position <= until and m.role is Role.ASSISTANT)
    return next((m for m in between if cause(m.content)), None)


def _corrections(
    messages: Sequence[Message], actions: Sequence[Action], root: str
) -> list[tuple[int, DraftLine]]:
    """Return what the user put right, each with the number of the call it takes back, or -1."""
    found = []
    spoken = False
    turn = 0  # where the user spoke last
    for message in messages:
        if message.role is Role.ASSISTANT:
            spoken = True
        if message.role is not Role.USER or not message.content.strip():
            continue
        told = correction(message.content) if spoken else ""
        if told and not changes_goal(told):
            found.append(_correction(told, message.position, turn, actions, root))
        turn = message.position
    return found


def _correction(
    told: str, position: int, turn: int, actions: Sequence[Action], root: str
) -> tuple[int, DraftLine]:
    text = f"The user: “{_quoted(told, root)}”"
    before = [n for n, one in enumerate(actions) if turn < one.position < position]
    before = [
        n for n in before if actions[n].kind is Kind.RUN and not is_looking(actions[n].subject)
    ]
    for number in reversed(before):
        command = actions[number].subject
        instead = _instead(actions, number, position, told)
        about = f" It was about {_shown(command, root)}"
        if actions[number].outcome is Outcome.FAILED and actions[number].error:
            about += f", which had failed (“{_quoted(actions[number].error, root)}”)"
        if instead is not None:
            other = actions[instead]
            text += f"{about}; {_shown(other.subject, root)} took its place."
            return number, DraftLine(text, (actions[number].position, position, other.position))
        if prohibits(told) and words_of(command) & _named(told):
            return number, DraftLine(f"{text}{about}.", (actions[number].position, position))
    return -1, DraftLine(text, (position,))


def _instead(actions: Sequence[Action], number: int, position: int, told: str) -> int | None:
    """Return the call that took the place of one that was put right: with a word of the user's."""
    command = actions[number].subject
    for later in range(number + 1, min(number + 1 + _WITHIN, len(actions))):
        other = actions[later]
        if other.kind is not Kind.RUN or other.position <= position:
            continue
        new = words_of(other.subject) - words_of(command)
        if new & _named(told) and is_attempt_at(command, other.subject):
            return later
    return None


_COMMON_WORDS = "no not use the a an it to in on of and or do don don't this that run is"
_COMMON = frozenset(_COMMON_WORDS.split())


def _named(told: str) -> frozenset[str]:
    return frozenset(word.rstrip(".-") for word in words_of(told)) - _COMMON


def _declined(actions: Sequence[Action], told: set[int], root: str) -> list[DraftLine]:
    return [
        DraftLine(f"The user declined {_shown(one.subject, root)}.", (one.position,))
        for number, one in enumerate(actions)
        if one.outcome is Outcome.DECLINED
        and one.kind is Kind.RUN
        and one.subject
        and number not in told
    ]


def _proposals(messages: Sequence[Message], root: str) -> list[DraftLine]:
    """Return what an agent proposed that did not work, and what helped."""
    found = []
    answered = _answered(messages)
    for number, (message, answer) in enumerate(answered):
        tried = _tried(message, answer)
        if not tried:
            continue
        proposed = ", ".join(_shown(one, root) for one in tried[:3])
        text = f"{proposed} did not work: “{_quoted(telling_line(answer.content), root)}”."
        positions = [message.position, answer.position]
        after = [m for m in messages if m.position > answer.position and m.role is Role.ASSISTANT]
        why, better = (
            (cause(after[0].content), commands_in(after[0].content)) if after else ("", [])
        )
        if why:
            text += f" {_sentence(general(why, root))}"
        if better and not (number + 1 < len(answered) and _tried(*answered[number + 1])):
            text += f" What helped: {', '.join(_shown(one, root) for one in better[:3])}."
        positions += [after[0].position] if why or better else []
        found.append(DraftLine(text, tuple(positions)))
    return found


def _answered(messages: Sequence[Message]) -> list[tuple[Message, Message]]:
    """Return each message of an agent with the user's answer to it."""
    spoken = [m for m in messages if m.role in (Role.USER, Role.ASSISTANT) and m.content.strip()]
    return [
        (one, other)
        for one, other in pairwise(spoken)
        if one.role is Role.ASSISTANT and other.role is Role.USER
    ]


def _files(changed: Sequence[Action], root: str) -> str:
    names = dict.fromkeys(
        f"`{file_name(path, root)}`" for one in changed for path in one.subject.split("\n")
    )
    return " and ".join(names)


def _shown(command: str, root: str) -> str:
    text = " ".join(general_command(command, root).replace("`", "'").split())
    return f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}`"


def _quoted(text: str, root: str) -> str:
    return clip(general(text, root)).replace("“", "'").replace("”", "'")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "…")) else f"{text}."
