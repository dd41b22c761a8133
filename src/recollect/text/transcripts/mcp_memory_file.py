"""
Read the file of the official MCP memory server: a line of JSON for each entity and relation.

An observation alone is unclear ("Likes tea"), so each becomes a line that starts with the name of
its entity. An agent wrote the file, so all messages have the assistant's voice.
"""

from collections.abc import Sequence

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts.json_fields import JsonRecord, list_at, text_at

FORMAT = "mcp-memory"

_SENTENCE_ENDS = (".", "!", "?", "…")


def recognises(records: Sequence[JsonRecord]) -> bool:
    """Return whether there are entities or relations among *records*."""
    return any(_is_entity(record) or _is_relation(record) for record in records)


def parse(records: Sequence[JsonRecord]) -> list[Transcript]:
    """Return the graph as one transcript: a message per entity, and one for all relations."""
    entities = [_entity_text(record) for record in records if _is_entity(record)]
    relations = "\n".join(_relation_text(record) for record in records if _is_relation(record))
    texts = [text for text in (*entities, relations) if text]
    messages = tuple(TranscriptMessage(Voice.ASSISTANT, text) for text in texts)
    return [Transcript(messages=messages, format=FORMAT, title="MCP memory")]


def _is_entity(record: JsonRecord) -> bool:
    return text_at(record, "type") == "entity" and bool(text_at(record, "name"))


def _is_relation(record: JsonRecord) -> bool:
    parts = (text_at(record, "from"), text_at(record, "relationType"), text_at(record, "to"))
    return text_at(record, "type") == "relation" and all(parts)


def _entity_text(record: JsonRecord) -> str:
    name = _single_line(text_at(record, "name"))
    texts = [text for text in list_at(record, "observations") if isinstance(text, str)]
    return "\n".join(_sentence(f"{name}: {_single_line(text)}") for text in texts if text.strip())


def _relation_text(record: JsonRecord) -> str:
    relation = text_at(record, "relationType").replace("_", " ")
    parts = (text_at(record, "from"), relation, text_at(record, "to"))
    return _sentence(" ".join(map(_single_line, parts)))


def _single_line(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    return text if text.endswith(_SENTENCE_ENDS) else f"{text}."
