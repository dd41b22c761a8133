"""
Conversations exported from ChatGPT: a tree of nodes each, of which one path was read to the end.

The path is the one from `current_node` back to the root, or else along the first children. Hidden
messages are the system's; thoughts and the profile that ChatGPT repeats in every conversation are
left out. This file does not know the other files of an export.
"""

from collections.abc import Callable, Sequence

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts.fields import (
    Record,
    is_record,
    list_at,
    moment_at,
    record_at,
    text_at,
)
from recollect.text.transcripts.labels import voice_of_role
from recollect.text.transcripts.parts import first_time

FORMAT = "chatgpt"

_WITH_PARTS = ("text", "multimodal_text")
_WITH_TEXT = ("code", "execution_output")
_EVERYONE = ("all", "")


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether there are such conversations among *records*."""
    return any(_is_conversation(record) for record in records)


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return a transcript for each conversation."""
    return [_transcript(record) for record in records if _is_conversation(record)]


def _is_conversation(record: Record) -> bool:
    return any(
        is_record(node) and (is_record(node.get("message")) or list_at(node, "children"))
        for node in record_at(record, "mapping").values()
    )


def _transcript(conversation: Record) -> Transcript:
    path = _path(record_at(conversation, "mapping"), text_at(conversation, "current_node"))
    said = tuple(one for node in path for one in _said(record_at(node, "message")))
    return Transcript(
        said=said,
        format=FORMAT,
        title=text_at(conversation, "title"),
        session=text_at(conversation, "conversation_id", "id"),
        started_at=moment_at(conversation, "create_time") or first_time(said),
    )


def _path(nodes: Record, current: str) -> list[Record]:
    """Return the nodes that were read, from the root on. A circle is walked once."""
    if current in nodes:
        return _walk(nodes, current, lambda node: [node.get("parent")])[::-1]
    roots = (key for key in nodes if text_at(record_at(nodes, key), "parent") not in nodes)
    first = next(roots, next(iter(nodes)))
    return _walk(nodes, first, lambda node: list_at(node, "children"))


def _walk(nodes: Record, start: str, onward: Callable[[Record], list[object]]) -> list[Record]:
    seen: dict[str, Record] = {}
    key: str | None = start
    while key is not None:
        node = seen[key] = record_at(nodes, key)
        steps = (step for step in onward(node) if isinstance(step, str))
        key = next((step for step in steps if step in nodes and step not in seen), None)
    return list(seen.values())


def _said(message: Record) -> list[Said]:
    text = _text(record_at(message, "content"))
    if not text.strip():
        return []
    voice, speaker = _voice(message)
    return [Said(voice, text, speaker, moment_at(message, "create_time"))]


def _voice(message: Record) -> tuple[Voice, str]:
    author = record_at(message, "author")
    voice, unknown_role = voice_of_role(text_at(author, "role"))
    recipient = text_at(message, "recipient")
    if record_at(message, "metadata").get("is_visually_hidden_from_conversation"):
        return Voice.SYSTEM, ""
    if voice is Voice.ASSISTANT and recipient not in _EVERYONE:  # the assistant calls a tool
        return Voice.TOOL, recipient
    if text_at(record_at(message, "content"), "content_type") == "execution_output":
        voice = Voice.TOOL
    return voice, text_at(author, "name") or unknown_role


def _text(content: Record) -> str:
    kind = text_at(content, "content_type")
    if kind in _WITH_TEXT:
        return text_at(content, "text")
    if kind not in _WITH_PARTS:
        return ""
    parts = (_part(part) for part in list_at(content, "parts"))
    return "\n".join(part for part in parts if part)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    # What the user spoke instead of typing; images and the like have no text.
    spoken = is_record(part) and part.get("content_type") == "audio_transcription"
    return text_at(part, "text") if is_record(part) and spoken else ""
