"""
The fields of a Letta agent that have no counterpart here, kept in the agent's metadata.

They have the form in which an imported agent file leaves them (`service/agent_files`), so that an
export writes them again and the runtime reads the agent's tools and rules. This file only converts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import (
    BRANCHED_FROM,
    EDITS_SHARED,
    LETTA,
    MERGED,
    RUNTIME,
)
from recollect.service.agent_files.letta_roundtrip import blank_keys, blank_variables
from recollect.service.agent_files.letta_writer import EMPTY_FILE

ARCHIVE = "letta_archive"  # metadata of an agent that stands for one of Letta's archives
_HIDDEN = (LETTA, RUNTIME, BRANCHED_FROM, MERGED, "pinned_in", ARCHIVE)

# Where Letta's own export has a value although nobody gave one.
_DEFAULTS: Mapping[str, Any] = {
    "agent_type": "letta_v1_agent",
    "tags": [],
    "tool_rules": [],
    "timezone": "UTC",
    "source_ids": [],
    "group_ids": [],
    "files_agents": [],
    "embedding_config": None,
    "tool_exec_environment_variables": {},
}


def record_of(agent: Agent) -> dict[str, Any]:
    """Return Letta's fields of an agent, with defaults for those that nobody gave."""
    return {**_DEFAULTS, **_mapping(agent.metadata, LETTA, "agent", "rest")}


def tags_of(agent: Agent) -> list[str]:
    """Return the tags of an agent."""
    tags = record_of(agent)["tags"]
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def tool_records(agent: Agent) -> list[dict[str, Any]] | None:
    """Return the tools that an agent has, as Letta describes them; None if nobody chose them."""
    unmapped_fields = _mapping(agent.metadata, LETTA, "agent", "rest")
    tool_ids = unmapped_fields.get("tool_ids")
    if not isinstance(tool_ids, list):
        return None
    tools = _mapping(agent.metadata, LETTA, "file").get("tools")
    records = [dict(tool) for tool in tools or () if isinstance(tool, Mapping)]
    return [record for record in records if record.get("id") in tool_ids]


def shown_name(agent: Agent) -> str:
    """Return the name that a Letta client gave; ours differs if another agent had it."""
    name = _mapping(agent.metadata, LETTA, "agent", "was", "name")
    theirs = name.get("theirs")
    return theirs if name.get("ours") == agent.name and isinstance(theirs, str) else agent.name


def own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that callers gave, without what this program keeps there."""
    return {name: value for name, value in metadata.items() if name not in _HIDDEN}


def with_letta_metadata(
    agent: Agent | None,
    metadata: Mapping[str, Any],
    fields: Mapping[str, Any],
    *,
    model: str,
    tools: Sequence[Mapping[str, Any]] | None = None,
    names: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """
    Return metadata that contains Letta's *fields* besides those that *agent* has already.

    *tools* replace its tools. *names* are our name and the one that a client gave, if they differ.
    Values of variables and keys are secrets and left out. A new agent edits the blocks it shares at
    once, as an agent of Letta does.
    """
    stored_fields = _mapping(agent.metadata, LETTA) if agent is not None else {}
    unmapped_fields = dict(_DEFAULTS) if agent is None else _mapping(stored_fields, "agent", "rest")
    original_values = _mapping(stored_fields, "agent", "was")
    file = {**EMPTY_FILE, **_mapping(stored_fields, "file")}
    unmapped_fields = {**unmapped_fields, **blank_variables(fields)[0]}
    if tools is not None:
        unmapped_fields["tool_ids"] = [tool["id"] for tool in tools]
        file = {**file, "tools": [blank_keys(tool) for tool in tools]}
    if names is not None:
        original_values = {**original_values, "name": {"ours": names[0], "theirs": names[1]}}
    letta_metadata = {
        **stored_fields,
        "agent": {"rest": unmapped_fields, "was": original_values},
        "file": file,
        "model": model,
    }
    runtime = {EDITS_SHARED: True} if agent is None else agent.metadata.get(RUNTIME)
    settings = {RUNTIME: runtime} if runtime else {}
    return {**own_metadata(metadata), **settings, LETTA: letta_metadata}


def _mapping(value: Any, *names: str) -> dict[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else {}
