"""
The pitfalls of a drafted skill: failed commands with what worked instead, and user corrections.

A failed command is listed with its error and the next attempt that worked; a correction with the
command it was about; both with the cause, if the agent named one. `review_actions` also returns the
actions that remain valid: those that neither failed nor were corrected by the user.
"""

from collections.abc import Sequence
from itertools import pairwise

from recollect.domain.conversation import Message, Role
from recollect.domain.skill import DraftLine
from recollect.domain.tool_call import ActionKind, Outcome
from recollect.engine.learn import shell_commands, tool_actions
from recollect.engine.learn import skill_instructions as instructions
from recollect.engine.learn.shell_commands import command_words, is_inspection, is_same_task
from recollect.engine.learn.skill_placeholders import generalize, generalize_command, relative_path
from recollect.engine.learn.tool_actions import Action, Actions, Messages
from recollect.lazy_dataclass import dataclass

MAX_PITFALLS = 15
_RETRY_WINDOW = 15  # number of actions after a failure that are searched for a retry
_MAX_SHOWN_CHARS = 120  # characters of a command


@dataclass(frozen=True)
class ActionReview:
    """The actions that can become steps, and the pitfalls drawn from the others."""

    actions: list[Action]
    pitfalls: list[DraftLine]


def review_actions(messages: Messages, actions: Actions, root: str) -> ActionReview:
    """Return the actions that remain valid, and the pitfalls in the order they occurred."""
    failed = {number for number in range(len(actions)) if _has_failed(actions, number)}
    corrections = _corrections(messages, actions, root)
    corrected = {number for number, _ in corrections if number >= 0}
    pitfalls = [line for _, line in corrections]
    # A corrected failure is already described by its correction.
    uncorrected = sorted(failed - corrected)[: 4 * MAX_PITFALLS]
    pitfalls += [_describe_failure(messages, actions, number, root) for number in uncorrected]
    pitfalls += _declined_commands(actions, corrected, root) + _proposal_pitfalls(messages, root)
    distinct = {line.text: line for line in sorted(pitfalls, key=lambda line: line.positions)}
    valid = [action for n, action in enumerate(actions) if n not in failed | corrected]
    return ActionReview(valid, list(distinct.values())[:MAX_PITFALLS])


def failed_proposals(messages: Messages) -> frozenset[tuple[int, str]]:
    """Return the proposed commands that did not work, as pairs of message position and command."""
    failed = set()
    proposals = _answered_proposals(messages)
    for number, (message, answer) in enumerate(proposals):
        for command in _failed_commands(message, answer):
            # A failed command is valid after all if the next proposal fixed what blocked it, and
            # did not replace the command.
            if number + 1 < len(proposals):
                fix, reply = proposals[number + 1]
                fixes = shell_commands.shell_commands_in(fix.content)
                is_replaced = any(is_same_task(command, other) for other in fixes)
                if not is_replaced and not instructions.reports_fault(reply.content):
                    continue
            failed.add((message.position, command))
    return frozenset(failed)


def _failed_commands(message: Message, answer: Message) -> list[str]:
    """Return the commands proposed in *message* that did not work according to *answer*."""
    proposed = shell_commands.shell_commands_in(message.content)
    if not proposed or not instructions.reports_fault(answer.content):
        return []
    words = command_words(answer.content)
    named = [command for command in proposed if shell_commands.program_name(command) in words]
    return named or proposed


def _has_failed(actions: Actions, number: int) -> bool:
    """Return whether the command failed; if its outcome is unclear, whether it was retried."""
    action = actions[number]
    if action.kind is not ActionKind.RUN or is_inspection(action.subject):
        return False
    if action.outcome is Outcome.UNCLEAR:  # some programs print the word "error" every time
        later = _next_try(actions, number)
        return later is not None and actions[later].outcome is not Outcome.UNCLEAR
    return action.outcome is Outcome.FAILED


def _next_try(actions: Actions, number: int) -> int | None:
    """Return the number of the next successful command that attempts the same task."""
    for later in range(number + 1, min(number + 1 + _RETRY_WINDOW, len(actions))):
        action = actions[later]
        if action.kind is not ActionKind.RUN or action.outcome in tool_actions.UNSUCCESSFUL:
            continue
        if action.subject and is_same_task(actions[number].subject, action.subject):
            return later
    return None


def _describe_failure(messages: Messages, actions: Actions, number: int, root: str) -> DraftLine:
    action = actions[number]
    positions = [action.position]
    command = _render_command(action.subject, root)
    text = f"{command} failed"
    if action.error:
        text += f": “{_quote(action.error, root)}”"
    text += "."
    later = _next_try(actions, number)
    until = actions[later].position if later is not None else _turn_end(messages, action.position)
    explanation = _cause_message(messages, action.position, until)
    if explanation is not None:
        cause = generalize(instructions.find_cause(explanation.content), root)
        text += f" {_end_sentence(cause)}"
        positions.append(explanation.position)
    changed = _changed_between(actions, number, later, until)
    if later is not None:
        retry = _render_command(actions[later].subject, root)
        positions.append(actions[later].position)
        if retry != command:
            text += f" {retry} worked instead."
        elif changed:
            positions += [action.position for action in changed]
            text += f" It worked after a change of {_file_list(changed, root)}."
        else:
            text += " It worked when run again."
    elif changed:
        positions += [action.position for action in changed]
        text += f" What was done about it: a change of {_file_list(changed, root)}."
    return DraftLine(text, tuple(sorted(set(positions))))


def _changed_between(actions: Actions, number: int, later: int | None, until: int) -> list[Action]:
    """Return the first three file changes between a failure and its retry."""
    between = actions[number + 1 : later if later is not None else len(actions)]
    changes = [a for a in between if a.kind is ActionKind.CHANGE and a.subject]
    return [
        a for a in changes if a.position <= until and a.outcome not in tool_actions.UNSUCCESSFUL
    ][:3]


def _turn_end(messages: Messages, position: int) -> int:
    """Return the position up to which a failure is discussed: the second user message after it."""
    requests = [m.position for m in messages if m.role is Role.USER and m.position > position]
    return requests[1] if len(requests) > 1 else messages[-1].position


def _cause_message(messages: Messages, after: int, until: int) -> Message | None:
    between = (m for m in messages if after < m.position <= until and m.role is Role.ASSISTANT)
    return next((m for m in between if instructions.find_cause(m.content)), None)


def _corrections(messages: Messages, actions: Actions, root: str) -> list[tuple[int, DraftLine]]:
    """Return the user's corrections, each with the number of the action it rejects, or -1."""
    lines = []
    has_agent_spoken = False
    previous_turn = 0  # position of the user's previous message
    for message in messages:
        has_agent_spoken = has_agent_spoken or message.role is Role.ASSISTANT
        if message.role is not Role.USER or not message.content.strip():
            continue
        correction = instructions.find_correction(message.content) if has_agent_spoken else ""
        if correction and not instructions.changes_goal(correction):
            lines.append(_correction(correction, message.position, previous_turn, actions, root))
        previous_turn = message.position
    return lines


def _correction(
    correction: str, position: int, previous_turn: int, actions: Actions, root: str
) -> tuple[int, DraftLine]:
    text = f"The user: “{_quote(correction, root)}”"
    for number in reversed(range(len(actions))):
        action, command = actions[number], actions[number].subject
        is_command = action.kind is ActionKind.RUN and not is_inspection(command)
        if not (is_command and previous_turn < action.position < position):
            continue
        instead = _find_replacement(actions, number, position, correction)
        context = f" It was about {_render_command(command, root)}"
        if action.outcome is Outcome.FAILED and action.error:
            context += f", which had failed (“{_quote(action.error, root)}”)"
        if instead is not None:
            replacement = actions[instead]
            text += f"{context}; {_render_command(replacement.subject, root)} took its place."
            return number, DraftLine(text, (action.position, position, replacement.position))
        if instructions.prohibits(correction) and command_words(command) & _key_terms(correction):
            return number, DraftLine(f"{text}{context}.", (action.position, position))
    return -1, DraftLine(text, (position,))


def _find_replacement(actions: Actions, number: int, position: int, correction: str) -> int | None:
    """Return the number of the command that replaced a corrected one, using a word of the user."""
    command = actions[number].subject
    for later in range(number + 1, min(number + 1 + _RETRY_WINDOW, len(actions))):
        candidate = actions[later]
        if candidate.kind is not ActionKind.RUN or candidate.position <= position:
            continue
        new_words = command_words(candidate.subject) - command_words(command)
        if new_words & _key_terms(correction) and is_same_task(command, candidate.subject):
            return later
    return None


_COMMON_WORDS = "no not use the a an it to in on of and or do don don't this that run is"
_COMMON = frozenset(_COMMON_WORDS.split())


def _key_terms(correction: str) -> frozenset[str]:
    return frozenset(word.rstrip(".-") for word in command_words(correction)) - _COMMON


def _declined_commands(actions: Actions, excluded: set[int], root: str) -> list[DraftLine]:
    lines = []
    for number, action in enumerate(actions):
        is_command = action.kind is ActionKind.RUN and action.subject and number not in excluded
        if is_command and action.outcome is Outcome.DECLINED:
            text = f"The user declined {_render_command(action.subject, root)}."
            lines.append(DraftLine(text, (action.position,)))
    return lines


def _proposal_pitfalls(messages: Messages, root: str) -> list[DraftLine]:
    """Return a line for each proposal of the agent that did not work, with what helped."""
    lines = []
    proposals = _answered_proposals(messages)
    for number, (message, answer) in enumerate(proposals):
        commands = _failed_commands(message, answer)
        if not commands:
            continue
        error = _quote(tool_actions.find_error_line(answer.content), root)
        text = f"{_render_commands(commands, root)} did not work: “{error}”."
        positions = [message.position, answer.position]
        after = [m for m in messages if m.position > answer.position and m.role is Role.ASSISTANT]
        reply = after[0].content if after else ""
        cause = instructions.find_cause(reply)
        alternatives = shell_commands.shell_commands_in(reply)
        if cause:
            text += f" {_end_sentence(generalize(cause, root))}"
        is_last = number + 1 == len(proposals)
        if alternatives and (is_last or not _failed_commands(*proposals[number + 1])):
            text += f" What helped: {_render_commands(alternatives, root)}."
        positions += [after[0].position] if cause or alternatives else []
        lines.append(DraftLine(text, tuple(positions)))
    return lines


def _answered_proposals(messages: Messages) -> list[tuple[Message, Message]]:
    """Return each message of the agent that the user answered, with the answer."""
    spoken = [m for m in messages if m.role in (Role.USER, Role.ASSISTANT) and m.content.strip()]
    return [
        (proposal, answer)
        for proposal, answer in pairwise(spoken)
        if proposal.role is Role.ASSISTANT and answer.role is Role.USER
    ]


def _file_list(changed: Sequence[Action], root: str) -> str:
    paths = (path for action in changed for path in action.subject.split("\n"))
    return " and ".join(dict.fromkeys(f"`{relative_path(path, root)}`" for path in paths))


def _render_commands(commands: Sequence[str], root: str) -> str:
    return ", ".join(_render_command(command, root) for command in commands[:3])


def _render_command(command: str, root: str) -> str:
    text = " ".join(generalize_command(command, root).replace("`", "'").split())
    return f"`{text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + '…'}`"


def _quote(text: str, root: str) -> str:
    text = instructions.clip(generalize(text, root))
    return text.replace("“", "'").replace("”", "'")


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "…")) else f"{text}."
