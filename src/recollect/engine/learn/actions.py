"""
What was done in a conversation: the calls of tools, each with how it ended.

A call is known from `tool_calls`, from the parts of a message, or from a tool's own message as
transcripts have it (`Bash {"command": …}`); its result by the id of the call, or else because it is
the next one. How a call ended is read from what the tool says, and only signs that leave little
doubt count. This file does not decide what is worth keeping.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from recollect.domain.conversation import Message, Role
from recollect.text.patterns import Pattern
from recollect.text.transcripts.fields import (
    Record,
    is_record,
    list_at,
    record_at,
    records_at,
    text_at,
)
from recollect.text.transcripts.parts import is_call, is_result, output_text, text_of

MOST_ERROR_CHARS = 160
_MOST_RESULT_CHARS = 20_000  # looked at, from both ends


class Kind(StrEnum):
    """What a call does."""

    RUN = "run"
    CHANGE = "change"
    LOOK = "look"
    PLAN = "plan"
    OTHER = "other"


class Outcome(StrEnum):
    """How a call ended, as far as its result tells."""

    WORKED = "worked"
    DOUBTFUL = "doubtful"  # it speaks of an error; whether it failed shows in what came next
    FAILED = "failed"
    DECLINED = "declined"  # by the user
    UNTOLD = "untold"


@dataclass(frozen=True, kw_only=True)
class Action:
    """
    One call of a tool. `subject` is the command that was run, or the file.

    `note` is what the call says of itself; `plan` are the items of a list of tasks.
    """

    kind: Kind
    tool: str
    subject: str
    note: str
    position: int
    plan: tuple[str, ...] = ()
    outcome: Outcome = Outcome.UNTOLD
    error: str = ""


_PLANS = ("todowrite", "todo_write", "update_plan", "write_todos", "taskcreate")
_RUNS = Pattern(r"bash|shell|exec|terminal|powershell|^(?:run|cmd)$|run_?(?:command|script|tests)")
_LOOKS = Pattern(r"read|grep|glob|^ls$|list|search|view|^cat$|find|fetch|^open$|get_|browse")
_CHANGES = Pattern(r"write|edit|replace|patch|create_?file|insert|append|notebook")
_PATHS = ("file_path", "path", "notebook_path", "absolute_path", "target_file", "filename", "file")
_COMMANDS = ("command", "cmd", "script", "commands")
_NOTES = ("description", "justification", "explanation", "summary", "title")
_PATCHED = Pattern(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", flags=re.MULTILINE)
_CUT_FIELD = Pattern(r'"(command|cmd|file_path|path|description)": ?"((?:[^"\\]|\\.){1,400})"')
_CALL_TEXT = Pattern(r"[A-Za-z][\w.-]{0,80} \{")

_EXIT = Pattern(
    r"(?i)(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|exit_?code|return(?:ed)? code)"
    r"[\"']?\s*[:=]?\s*(-?\d{1,10})\b"
)
_DECLINED = Pattern(
    r"(?i)user (?:doesn't|does not|didn't) want to (?:proceed|take|run)|(?:rejected|denied|declined"
    r"|cancelled) by (?:the )?user|user (?:rejected|denied|declined)|Request interrupted by user"
)
_FAULT = Pattern(
    r"^(?:.*?\b[A-Z]\w*(?:Error|Exception)\b:? .*"
    r"|(?:.*: )?(?:fatal|error|FATAL|ERROR|Error)(?:\[\w+\])?: .*"
    r"|.*: (?:command )?not found\b.*|npm (?:ERR!|error) .*|.*: No such file or directory.*"
    r"|.*\bPermission denied\b.*|panic: .*|.*\bError [A-Z_]+\b.*|make(?:\[\d+\])?: \*\*\* .*"
    r"|E   .*|FAILED .*|.*\b[1-9]\d* (?:failed|errors?)\b.*|Traceback .*|.*Cannot find module.*)$",
    flags=re.MULTILINE,
)
_TRACE = Pattern(
    r"^(?:[\w.]*(?:Error|Exception)|SystemExit|KeyboardInterrupt)\b:? ?.*$", flags=re.MULTILINE
)
_SPEAKS_OF_ERROR = Pattern(
    r"(?i)(?<!\b0 )(?<!\bno )\b(?:error|failed|failure|fatal|exception|refused|timed out)\b"
)
_TOOL_ERROR = Pattern(r"(?i)\s*(?:<tool_use_error>|error\b)")


def actions_of(messages: Sequence[Message]) -> list[Action]:
    """Return the calls in *messages*, in order, each with how it ended."""
    found: list[Action] = []
    ids: dict[str, int] = {}
    waiting: list[int] = []  # calls without an id, or whose answer does not tell it
    for message in messages:
        if message.role in (Role.USER, Role.ASSISTANT) and message.content.strip():
            waiting.clear()  # somebody speaks: what has no answer by now will have none
        for call_id, action in _calls(message):
            if call_id:
                ids[call_id] = len(found)
            waiting.append(len(found))
            found.append(action)
        for call_id, text, failed in _results(message):
            number = ids.get(call_id, waiting[0] if waiting and not call_id else -1)
            if number < 0:
                continue
            waiting = [one for one in waiting if one != number]
            found[number] = _ended(found[number], text, failed)
    return found


def as_said(message: Message) -> Message:
    """Return *message* with nothing in its content that a tool said in the user's name."""
    parts = [part for part in message.parts or () if is_record(part)]
    if message.role is not Role.USER or not any(is_result(text_at(p, "type")) for p in parts):
        return message
    return replace(message, content="\n".join(filter(None, map(text_of, parts))))


def _calls(message: Message) -> Iterator[tuple[str, Action]]:
    if message.role is Role.TOOL and (told := _written_call(message)):
        yield "", told
    if message.role is not Role.ASSISTANT:
        return
    parts = [part for part in message.parts or () if is_record(part)]
    made = [part for part in message.tool_calls if is_record(part)]
    known = {_id(call) for call in made} - {""}
    made += [p for p in parts if is_call(text_at(p, "type")) and _id(p) not in known]
    for call in made:
        asked = record_at(call, "function") or call
        name = text_at(asked, "name") or text_at(call, "type").removesuffix("_call")
        keys = ("arguments", "input", "args", "action")
        arguments = next((asked[key] for key in keys if asked.get(key) is not None), None)
        yield _id(call), _action(name, arguments, message)


def _id(call: Record) -> str:
    return text_at(call, "call_id", "id", "tool_call_id")


def _written_call(message: Message) -> Action | None:
    """Return the call that a tool's message tells of, as transcripts write it: `name {…}`."""
    name, text = message.name, message.content
    if message.tool_call_id:
        return None
    if name and text.startswith(f"{name} "):
        return _action(name, text[len(name) + 1 :], message)
    if _CALL_TEXT.match(text):
        name, _, told = text.partition(" ")
        if told.endswith(("}", "…")) and '": ' in told:
            return _action(name, told, message)
    return None


def _action(name: str, arguments: object, message: Message) -> Action:
    told = _told(arguments)
    note = "" if told or not isinstance(arguments, str) else arguments[:200]
    kind = _kind(name, told)
    if kind is Kind.RUN:
        subject = _command(told)
    elif kind is Kind.CHANGE:
        patch = text_at(told, "patch", "input") or (arguments if isinstance(arguments, str) else "")
        subject = text_at(told, *_PATHS) or "\n".join(_PATCHED.findall(patch)[:8])
        note = "" if subject else note
    else:
        subject = text_at(told, *_PATHS, "pattern", "query", "url")
    return Action(
        kind=kind,
        tool=name,
        subject=subject.strip(),
        note=" ".join((text_at(told, *_NOTES) or note).split()),
        position=message.position,
        plan=_plan(told) if kind is Kind.PLAN else (),
    )


def _told(arguments: object) -> Record:
    """Return the arguments of a call as fields; those of a call that was cut, as far as it goes."""
    if is_record(arguments):
        return arguments
    if not isinstance(arguments, str):
        return {}
    try:
        inner = json.loads(arguments)
    except (ValueError, RecursionError):
        cut = _CUT_FIELD.finditer(arguments) if arguments.startswith("{") else ()
        return {match[1]: _unescaped(match[2]) for match in cut}
    return inner if isinstance(inner, Mapping) else {}


def _unescaped(value: str) -> str:
    try:
        text: str = json.loads(f'"{value}"')
    except ValueError:
        return value
    return text


def _kind(name: str, told: Record) -> Kind:
    plain = name.lower().rpartition("__")[2]
    if plain in _PLANS:
        return Kind.PLAN
    if text_at(told, "command") == "view" and _CHANGES.search(plain):
        return Kind.LOOK
    if _RUNS.search(plain) or (not plain and _command(told)):
        return Kind.RUN
    if _CHANGES.search(plain) and plain != "write_stdin":
        return Kind.CHANGE
    return Kind.LOOK if _LOOKS.search(plain) else Kind.OTHER


def _command(told: Record) -> str:
    for key in _COMMANDS:
        if text := text_at(told, key).strip():
            return text
        words = [word for word in list_at(told, key) if isinstance(word, str)]
        if words:
            inner = len(words) == 3 and words[1] in ("-c", "-lc", "-Command", "/c")
            return words[2].strip() if inner else shlex.join(words)
    return ""


def _plan(told: Record) -> tuple[str, ...]:
    rows = records_at(told, "todos") or records_at(told, "plan") or records_at(told, "items")
    done = [
        text_at(row, "content", "step", "text", "title")
        for row in rows
        if text_at(row, "status") not in ("pending", "cancelled")
    ]
    return tuple(" ".join(item.split())[:200] for item in done if item.strip())


def _results(message: Message) -> Iterator[tuple[str, str, bool | None]]:
    """Yield the id of the call, what the tool said, and whether it is marked as failed."""
    parts = [part for part in message.parts or () if is_record(part)]
    answers = [part for part in parts if is_result(text_at(part, "type"))]
    for part in answers:
        call_id = text_at(part, "tool_use_id", "call_id", "tool_call_id")
        said = next((part[key] for key in ("content", "output") if part.get(key) is not None), "")
        yield call_id, output_text(said), _marked(part)
    if message.role is Role.TOOL and not answers and not _written_call(message):
        yield message.tool_call_id, message.content, _marked(message.metadata)


def _marked(told: Record) -> bool | None:
    if isinstance(failed := told.get("is_error"), bool):
        return failed
    code = told.get("exit_code", record_at(told, "metadata").get("exit_code"))
    return code != 0 if isinstance(code, int) else None


def _ended(action: Action, text: str, failed: bool | None) -> Action:
    text = _ends(text)
    if _DECLINED.search(text):
        return replace(action, outcome=Outcome.DECLINED)
    outcome = _outcome(action, text, failed)
    bad = outcome in (Outcome.FAILED, Outcome.DOUBTFUL)
    return replace(action, outcome=outcome, error=telling_line(text) if bad else "")


def _outcome(action: Action, text: str, failed: bool | None) -> Outcome:
    if failed is not None:
        return Outcome.FAILED if failed else Outcome.WORKED
    if action.kind is not Kind.RUN:
        return Outcome.FAILED if _TOOL_ERROR.match(text) else Outcome.WORKED
    # An exit code stands at either end; in between it may be anything.
    edges = text if len(text) <= 400 else f"{text[:200]}\n{text[-200:]}"
    if (code := _EXIT.search(edges)) is not None:
        return Outcome.WORKED if int(code[1]) == 0 else Outcome.FAILED
    if _TRACE.search(text) or _FAULT.search(text):
        return Outcome.FAILED
    return Outcome.DOUBTFUL if _SPEAKS_OF_ERROR.search(text) else Outcome.WORKED


def telling_line(text: str) -> str:
    """Return the one line of an output that says best what went wrong, '' where none does."""
    traces = [match.group() for match in _TRACE.finditer(text)]
    fault = traces[-1] if traces else ""
    if not fault:  # of the first few, the one that says most: “npm ERR! code E” says little
        faults = [match.group() for match in islice(_FAULT.finditer(text), 5)]
        fault = max(faults, key=lambda line: len(line.split()[:12]), default="")
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and line[-1] != ":" and not _EXIT.match(line)]
    speaking = (line for line in lines if _SPEAKS_OF_ERROR.search(line))
    fault = " ".join((fault or next(speaking, "") or next(iter(lines), "")).split())
    return fault if len(fault) <= MOST_ERROR_CHARS else fault[: MOST_ERROR_CHARS - 1] + "…"


def _ends(text: str) -> str:
    if len(text) <= _MOST_RESULT_CHARS:
        return text
    half = _MOST_RESULT_CHARS // 2
    return f"{text[:half]}\n{text[-half:]}"
