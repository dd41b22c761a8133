"""Agents, blocks and tools as Letta's JSON. Pure: values in, values out."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA
from recollect.domain.block import Block
from recollect.server.letta_v1.letta_agent_metadata import (
    own_metadata,
    record_of,
    shown_name,
    tags_of,
    tool_records,
)
from recollect.server.letta_v1.letta_ids import letta_id
from recollect.service.agent_files.letta_writer import block_fields
from recollect.text.model_windows import model_window

WINDOW_TOKENS = 32_000  # if neither the agent nor its model says
ENDPOINT_TYPES = frozenset(
    {
        *("openai", "anthropic", "google_ai", "google_vertex", "azure", "groq", "ollama", "vllm"),
        *("mistral", "together", "bedrock", "deepseek", "xai", "openrouter"),
    }
)
_TOOL_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "recollect:tool")
# Fields of a record that are shown under their own name, as they were given.
_ECHOED = (
    "embedding",
    "model_settings",
    "response_format",
    "message_buffer_autoclear",
    "enable_sleeptime",
    "max_files_open",
    "per_file_view_window_char_limit",
    "compaction_settings",
    "hidden",
    "project_id",
    "template_id",
)


def agent_state(
    agent: Agent,
    blocks: Sequence[Block],
    memory_tools: Sequence[Mapping[str, Any]],
    message_ids: Sequence[str] = (),
) -> dict[str, Any]:
    """Return an agent as Letta shows it; *memory_tools* are those of an agent without a choice."""
    record = record_of(agent)
    shown_blocks = [block_json(block) for block in blocks]
    tools = tool_records(agent)
    return {
        **{name: record[name] for name in _ECHOED if name in record},
        "id": letta_id("agent", agent.id),
        "name": shown_name(agent),
        "agent_type": record["agent_type"],
        "description": agent.description,
        "system": agent.system_prompt,
        "model": model_handle(agent),
        "llm_config": llm_config(agent.model, record),
        "embedding_config": record["embedding_config"],
        "metadata": own_metadata(agent.metadata),
        "tags": tags_of(agent),
        "timezone": record["timezone"],
        "tools": list(memory_tools) if tools is None else tools,
        "tool_rules": record["tool_rules"],
        "sources": [],
        "blocks": shown_blocks,
        "memory": {"blocks": shown_blocks, "file_blocks": [], "agent_type": record["agent_type"]},
        "message_ids": [letta_id("message", message_id) for message_id in message_ids],
        "identity_ids": [],
        "created_at": agent.created_at.isoformat(),
        "updated_at": agent.updated_at.isoformat(),
    }


def model_handle(agent: Agent) -> str | None:
    """Return the model of an agent as `provider/name`."""
    if not agent.model or "/" in agent.model:
        return agent.model or None
    config = record_of(agent).get("llm_config")
    provider = config.get("model_endpoint_type") if isinstance(config, Mapping) else None
    return f"{provider or 'openai'}/{agent.model}"


def llm_config(model: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a model, built on what *record* says about it."""
    config = record.get("llm_config")
    config = dict(config) if isinstance(config, Mapping) else {}
    provider, slash, name = model.partition("/")
    if not slash:
        provider, name = str(config.get("model_endpoint_type") or "openai"), model
    limit = record.get("context_window_limit") or config.get("context_window")
    return {
        **config,
        "model": name,
        "model_endpoint_type": provider if provider in ENDPOINT_TYPES else "openai",
        "context_window": limit or model_window(name) or WINDOW_TOKENS,
        "handle": f"{provider}/{name}" if name else None,
    }


def block_json(block: Block) -> dict[str, Any]:
    """Return a block as Letta shows it."""
    return {
        "id": letta_id("block", block.id),
        **block_fields(block),
        "tags": block_tags(block),
        "is_template": False,
        "created_at": block.created_at.isoformat(),
        "updated_at": block.updated_at.isoformat(),
    }


def block_tags(block: Block) -> list[str]:
    """Return the tags that a Letta client gave a block."""
    letta_metadata = block.metadata.get(LETTA)
    unmapped_fields = letta_metadata.get("rest") if isinstance(letta_metadata, Mapping) else None
    tags = unmapped_fields.get("tags") if isinstance(unmapped_fields, Mapping) else None
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def block_metadata(
    stored_metadata: Mapping[str, Any],
    metadata: Mapping[str, Any] | None,
    tags: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the metadata of a block with what a client gave; None leaves that part as it was."""
    own = stored_metadata if metadata is None else metadata
    letta_metadata = stored_metadata.get(LETTA)
    letta_metadata = dict(letta_metadata) if isinstance(letta_metadata, Mapping) else {}
    if tags is not None:
        unmapped_fields = letta_metadata.get("rest")
        letta_metadata["rest"] = {
            **(unmapped_fields if isinstance(unmapped_fields, Mapping) else {}),
            "tags": list(tags),
        }
    metadata_of_caller = {name: value for name, value in own.items() if name != LETTA}
    return {**metadata_of_caller, LETTA: letta_metadata} if letta_metadata else metadata_of_caller


def memory_tool_json(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a memory tool as Letta shows it; *schema* is OpenAI's of the function."""
    return {
        "id": letta_id("tool", str(uuid.uuid5(_TOOL_NAMESPACE, schema["name"]))),
        "name": schema["name"],
        "description": schema["description"],
        "json_schema": dict(schema),
        "args_json_schema": schema["parameters"],
        "tool_type": "letta_core",
        "source_type": "python",
        "source_code": None,
        "tags": ["recollect"],
    }


def named_tool_json(name: str) -> dict[str, Any]:
    """Return a tool of which only the name is known; a run says that it is missing."""
    return {
        "id": letta_id("tool", str(uuid.uuid5(_TOOL_NAMESPACE, name))),
        "name": name,
        "tool_type": "custom",
        "source_code": None,
        "tags": [],
    }
