"""
Agents: make, find, change, pin and delete them.

An agent is named by its name, by its id, or by itself. Deleting one takes everything of its own
along (blocks, conversations, memories of agent scope, captures made for it) and leaves what it
shared: global and project blocks, and memories it wrote for a project or for everybody.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.domain.agent import Agent, AgentReceipt, Pinned
from recollect.domain.agent_transfer import BRANCHED_FROM, LETTA, MERGED
from recollect.domain.scope import Owner, Scope
from recollect.errors import AlreadyExists, InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.block_writing import give_default_blocks
from recollect.service.forget import delete_captures, drop_shelves, forget_in, shrunk
from recollect.service.places import Where, find, settle
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean

MAX_PROMPT = 200_000
PINNED_IN = "pinned_in"  # the metadata in which a local pin names its project, by id
OURS = (PINNED_IN, BRANCHED_FROM, MERGED, LETTA)  # metadata that callers do not overwrite


def create(
    services: Services,
    name: object,
    *,
    description: object = "",
    model: object = "",
    system_prompt: object = "",
    metadata: object = None,
    default_blocks: bool = True,
) -> Agent:
    """Make an agent with the blocks every agent starts with."""
    now = services.clock.now()
    agent = Agent(
        id=services.clock.new_id(),
        name=inputs.new_name_of("agent", name),
        description=inputs.plain_text_of("description", description, inputs.MAX_SUMMARY),
        model=inputs.plain_text_of("model", model, inputs.MAX_NAME).strip(),
        system_prompt=inputs.plain_text_of("system_prompt", system_prompt, MAX_PROMPT),
        metadata=inputs.json_object_of("metadata", metadata),
        created_at=now,
        updated_at=now,
    )

    def write(tables: Tables) -> Agent:
        if tables.agents.by_name(agent.name) is not None:
            raise AlreadyExists(
                f"there is an agent named {agent.name!r} already; choose another name, or use it"
            )
        tables.agents.add(agent)
        if default_blocks:
            give_default_blocks(tables, services.clock, agent)
        return agent

    return services.store.write(write)


def known_agent(tables: Tables, agent: object) -> Agent:
    """Return the agent with that name or id, or raise `NotFound`."""
    wanted = agent.id if isinstance(agent, Agent) else agent
    if isinstance(wanted, str) and wanted.strip():
        written = clean(wanted).strip()
        found = tables.agents.get(written)
        if found is None and not isinstance(agent, Agent):
            found = tables.agents.by_name(written)
        if found is not None:
            return found
    raise NotFound(
        f"there is no agent {agent!r} in this store; `recollect agent list` shows them, "
        "`recollect agent create --name NAME` makes one"
    )


def get(services: Services, agent: object) -> Agent:
    """Return one agent."""
    with services.store.read() as tables:
        return known_agent(tables, agent)


def everyone(
    services: Services, *, pinned: object = None, project: Where | None = None
) -> list[Agent]:
    """Return every agent, pinned ones first; or only those pinned, here or everywhere."""
    with services.store.read() as tables:
        found = tables.agents.all()
    if pinned is not None:
        kind = inputs.one_of("pinned", Pinned, pinned)
        found = [agent for agent in found if agent.pinned is kind]
    if project is not None and project.project is not None:
        with services.store.read() as tables:
            here = find(tables, project).project_id
        found = [one for one in found if one.metadata.get(PINNED_IN, here) == here]
    return sorted(found, key=lambda agent: (agent.pinned is Pinned.NOT, agent.name))


def update(services: Services, agent: object, changes: Mapping[str, Any]) -> Agent:
    """Change an agent's name, description, model, system prompt or metadata."""
    checked: dict[str, Any] = {}
    for field, value in changes.items():
        match field:
            case "name":
                checked[field] = inputs.new_name_of("agent", value)
            case "description":
                checked[field] = inputs.plain_text_of(field, value, inputs.MAX_SUMMARY)
            case "model":
                checked[field] = inputs.plain_text_of(field, value, inputs.MAX_NAME).strip()
            case "system_prompt":
                checked[field] = inputs.plain_text_of(field, value, MAX_PROMPT)
            case "metadata":
                checked[field] = inputs.json_object_of(field, value)
            case _:
                raise InvalidInput(
                    f"unknown: {field}; use name, description, model, system_prompt, metadata"
                )

    def write(tables: Tables) -> Agent:
        former = known_agent(tables, agent)
        rival = tables.agents.by_name(checked.get("name", former.name))
        if rival is not None and rival.id != former.id:
            raise AlreadyExists(f"there is an agent named {rival.name!r} already")
        kept = replace(former, **checked, updated_at=services.clock.now())
        ours = {name: former.metadata[name] for name in OURS if name in former.metadata}
        kept = replace(kept, metadata={**kept.metadata, **ours})
        tables.agents.set(kept)
        return kept

    return services.store.write(write)


def pin(services: Services, agent: object, where: object, place: Where) -> Agent:
    """Keep an agent at hand: everywhere, in one project, or no longer."""
    kind = inputs.one_of("pin", Pinned, where)
    if kind is Pinned.LOCAL and place.project is None:
        raise InvalidInput("a local pin needs the project it is for: pass project=…")

    def write(tables: Tables) -> Agent:
        former = known_agent(tables, agent)
        metadata = {name: value for name, value in former.metadata.items() if name != PINNED_IN}
        if kind is Pinned.LOCAL:
            metadata[PINNED_IN] = settle(tables, place, services.clock).project_id
        kept = replace(former, pinned=kind, metadata=metadata, updated_at=services.clock.now())
        tables.agents.set(kept)
        return kept

    return services.store.write(write)


def delete(services: Services, agent: object) -> AgentReceipt:
    """Delete an agent with everything of its own; say what went and what stayed."""
    receipt = services.store.write(
        lambda tables: _delete(tables, known_agent(tables, agent), services)
    )
    return replace(receipt, kept=(*receipt.kept, *shrunk(services)))


def _delete(tables: Tables, agent: Agent, services: Services) -> AgentReceipt:
    removed: dict[str, int] = {}
    kept: list[str] = []
    for memory_id in tables.agents.own_memory_ids(agent.id):
        gone = forget_in(tables, memory_id, services.clock)
        kept += gone.kept
        for name, count in gone.removed.items():
            removed[name] = removed.get(name, 0) + count
    removed["captures"] = delete_captures(tables, tables.agents.own_events(agent.id))
    for block in tables.blocks.attached_to(agent.id):
        if block.scope is Scope.AGENT:
            tables.blocks.delete(block)
            removed["blocks"] = removed.get("blocks", 0) + 1
        else:
            kept.append(f"block {block.label!r} is shared and stays")
    talks = tables.conversations.latest(agent.id, limit=1_000_000)
    for conversation in talks:
        for block in tables.blocks.of_owner(Owner(Scope.SESSION, conversation.id)):
            tables.blocks.delete(block)
            removed["blocks"] = removed.get("blocks", 0) + 1
    drop_shelves(tables, Owner(Scope.AGENT, agent.id))
    for conversation in talks:
        drop_shelves(tables, Owner(Scope.SESSION, conversation.id))
    for name, count in tables.agents.delete(agent.id).items():
        removed[name] = removed.get(name, 0) + count
    tables.skills.drop_unused()
    tables.files.drop_unopened()
    return AgentReceipt(
        agent_id=agent.id,
        name=agent.name,
        deleted_at=services.clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=tuple(dict.fromkeys(kept)),
    )
