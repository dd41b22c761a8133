"""
The steps of a drafted skill: the actions that were taken, in order, each with a name.

A step is named after the call's own description, else after what the agent announced before it or
reported after it, else after the user's request. If no action was taken, the agent's numbered lists
and instructions become the steps. Failed actions, inspections and repetitions are not steps.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import field

from recollect.domain.conversation import Role
from recollect.domain.skill import DraftLine
from recollect.domain.tool_call import ActionKind
from recollect.engine.learn import skill_instructions as instructions
from recollect.engine.learn.shell_commands import is_inspection
from recollect.engine.learn.skill_placeholders import generalize, generalize_command, relative_path
from recollect.engine.learn.tool_actions import UNSUCCESSFUL, Action, Actions, Messages
from recollect.lazy_dataclass import dataclass

MAX_STEPS = 30
_MAX_INLINE_CHARS = 90  # a longer command is not shown within its step
_MAX_FILES = 5


@dataclass
class _StepDraft:
    """One step while the conversation is being read."""

    kind: ActionKind
    positions: list[int]
    tool: str
    name: str = ""
    is_named_by_user: bool = False  # only the request gave the name; an agent's report is better
    command: str = ""
    files: list[str] = field(default_factory=list)

    def needs_name(self) -> bool:
        return self.kind is ActionKind.CHANGE and (self.is_named_by_user or not self.name)

    def line(self) -> DraftLine:
        return DraftLine(self._text(), tuple(dict.fromkeys(self.positions)))

    def _text(self) -> str:
        if self.kind is ActionKind.OTHER:
            return f"{self.name} (tool `{self.tool}`)"
        if self.kind is ActionKind.RUN and self.command:
            is_plain = not {"\n", "`"} & set(self.command)
            is_short = is_plain and len(self.command) <= _MAX_INLINE_CHARS
            if not self.name:
                return f"Run `{self.command}`" if is_short else "Run the command given below"
            return f"{self.name}: `{self.command}`" if is_short else f"{self.name} (command below)"
        if self.kind is ActionKind.CHANGE and self.files:
            files = _list_files(self.files)
            if not self.name:
                return f"{'Write' if self.tool.lower().startswith('write') else 'Edit'} {files}"
            is_named = all(name.rpartition("/")[2] in self.name for name in self.files)
            return self.name if is_named else f"{self.name}: edit {files}"
        return self.name


def is_step(action: Action) -> bool:
    """Return whether an action did something that can be a step."""
    if action.outcome in UNSUCCESSFUL:
        return False
    if action.kind is ActionKind.RUN:
        return not is_inspection(action.subject) if action.subject else bool(action.note)
    return action.kind in (ActionKind.CHANGE, ActionKind.OTHER)


def extract_steps(
    messages: Messages, actions: Actions, valid: Collection[Action], root: str, *, goal: int
) -> list[DraftLine]:
    """Return the steps of the *valid* actions; *goal* is the position of the initial request."""
    steps = _steps_from_actions(messages, actions, valid, root, goal)
    plans = [action for action in actions if action.kind is ActionKind.PLAN and action.plan]
    lines = [step.line() for step in _without_repeats(steps)]
    if plans:
        lines = _insert_plan_items(lines, plans[-1], root)
    if not any(step.kind in (ActionKind.RUN, ActionKind.CHANGE) for step in steps):
        lines = _distinct_lines([*_steps_from_text(messages, root), *lines])
    return [line for line in lines if line.text][:MAX_STEPS]


def _steps_from_actions(
    messages: Messages, actions: Actions, valid: Collection[Action], root: str, goal: int
) -> list[_StepDraft]:
    """Return a named step for each valid action."""
    by_position: dict[int, list[Action]] = {}
    for action in actions:
        by_position.setdefault(action.position, []).append(action)
    steps: list[_StepDraft] = []
    failed_names: dict[str, str] = {}
    announced = requested = ""
    turn = -1  # position of the last user message
    for message in messages:
        if message.role is Role.USER and message.content.strip():
            turn = message.position
            is_request = turn != goal and not instructions.find_correction(message.content)
            requested = instructions.find_request(message.content) if is_request else ""
            announced = ""
        if message.role is Role.ASSISTANT:
            announced = _read_announcements(message.content, steps, root) or announced
        for action in by_position.get(message.position, ()):
            name = instructions.to_imperative(action.note) or announced
            if action not in valid or not is_step(action):
                if action.kind is ActionKind.RUN and not is_inspection(action.subject):
                    # A retry takes the name of the failed command.
                    failed_names[action.subject] = "" if name.startswith("Reproduce") else name
                    announced = ""
                continue
            is_named = bool(action.note or announced)
            if steps and not is_named and _is_same_change(steps[-1], action, turn):
                _add_file(steps[-1], action, root)
                continue
            if action.kind is ActionKind.OTHER and not is_named:
                continue
            name = name or failed_names.get(action.subject, "") or requested
            steps.append(_step(action, generalize(name, root), root))
            steps[-1].is_named_by_user = not is_named
            announced = requested = ""
    return steps


def _read_announcements(text: str, steps: list[_StepDraft], root: str) -> str:
    """Return what the agent announces; use what it reports as done to name the last step."""
    announced = ""
    for sentence in instructions.spoken_sentences(text):
        instruction = instructions.parse_instruction(sentence)
        if instruction is None or instruction.is_inspection:
            continue
        if instruction.tense is instructions.Tense.FUTURE:
            announced = instruction.text
        elif instruction.tense is instructions.Tense.IMPERATIVE:
            continue
        elif steps and not announced and steps[-1].needs_name():
            steps[-1].name = generalize(instruction.text, root)
            steps[-1].is_named_by_user = False
    return announced


def _step(action: Action, name: str, root: str) -> _StepDraft:
    step = _StepDraft(action.kind, [action.position], action.tool, name=name[:1].upper() + name[1:])
    if action.kind is ActionKind.RUN:
        step.command = generalize_command(action.subject, root)
    elif action.kind is ActionKind.CHANGE:
        _add_file(step, action, root)
    return step


def _is_same_change(step: _StepDraft, action: Action, turn: int) -> bool:
    """Return whether a file change continues the step before it, in the same turn."""
    return step.kind is action.kind is ActionKind.CHANGE and step.positions[-1] > turn


def _add_file(step: _StepDraft, action: Action, root: str) -> None:
    names = (relative_path(path, root) for path in action.subject.split("\n") if path)
    step.files += [name for name in names if name not in step.files]
    step.positions.append(action.position)


def _without_repeats(steps: Iterable[_StepDraft]) -> list[_StepDraft]:
    distinct: dict[str, _StepDraft] = {}
    for step in steps:
        distinct.setdefault(step.command or step.line().text, step)
    return list(distinct.values())


def _insert_plan_items(lines: list[DraftLine], plan: Action, root: str) -> list[DraftLine]:
    """Insert the finished items of the agent's task list that no step covers."""
    lines = list(lines)
    later = (n for n, line in enumerate(lines) if line.positions[0] > plan.position)
    index = next(later, len(lines))
    for item in plan.plan:
        covering = (n for n, line in enumerate(lines) if instructions.are_similar(item, line.text))
        if (covered := next(covering, None)) is not None:
            index = covered + 1
            continue
        text = generalize(instructions.clip(item), root)
        lines.insert(index, DraftLine(text, (plan.position,)))
        index += 1
    return lines


def _steps_from_text(messages: Messages, root: str) -> list[DraftLine]:
    """Return the steps an agent describes: numbered lists, else instructions in sequence."""
    steps: list[DraftLine] = []
    last_list: list[DraftLine] = []  # of the last message that had a list
    is_corrected = False
    for message in messages:
        if message.role is Role.USER:
            is_corrected = bool(instructions.find_correction(message.content))
        if message.role is not Role.ASSISTANT:
            continue
        items = instructions.listed_instructions(message.content)
        if not items:
            sentences = instructions.spoken_sentences(message.content)
            sequence = filter(instructions.is_sequenced, sentences)
            orders = map(instructions.parse_instruction, sequence)
            items = [order.text for order in orders if order]
            items = items if len(items) > 1 or steps else []
        lines = [DraftLine(generalize(item, root), (message.position,)) for item in items]
        if lines and is_corrected:
            steps = [line for line in steps if line not in last_list]
        last_list = lines or last_list
        steps += lines
    return steps


def _distinct_lines(lines: Iterable[DraftLine]) -> list[DraftLine]:
    distinct: list[DraftLine] = []
    for line in lines:
        if not any(instructions.are_similar(line.text, other.text, 0.8) for other in distinct):
            distinct.append(line)
    return distinct


def _list_files(files: Sequence[str]) -> str:
    names = [f"`{name}`" for name in files[:_MAX_FILES]]
    if len(files) > _MAX_FILES:
        names.append(f"{len(files) - _MAX_FILES} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
