"""
Extract the tool calls of a conversation, each with its outcome.

Calls are read from `tool_calls`, from message parts, or from tool messages as transcripts write
them (`Bash {"command": …}`). A result is matched by call id; without an id, the next result is
taken. The outcome is read from the tool's output. This file does not decide what is worth keeping.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from recollect.domain.conversation import Message, Role
from recollect.domain.tool_call import ActionKind, Outcome
from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.transcripts import json_fields, message_parts
from recollect.text.transcripts.json_fields import JsonRecord, is_record, records_at, text_at

MAX_ERROR_CHARS = 160
_MAX_RESULT_CHARS = 20_000  # looked at, from both ends


UNSUCCESSFUL = (Outcome.FAILED, Outcome.DECLINED)


@dataclass(frozen=True, kw_only=True)
class Action:
    """One tool call. `subject` is the command or the file; `note` is the call's own description."""

    kind: ActionKind
    tool: str
    subject: str
    note: str
    position: int
    plan: tuple[str, ...] = ()  # the items of a task list, if the tool writes one
    outcome: Outcome = Outcome.UNKNOWN
    error: str = ""


Messages = Sequence[Message]
Actions = Sequence[Action]

_PLAN_TOOLS = ("todowrite", "todo_write", "update_plan", "write_todos", "taskcreate")
_RUN_TOOLS = LazyPattern(
    r"bash|shell|exec|terminal|powershell|^(?:run|cmd)$|run_?(?:command|script|tests)"
)
_LOOK_TOOLS = LazyPattern(
    r"read|grep|glob|^ls$|list|search|view|^cat$|find|fetch|^open$|get_|browse"
)
_CHANGE_TOOLS = LazyPattern(r"write|edit|replace|patch|create_?file|insert|append|notebook")
_FILE_KEYS = ("file_path", "path", "notebook_path", "absolute_path", "target_file", "filename")
_PATH_KEYS = (*_FILE_KEYS, "file")
_COMMAND_KEYS = ("command", "cmd", "script", "commands")
_NOTE_KEYS = ("description", "justification", "explanation", "summary", "title")
_PATCHED = LazyPattern(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", flags=re.MULTILINE)
_CUT_FIELD = LazyPattern(r'"(command|cmd|file_path|path|description)": ?"((?:[^"\\]|\\.){1,400})"')
_CALL_TEXT = LazyPattern(r"[A-Za-z][\w.-]{0,80} \{")

_EXIT = LazyPattern(
    r"(?i)(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|exit_?code|return(?:ed)? code)"
    r"[\"']?\s*[:=]?\s*(-?\d{1,10})\b"
)
_DECLINED = LazyPattern(
    r"(?i)user (?:doesn't|does not|didn't) want to (?:proceed|take|run)|(?:rejected|denied|declined"
    r"|cancelled) by (?:the )?user|user (?:rejected|denied|declined)|Request interrupted by user"
)
_ERROR_LINE = LazyPattern(
    r"^(?:.*?\b[A-Z]\w*(?:Error|Exception)\b:? .*"
    r"|(?:.*: )?(?:fatal|error|FATAL|ERROR|Error)(?:\[\w+\])?: .*"
    r"|.*: (?:command )?not found\b.*|npm (?:ERR!|error) .*|.*: No such file or directory.*"
    r"|.*\bPermission denied\b.*|panic: .*|.*\bError [A-Z_]+\b.*|make(?:\[\d+\])?: \*\*\* .*"
    r"|E   .*|FAILED .*|.*\b[1-9]\d* (?:failed|errors?)\b.*|Traceback .*|.*Cannot find module.*)$",
    flags=re.MULTILINE,
)
_EXCEPTION_LINE = LazyPattern(
    r"^(?:[\w.]*(?:Error|Exception)|SystemExit|KeyboardInterrupt)\b:? ?.*$", flags=re.MULTILINE
)
_MENTIONS_ERROR = LazyPattern(
    r"(?i)(?<!\b0 )(?<!\bno )\b(?:error|failed|failure|fatal|exception|refused|timed out)\b"
)
_TOOL_ERROR = LazyPattern(r"(?i)\s*(?:<tool_use_error>|error\b)")


def extract_actions(messages: Sequence[Message]) -> list[Action]:
    """Return the tool calls in *messages*, in order, each with its outcome."""
    actions: list[Action] = []
    ids: dict[str, int] = {}
    unanswered: list[int] = []  # indexes of calls that have no result yet
    for message in messages:
        if message.role in (Role.USER, Role.ASSISTANT) and message.content.strip():
            unanswered.clear()  # after a spoken message no more results arrive
        for call_id, action in _calls(message):
            if call_id:
                ids[call_id] = len(actions)
            unanswered.append(len(actions))
            actions.append(action)
        for call_id, text, failed in _results(message):
            index = ids.get(call_id, unanswered[0] if unanswered and not call_id else -1)
            if index < 0:
                continue
            unanswered = [pending for pending in unanswered if pending != index]
            actions[index] = _with_outcome(actions[index], text, failed)
    return actions


def without_tool_output(message: Message) -> Message:
    """Return *message* without tool results that were sent in the user's name."""
    parts = [part for part in message.parts or () if is_record(part)]
    types = [text_at(part, "type") for part in parts]
    if message.role is not Role.USER or not any(map(message_parts.is_tool_result, types)):
        return message
    return replace(message, content="\n".join(filter(None, map(message_parts.part_text, parts))))


def _calls(message: Message) -> Iterator[tuple[str, Action]]:
    if message.role is Role.TOOL and (action := _call_from_text(message)):
        yield "", action
    if message.role is not Role.ASSISTANT:
        return
    parts = [part for part in message.parts or () if is_record(part)]
    calls = [part for part in message.tool_calls if is_record(part)]
    known_ids = {_call_id(call) for call in calls} - {""}
    parts = [part for part in parts if message_parts.is_tool_call(text_at(part, "type"))]
    calls += [part for part in parts if _call_id(part) not in known_ids]
    for call in calls:
        function = json_fields.record_at(call, "function") or call
        name = text_at(function, "name") or text_at(call, "type").removesuffix("_call")
        keys = ("arguments", "input", "args", "action")
        arguments = next((function[key] for key in keys if function.get(key) is not None), None)
        yield _call_id(call), action_of(name, arguments, position=message.position)


def _call_id(call: JsonRecord) -> str:
    return text_at(call, "call_id", "id", "tool_call_id")


def _call_from_text(message: Message) -> Action | None:
    """Return the call that a tool message contains as text (`name {…}`), if any."""
    name, text = message.name, message.content
    if message.tool_call_id:
        return None
    if name and text.startswith(f"{name} "):
        return action_of(name, text[len(name) + 1 :], position=message.position)
    if _CALL_TEXT.match(text):
        name, _, arguments = text.partition(" ")
        if arguments.endswith(("}", "…")) and '": ' in arguments:
            return action_of(name, arguments, position=message.position)
    return None


def action_of(name: str, arguments: object, *, position: int = 0) -> Action:
    """Return the call of the tool *name*, without an outcome."""
    fields = _parse_arguments(arguments)
    note = "" if fields or not isinstance(arguments, str) else arguments[:200]
    kind = _action_kind(name, fields)
    if kind is ActionKind.RUN:
        subject = _command(fields)
    elif kind is ActionKind.CHANGE:
        text = arguments if isinstance(arguments, str) else ""
        patch = text_at(fields, "patch", "input") or text
        subject = text_at(fields, *_PATH_KEYS) or "\n".join(_PATCHED.findall(patch)[:8])
        note = "" if subject else note
    else:
        subject = text_at(fields, *_PATH_KEYS, "pattern", "query", "url")
    return Action(
        kind=kind,
        tool=name,
        subject=subject.strip(),
        note=" ".join((text_at(fields, *_NOTE_KEYS) or note).split()),
        position=position,
        plan=_plan_items(fields) if kind is ActionKind.PLAN else (),
    )


def _parse_arguments(arguments: object) -> JsonRecord:
    """Return the arguments of a call as fields; of truncated JSON, the complete fields."""
    if is_record(arguments):
        return arguments
    if not isinstance(arguments, str):
        return {}
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        cut = _CUT_FIELD.finditer(arguments) if arguments.startswith("{") else ()
        return {match[1]: _unescape(match[2]) for match in cut}
    return parsed if isinstance(parsed, Mapping) else {}


def _unescape(value: str) -> str:
    try:
        return str(json.loads(f'"{value}"'))
    except ValueError:
        return value


def _action_kind(name: str, fields: JsonRecord) -> ActionKind:
    tool = name.lower().rpartition("__")[2]
    if tool in _PLAN_TOOLS:
        return ActionKind.PLAN
    if text_at(fields, "command") == "view" and _CHANGE_TOOLS.search(tool):
        return ActionKind.INSPECT
    if _RUN_TOOLS.search(tool) or (not tool and _command(fields)):
        return ActionKind.RUN
    if _CHANGE_TOOLS.search(tool) and tool != "write_stdin":
        return ActionKind.CHANGE
    return ActionKind.INSPECT if _LOOK_TOOLS.search(tool) else ActionKind.OTHER


def _command(fields: JsonRecord) -> str:
    for key in _COMMAND_KEYS:
        if text := text_at(fields, key).strip():
            return text
        words = [word for word in json_fields.list_at(fields, key) if isinstance(word, str)]
        if words:
            is_script = len(words) == 3 and words[1] in ("-c", "-lc", "-Command", "/c")
            return words[2].strip() if is_script else shlex.join(words)
    return ""


def _plan_items(fields: JsonRecord) -> tuple[str, ...]:
    rows = records_at(fields, "todos") or records_at(fields, "plan") or records_at(fields, "items")
    items = [
        text_at(row, "content", "step", "text", "title")
        for row in rows
        if text_at(row, "status") not in ("pending", "cancelled")
    ]
    return tuple(" ".join(item.split())[:200] for item in items if item.strip())


def _results(message: Message) -> Iterator[tuple[str, str, bool | None]]:
    """Yield the call id, the output, and whether the result is marked as failed."""
    parts = [part for part in message.parts or () if is_record(part)]
    answers = [part for part in parts if message_parts.is_tool_result(text_at(part, "type"))]
    for part in answers:
        call_id = text_at(part, "tool_use_id", "call_id", "tool_call_id")
        output = next((part[key] for key in ("content", "output") if part.get(key) is not None), "")
        yield call_id, message_parts.tool_output_text(output), _failure_flag(part)
    if message.role is Role.TOOL and not answers and not _call_from_text(message):
        yield message.tool_call_id, message.content, _failure_flag(message.metadata)


def _failure_flag(record: JsonRecord) -> bool | None:
    if isinstance(failed := record.get("is_error"), bool):
        return failed
    code = record.get("exit_code", json_fields.record_at(record, "metadata").get("exit_code"))
    return code != 0 if isinstance(code, int) else None


def _with_outcome(action: Action, text: str, failed: bool | None) -> Action:
    text = _both_ends(text)
    if _DECLINED.search(text):
        return replace(action, outcome=Outcome.DECLINED)
    outcome = _outcome(action, text, failed)
    is_error = outcome in (Outcome.FAILED, Outcome.UNCLEAR)
    return replace(action, outcome=outcome, error=find_error_line(text) if is_error else "")


def _outcome(action: Action, text: str, failed: bool | None) -> Outcome:
    if failed is not None:
        return Outcome.FAILED if failed else Outcome.SUCCEEDED
    if action.kind is not ActionKind.RUN:
        return Outcome.FAILED if _TOOL_ERROR.match(text) else Outcome.SUCCEEDED
    # An exit code is printed first or last; elsewhere the same words may mean something else.
    edges = text if len(text) <= 400 else f"{text[:200]}\n{text[-200:]}"
    if (code := _EXIT.search(edges)) is not None:
        return Outcome.SUCCEEDED if int(code[1]) == 0 else Outcome.FAILED
    if _EXCEPTION_LINE.search(text) or _ERROR_LINE.search(text):
        return Outcome.FAILED
    return Outcome.UNCLEAR if _MENTIONS_ERROR.search(text) else Outcome.SUCCEEDED


def find_error_line(text: str) -> str:
    """Return the line of an output that best describes the error, or ''."""
    exceptions = [match.group() for match in _EXCEPTION_LINE.finditer(text)]
    error = exceptions[-1] if exceptions else ""
    if not error:  # of the first few, the longest: “npm ERR! code E” says little
        errors = [match.group() for match in islice(_ERROR_LINE.finditer(text), 5)]
        error = max(errors, key=lambda line: len(line.split()[:12]), default="")
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and line[-1] != ":" and not _EXIT.match(line)]
    mentions = (line for line in lines if _MENTIONS_ERROR.search(line))
    error = " ".join((error or next(mentions, "") or next(iter(lines), "")).split())
    return error if len(error) <= MAX_ERROR_CHARS else error[: MAX_ERROR_CHARS - 1] + "…"


def _both_ends(text: str) -> str:
    if len(text) <= _MAX_RESULT_CHARS:
        return text
    half = _MAX_RESULT_CHARS // 2
    return f"{text[:half]}\n{text[-half:]}"
