"""Bring agent files of older versions into the form of this one."""

from collections.abc import Mapping
from typing import Any

from recollect.domain.change import ChangeKind
from recollect.domain.older_records import (
    kind_of_older_change,
    provenance_in_metadata,
    reason_without_kind,
    upgraded_effects,
)

Record = Mapping[str, Any]


def upgrade_agent(records: Record) -> Record:
    """Return the records of a file; what is not as expected stays for the validation to refuse."""
    upgraded = dict(records)
    if isinstance(memories := records.get("memories"), list):
        upgraded["memories"] = [_upgrade_part(part) for part in memories]
    if isinstance(conversations := records.get("conversations"), list):
        upgraded["conversations"] = [_upgrade_conversation(part) for part in conversations]
    return upgraded


def _upgrade_conversation(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    upgraded = dict(part)
    if isinstance(conversation := part.get("conversation"), dict):
        upgraded["conversation"] = {"key": "", "revision": 0, **conversation}
    if isinstance(messages := part.get("messages"), list):
        upgraded["messages"] = [
            {"payload": None, **message} if isinstance(message, dict) else message
            for message in messages
        ]
    return upgraded


def _upgrade_part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    upgraded = dict(part)
    if isinstance(memory := part.get("memory"), dict):
        upgraded["memory"] = _upgrade_memory(memory)
    if isinstance(changes := part.get("changes"), list):
        upgraded["changes"] = [_upgrade_change(change) for change in changes]
    return upgraded


def _upgrade_memory(memory: Record) -> Record:
    metadata = memory.get("metadata")
    if "provenance" in memory or not isinstance(metadata, dict):
        return memory
    values, rest = provenance_in_metadata(metadata)
    del values["event_id"]
    dates = [{"text": text, "day": day} for text, day in values["dates"]]
    return {**memory, "metadata": rest, "provenance": {**values, "dates": dates}}


def _upgrade_change(change: Any) -> Any:
    if not isinstance(change, dict) or "kind" in change:
        return change
    kind = kind_of_older_change(change.get("before"), str(change.get("after")), "")
    upgraded = {**change, "kind": kind.value}
    if kind is ChangeKind.HELD and isinstance(reason := change.get("reason"), str):
        upgraded["reason"] = reason_without_kind(reason)
    if isinstance(effects := change.get("effects"), dict):
        defaults = {"caused_by": "", "superseded": [], "merged": [], "policy_rule": ""}
        upgraded["effects"] = {**defaults, "confirmations": [], **upgraded_effects(effects)}
    return upgraded
