"""
The content of one message, as the things said in it.

Content is a text, or a list of parts as the OpenAI, Anthropic and Google interfaces have them. A
text keeps the voice of its message; calls of tools and their results are the tool's. Thinking and
images are left out. This file does not know whose message it is, nor the file it came from.
"""

import json
from collections.abc import Iterable
from datetime import datetime

from recollect.domain.transcript import Said, Voice
from recollect.text.transcripts.decode import from_json
from recollect.text.transcripts.fields import Record, is_record, record_at, text_at

CALL_CHARS = 2000  # what a tool was asked to do; the whole of a file it wrote adds nothing

_TEXTS = ("text", "input_text", "output_text", "")  # Google's parts have no type
_CALLS = (
    "tool_use",
    "server_tool_use",
    "mcp_tool_use",
    "tool_call",
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
)
_RESULTS = ("tool_result", "_call_output")  # how the types of results end
_ARGUMENTS = ("input", "arguments", "args", "action", "summary")
_OUTPUTS = ("output", "content", "text", "result", "error")


def said_in(
    content: object, *, voice: Voice, speaker: str = "", at: datetime | None = None
) -> list[Said]:
    """Return what *content* says, part by part, blank texts left out."""
    parts = content if isinstance(content, list | tuple) else [content]
    said = [_said(part, voice, speaker, at) for part in parts]
    return [one for one in said if one.text.strip()]


def is_call(kind: str) -> bool:
    """Tell whether a part of type *kind* is the call of a tool."""
    return kind in _CALLS


def is_result(kind: str) -> bool:
    """Tell whether a part of type *kind* is what a tool answered."""
    return kind.endswith(_RESULTS)


def text_of(part: Record) -> str:
    """Return the words of a part that is meant to be read, '' for thinking, images and the rest."""
    kind = text_at(part, "type")
    if kind == "refusal":
        return text_at(part, "refusal")
    if kind not in _TEXTS or part.get("thought"):
        return ""
    return text_at(part, "text") or text_at(record_at(part, "text"), "value")


def called(call: Record, *, at: datetime | None = None) -> Said:
    """Return the call of a tool as said by the tool: its name and what it was asked."""
    asked = record_at(call, "function") or call
    name = text_at(asked, "name") or text_at(call, "type").removesuffix("_call")
    arguments = next((asked[key] for key in _ARGUMENTS if asked.get(key) is not None), None)
    return Said(Voice.TOOL, _call_text(name, arguments), name, at)


def output_text(value: object) -> str:
    """Return what a tool answered as text, however it is wrapped."""
    if isinstance(value, str):
        # Codex wraps the output of a command in JSON once more.
        inner = from_json(value) if value.startswith('{"output"') else None
        return text_at(inner, "output") if is_record(inner) else value
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, (_line(item) for item in value)))
    return _line(value)


def first_time(said: Iterable[Said]) -> datetime | None:
    """Return the first time that is told in *said*."""
    return next((one.at for one in said if one.at), None)


def _said(part: object, voice: Voice, speaker: str, at: datetime | None) -> Said:
    if isinstance(part, str):
        return Said(voice, part, speaker, at)
    if not is_record(part):
        return Said(voice, "", speaker, at)
    kind = text_at(part, "type")
    if is_call(kind):
        return called(part, at=at)
    if is_result(kind):
        return Said(Voice.TOOL, _result(part), text_at(part, "name"), at)
    return Said(voice, text_of(part), speaker, at)


def _result(part: Record) -> str:
    found = next((part[key] for key in _OUTPUTS if part.get(key) is not None), None)
    return output_text(found)


def _line(value: object) -> str:
    if isinstance(value, str):
        return value
    if not is_record(value):
        return ""
    return text_at(value, *_OUTPUTS) or ("" if "type" in value else _compact(value))


def _call_text(name: str, arguments: object) -> str:
    inner = from_json(arguments) if isinstance(arguments, str) else arguments
    told = _compact(inner) if is_record(inner) else arguments if isinstance(arguments, str) else ""
    text = f"{name} {told}".strip()
    return text if len(text) <= CALL_CHARS else text[: CALL_CHARS - 1] + "…"


def _compact(value: Record) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return "…"  # nested without end, or keys that cannot be sorted: what it says is lost
    return "" if text == "{}" else text


def _plain(value: object) -> object:
    return dict(value) if is_record(value) else f"<{type(value).__name__}>"
