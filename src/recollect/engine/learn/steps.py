"""
The steps of a skill: what was done, in order, each named by what was said of it.

A step is named by the call's own description, else by what the agent announced before or reported
after, else by what the user had asked for. Where nothing was done, the agent's lists and orders are
the steps. Failed calls, looking around and repetitions are no steps.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from recollect.domain.conversation import Message, Role
from recollect.domain.skill import DraftLine
from recollect.engine.learn.actions import Action, Kind, Outcome
from recollect.engine.learn.places import file_name, general, general_command
from recollect.engine.learn.shell import is_looking
from recollect.engine.learn.wording import (
    Aspect,
    alike,
    clip,
    correction,
    enumerated,
    imperative,
    instruction,
    is_ordered,
    request,
    said,
)

MOST_STEPS = 30
_MOST_INLINE = 90  # characters of a command that is shown within its step
_MOST_FILES = 5


@dataclass
class _Step:
    """One step as it takes shape."""

    kind: Kind
    positions: list[int]
    tool: str
    name: str = ""
    asked: bool = False  # named by the user's request only; a report of the agent is better
    command: str = ""
    files: list[str] = field(default_factory=list)

    def wants_name(self) -> bool:
        return self.kind is Kind.CHANGE and (self.asked or not self.name)

    def line(self) -> DraftLine:
        return DraftLine(self._text(), tuple(dict.fromkeys(self.positions)))

    def _text(self) -> str:
        if self.kind is Kind.OTHER:
            return f"{self.name} (tool `{self.tool}`)"
        if self.kind is Kind.RUN and self.command:
            short = len(self.command) <= _MOST_INLINE and not {"\n", "`"} & set(self.command)
            if not self.name:
                return f"Run `{self.command}`" if short else "Run the command given below"
            return f"{self.name}: `{self.command}`" if short else f"{self.name} (command below)"
        if self.kind is Kind.CHANGE and self.files:
            files = _listed(self.files)
            if not self.name:
                return f"{'Write' if self.tool.lower().startswith('write') else 'Edit'} {files}"
            named = all(name.rpartition("/")[2] in self.name for name in self.files)
            return self.name if named else f"{self.name}: edit {files}"
        return self.name


def is_done(action: Action) -> bool:
    """Tell whether a call did something that is a step of its own."""
    if action.outcome in (Outcome.FAILED, Outcome.DECLINED):
        return False
    if action.kind is Kind.RUN:
        return not is_looking(action.subject) if action.subject else bool(action.note)
    return action.kind in (Kind.CHANGE, Kind.OTHER)


def steps_of(
    messages: Sequence[Message],
    actions: Sequence[Action],
    kept: Collection[Action],
    root: str,
    *,
    goal: int,
) -> list[DraftLine]:
    """
    Return the steps in order.

    *actions*: all there are; *kept*: those that count; *goal*: where it was asked for.
    """
    steps = _done(messages, actions, kept, root, goal)
    plans = [action for action in actions if action.kind is Kind.PLAN and action.plan]
    lines = [step.line() for step in _without_repeats(steps)]
    if plans:
        lines = _with_plan(lines, plans[-1], root)
    if not any(step.kind in (Kind.RUN, Kind.CHANGE) for step in steps):
        lines = _distinct([*_told(messages, root), *lines])
    return [line for line in lines if line.text][:MOST_STEPS]


def _done(
    messages: Sequence[Message],
    actions: Sequence[Action],
    kept: Collection[Action],
    root: str,
    goal: int,
) -> list[_Step]:
    """Walk through the conversation, and give each call that did something its name."""
    at: dict[int, list[Action]] = {}
    for action in actions:
        at.setdefault(action.position, []).append(action)
    steps: list[_Step] = []
    tries: dict[str, str] = {}  # commands that failed, and what they were meant to do
    ahead = asked = ""
    turn = -1  # where the user spoke last
    for message in messages:
        if message.role is Role.USER and message.content.strip():
            turn = message.position
            wanted = request(message.content) if message.position != goal else ""
            asked = "" if correction(message.content) else wanted
            ahead = ""
        if message.role is Role.ASSISTANT:
            ahead = _heard(message.content, steps, root) or ahead
        for action in at.get(message.position, ()):
            if action not in kept or not is_done(action):
                if action.kind is Kind.RUN and not is_looking(action.subject):
                    tries[action.subject] = _meant(imperative(action.note) or ahead)
                    ahead = ""
                continue
            if steps and not (ahead or action.note) and _goes_with(steps[-1], action, turn):
                _add_file(steps[-1], action, root)
                continue
            name = imperative(action.note) or ahead or tries.get(action.subject, "") or asked
            if action.kind is Kind.OTHER and not (action.note or ahead):
                continue
            steps.append(_step(action, general(name, root), root))
            steps[-1].asked = not (action.note or ahead)
            ahead = asked = ""
    return steps


def _heard(text: str, steps: list[_Step], root: str) -> str:
    """Return what an agent says it will do next; what it says it has done names the last step."""
    ahead = ""
    for sentence in said(text):
        found = instruction(sentence)
        if found is None or found.looking:
            continue
        if found.aspect is not Aspect.BEHIND:
            ahead = found.text if found.aspect is Aspect.AHEAD else ahead
        elif steps and not ahead and steps[-1].wants_name():
            steps[-1].name, steps[-1].asked = general(found.text, root), False
    return ahead


def _meant(name: str) -> str:
    """Return the name of a try that failed as that of the one that works later."""
    return "" if name.startswith("Reproduce") else name


def _step(action: Action, name: str, root: str) -> _Step:
    step = _Step(action.kind, [action.position], action.tool, name=name[:1].upper() + name[1:])
    if action.kind is Kind.RUN:
        step.command = general_command(action.subject, root)
    elif action.kind is Kind.CHANGE:
        _add_file(step, action, root)
    return step


def _goes_with(step: _Step, action: Action, turn: int) -> bool:
    """Tell whether a change is part of the step before: the same work on one more file."""
    return step.kind is action.kind is Kind.CHANGE and step.positions[-1] > turn


def _add_file(step: _Step, action: Action, root: str) -> None:
    names = (file_name(path, root) for path in action.subject.split("\n") if path)
    step.files += [name for name in names if name not in step.files]
    step.positions.append(action.position)


def _without_repeats(steps: Iterable[_Step]) -> list[_Step]:
    kept: dict[str, _Step] = {}
    for step in steps:
        key = step.command or step.line().text
        kept.setdefault(key, step)
    return list(kept.values())


def _with_plan(lines: list[DraftLine], plan: Action, root: str) -> list[DraftLine]:
    """Put the finished items of the agent's list of tasks that no step covers where they belong."""
    lines = list(lines)
    place = next((n for n, line in enumerate(lines) if line.positions[0] > plan.position), None)
    place = len(lines) if place is None else place
    for item in plan.plan:
        match = next((n for n, line in enumerate(lines) if alike(item, line.text)), None)
        if match is not None:
            place = match + 1
            continue
        lines.insert(place, DraftLine(general(clip(item), root), (plan.position,)))
        place += 1
    return lines


def _told(messages: Sequence[Message], root: str) -> list[DraftLine]:
    """Return the steps an agent tells, from its lists, and from its orders where it has none."""
    found: list[DraftLine] = []
    listed: list[DraftLine] = []  # of the last message that had a list
    corrected = False
    for message in messages:
        if message.role is Role.USER:
            corrected = bool(correction(message.content))
        if message.role is not Role.ASSISTANT:
            continue
        items = enumerated(message.content)
        if not items:
            orders = ((one, instruction(one)) for one in said(message.content))
            ordered = [order.text for one, order in orders if order and is_ordered(one)]
            items = ordered if len(ordered) > 1 or found else []
        lines = [DraftLine(general(item, root), (message.position,)) for item in items]
        if lines and corrected:
            found = [line for line in found if line not in listed]
        listed = lines or listed
        found += lines
    return found


def _distinct(lines: Iterable[DraftLine]) -> list[DraftLine]:
    kept: list[DraftLine] = []
    for line in lines:
        if not any(alike(line.text, other.text, 0.8) for other in kept):
            kept.append(line)
    return kept


def _listed(files: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in files[:_MOST_FILES]]
    if len(files) > _MOST_FILES:
        shown.append(f"{len(files) - _MOST_FILES} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
