"""
What was done with tools, in a few lines: files changed, commands run and how they ended.

Calls come as vendors write them (calls.py) or, from a transcript, as a tool message that begins
with the tool's name and its arguments. Most of what tools print is noise; of a result only the line
that tells how it ended is taken. An error is open until the same call succeeds.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.context.calls import answered_by, calls_of
from recollect.context.summary.lines import Line, Section
from recollect.domain.conversation import Message, Role
from recollect.text.patterns import Pattern
from recollect.text.wording import commands_a_reader, plain

MOST_RUNS, MOST_FILES = 200, 200  # remembered at a time; older ones give way
MOST_NAMED = 12  # files in one line
MOST_RESULT_CHARS, MOST_COMMAND_CHARS = 90, 90
MOST_LINE_CHARS = 400  # of a result
MOST_READ = 4_000  # characters at either end of a result

_AS_TEXT = Pattern(r"^([A-Za-z_][\w.-]{1,40}) (\{.*)$", flags=re.DOTALL)
_CHANGES = Pattern(r"(?i)edit|write|create|patch|replace|insert|delete|rename|move")
_LOOKS = Pattern(r"(?i)^(?:read|view|glob|grep|ls|list|search|find|cat|open|todo|fetch|get)")
_RUNS = Pattern(r"(?i)bash|shell|exec|command|terminal|run")
_TARGETS = ("file_path", "path", "notebook_path", "filename", "file", "target_file")
_COMMANDS = ("command", "cmd", "script", "code")
_PATCHED = Pattern(r"\*\*\* (?:Update|Add|Delete) File: ([^\\\n\"]+)")
_FAILED = Pattern(
    r"(?i)^(?:error|fatal|failed|traceback|exit code:? [1-9]|command failed|<tool_use_error>)"
    r"|^\w*(?:Error|Exception)\b|\b[1-9]\d* (?:failed|errors?)\b"
)
_TELLS = Pattern(
    r"(?i)\b\d+ (?:passed|failed|errors?|warnings?|files? changed)\b"
    r"|\b\w*(?:error|exception)\b[^a-z]"
    r"|^(?:fatal|failed|exit code|error)|\bsucce(?:ss|eded)\b|^\[[\w/. -]+ [0-9a-f]{7,}\]"
)
_NOTHING = Pattern(
    r"(?i)^(?:file |todos? |the file )?[\w/. :-]*(?:success|updated|created|written|ok\b)"
)


@dataclass
class _Run:
    said: str
    positions: list[int]
    result: str = ""
    failed: bool = False


@dataclass
class ToolTrail:
    """Reads the messages one by one, and then tells what was done."""

    _files: dict[str, list[int]] = field(default_factory=dict)
    _runs: dict[str, _Run] = field(default_factory=dict)
    _used: dict[str, list[int]] = field(default_factory=dict)  # other tools, by name
    _open: dict[str, str] = field(default_factory=dict)  # call id → key of its run
    _last: str = ""

    def read(self, message: Message) -> None:
        """Take in the calls and results of *message*."""
        for call in calls_of(message):
            self._called(call.id, call.name, _mapping(call.arguments), message.position)
        if message.role is Role.TOOL and not calls_of_text(message, self):
            named = next(iter(answered_by(message)), "")
            self._ended(self._open.pop(named, self._last), message.content)
        elif message.parts:
            for part in message.parts:
                if isinstance(part, Mapping) and str(part.get("type", "")).endswith("tool_result"):
                    key = self._open.pop(str(part.get("tool_use_id", "")), self._last)
                    failed = bool(part.get("is_error"))
                    self._ended(key, _text_of(part.get("content")), failed=failed)

    def called(self, name: str, arguments: Mapping[str, Any], position: int) -> None:
        """Take in a call that was written down as text."""
        self._called("", name, arguments, position)

    def lines(self) -> Iterator[Line]:
        """Yield what was done, and what went wrong and was not put right."""
        if self._files:
            named = list(self._files)[-MOST_NAMED:]
            places = [place for name in named for place in self._files[name]]
            more = len(self._files) - len(named)
            text = "Changed " + ", ".join(named) + (f" and {more} more" if more else "")
            yield _line(Section.DONE, text, places, 2.2)
        if self._used:
            times = [
                f"{name} ({len(at)}×)" if len(at) > 1 else name for name, at in self._used.items()
            ]
            places = [place for at in self._used.values() for place in (at[0], at[-1])]
            yield _line(Section.DONE, "Used " + ", ".join(times), places, 0.9)
        for run in self._runs.values():
            ended = f": {run.result}" if run.result else ""
            section = Section.OPEN if run.failed else Section.DONE
            weight = 1.8 if run.failed else (1.0 if run.result else 0.5)
            yield _line(section, f"Ran `{run.said}`{ended}", run.positions, weight)

    def _called(self, named: str, name: str, arguments: Mapping[str, Any], position: int) -> None:
        self._last = ""
        command = next((str(arguments[key]) for key in _COMMANDS if arguments.get(key)), "")
        targets = [str(arguments[key]) for key in _TARGETS if isinstance(arguments.get(key), str)]
        if _CHANGES.search(name) and not _LOOKS.match(name):
            targets = targets[:1] or _PATCHED.findall(json.dumps(dict(arguments)))
            for target in targets[:MOST_NAMED]:
                self._files.setdefault(target, []).append(position)
                self._files[target] = self._files.pop(target)[-3:]
            _bound(self._files, MOST_FILES)
        elif command and (_RUNS.search(name) or not _LOOKS.match(name)):
            self._last = " ".join(command.split()[:3])
            self._runs.setdefault(self._last, _Run("", []))
            run = self._runs[self._last] = self._runs.pop(self._last)
            run.said = _cut(" ".join(command.split()), MOST_COMMAND_CHARS)
            run.positions = [*run.positions[-2:], position]
            _bound(self._runs, MOST_RUNS)
        elif name and not _LOOKS.match(name):
            places = self._used.setdefault(name, [])
            places.append(position)
            _bound(self._used, MOST_NAMED)
        if named and self._last:
            self._open[named] = self._last
            _bound(self._open, MOST_RUNS)

    def _ended(self, key: str, content: str, *, failed: bool = False) -> None:
        run = self._runs.get(key)
        if run is None:
            return
        ends = (
            content if len(content) <= 2 * MOST_READ else content[:MOST_READ] + content[-MOST_READ:]
        )
        lines = [
            " ".join(line[:MOST_LINE_CHARS].split())
            for line in ends.splitlines()
            if line.strip(" =-*#\t")
        ]
        telling = [line for line in lines if _TELLS.search(line) or _FAILED.search(line)]
        result = telling[-1].strip(" =-") if telling else (lines[0] if len(lines) == 1 else "")
        quiet = _NOTHING.match(result) or commands_a_reader(plain(result[:600]))
        run.result = "" if quiet else _cut(result, MOST_RESULT_CHARS)
        run.failed = failed or any(_FAILED.search(line) for line in lines[:3] + lines[-3:])


def calls_of_text(message: Message, trail: ToolTrail) -> bool:
    """Say whether a tool message is a call written down as text; if so, *trail* takes it in."""
    match = _AS_TEXT.match(message.content[: 2 * MOST_READ])
    if match is None or message.tool_call_id:
        return False
    arguments = _mapping(message.content[match.start(2) :])
    if not arguments:
        return False
    trail.called(match[1], arguments, message.position)
    return True


def _line(section: Section, text: str, positions: Sequence[int], weight: float) -> Line:
    places = sorted(set(positions))
    reference = f"{places[0]}–{places[-1]}" if len(places) > 3 else ", ".join(map(str, places))
    return Line(section, text, places[0], weight, reference=reference)


def _mapping(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, Mapping):
        return arguments
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
        return read if isinstance(read, dict) else {}
    return {}


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = (one.get("text") for one in content if isinstance(one, Mapping))
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _bound(remembered: dict[str, Any], most: int) -> None:
    while len(remembered) > most:
        del remembered[next(iter(remembered))]
