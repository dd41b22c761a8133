"""
Draft a skill from a conversation, without a language model.

The work that was done is the backbone (steps.py); what failed and what the user put right are the
pitfalls (pitfalls.py). Every line says which message it rests on, and nothing is added that nobody
said or did. Whether the draft is any good is for the reader to say: it is a draft.
"""

from collections.abc import Iterable, Sequence

from recollect.domain.conversation import Message, Role
from recollect.domain.skill import DraftLine, SkillDraft
from recollect.engine.learn.actions import Action, Kind, Outcome, actions_of, as_said
from recollect.engine.learn.pitfalls import failed_proposals, judge
from recollect.engine.learn.places import general, general_command, legend, project_root
from recollect.engine.learn.shell import MOST_CHARS, commands_in, is_looking, program_of
from recollect.engine.learn.steps import steps_of
from recollect.engine.learn.wording import changes_goal, clip, correction, request
from recollect.errors import InvalidInput
from recollect.text.skill_file import MOST_DESCRIPTION, name_problem

MOST_COMMANDS = 30
_FEWEST_STEPS = 3  # without a command or a pitfall; fewer are the request over again


def draft_skill(messages: Sequence[Message], *, name: str, title: str = "") -> SkillDraft:
    """Return a skill as *messages* teach it, or raise `InvalidInput` where they teach nothing."""
    if problem := name_problem(name):
        raise InvalidInput(problem)
    messages = [as_said(message) for message in messages]
    done = actions_of(messages)
    root = project_root(messages, done)
    goal = _goal(messages, root)
    judged = judge(messages, done, root)
    where = goal.positions[0] if goal.positions else -1
    steps = steps_of(messages, done, frozenset(judged.actions), root, goal=where)
    commands = _commands(messages, judged.actions, root)
    if not (commands or judged.pitfalls or len(steps) >= _FEWEST_STEPS):
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
        pitfalls=judged.pitfalls,
    )


def compose(
    messages: Sequence[Message],
    *,
    name: str,
    title: str,
    goal: DraftLine,
    steps: Sequence[DraftLine],
    commands: Sequence[DraftLine],
    pitfalls: Sequence[DraftLine],
    description: str = "",
) -> SkillDraft:
    """Return the draft that is made of these lines."""
    used = {p for line in (goal, *steps, *commands, *pitfalls) for p in line.positions}
    heading = " ".join(title.split()) or name.replace("-", " ").capitalize()
    described = description or _description(goal, heading, steps, commands, pitfalls)
    return SkillDraft(
        name=name,
        description=described[:MOST_DESCRIPTION],
        body=_body(heading, goal, steps, commands, pitfalls),
        goal=goal,
        steps=tuple(steps),
        commands=tuple(commands),
        pitfalls=tuple(pitfalls),
        references=tuple(message.id for message in messages if message.position in used),
    )


def _goal(messages: Sequence[Message], root: str) -> DraftLine:
    """Return the first request of the user, and how it was changed later."""
    text, positions = "", list[int]()
    for message in messages:
        if message.role is not Role.USER:
            continue
        if not text:
            text = general(request(message.content), root)
            positions = [message.position] if text else []
        elif (told := correction(message.content)) and changes_goal(told):
            text += f" (later: “{general(told, root)}”)"
            positions.append(message.position)
    return DraftLine(text, tuple(positions))


def _commands(messages: Sequence[Message], actions: Iterable[Action], root: str) -> list[DraftLine]:
    """Return the commands that worked, from calls and from what the agent told to run."""
    given = [
        (action.subject, action.position)
        for action in actions
        if action.kind is Kind.RUN
        and action.subject
        and action.outcome not in (Outcome.FAILED, Outcome.DECLINED)
    ]
    bad = failed_proposals(messages)
    given += [
        (command, message.position)
        for message in messages
        if message.role in (Role.USER, Role.ASSISTANT)
        for command in commands_in(message.content)
        if (message.position, command) not in bad
    ]
    found: dict[str, DraftLine] = {}
    for command, position in sorted(given, key=lambda one: one[1]):
        general_form = general_command(command, root)
        if is_looking(command) or not general_form or len(general_form) > MOST_CHARS:
            continue
        found.setdefault(" ".join(general_form.split()), DraftLine(general_form, (position,)))
    return list(found.values())[:MOST_COMMANDS]


def _description(
    goal: DraftLine,
    heading: str,
    steps: Sequence[DraftLine],
    commands: Sequence[DraftLine],
    pitfalls: Sequence[DraftLine],
) -> str:
    counts = ((len(steps), "step"), (len(commands), "command"), (len(pitfalls), "pitfall"))
    held = [f"{count} {what}{'s' * (count != 1)}" for count, what in counts if count]
    programs = sorted({program_of(line.text) for line in commands} - {""})
    used = f"; uses {', '.join(programs[:8])}" if programs else ""
    wanted = clip(goal.text or heading).rstrip(".")
    return f"{wanted}. Use it when asked for this or the like. Holds {', '.join(held)}{used}."


def _body(
    heading: str,
    goal: DraftLine,
    steps: Sequence[DraftLine],
    commands: Sequence[DraftLine],
    pitfalls: Sequence[DraftLine],
) -> str:
    parts = [f"# {heading}"]
    if goal.text:
        parts.append(f"Goal: {goal.text} {reference(goal)}")
    if steps:
        rows = (f"{n}. {line.text} {reference(line)}" for n, line in enumerate(steps, start=1))
        parts.append("## Steps\n\n" + "\n".join(rows))
    if commands:
        parts.append(f"## Commands\n\n```sh\n{_block(commands)}\n```")
    if pitfalls:
        parts.append(
            "## Pitfalls\n\n" + "\n".join(f"- {line.text} {reference(line)}" for line in pitfalls)
        )
    if told := legend("\n".join(parts)):
        parts.insert(2 if goal.text else 1, told)
    return "\n\n".join(parts)


def _block(commands: Sequence[DraftLine]) -> str:
    """Return the commands as a shell takes them, those of one message below its number."""
    rows: list[str] = []
    last: DraftLine | None = None
    for line in commands:
        if last is None or last.positions != line.positions:
            rows.append(f"# {reference(line)[1:-1]}")
        rows.append(line.text)
        last = line
    return "\n".join(rows)


def reference(line: DraftLine) -> str:
    """Return what a line rests on, as it is written behind it."""
    if not line.positions:
        return ""
    many = "s" if len(line.positions) > 1 else ""
    return f"(message{many} {', '.join(map(str, line.positions))})"
