"""
Say in one line what was done in a session: files that were changed, and commands with their ends.

The record of a session becomes active by itself, and an assistant that read a hostile page may run
any command. So the line has only names of files and the heads of commands: neither output, nor
quoted arguments, nor names that read like prose.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from recollect.domain.source import BLANKS
from recollect.domain.tool_call import ActionKind, Outcome, RecordedCall
from recollect.engine.learn.shell_commands import command_pieces, program_name
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import is_prompt_injection, normalize_sentence

MAX_FILES, MAX_COMMANDS = 5, 4  # the latest; the others are counted
MAX_PATH_CHARS, MAX_COMMAND_CHARS = 60, 50
MAX_PATH_PARTS = 3  # of an absolute path, its last ones
MAX_SPACES = 2  # in the name of a file; more is prose
MAX_CHARS = 320

_QUOTED = LazyPattern(r"\"(?:[^\"\\]|\\.)*\"?|'[^']*'?")
_LEFT_OUT = frozenset({"cd", "echo", "printf", "cat", "tee"})  # their arguments may be prose
_ENDS = {Outcome.SUCCEEDED: "succeeded", Outcome.FAILED: "failed", Outcome.DECLINED: "declined"}


def describe_activity(calls: Iterable[RecordedCall]) -> str:
    """Return what *calls* did, in one line, or '' if they changed and ran nothing."""
    files: dict[str, None] = {}
    commands: dict[str, list[str]] = {}
    for call in calls:
        if call.kind is ActionKind.CHANGE:
            name = _file_name(call.subject)
            if name and call.outcome not in (Outcome.FAILED, Outcome.DECLINED):
                files.pop(name, None)
                files[name] = None  # the latest stands last
        elif command := _command_head(call.subject):
            ends = commands.pop(command, [])
            end = _ENDS.get(call.outcome, "")
            commands[command] = ends if ends[-1:] == [end] else [*ends, end]
    parts = []
    if files:
        parts.append("changed " + _latest_names(list(files), MAX_FILES))
    if commands:
        runs = [_command_with_outcome(command, ends) for command, ends in commands.items()]
        parts.append("ran " + _latest_names(runs, MAX_COMMANDS))
    text = "; ".join(parts)
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"


def _file_name(path: str) -> str:
    """Return a short name of a file, or '' if the path is no name to repeat."""
    pure = PurePath(path.replace("\\", "/"))
    parts = pure.parts[-MAX_PATH_PARTS:] if pure.is_absolute() else pure.parts
    name = "/".join(parts)
    return name if name.count(" ") <= MAX_SPACES and _is_repeatable(name, MAX_PATH_CHARS) else ""


def _command_head(command: str) -> str:
    """Return the first command of a command line that does something, without quoted texts."""
    for piece in command_pieces(_QUOTED.sub("…", command)):
        if not program_name(piece) or piece.split()[0] in _LEFT_OUT:
            continue
        text = " ".join(piece.replace("`", "").split())
        if len(text) > MAX_COMMAND_CHARS:
            text = text[: MAX_COMMAND_CHARS - 1] + "…"
        return text if _is_repeatable(text, MAX_COMMAND_CHARS) else ""
    return ""


def _is_repeatable(text: str, max_chars: int) -> bool:
    is_whole = len(text) <= max_chars and text.isprintable() and not set(BLANKS) & set(text)
    return is_whole and not is_prompt_injection(normalize_sentence(text))


def _command_with_outcome(command: str, ends: list[str]) -> str:
    outcomes = [end for end in ends if end]
    how = ", then ".join(dict.fromkeys([outcomes[0], outcomes[-1]])) if outcomes else ""
    return f"`{command}` ({how})" if how else f"`{command}`"


def _latest_names(names: list[str], limit: int) -> str:
    return ", ".join(_last_names(names, limit))


def _last_names(names: list[str], limit: int) -> Iterator[str]:
    yield from names[-limit:]
    if len(names) > limit:
        yield f"{len(names) - limit} more"
