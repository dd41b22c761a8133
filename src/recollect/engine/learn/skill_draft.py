"""
Draft a skill from a conversation, without a language model.

The successful work becomes the steps (skill_steps.py); failures and user corrections become the
pitfalls (skill_pitfalls.py). Every line names the messages it comes from, and contains only what
was said or done in them. A person reviews the draft before it becomes a skill.
"""

from collections.abc import Iterable, Sequence

from recollect.domain.conversation import Message, Role
from recollect.domain.skill import DraftLine, SkillDraft
from recollect.domain.tool_call import ActionKind
from recollect.engine.learn import shell_commands, skill_placeholders, tool_actions
from recollect.engine.learn import skill_instructions as instructions
from recollect.engine.learn.skill_pitfalls import failed_proposals, review_actions
from recollect.engine.learn.skill_steps import extract_steps
from recollect.engine.learn.tool_actions import UNSUCCESSFUL, Action
from recollect.errors import InvalidInput
from recollect.text.skill_file import MAX_DESCRIPTION_CHARS, name_problem

MAX_COMMANDS = 30
_MIN_STEPS = 3  # of a draft without commands and pitfalls; fewer only repeat the request

Lines = Sequence[DraftLine]


def draft_skill(messages: Sequence[Message], *, name: str, title: str = "") -> SkillDraft:
    """Return the skill that *messages* show; raise `InvalidInput` if they show no work."""
    if problem := name_problem(name):
        raise InvalidInput(problem)
    messages = [tool_actions.without_tool_output(message) for message in messages]
    actions = tool_actions.extract_actions(messages)
    root = skill_placeholders.project_root(messages, actions)
    goal = _goal(messages, root)
    review = review_actions(messages, actions, root)
    goal_position = goal.positions[0] if goal.positions else -1
    steps = extract_steps(messages, actions, frozenset(review.actions), root, goal=goal_position)
    commands = _commands(messages, review.actions, root)
    if not (commands or review.pitfalls or len(steps) >= _MIN_STEPS):
        raise InvalidInput(
            f"there is nothing to learn in these {len(messages)} messages: no command that worked, "
            "no steps, nothing that was put right; choose a conversation in which work was done"
        )
    return compose(
        messages,
        name=name,
        title=title,
        goal=goal,
        steps=steps,
        commands=commands,
        pitfalls=review.pitfalls,
    )


def compose(
    messages: Sequence[Message],
    *,
    name: str,
    title: str,
    goal: DraftLine,
    steps: Lines,
    commands: Lines,
    pitfalls: Lines,
    description: str = "",
) -> SkillDraft:
    """Return the skill draft made of these lines."""
    used = {p for line in (goal, *steps, *commands, *pitfalls) for p in line.positions}
    heading = " ".join(title.split()) or name.replace("-", " ").capitalize()
    description = description or _describe(goal, heading, steps, commands, pitfalls)
    return SkillDraft(
        name=name,
        description=description[:MAX_DESCRIPTION_CHARS],
        body=_body(heading, goal, steps, commands, pitfalls),
        goal=goal,
        steps=tuple(steps),
        commands=tuple(commands),
        pitfalls=tuple(pitfalls),
        references=tuple(message.id for message in messages if message.position in used),
    )


def _goal(messages: Sequence[Message], root: str) -> DraftLine:
    """Return the user's first request, with later changes to it."""
    text, positions = "", list[int]()
    for message in messages:
        if message.role is not Role.USER:
            continue
        if not text:
            text = skill_placeholders.generalize(instructions.find_request(message.content), root)
            positions = [message.position] if text else []
            continue
        change = instructions.find_correction(message.content)
        if change and instructions.changes_goal(change):
            text += f" (later: “{skill_placeholders.generalize(change, root)}”)"
            positions.append(message.position)
    return DraftLine(text, tuple(positions))


def _commands(messages: Sequence[Message], actions: Iterable[Action], root: str) -> list[DraftLine]:
    """Return the commands that worked, from tool calls and from shell blocks in messages."""
    runs = [action for action in actions if action.kind is ActionKind.RUN and action.subject]
    candidates = [(a.subject, a.position) for a in runs if a.outcome not in UNSUCCESSFUL]
    failed = failed_proposals(messages)
    candidates += [
        (command, message.position)
        for message in messages
        if message.role in (Role.USER, Role.ASSISTANT)
        for command in shell_commands.shell_commands_in(message.content)
        if (message.position, command) not in failed
    ]
    commands: dict[str, DraftLine] = {}
    for command, position in sorted(candidates, key=lambda candidate: candidate[1]):
        general = skill_placeholders.generalize_command(command, root)
        is_usable = general and len(general) <= shell_commands.MAX_COMMAND_CHARS
        if is_usable and not shell_commands.is_inspection(command):
            commands.setdefault(" ".join(general.split()), DraftLine(general, (position,)))
    return list(commands.values())[:MAX_COMMANDS]


def _describe(goal: DraftLine, heading: str, steps: Lines, commands: Lines, pitfalls: Lines) -> str:
    counts = ((len(steps), "step"), (len(commands), "command"), (len(pitfalls), "pitfall"))
    contents = [f"{count} {what}{'s' * (count != 1)}" for count, what in counts if count]
    programs = sorted({shell_commands.program_name(line.text) for line in commands} - {""})
    uses = f"; uses {', '.join(programs[:8])}" if programs else ""
    summary = instructions.clip(goal.text or heading).rstrip(".")
    return f"{summary}. Use it when asked for this or the like. Holds {', '.join(contents)}{uses}."


def _body(heading: str, goal: DraftLine, steps: Lines, commands: Lines, pitfalls: Lines) -> str:
    parts = [f"# {heading}"]
    if goal.text:
        parts.append(f"Goal: {goal.text} {message_reference(goal)}")
    if steps:
        rows = [f"{n}. {line.text} {message_reference(line)}" for n, line in enumerate(steps, 1)]
        parts.append("## Steps\n\n" + "\n".join(rows))
    if commands:
        parts.append(f"## Commands\n\n```sh\n{_block(commands)}\n```")
    if pitfalls:
        rows = [f"- {line.text} {message_reference(line)}" for line in pitfalls]
        parts.append("## Pitfalls\n\n" + "\n".join(rows))
    if legend := skill_placeholders.placeholder_legend("\n".join(parts)):
        parts.insert(2 if goal.text else 1, legend)
    return "\n\n".join(parts)


def _block(commands: Lines) -> str:
    """Return the commands as shell lines, grouped under a comment with their message number."""
    rows: list[str] = []
    last: DraftLine | None = None
    for line in commands:
        if last is None or last.positions != line.positions:
            rows.append(f"# {message_reference(line)[1:-1]}")
        rows.append(line.text)
        last = line
    return "\n".join(rows)


def message_reference(line: DraftLine) -> str:
    """Return the messages a line comes from, as the text written after it."""
    if not line.positions:
        return ""
    many = "s" if len(line.positions) > 1 else ""
    return f"(message{many} {', '.join(map(str, line.positions))})"
