"""
Sayings: what was said in a request or an answer, in the one shape that is stored for every vendor.

Calls of tools stand beside the text as OpenAI's chat writes them, results are messages of the tool;
`recollect.context.calls` ties them together by id. A saying that a store would refuse is not made.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from recollect.client.intercept.dialect import Json, Saying
from recollect.client.intercept.lean import MOST_CHARS, lean, lean_text
from recollect.text.clean import clean
from recollect.text.message import text_in, unspoken
from recollect.text.redact import redact
from recollect.text.transcripts.fields import is_record

MOST_NAME = 200  # characters a store takes for an id or a name
_SILENT: list[Json] = [{"type": "text", "text": ""}]  # a tool that ran and had nothing to say


def user_says(content: object, *, name: object = "") -> list[Saying]:
    """Return what a user said, as one saying, or none where there is nothing in it."""
    kept = _content(content)
    return [_saying("user", kept, name=_name(name))] if kept else []


def tool_says(
    content: object, *, call_id: object, name: object = "", metadata: Json | None = None
) -> Saying:
    """Return what a tool answered; an empty answer counts, or its call would stay open."""
    kept = _content(content, tool=True) or _SILENT
    told = {"tool_call_id": id_of(call_id), "name": _name(name), "metadata": metadata}
    return _saying("tool", kept, **told)


def model_says(text: str, *, calls: Sequence[Json] = (), model: object = "") -> list[Saying]:
    """Return what the model said and called, as one saying, or none."""
    kept = _content(text)
    if not kept and not calls:
        return []
    metadata = {"model": _name(model)} if _name(model) else None
    return [_saying("assistant", kept, tool_calls=list(calls), metadata=metadata)]


def call_of(call_id: object, *, name: object, arguments: object) -> Json:
    """Return the call of a tool; *arguments* are the JSON text of an object, or the object."""
    written = arguments if isinstance(arguments, str) else _json(arguments)
    function = {"name": _name(name), "arguments": lean_text(written)}
    call = {"id": id_of(call_id), "type": "function", "function": function}
    return {key: value for key, value in call.items() if value}


def id_of(value: object) -> str:
    """Return the id of a call; one too long to store is shortened, alike in call and answer."""
    if not isinstance(value, str) or len(value) <= MOST_NAME:
        return value if isinstance(value, str) else ""
    # Some gateways write the model's signed thoughts into the id.
    digest = hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()
    return f"{value[:100]}-{digest[:32]}"


def _saying(role: str, content: str | list[Any], **more: object) -> Saying:
    return {"role": role, "content": content, **{key: one for key, one in more.items() if one}}


def _content(content: object, *, tool: bool = False) -> str | list[Any]:
    """Return the words of *content*, or its parts where they are more; '' where it is empty."""
    if isinstance(content, str):
        return _words(content)
    parts = [content] if is_record(content) else content if isinstance(content, list) else []
    parts = [part for part in parts if _is_part(part)]
    pictures, others = unspoken(parts, tool=tool)
    if not pictures and not others:
        return _words(text_in(parts, tool=tool))
    fits = len(text_in(parts, tool=tool)) <= MOST_CHARS
    return [lean(part, most=MOST_CHARS // (1 if fits else len(parts))) for part in parts]


def _is_part(part: object) -> bool:
    """Say whether *part* is one at all: not a blank text, nor a mere number."""
    if isinstance(part, str):
        return bool(part.strip())
    if not is_record(part):
        return False
    text = part.get("text")
    return bool(text.strip()) if isinstance(text, str) else bool(part)


def _words(text: str) -> str:
    text = lean_text(text)
    # What is all private has no words left when it comes to be stored.
    kept = redact(clean(text)).text if "private" in text.lower() else text
    return text if kept.strip() else ""


def _name(value: object) -> str:
    return value[:MOST_NAME] if isinstance(value, str) else ""


def _json(value: object) -> str:
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""  # nested without end: what was asked is lost, that it was asked is not
