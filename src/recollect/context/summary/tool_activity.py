"""
Summarize tool use in a few lines: files changed, commands run and their outcomes.

Calls are read in the vendors' formats (tool_call_groups.py) or, in a transcript, from a message
that begins with the tool's name and arguments. Of a result only the line with the outcome is used.
A failed command stays open until the same command succeeds.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from recollect.context.summary.summary_lines import Heading, SummaryLine
from recollect.context.tool_call_groups import answered_call_ids, tool_calls_of
from recollect.domain.conversation import Message, Role
from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import is_prompt_injection, normalize_sentence

MAX_RUNS, MAX_FILES = 200, 200  # kept at a time; the oldest are dropped
MAX_NAMED = 12  # files in one line
MAX_RESULT_CHARS, MAX_COMMAND_CHARS = 90, 90
MAX_LINE_CHARS = 400  # of a result
MAX_READ_CHARS = 4_000  # characters at either end of a result

_TEXT_CALL = LazyPattern(r"^([A-Za-z_][\w.-]{1,40}) (\{.*)$", flags=re.DOTALL)
_CHANGES = LazyPattern(r"(?i)edit|write|create|patch|replace|insert|delete|rename|move")
_LOOKS = LazyPattern(r"(?i)^(?:read|view|glob|grep|ls|list|search|find|cat|open|todo|fetch|get)")
_RUNS = LazyPattern(r"(?i)bash|shell|exec|command|terminal|run")
_TARGETS = ("file_path", "path", "notebook_path", "filename", "file", "target_file")
_COMMANDS = ("command", "cmd", "script", "code")
_PATCHED = LazyPattern(r"\*\*\* (?:Update|Add|Delete) File: ([^\\\n\"]+)")
_FAILURE = LazyPattern(
    r"(?i)^(?:error|fatal|failed|traceback|exit code:? [1-9]|command failed|<tool_use_error>)"
    r"|^\w*(?:Error|Exception)\b|\b[1-9]\d* (?:failed|errors?)\b"
)
_OUTCOME_LINE = LazyPattern(
    r"(?i)\b\d+ (?:passed|failed|errors?|warnings?|files? changed)\b"
    r"|\b\w*(?:error|exception)\b[^a-z]"
    r"|^(?:fatal|failed|exit code|error)|\bsucce(?:ss|eded)\b|^\[[\w/. -]+ [0-9a-f]{7,}\]"
)
_PLAIN_SUCCESS = LazyPattern(
    r"(?i)^(?:file |todos? |the file )?[\w/. :-]*(?:success|updated|created|written|ok\b)"
)


@dataclass
class _CommandRun:
    command: str
    positions: list[int]
    result: str = ""
    failed: bool = False


@dataclass
class ToolActivity:
    """Collects the tool calls of messages, and renders them as summary lines."""

    _files: dict[str, list[int]] = field(default_factory=dict)
    _runs: dict[str, _CommandRun] = field(default_factory=dict)
    _used: dict[str, list[int]] = field(default_factory=dict)  # other tools, by name
    _open: dict[str, str] = field(default_factory=dict)  # call id → key of its run
    _last: str = ""

    def add_message(self, message: Message) -> None:
        """Record the calls and results of *message*."""
        for call in tool_calls_of(message):
            self._add_call(call.id, call.name, _parse_arguments(call.arguments), message.position)
        if message.role is Role.TOOL and not self._add_call_from_text(message):
            call_id = next(iter(answered_call_ids(message)), "")
            self._add_result(self._open.pop(call_id, self._last), message.content)
        elif message.parts:
            for part in message.parts:
                if isinstance(part, Mapping) and str(part.get("type", "")).endswith("tool_result"):
                    key = self._open.pop(str(part.get("tool_use_id", "")), self._last)
                    failed = bool(part.get("is_error"))
                    self._add_result(key, _result_text(part.get("content")), failed=failed)

    def lines(self) -> Iterator[SummaryLine]:
        """Yield the lines of what was done, and of failures that were not fixed."""
        if self._files:
            names = list(self._files)[-MAX_NAMED:]
            positions = [position for name in names for position in self._files[name]]
            more = len(self._files) - len(names)
            text = "Changed " + ", ".join(names) + (f" and {more} more" if more else "")
            yield _line(Heading.DONE, text, positions, 2.2)
        if self._used:
            uses = self._used.items()
            tools = [f"{name} ({len(at)}×)" if len(at) > 1 else name for name, at in uses]
            positions = [position for _, at in uses for position in (at[0], at[-1])]
            yield _line(Heading.DONE, "Used " + ", ".join(tools), positions, 0.9)
        for run in self._runs.values():
            result = f": {run.result}" if run.result else ""
            section = Heading.OPEN if run.failed else Heading.DONE
            weight = 1.8 if run.failed else (1.0 if run.result else 0.5)
            yield _line(section, f"Ran `{run.command}`{result}", run.positions, weight)

    def _add_call(self, call_id: str, name: str, fields: Mapping[str, Any], position: int) -> None:
        self._last = ""
        command = next((str(fields[key]) for key in _COMMANDS if fields.get(key)), "")
        targets = [str(fields[key]) for key in _TARGETS if isinstance(fields.get(key), str)]
        if _CHANGES.search(name) and not _LOOKS.match(name):
            targets = targets[:1] or _PATCHED.findall(json.dumps(dict(fields)))
            for target in targets[:MAX_NAMED]:
                self._files.setdefault(target, []).append(position)
                self._files[target] = self._files.pop(target)[-3:]
            _drop_oldest(self._files, MAX_FILES)
        elif command and (_RUNS.search(name) or not _LOOKS.match(name)):
            self._last = " ".join(command.split()[:3])
            self._runs.setdefault(self._last, _CommandRun("", []))
            run = self._runs[self._last] = self._runs.pop(self._last)
            run.command = _truncate(" ".join(command.split()), MAX_COMMAND_CHARS)
            run.positions = [*run.positions[-2:], position]
            _drop_oldest(self._runs, MAX_RUNS)
        elif name and not _LOOKS.match(name):
            self._used.setdefault(name, []).append(position)
            _drop_oldest(self._used, MAX_NAMED)
        if call_id and self._last:
            self._open[call_id] = self._last
            _drop_oldest(self._open, MAX_RUNS)

    def _add_result(self, key: str, content: str, *, failed: bool = False) -> None:
        run = self._runs.get(key)
        if run is None:
            return
        if len(content) > 2 * MAX_READ_CHARS:
            content = content[:MAX_READ_CHARS] + content[-MAX_READ_CHARS:]
        rows = (line for line in content.splitlines() if line.strip(" =-*#\t"))
        lines = [" ".join(line[:MAX_LINE_CHARS].split()) for line in rows]
        outcomes = [line for line in lines if _OUTCOME_LINE.search(line) or _FAILURE.search(line)]
        result = outcomes[-1].strip(" =-") if outcomes else (lines[0] if len(lines) == 1 else "")
        is_injection = is_prompt_injection(normalize_sentence(result[:600]))
        is_shown = not (is_injection or _PLAIN_SUCCESS.match(result))
        run.result = _truncate(result, MAX_RESULT_CHARS) if is_shown else ""
        run.failed = failed or any(_FAILURE.search(line) for line in lines[:3] + lines[-3:])

    def _add_call_from_text(self, message: Message) -> bool:
        """Record the call that a tool message contains as text; return whether there is one."""
        match = _TEXT_CALL.match(message.content[: 2 * MAX_READ_CHARS])
        if match is None or message.tool_call_id:
            return False
        arguments = _parse_arguments(message.content[match.start(2) :])
        if arguments:
            self._add_call("", match[1], arguments, message.position)
        return bool(arguments)


def _line(section: Heading, text: str, positions: Sequence[int], weight: float) -> SummaryLine:
    numbers = sorted(set(positions))
    reference = f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 3 else ", ".join(map(str, numbers))
    return SummaryLine(section, text, numbers[0], weight, reference=reference)


def _parse_arguments(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
    return arguments if isinstance(arguments, Mapping) else {}


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


def _truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def _drop_oldest(entries: dict[str, Any], max_entries: int) -> None:
    while len(entries) > max_entries:
        del entries[next(iter(entries))]
