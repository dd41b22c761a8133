"""
The file of the official MCP memory server: a line of JSON for each entity and each relation.

An observation alone says too little ("Likes tea"), so each is written after the name of whom it is
about, as a line of its own. An agent wrote all of it down, so it is in the assistant's voice.
"""

from collections.abc import Sequence

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts.fields import Record, list_at, text_at

FORMAT = "mcp-memory"

_ENDS = (".", "!", "?", "…")


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether there are entities or relations among *records*."""
    return any(_is_entity(record) or _is_relation(record) for record in records)


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return the whole graph as one transcript: a turn for each entity, one for the relations."""
    entities = [_entity(record) for record in records if _is_entity(record)]
    relations = "\n".join(_relation(record) for record in records if _is_relation(record))
    said = tuple(Said(Voice.ASSISTANT, text) for text in [*entities, relations] if text)
    return [Transcript(said=said, format=FORMAT, title="MCP memory")]


def _is_entity(record: Record) -> bool:
    return text_at(record, "type") == "entity" and bool(text_at(record, "name"))


def _is_relation(record: Record) -> bool:
    ends = (text_at(record, "from"), text_at(record, "relationType"), text_at(record, "to"))
    return text_at(record, "type") == "relation" and all(ends)


def _entity(record: Record) -> str:
    name = _line(text_at(record, "name"))
    told = [one for one in list_at(record, "observations") if isinstance(one, str) and one.strip()]
    return "\n".join(_sentence(f"{name}: {_line(one)}") for one in told)


def _relation(record: Record) -> str:
    how = text_at(record, "relationType").replace("_", " ")
    return _sentence(
        f"{_line(text_at(record, 'from'))} {_line(how)} {_line(text_at(record, 'to'))}"
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    return text if text.endswith(_ENDS) else f"{text}."
