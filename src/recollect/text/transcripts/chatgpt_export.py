"""
Read conversations exported from ChatGPT: each is a tree of nodes, of which one path was shown.

The path goes from `current_node` back to the root, or else along the first children. Hidden
messages get the system's voice; thoughts and the profile that ChatGPT repeats in every conversation
are left out.
"""

from collections.abc import Callable, Sequence

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts.json_fields import (
    JsonRecord,
    is_record,
    list_at,
    record_at,
    text_at,
    time_at,
)
from recollect.text.transcripts.message_parts import first_timestamp
from recollect.text.transcripts.speaker_labels import voice_of_role

FORMAT = "chatgpt"

_WITH_PARTS = ("text", "multimodal_text")
_WITH_TEXT = ("code", "execution_output")
_TO_EVERYONE = ("all", "")


def recognises(records: Sequence[JsonRecord]) -> bool:
    """Return whether there are such conversations among *records*."""
    return any(_is_conversation(record) for record in records)


def parse(records: Sequence[JsonRecord]) -> list[Transcript]:
    """Return a transcript for each conversation."""
    return [_transcript(record) for record in records if _is_conversation(record)]


def _is_conversation(record: JsonRecord) -> bool:
    return any(
        is_record(node) and (is_record(node.get("message")) or list_at(node, "children"))
        for node in record_at(record, "mapping").values()
    )


def _transcript(conversation: JsonRecord) -> Transcript:
    path = _read_path(record_at(conversation, "mapping"), text_at(conversation, "current_node"))
    messages = tuple(message for node in path for message in _node_messages(node))
    return Transcript(
        messages=messages,
        format=FORMAT,
        title=text_at(conversation, "title"),
        session=text_at(conversation, "conversation_id", "id"),
        started_at=time_at(conversation, "create_time") or first_timestamp(messages),
    )


def _read_path(nodes: JsonRecord, current: str) -> list[JsonRecord]:
    """Return the nodes of the path, starting at the root. A cycle is followed once."""
    if current in nodes:
        return _walk(nodes, current, lambda node: [node.get("parent")])[::-1]
    roots = (key for key in nodes if text_at(record_at(nodes, key), "parent") not in nodes)
    first = next(roots, next(iter(nodes)))
    return _walk(nodes, first, lambda node: list_at(node, "children"))


def _walk(
    nodes: JsonRecord, start: str, next_keys: Callable[[JsonRecord], list[object]]
) -> list[JsonRecord]:
    seen: dict[str, JsonRecord] = {}
    key: str | None = start
    while key is not None:
        node = seen[key] = record_at(nodes, key)
        keys = (key for key in next_keys(node) if isinstance(key, str))
        key = next((key for key in keys if key in nodes and key not in seen), None)
    return list(seen.values())


def _node_messages(node: JsonRecord) -> list[TranscriptMessage]:
    message = record_at(node, "message")
    text = _content_text(record_at(message, "content"))
    if not text.strip():
        return []
    voice, speaker = _voice_and_speaker(message)
    return [TranscriptMessage(voice, text, speaker, time_at(message, "create_time"))]


def _voice_and_speaker(message: JsonRecord) -> tuple[Voice, str]:
    author = record_at(message, "author")
    voice, unknown_role = voice_of_role(text_at(author, "role"))
    recipient = text_at(message, "recipient")
    if record_at(message, "metadata").get("is_visually_hidden_from_conversation"):
        return Voice.SYSTEM, ""
    if voice is Voice.ASSISTANT and recipient not in _TO_EVERYONE:  # a tool call
        return Voice.TOOL, recipient
    if text_at(record_at(message, "content"), "content_type") == "execution_output":
        voice = Voice.TOOL
    return voice, text_at(author, "name") or unknown_role


def _content_text(content: JsonRecord) -> str:
    kind = text_at(content, "content_type")
    if kind in _WITH_TEXT:
        return text_at(content, "text")
    if kind not in _WITH_PARTS:
        return ""
    parts = (_part_text(part) for part in list_at(content, "parts"))
    return "\n".join(part for part in parts if part)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    # Dictated text of the user; images and other parts have no text.
    is_spoken = is_record(part) and part.get("content_type") == "audio_transcription"
    return text_at(part, "text") if is_record(part) and is_spoken else ""
