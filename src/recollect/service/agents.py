"""
Create, find, change, pin and delete agents.

An agent is given by its name or its id. Deleting it deletes everything it owns (blocks,
conversations, memories of agent scope, captures made for it); global and project blocks, and
memories it wrote for a project or globally, stay.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.context.block_prompt import PromptMetadata
from recollect.domain import limits
from recollect.domain.agent import Agent, AgentPinning
from recollect.domain.agent_transfer import BRANCHED_FROM, LETTA, MERGED
from recollect.domain.block import Block
from recollect.errors import AlreadyExists, InvalidInput, NotFound
from recollect.service import validate
from recollect.service.block_writing import give_default_blocks
from recollect.service.place_lookup import RequestPlace, ensure_place, find_agent, find_viewer
from recollect.service.services import Services
from recollect.store.protocol import Tables

if TYPE_CHECKING:
    # For the type checker only: a hook looks for an agent, and sends none of these requests.
    from recollect.wire.requests import agents as requests

MAX_PROMPT = 200_000
PROMPT_TAGS = 20
PINNED_IN = "pinned_in"  # the metadata in which a local pin stores the id of its project
OURS = (PINNED_IN, BRANCHED_FROM, MERGED, LETTA)  # metadata that callers do not overwrite

_CLEAN: Mapping[str, Callable[[Any], Any]] = {
    "name": lambda name: validate.new_name_of("agent", name),
    "description": lambda text: validate.plain_text_of("description", text, limits.MAX_SUMMARY),
    "model": lambda model: validate.plain_text_of("model", model, limits.MAX_NAME).strip(),
    "system_prompt": lambda text: validate.plain_text_of("system_prompt", text, MAX_PROMPT),
    "metadata": lambda metadata: validate.json_object_of("metadata", metadata),
}


def create_agent(services: Services, request: "requests.CreateAgentRequest") -> Agent:
    """Create an agent with the blocks that every agent starts with."""
    now = services.clock.now()
    agent_id, settings = services.clock.new_id(), _settings(request, _CLEAN)
    agent = Agent(id=agent_id, created_at=now, updated_at=now, **settings)

    def write(tables: Tables) -> Agent:
        if tables.agents.by_name(agent.name) is not None:
            raise AlreadyExists(
                f"there is an agent named {agent.name!r} already; choose another name, or use it"
            )
        tables.agents.add(agent)
        if request.default_blocks:
            give_default_blocks(tables, services.clock, agent)
        return agent

    return services.store.write(write)


def require_agent(tables: Tables, agent: str) -> Agent:
    """Return the agent with that name or id, or raise `NotFound`."""
    existing = find_agent(tables, agent.strip())
    if existing is None:
        raise NotFound(
            f"there is no agent {agent!r} in this store; `recollect agent list` shows them, "
            "`recollect agent create --name NAME` makes one"
        )
    return existing


def get_agent(services: Services, request: "requests.GetAgentRequest") -> Agent:
    """Return one agent."""
    with services.store.read() as tables:
        return require_agent(tables, request.agent)


def list_agents(services: Services, request: "requests.ListAgentsRequest") -> list[Agent]:
    """Return agents, pinned ones first, that have a pin of that kind and suit a project."""
    with services.store.read() as tables:
        agents = tables.agents.all()
        if request.pinned is not None:
            agents = [agent for agent in agents if agent.pinned is request.pinned]
        if request.project is not None:
            viewer = find_viewer(tables, RequestPlace.of(request.project))
            project_ids = (viewer.project_id, *viewer.linked_project_ids)
            agents = [
                agent
                for agent in agents
                if agent.metadata.get(PINNED_IN, viewer.project_id) in project_ids
            ]
    return sorted(agents, key=lambda agent: (agent.pinned is AgentPinning.NOT, agent.name))


def update_agent(services: Services, request: "requests.UpdateAgentRequest") -> Agent:
    """Change an agent's name, description, model, system prompt or metadata."""
    changes = _settings(request, request.model_fields_set - {"agent"})

    def write(tables: Tables) -> Agent:
        current = require_agent(tables, request.agent)
        rival = tables.agents.by_name(changes.get("name", current.name))
        if rival is not None and rival.id != current.id:
            raise AlreadyExists(f"there is an agent named {rival.name!r} already")
        agent = replace(current, **changes, updated_at=services.clock.now())
        ours = {name: current.metadata[name] for name in OURS if name in current.metadata}
        if LETTA in changes.get("metadata", {}):
            ours.pop(LETTA, None)  # the caller replaces it on purpose
        agent = replace(agent, metadata={**agent.metadata, **ours})
        tables.agents.set(agent)
        return agent

    return services.store.write(write)


def _settings(request: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: _CLEAN[name](getattr(request, name)) for name in names}


def pin_agent(services: Services, request: "requests.PinAgentRequest") -> Agent:
    """Pin an agent globally or to one project, or unpin it."""
    pin = request.where
    if pin is AgentPinning.LOCAL and request.project is None:
        raise InvalidInput("a local pin needs the project it is for: pass project=…")
    place = RequestPlace.of(request.project)

    def write(tables: Tables) -> Agent:
        current = require_agent(tables, request.agent)
        metadata = {name: value for name, value in current.metadata.items() if name != PINNED_IN}
        if pin is AgentPinning.LOCAL:
            metadata[PINNED_IN] = ensure_place(tables, place, services.clock).project_id
        agent = replace(current, pinned=pin, metadata=metadata, updated_at=services.clock.now())
        tables.agents.set(agent)
        return agent

    return services.store.write(write)


def prompt_metadata(
    tables: Tables, agent: Agent, blocks: Sequence[Block], now: datetime, in_context: int
) -> PromptMetadata:
    """Return what a prompt says about an agent's memory; *in_context* counts its messages."""
    total, archived, tags = tables.agents.archive_summary(agent.id, tag_limit=PROMPT_TAGS)
    return PromptMetadata(
        now=now,
        blocks_changed_at=max((block.updated_at for block in blocks), default=None),
        recalled=max(total - in_context, 0),
        archived=archived,
        tags=tags,
    )
