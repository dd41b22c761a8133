"""
Sessions of Codex: JSON Lines under ~/.codex/sessions, each {"timestamp", "type", "payload"}.

The same message is written twice, as a `response_item` for the model and as an `event_msg` for the
screen: an event counts only where no item says the same. What the program sends in the user's name
(the environment, instructions, the state of the editor) is the system's. This file does not know
the JSON that `codex exec` prints.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts.fields import Record, is_record, moment_at, record_at, text_at
from recollect.text.transcripts.labels import voice_of_role
from recollect.text.transcripts.parts import first_time, said_in

FORMAT = "codex"

_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_EVENTS = {"user_message": Voice.USER, "agent_message": Voice.ASSISTANT}
_BY_PROGRAM = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
_EDITOR = ("# Context from my IDE setup", "# Files mentioned by the user")
_REQUEST = "## My request for Codex:"
_IMAGE = re.compile(r"\s*</?image\b[^<>]*>\s*")  # stands around an image, alone in its part


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether there are lines of Codex among *records*."""
    return any(
        text_at(record, "type") in _LINES and is_record(record.get("payload")) for record in records
    )


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return the one session that *records* tell of."""
    items = [_item(record) for record in records]
    heard = Counter(key for item in items for key in _keys(item))
    said: list[Said] = []
    for record, item in zip(records, items, strict=True):
        said += item
        said += [one for one in _event(record) if not _take(heard, one)]
    headers = [record for record in records if text_at(record, "type") == "session_meta"]
    turns = [record for record in records if text_at(record, "type") == "turn_context"]
    return [
        Transcript(
            said=tuple(said),
            format=FORMAT,
            session=_first(headers, "id"),
            place=_first(headers, "cwd") or _first(turns, "cwd"),
            started_at=_started(headers) or first_time(said),
        )
    ]


def _item(record: Record) -> list[Said]:
    at = moment_at(record, "timestamp")
    payload = record_at(record, "payload")
    match text_at(record, "type"):
        case "compacted":
            return said_in(payload.get("message"), voice=Voice.SYSTEM, at=at)
        case "response_item" if text_at(payload, "type") in ("message", ""):
            voice, speaker = voice_of_role(text_at(payload, "role"))
            said = said_in(payload.get("content"), voice=voice, speaker=speaker, at=at)
            return [part for one in said for part in _typed(one)]
        case "response_item":
            return said_in([payload], voice=Voice.TOOL, at=at)
        case _:
            return []


def _event(record: Record) -> list[Said]:
    payload = record_at(record, "payload")
    voice = _EVENTS.get(text_at(payload, "type"))
    if voice is None or text_at(record, "type") != "event_msg":
        return []
    said = said_in(text_at(payload, "message"), voice=voice, at=moment_at(record, "timestamp"))
    return [part for one in said for part in _typed(one)]


def _typed(said: Said) -> list[Said]:
    """Return *said* with what the program wrote in the user's name given to the system."""
    if said.voice is not Voice.USER:
        return [said]
    text = said.text.lstrip()
    if text.startswith(_BY_PROGRAM):
        return [replace(said, voice=Voice.SYSTEM)]
    if _IMAGE.fullmatch(text):
        return []
    editor, mark, request = text.partition(_REQUEST)
    if not mark or not text.startswith(_EDITOR):
        return [said]
    typed = [replace(said, text=request.strip())] if request.strip() else []
    return [replace(said, voice=Voice.SYSTEM, text=editor.strip()), *typed]


def _keys(item: Sequence[Said]) -> set[tuple[Voice, str]]:
    """Return the forms in which an event may repeat *item*: part by part, or all in one."""
    texts = [one.text for one in item if one.voice is Voice.USER]
    joined = {(Voice.USER, mark.join(texts).strip()) for mark in ("", "\n")}
    return {(one.voice, one.text.strip()) for one in item} | joined


def _take(heard: Counter[tuple[Voice, str]], said: Said) -> bool:
    key = (said.voice, said.text.strip())
    heard[key] -= 1
    return heard[key] >= 0


def _first(records: Sequence[Record], name: str) -> str:
    return next(filter(None, (text_at(record_at(one, "payload"), name) for one in records)), "")


def _started(headers: Sequence[Record]) -> datetime | None:
    told = (
        moment_at(record_at(one, "payload"), "timestamp") or moment_at(one, "timestamp")
        for one in headers
    )
    return next(filter(None, told), None)
